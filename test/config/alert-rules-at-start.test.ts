import { describe, expect, it } from 'vitest';
import { tellRulesElsewhere, tellUnreadParts } from '../../src/config/alert-rules.ts';
import { readWebhooks, readsField } from '../../src/webhooks/webhook-settings.ts';
import { outsideOf } from '../support/outside-of.ts';
import { destinationsOf } from '../../src/features/alerts/routing.ts';
import type { AlertRule, RouteMatch, RoutePlan } from '../../src/domain/alert-route.ts';

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
    // What is left of the failures at accra, no one rule takes everywhere.
    expect(told({ ...lagos, rules }, { ...accra, rules })).toEqual([]);
  });

  it('names none that fits one of the accounts, and one that asks for what no account is at once', () => {
    expect(told(lagos, accra).map((line) => /Rule (\S+)/.exec(line)?.[1])).toEqual([
      'lagos-sandbox',
      'misspelt',
    ]);
  });
});

describe('what a start says of a rule behind one that goes on, in the same channel', () => {
  const lagos = plan({ account: 'lagos', environment: 'live' });
  const all: AlertRule = { name: 'all', match: {}, channels: ['C0ALERTS01'], goesOn: true };
  const big: AlertRule = {
    name: 'big',
    match: { currency: 'NGN', amount: { fromMinor: 10_000 } },
    channels: ['C0BIG00001', 'C0ALERTS01'],
    mention: { kind: 'group', id: 'S0ONCALL01' },
    severity: 'high',
    goesOn: false,
  };
  const saidOf = (...rules: AlertRule[]): string[] => told({ ...lagos, rules });

  it('names what never holds there, because each channel is told once', () => {
    const rules = [all, big];
    const event = { kind: 'payment_failed', key: 'k', currency: 'NGN', amountMinor: 20_000 } as const;
    expect(destinationsOf({ ...lagos, rules }, event, 0)).toEqual([
      { channel: 'C0ALERTS01', rule: all },
      { channel: 'C0BIG00001', rule: big },
    ]);
    expect(saidOf(...rules)).toEqual([
      'warn: The mention and severity of rule big never hold in C0ALERTS01: all before it tells that channel all that it asks for',
    ]);
  });

  it('says nothing of one that comes first, says no more than they do, or is told while they are muted', () => {
    const { mention: _mention, severity: _severity, ...plain } = big;
    expect(saidOf(big, all)).toEqual([]);
    expect(saidOf(all, plain)).toEqual([]);
    expect(saidOf({ ...all, mutedUntilMs: 1 }, big)).toEqual([]);
    expect(saidOf({ ...all, match: { currency: 'USD' } }, big)).toEqual([]);
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
  const webhooks = readWebhooks(config);
  const reads = (field: Parameters<typeof readsField>[1]) => readsField(webhooks, field);
  tellUnreadParts(here, reads, (level, message) => void lines.push(`${level}: ${message}`));
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
