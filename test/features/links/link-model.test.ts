import { expect, it } from 'vitest';
import type { Lookup } from '../../../src/domain/alert.ts';
import type { OrderReference } from '../../../src/domain/order-reference.ts';
import { linkPrefix, type PaymentLink } from '../../../src/features/links/link-case.ts';
import { createPaymentLinks, type PaymentLinks } from '../../../src/features/links/payment-links.ts';
import { messageKey } from '../../../src/messages/message-record.ts';
import type { CheckoutOrderAnswer } from '../../../src/payments/orders.ts';
import {
  auditOf,
  driveWorlds,
  readCase,
  wrongOfCase,
  type Driven,
  type World,
} from '../../records/two-processes.ts';
import { accountOf } from '../../support/account.ts';

const reference = 'LINK-1' as OrderReference;
const money = { minor: 15_000, currency: 'NGN' };
const check = (part: 'status' | 'reference' | 'amount', holds: boolean) =>
  ({ part, holds, statement: '' }) as const;
const evidence = (holds: boolean) => ({
  status: { ...check('status', holds), part: 'status' as const },
  reference: check('reference', true),
  amount: check('amount', true),
});

/**
 * A payment link. The service makes at most one order, and its link comes from one answer. The link is paid once the
 * service proves it, and stays so. Each place has one message, the outcome one note, and the alerts hear of the
 * payment.
 */
function links(world: World): Driven {
  const { clock, store, sealer, random } = world;
  const service = { made: 0, isPaid: false };
  const audited = new Map<string, string[]>();
  const all: PaymentLinks[] = [];
  const linkNow = async (): Promise<PaymentLink | undefined> =>
    (await readCase<PaymentLink>(world, linkPrefix + reference))?.state;

  return {
    start(process, index) {
      function look(): Promise<Lookup> {
        return process.call<Lookup>(
          () =>
            service.isPaid
              ? { kind: 'confirmed', transaction: {}, money, evidence: evidence(true) }
              : { kind: 'not_found' },
          () => ({ kind: 'unchecked', failure: 'timeout' }),
        );
      }
      const createCheckoutOrder = () =>
        process.call<CheckoutOrderAnswer>(
          () => {
            if (service.made > 0)
              return { kind: 'rejected', reason: 'reference_exists', message: '' } as const;
            service.made += 1;
            return { kind: 'created', orderId: 'order-1', checkoutLink: 'https://pay.example/1' } as const;
          },
          () => ({ kind: 'unknown', cause: { kind: 'timeout' } as never }),
        );
      const account = accountOf({
        store: process.store,
        sealer,
        settings: { linkFollowHours: 72 },
        payments: { createCheckoutOrder },
        now: () => clock.nowMs,
        wait: (ms: number) => process.wait(ms),
        audit: { write: auditOf(process, audited) },
      });
      const one = createPaymentLinks(account, {
        lookUp: look,
        lookUpNow: look,
        paid: async (payment) => void (await process.store.create(`paid:${payment.reference}`, '')),
        alertFor: async () => undefined,
        alertTaken: async () => undefined,
        isCharge: async () => false,
      });
      all[index] = one;
      return { prefix: linkPrefix, work: async (entry) => await one.cases[0]?.work(entry) };
    },
    act(at, index) {
      const one = all[index] as PaymentLinks;
      const event = {
        key: `payment_success/order/${reference}`,
        orderId: 'order-1',
        isSavedCardCharge: false,
      };
      return at.pick([
        async () => {
          const terms = { money, customerEmail: 'jane@example.com', savesCard: false };
          const begun = await one.begin({
            viewId: 'V1',
            terms,
            reference,
            by: 'U0AGENT01',
            channel: 'C0DESK0001',
          });
          if (begun.kind === 'begun') await begun.carryOn();
        },
        async () => {
          // Anyone with the link may pay; the event of that payment comes, or is lost.
          if ((await linkNow())?.order) service.isPaid ||= random.chance(0.5);
        },
        async () => {
          if (service.isPaid) await send(() => one.onPaymentEvent({ ...event, kind: 'payment_success' }));
        },
        () =>
          one.onPaymentEvent({
            ...event,
            kind: 'payment_failed',
            orderReference: reference,
            reason: 'No funds',
          }),
        () => one.lookNow(reference),
      ]);
    },
    async wrongs() {
      const kept = await readCase<PaymentLink>(world, linkPrefix + reference);
      if (!kept) return service.made > 0 ? ['an order was made without a stored link'] : [];
      const { state: link } = kept;
      const keys = store.keys();
      const hasNote = keys.includes(messageKey('link_note', `paid:${reference}`));
      const isPaid = link.state.kind === 'paid';
      return [
        ...wrongOfCase(kept, audited, [...audited.keys()]),
        // A link that replaces a refused one continues its count of steps.
        ...(audited.size === kept.turn ? [] : [`${kept.turn} steps, and the audit has ${audited.size}`]),
        ...(service.made > 1 ? ['two orders were made'] : []),
        ...(link.state.kind === 'asking' ? ['it is still being made'] : []),
        ...(isPaid === service.isPaid ? [] : [`it is ${link.state.kind}, and paid: ${service.isPaid}`]),
        ...(hasNote === isPaid ? [] : ['its paid note is missing, or false']),
        ...(keys.includes(`paid:${reference}`) === isPaid ? [] : ['the alerts were told otherwise']),
        // A refused link is shown by the form, and not posted.
        ...(link.state.kind === 'refused' || keys.includes(messageKey('link', `${link.place}:${reference}`))
          ? []
          : ['no message of it']),
      ];
    },
  };
}

/** Repeats the event until the bot accepts it. */
async function send(work: () => Promise<void>): Promise<void> {
  for (let tries = 0; tries < 50; tries += 1) {
    if (
      await work()
        .then(() => true)
        .catch(() => false)
    )
      return;
  }
}

it('a payment link breaks no rule through crashes, lost answers, repeats, suspended processes and clock changes', async () => {
  expect(await driveWorlds(links)).toEqual([]);
});
