import { describe, expect, it, vi } from 'vitest';
import type { Lookup, ProvenPayment } from '../../../src/domain/alert.ts';
import { ServiceFailure, StoreUnavailable } from '../../../src/domain/failure.ts';
import type { OrderReference } from '../../../src/domain/order-reference.ts';
import type { PaymentEvent } from '../../../src/domain/payment-event.ts';
import { readDay } from '../../../src/features/day/day.ts';
import { linkReader } from '../../../src/features/links/found-link.ts';
import { createPaymentLinks } from '../../../src/features/links/payment-links.ts';
import type { CheckoutOrderAnswer } from '../../../src/payments/orders.ts';
import { workOnce } from '../../../src/records/worker.ts';
import type { Entry } from '../../../src/store/store.ts';
import { dayFile } from '../../../src/merchants.ts';
import { readConfig } from '../../../src/config/read-config.ts';
import { minimalSettings } from '../../config/minimal-settings.ts';
import { accountOf } from '../../support/account.ts';
import { filledPolicyFile } from '../../support/filled-policy.ts';
import { sealer } from '../house.ts';
import { memoryStore } from '../memory-store.ts';

const reference = 'LINK-1' as OrderReference;
const money = { minor: 15_000, currency: 'NGN' };
const check = { holds: true, statement: 'holds' };
const proven = {
  kind: 'confirmed',
  transaction: {},
  money,
  evidence: {
    status: { part: 'status', ...check },
    reference: { part: 'reference', ...check },
    amount: { part: 'amount', ...check },
  },
} satisfies Lookup;
const order = { kind: 'created', orderId: 'S-1', checkoutLink: 'https://pay.example/1' } as const;

const lookUp = async (): Promise<Lookup> => proven;
const terms = { money, customerEmail: 'jane@example.com', savesCard: true };

type Needs = Parameters<typeof createPaymentLinks>[1];

/** Links of an account with these parts, without alerts; its look-ups prove every payment. */
function linksOn(parts: Parameters<typeof accountOf>[0], needs: Partial<Needs> = {}) {
  return createPaymentLinks(accountOf({ sealer, settings: { linkFollowHours: 72 }, ...parts }), {
    lookUp,
    lookUpNow: lookUp,
    paid: async () => undefined,
    alertFor: async () => undefined,
    alertTaken: async () => undefined,
    isCharge: async () => false,
    ...needs,
  });
}

/** An open link, and a service whose look-ups prove every payment. */
async function openLink(found: () => Lookup = () => proven) {
  const lookUp = async (): Promise<Lookup> => found();
  const clock = { nowMs: 1_900_000_000_000 };
  const store = memoryStore(clock);
  const paid: ProvenPayment[] = [];
  const links = linksOn(
    { store, now: () => clock.nowMs, payments: { createCheckoutOrder: async () => order } },
    { lookUp, lookUpNow: lookUp, paid: async (payment) => void paid.push(payment) },
  );
  const begun = await links.begin({ viewId: 'V1', terms, reference, by: 'U0AGENT01' });
  if (begun.kind !== 'begun') throw new Error(`It is ${begun.kind}.`);
  await begun.carryOn();
  await links.drained();
  const unsent = {
    prefix: 'message:',
    work: async (entry: Entry) => void (await store.write(entry, entry.value)),
  };
  return {
    clock,
    store,
    links,
    paid,
    /** The link after all due work. */
    afterwards: async () => {
      await links.drained();
      while (await workOnce({ store, leaseMs: 45_000, kinds: [...links.cases, unsent] }));
      return await links.find(reference);
    },
  };
}

const event: PaymentEvent = {
  kind: 'payment_success',
  key: 'payment_success/1',
  isSavedCardCharge: false,
};

