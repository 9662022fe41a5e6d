import { describe, expect, it } from 'vitest';
import { routesCaution, tellRulesElsewhere, tellUnreadParts } from '../../src/config/alert-rules.ts';
import { policySchema } from '../../src/config/policy.ts';
import { readWebhooks, readsField } from '../../src/webhooks/webhook-settings.ts';
import { outsideOf } from '../support/outside-of.ts';
import type { RouteMatch, RoutePlan } from '../../src/domain/alert.ts';

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

  it('names none that fits one of the accounts, and one that asks for what no account is at once', () => {
    expect(told(lagos, accra).map((line) => /Rule (\S+)/.exec(line)?.[1])).toEqual([
      'lagos-sandbox',
      'misspelt',
    ]);
  });
});

function saidOf(...routes: object[]): readonly string[] {
  return routesCaution({
    policy: policySchema.parse({ channels: { alerts: 'C0ALERTS01' }, roles: {}, routes }),
    payopsFile: 'payops.yml',
  });
}

describe('what a start says of a rule behind one that goes on, in the same channel', () => {
  const all = { name: 'all', to: 'C0ALERTS01', continue: true };
  const plain = { name: 'big', to: ['C0BIG00001', 'C0ALERTS01'], when: { currency: 'NGN' } };
  const big = { ...plain, mention: 'S0ONCALL01', severity: 'high' };

  it('names what never holds there, because each channel is told once', () => {
    expect(saidOf(all, big)).toEqual([
      'payops.yml: the mention and severity of rule big never hold in C0ALERTS01: all before it tells that channel all that it asks for. Move big up, before all.',
    ]);
  });

  it('says nothing of one that comes first, or says no more than they do', () => {
    expect(saidOf(big, all)).toEqual([]);
    expect(saidOf(all, plain)).toEqual([]);
    expect(saidOf({ ...all, when: { currency: 'USD' } }, big)).toEqual([]);
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
