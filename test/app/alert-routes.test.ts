import { describe, expect, it } from 'vitest';
import { tellRulesElsewhere, tellUnreadParts } from '../../src/app/alert-routes.ts';
import { readWebhooks } from '../../src/app/webhook-settings.ts';
import { outsideOf } from './outside-of.ts';
import type { RouteMatch, RoutePlan } from '../../src/domain/alert-route.ts';

const matches: Record<string, RouteMatch> = {
  anywhere: {},
  live: { environment: 'live' },
  sandbox: { environment: 'sandbox' },
  lagos: { account: 'lagos' },
  'lagos-sandbox': { account: 'lagos', environment: 'sandbox' },
  misspelt: { account: 'lagso' },
};

function plan(place: Pick<RoutePlan, 'account' | 'environment'>): RoutePlan {
  const rules = Object.entries(matches).map(([name, match]) => ({
    name,
    match,
    channels: ['C0ALERTS01'],
    goesOn: true,
  }));
  return { rules, ...place, failures: 'C0ALERTS01', successes: undefined };
}

function told(...plans: RoutePlan[]): string[] {
  const lines: string[] = [];
  tellRulesElsewhere(plans, (level, message) => void lines.push(`${level}: ${message}`));
  return lines;
}

describe('what a start says of rules for places where the bot is not', () => {
  const lagos = plan({ account: 'lagos', environment: 'live' });
  const accra = plan({ account: 'accra', environment: 'sandbox' });

  it('names each with what it asks for, and no other', () => {
    const here = 'and this bot has lagos (live)';
    expect(told(lagos)).toEqual([
      `warn: Rule sandbox can never fit here: it asks for sandbox, ${here}`,
      `warn: Rule lagos-sandbox can never fit here: it asks for lagos in sandbox, ${here}`,
      `warn: Rule misspelt can never fit here: it asks for lagso, ${here}`,
    ]);
  });

  it('names one that the rules before it leave nothing to here, though it would fit at another place', () => {
    const rules = Object.entries<RouteMatch>({
      'all-of-lagos': { account: 'lagos' },
      'sandbox-failures': { environment: 'sandbox', event: 'payment_failed' },
      naira: { currency: 'NGN', event: 'payment_failed' },
      paid: { event: 'payment_success' },
    }).map(([name, match]) => ({ name, match, channels: ['C0ALERTS01'], goesOn: false }));
    expect(told({ ...lagos, rules })).toEqual([
      expect.stringContaining('Rule sandbox-failures can never fit here'),
      'warn: Rule naira can never fit here: all-of-lagos before it takes all that it asks for at lagos (live)',
      'warn: Rule paid can never fit here: all-of-lagos before it takes all that it asks for at lagos (live)',
    ]);
    // What is left of the failures at accra is no more than those.
    expect(told({ ...lagos, rules }, { ...accra, rules })).toEqual([
      'warn: Rule naira can never fit here: all-of-lagos and sandbox-failures before it take, together, all that it asks for at lagos (live), accra (sandbox)',
    ]);
  });

  it('names none that fits one of the accounts, and one that asks for what no account is at once', () => {
    expect(told(lagos, accra).map((line) => /Rule (\S+)/.exec(line)?.[1])).toEqual([
      'lagos-sandbox',
      'misspelt',
    ]);
  });
});

function unreadIn(preset: string, more: Record<string, string> = {}): string[] {
  const { config } = outsideOf({
    WEBHOOK_SIGNATURE_PRESET: preset,
    WEBHOOK_SECRETS: 'a-secret-of-32-characters-or-more',
    ...more,
  });
  const rules = Object.entries<RouteMatch>({
    vip: { customer: { kind: 'prefix', text: 'VIP-' } },
    first: { isSavedCardCharge: false },
    saved: { event: 'card_saved' },
    big: { currency: 'NGN', amount: { fromMinor: 1 }, emailDomain: 'example.com', reasonPart: 'funds' },
  }).map(([name, match]) => ({ name, match, channels: ['C0ALERTS01'], goesOn: true }));
  const lines: string[] = [];
  const here = { ...plan({ account: 'lagos', environment: 'live' }), rules };
  tellUnreadParts(here, readWebhooks(config), (level, message) => void lines.push(`${level}: ${message}`));
  return lines;
}

describe('what a start says of rules for what the bot does not read of an event', () => {
  it('names each that asks for what the signature does not cover and no look-up says', () => {
    const why = 'which the signature does not cover and no look-up says';
    expect(unreadIn('field-concatenation')).toEqual([
      `warn: Rule vip can never fit here: it asks for customer_id, ${why}`,
      `warn: Rule first can never fit here: it asks for saved_card, ${why}`,
      `warn: Rule saved can never fit here: it asks for card_saved, ${why}`,
    ]);
  });

  it('names none where the whole body is signed, where no signature is told of, or that part is signed', () => {
    expect([unreadIn('raw-body'), unreadIn('static-token')]).toEqual([[], []]);
    const template =
      '{json:/event_type}:{json:/data/order/customerId}:{json:/data/order/isTokenizedCardPayment}:{header:x-webhook-timestamp}';
    expect(unreadIn('field-concatenation', { WEBHOOK_SIGNED_TEMPLATE: template })).toEqual([]);
  });
});
