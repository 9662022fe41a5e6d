import * as fc from 'fast-check';
import type {
  AlertRule,
  AmountRange,
  CustomerPattern,
  RouteMatch,
  EventAccount,
  RoutePlan,
} from '../../../src/domain/alert.ts';
import type { PaymentEvent } from '../../../src/domain/payment-event.ts';
import { withoutUndefined } from '../../../src/domain/json.ts';

const environments = ['live', 'sandbox'] as const;
export const accounts = ['main', 'second'] as const;
/** The environments and accounts of these tests' bots. */
export const places: readonly EventAccount[] = environments.flatMap((environment) =>
  accounts.map((account) => ({ environment, account })),
);
const kinds = ['payment_failed', 'payment_success'] as const;
// Few values, close together, so that rules often match events and overlap.
const ids = ['', 'a', 'ab', 'abc', 'b', 'VIP-1', 'VIP-'];
const parts = ['funds', 'insufficient funds', 'fraud', 'd'];

export const maybe = <T>(values: readonly T[]) => fc.option(fc.constantFrom(...values), { nil: undefined });
const minor = fc.integer({ min: 0, max: 6 });

const matches: fc.Arbitrary<RouteMatch> = fc
  .record({
    event: maybe([...kinds, 'card_saved'] as const),
    environment: maybe(environments),
    account: maybe(accounts),
    isSavedCardCharge: maybe([true, false]),
    currency: maybe(['NGN', 'USD']),
    amount: fc.option(
      fc
        .tuple(fc.option(minor, { nil: undefined }), fc.option(minor, { nil: undefined }))
        .filter(([from, to]) => (from ?? 0) <= (to ?? 9))
        .map(([fromMinor, toMinor]) => withoutUndefined({ fromMinor, toMinor })),
      { nil: undefined },
    ),
    customer: fc.option(
      fc.record({ kind: fc.constantFrom('exact', 'prefix'), text: fc.constantFrom(...ids) }),
      { nil: undefined },
    ),
    emailDomain: maybe(['example.com', 'x.test']),
    reasonPart: maybe(parts),
  })
  // Most rules have few conditions, and shadow others.
  .chain((whole) =>
    fc.subarray(Object.keys(whole) as (keyof RouteMatch)[]).map((kept) =>
      withoutUndefined({
        ...whole,
        ...Object.fromEntries(kept.map((key) => [key, undefined])),
      } as RouteMatch),
    ),
  );

export const rules: fc.Arbitrary<AlertRule[]> = fc
  .array(fc.record({ match: matches, continues: fc.boolean() }), {
    minLength: 1,
    maxLength: 6,
  })
  .map((made) =>
    made.map((rule, index) =>
      withoutUndefined({ ...rule, name: `r${index}`, channels: [`C${index % 4}`, `C${index}`] }),
    ),
  );

export const events: fc.Arbitrary<PaymentEvent> = fc
  .record({
    kind: fc.constantFrom(...kinds),
    isSavedCardCharge: maybe([true, false]),
    currency: maybe(['NGN', 'USD', 'EUR']),
    amountMinor: fc.option(fc.integer({ min: 0, max: 8 }), { nil: undefined }),
    customerId: maybe([...ids, 'abcd', 'ac', 'VIP-12']),
    customerEmail: maybe(['ada@example.com', 'Ada@EXAMPLE.com', 'a@b@x.test', 'odd', 'a@sub.example.com']),
    cardSaved: maybe([{ kind: 'no_token' } as const]),
    reason: maybe(['Insufficient Funds', 'funds', 'FRAUD suspected', 'd', 'other']),
  })
  .map((event) => withoutUndefined({ ...event, key: 'k' }));

/** Whether a rule matches, written without the code under test. */
export function naiveFit(match: RouteMatch, event: PaymentEvent, account: EventAccount): boolean {
  const said: [unknown, unknown][] = [
    [match.environment, account.environment],
    [match.account, account.account],
    [match.isSavedCardCharge, event.isSavedCardCharge],
    [match.currency, event.currency],
    [match.emailDomain, domainSaid(event)],
  ];
  const { amount, customer, reasonPart } = match;
  return (
    kindsSaid(event).includes(match.event) &&
    said.every(([wanted, given]) => wanted === undefined || wanted === given) &&
    (!amount || amountsOf(amount).some((one) => one === event.amountMinor)) &&
    (!customer || (event.customerId !== undefined && patternOf(customer).test(event.customerId))) &&
    (!reasonPart || new RegExp(reasonPart, 'i').test(event.reason ?? ''))
  );
}

function kindsSaid({ kind, cardSaved }: PaymentEvent): RouteMatch['event'][] {
  return [undefined, kind, ...(kind === 'payment_success' && cardSaved ? ['card_saved' as const] : [])];
}

/** All amounts of these tests within the range. */
function amountsOf({ fromMinor, toMinor }: AmountRange): number[] {
  return Array.from({ length: 20 }, (_, amount) => amount)
    .filter((amount) => !(fromMinor !== undefined && amount < fromMinor))
    .filter((amount) => !(toMinor !== undefined && amount > toMinor));
}

function patternOf({ kind, text }: CustomerPattern): RegExp {
  return new RegExp(`^${text.replace(/[^a-z0-9]/gi, '\\$&')}${kind === 'exact' ? '$' : ''}`);
}

function domainSaid({ customerEmail = '' }: PaymentEvent): string | undefined {
  return customerEmail.split('@').slice(1).at(-1)?.toLowerCase();
}

/** An event's channels, computed rule by rule. */
export function naiveChannels(plan: RoutePlan, event: PaymentEvent): string[] {
  const channels: string[] = [];
  let isMatched = false;
  for (const rule of plan.rules) {
    if (isMatched || !naiveFit(rule.match, event, plan)) continue;
    channels.push(...rule.channels);
    isMatched = !rule.continues;
  }
  const kinds = kindsSaid(event);
  if (isMatched) return [...new Set(channels)];
  if (kinds.includes('payment_failed') || kinds.includes('card_saved')) channels.push(plan.failures);
  if (kinds.includes('payment_success') && plan.successes) channels.push(plan.successes);
  return [...new Set(channels)];
}