// With replicas and crashes: link-model.test.ts, and `npm run kills`.
describe('a payment link', () => {
  it.each<[string, string, Partial<PaymentEvent>]>([
    ['with the service’s order id alone', 'paid', { orderId: 'S-1' }],
    ['of another order', 'open', { orderReference: 'OTHER', orderId: 'other' }],
    ['of a saved-card charge', 'open', { orderReference: reference, isSavedCardCharge: true }],
    [
      'with its reference unsigned, once the service proves the payment,',
      'paid',
      { referenceHint: reference },
    ],
  ])('after an event %s is %s', async (_what, state, told) => {
    const { links, afterwards } = await openLink();
    await links.onPaymentEvent({ ...event, ...told });
    expect((await afterwards())?.state.kind).toBe(state);
  });

  it('notes a failed try once', async () => {
    const { clock, links } = await openLink();
    const failed = {
      ...event,
      kind: 'payment_failed',
      orderReference: reference,
      reason: 'No funds',
    } as const;
    await links.onPaymentEvent(failed);
    const noted = await links.find(reference);
    clock.nowMs += 5_000;
    await links.onPaymentEvent(failed);
    expect(await links.find(reference)).toEqual(noted);
    expect(noted).toMatchObject({ state: { kind: 'open' }, failure: { why: 'No funds' } });
  });

  it('under review is looked up again, and paid once that is proven', async () => {
    let found: Lookup = { kind: 'not_paid', transaction: {}, money: undefined, evidence: proven.evidence };
    const { clock, links, paid, afterwards } = await openLink(() => found);
    await links.onPaymentEvent({ ...event, orderId: 'S-1' });
    clock.nowMs += 60_000;
    expect((await afterwards())?.state.kind).toBe('review');
    found = proven;
    clock.nowMs += 3_600_000;
    expect((await afterwards())?.state.kind).toBe('paid');
    expect(paid).toHaveLength(1);
  });

  it('is reported to the alerts if a look-up finds it paid without an event', async () => {
    const { clock, paid, afterwards } = await openLink();
    clock.nowMs += 600_000;
    expect((await afterwards())?.state.kind).toBe('paid');
    const { customerEmail } = terms;
    expect(paid).toEqual([{ reference, money, customerEmail, customerId: undefined, atMs: clock.nowMs }]);
  });

  it('is in finance’s file of the day it was paid, not requested', async () => {
    const { clock, store, links, afterwards } = await openLink();
    const [askedAtMs, dayMs] = [clock.nowMs, 86_400_000];
    clock.nowMs += dayMs;
    await links.onPaymentEvent({ ...event, orderReference: reference });
    await afterwards();
    const rowsOf = async (fromMs: number) => {
      const span = { fromMs, untilMs: fromMs + dayMs };
      return (await readDay({ store }, [linkReader({ sealer })], { span, hasEvent: async () => true })).rows;
    };
    expect(await rowsOf(askedAtMs)).toEqual([]);
    const [row] = await rowsOf(askedAtMs + dayMs);
    expect(row).toMatchObject({ reference, state: '✅ Paid (confirmed)', atMs: clock.nowMs });
  });

  it.each([
    ['{body}', true],
    // The reference isn't signed, so no event is known to be this payment's.
    ['{json:/event_type}:{json:/data/transaction/transactionId}', false],
  ])('paid without an event is marked there if the signature covers %s: %s', async (template, isMarked) => {
    const { clock, store, afterwards } = await openLink();
    clock.nowMs += 600_000;
    await afterwards();
    const variables = { ...minimalSettings, PAYOPS_FILE: filledPolicyFile, WEBHOOK_SECRETS: 'canary-secret' };
    const signed = { WEBHOOK_SIGNATURE_PRESET: 'raw-body', WEBHOOK_SIGNED_TEMPLATE: template };
    const read = readConfig({ ...variables, ...signed });
    if (read.kind === 'refused') throw new Error(read.problems.join());
    const date = new Date(clock.nowMs).toISOString().slice(0, 10);
    const { text } = await dayFile({ store, sealer, settings: read.config }, date);
    expect(text).toContain(`,${reference},payment link,`);
    expect(text.includes(',no event,')).toBe(isMarked);
  });

  it('keeps its checkout link, sent only once, through a store outage of seconds', async () => {
    const clock = { nowMs: 1_900_000_000_000 };
    const store = memoryStore(clock);
    const away = { untilMs: 0 };
    let asked = 0;
    const links = linksOn({
      store: {
        ...store,
        async write(...args) {
          if (clock.nowMs < away.untilMs) throw new StoreUnavailable('away');
          return await store.write(...args);
        },
      },
      now: () => clock.nowMs,
      wait: async (ms) => void (clock.nowMs += ms),
      payments: {
        async createCheckoutOrder() {
          asked += 1;
          if (asked > 1) return { kind: 'rejected', reason: 'reference_exists', message: undefined };
          away.untilMs = clock.nowMs + 5_000;
          return order;
        },
      },
    });
    // The process dies before the request, so a worker makes it.
    await links.begin({ viewId: 'V1', terms, reference, by: 'U0AGENT01' });
    clock.nowMs += 60_000;
    await workOnce({ store, leaseMs: 45_000, kinds: links.cases });
    expect(await links.find(reference)).toMatchObject({
      state: { kind: 'open' },
      order: { checkoutLink: order.checkoutLink },
    });
    expect(asked).toBe(1);
  });

  it('is not requested again if the service forbids it to the account, and says so', async () => {
    const cause = new ServiceFailure('forbidden', 'HTTP 403');
    const refused = async () => ({ kind: 'not_made', failure: 'forbidden', cause }) as const;
    const clock = { nowMs: 1_900_000_000_000 };
    const parts = { store: memoryStore(clock), now: () => clock.nowMs };
    const links = linksOn({ ...parts, payments: { createCheckoutOrder: refused } });
    const begun = await links.begin({ viewId: 'V1', terms, reference, by: 'U0AGENT01' });
    const link = begun.kind === 'begun' ? await begun.carryOn() : undefined;
    expect(link?.state).toMatchObject({
      kind: 'refused',
      why: expect.stringContaining('trying again won’t help'),
    });
  });

  it('ignores a late answer for the refused link that it replaced', async () => {
    const clock = { nowMs: 1_900_000_000_000 };
    const store = memoryStore(clock);
    const asked: PromiseWithResolvers<CheckoutOrderAnswer>[] = [];
    const links = linksOn({
      store,
      now: () => clock.nowMs,
      payments: {
        createCheckoutOrder() {
          const answer = Promise.withResolvers<CheckoutOrderAnswer>();
          asked.push(answer);
          return answer.promise;
        },
      },
    });
    const begin = async (minor: number) => {
      const other = { ...terms, money: { minor, currency: 'NGN' } };
      const begun = await links.begin({ viewId: 'V1', terms: other, reference, by: 'U0AGENT01' });
      if (begun.kind !== 'begun') throw new Error(`It is ${begun.kind}.`);
      return begun.carryOn();
    };
    const first = begin(15_000);
    await vi.waitFor(() => expect(asked).toHaveLength(1));
    // The first process is slow, so a worker asks too.
    clock.nowMs += 60_000;
    const work = workOnce({ store, leaseMs: 45_000, kinds: links.cases });
    await vi.waitFor(() => expect(asked).toHaveLength(2));
    asked[0]?.resolve({ kind: 'not_made', failure: 'rate_limited' } as CheckoutOrderAnswer);
    expect((await first).state.kind).toBe('refused');
    const second = begin(90_000);
    await vi.waitFor(() => expect(asked).toHaveLength(3));
    asked[1]?.resolve(order);
    await work;
    expect(await links.find(reference)).toMatchObject({ state: { kind: 'asking' } });
    asked[2]?.resolve({ kind: 'rejected', reason: 'reference_exists', message: undefined });
    expect((await second).state.kind).toBe('refused');
    expect(await links.find(reference)).not.toHaveProperty('order');
  });
});
