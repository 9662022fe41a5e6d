import { describe, expect, it } from 'vitest';
import { routesCaution, warnOfForeignRules, warnOfUnreadFields } from '../../src/config/alert-rules.ts';
import { policySchema } from '../../src/config/policy.ts';
import { readWebhooks, readsField } from '../../src/webhooks/webhook-settings.ts';
import { runtimeOf } from '../support/runtime-of.ts';
import type { RouteMatch, RoutePlan } from '../../src/domain/alert.ts';

const matches: Record<string, RouteMatch> = {
  anywhere: {},
  live: { environment: 'live' },
  sandbox: { environment: 'sandbox' },
  lagos: { account: 'lagos' },
  'lagos-sandbox': { account: 'lagos', environment: 'sandbox' },
  misspelt: { account: 'lagso' },
};

function plan(account: Pick<RoutePlan, 'account' | 'environment'>): RoutePlan {
  const rules = Object.entries(matches).map(([name, match]) => ({
    name,
    match,
    channels: ['C0ALERTS01'],
    continues: true,
  }));
  return { rules, ...account, failures: 'C0ALERTS01', successes: undefined };
}

function told(...plans: RoutePlan[]): string[] {
  const lines: string[] = [];
  warnOfForeignRules(plans, (level, message) => void lines.push(`${level}: ${message}`));
  return lines;
}

describe('the warning at start about rules for another bot’s account or environment', () => {
  const lagos = plan({ account: 'lagos', environment: 'live' });
  const accra = plan({ account: 'accra', environment: 'sandbox' });

  it('names each such rule with the account or environment it asks for, and no other rule', () => {
    const here = 'and this bot has lagos (live)';
    expect(told(lagos)).toEqual([
      `warn: Rule sandbox can never fit here: it asks for sandbox, ${here}`,
      `warn: Rule lagos-sandbox can never fit here: it asks for lagos in sandbox, ${here}`,
      `warn: Rule misspelt can never fit here: it asks for lagso, ${here}`,
    ]);
  });

  it('names a rule only if no single account has both the account name and the environment it asks for', () => {
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

describe('the warning at start about a rule that comes after one with `continue` in the same channel', () => {
  const all = { name: 'all', to: 'C0ALERTS01', continue: true };
  const plain = { name: 'big', to: ['C0BIG00001', 'C0ALERTS01'], when: { currency: 'NGN' } };
  const big = { ...plain, mention: 'S0ONCALL01', severity: 'high' };

  it('names the parts without effect, because a channel gets each event once', () => {
    expect(saidOf(all, big)).toEqual([
      'payops.yml: the mention and severity of rule big never hold in C0ALERTS01: all before it tells that channel all that it asks for. Move big up, before all.',
    ]);
  });

  it('says nothing about a rule that comes first, asks for nothing more, or matches other events', () => {
    expect(saidOf(big, all)).toEqual([]);
    expect(saidOf(all, plain)).toEqual([]);
    expect(saidOf({ ...all, when: { currency: 'USD' } }, big)).toEqual([]);
  });
});

function unreadIn(preset: string, more: Record<string, string> = {}): string[] {
  const { config } = runtimeOf({
    WEBHOOK_SIGNATURE_PRESET: preset,
    WEBHOOK_SECRETS: 'a-secret-of-32-characters-or-more',
    ...more,
  });
  const rules = Object.entries<RouteMatch>({
    vip: { customer: { kind: 'prefix', text: 'VIP-' } },
    first: { isSavedCardCharge: false },
    saved: { event: 'card_saved' },
    big: { currency: 'NGN', amount: { fromMinor: 1 }, emailDomain: 'example.com', reasonPart: 'funds' },
  }).map(([name, match]) => ({ name, match, channels: ['C0ALERTS01'], continues: true }));
  const lines: string[] = [];
  const here = { ...plan({ account: 'lagos', environment: 'live' }), rules };
  const webhooks = readWebhooks(config);
  const reads = (field: Parameters<typeof readsField>[1]) => readsField(webhooks, field);
  warnOfUnreadFields(here, reads, (level, message) => void lines.push(`${level}: ${message}`));
  return lines;
}

describe('the warning at start about rules that test fields which the bot does not read', () => {
  it('names each rule that tests a field which the signature does not cover and no look-up supplies', () => {
    const why = 'which the signature does not cover and no look-up says';
    expect(unreadIn('field-concatenation')).toEqual([
      `warn: Rule vip can never fit here: it asks for customer_id, ${why}`,
      `warn: Rule first can never fit here: it asks for saved_card, ${why}`,
      `warn: Rule saved can never fit here: it asks for card_saved, ${why}`,
    ]);
  });

  it('names none if the whole body or that field is signed, or no signature is used', () => {
    expect([unreadIn('raw-body'), unreadIn('static-token')]).toEqual([[], []]);
    const template =
      '{json:/event_type}:{json:/data/order/customerId}:{json:/data/order/isTokenizedCardPayment}:{header:x-webhook-timestamp}';
    expect(unreadIn('field-concatenation', { WEBHOOK_SIGNED_TEMPLATE: template })).toEqual([]);
  });
});
