import type { CheckoutOrder } from '../../domain/charge-answer.ts';
import type { OrderEnd } from '../../domain/payment-link.ts';
import { amendCharge, readCharge } from './advance-charge.ts';
import { askForOrder } from '../link/ask-for-order.ts';
import type { LinkResult } from './charge-desk.ts';
import type { ChargeRecord } from './charge-record.ts';
import type { DeskDeps } from './charge-desk-deps.ts';
import { see, showProgress } from './run-charge.ts';
import { referenceOf } from '../work/reference-of.ts';

/**
 * See `ChargeDesk.makeSavingLink`. The order's reference is made of the charge's, so that asking twice is one
 * order, unless the answer that held its link was lost: nobody has that link, and an order charges nobody.
 *
 * Spec: Checkout order; 3D Secure on a saved-card charge ("a new card-saving payment is needed").
 */
export async function makeSavingLink(
  deps: DeskDeps,
  { reference, by }: { reference: string; by: string },
): Promise<LinkResult> {
  const record = await readCharge(deps, reference);
  if (!record) return { kind: 'unknown_charge' };
  if (record.intent.state.kind !== 'declined') return { kind: 'not_created', why: overWords };
  if (record.savingLink !== undefined) return await created(deps, record, record.savingLink);
  const { money, customerEmail, customerId } = record.terms;
  const id = customerId === undefined ? {} : { customerId };
  const order = { money, customerEmail, savesCard: true, ...id };
  const end = await createUnheard(deps, order, { name: `saving:${reference}`, by });
  if (end.kind === 'exists') return { kind: 'not_created', why: allLostWords };
  if (end.kind !== 'created') return { kind: 'not_created', why: end.why };
  const { checkoutLink } = end;
  deps.note?.({ what: 'step', who: by, reference, result: 'saving_link_made' });
  const kept = await amendCharge(deps, reference, (current) => ({
    ...current,
    savingLink: current.savingLink ?? checkoutLink,
  }));
  if (kept) await showProgress(deps, kept);
  return await created(deps, kept ?? record, kept?.savingLink ?? checkoutLink);
}

/** An order that exists already is one whose link nobody has. */
async function createUnheard(
  deps: DeskDeps,
  order: Omit<CheckoutOrder, 'reference'>,
  { name, by }: { name: string; by: string },
): Promise<OrderEnd> {
  let end: OrderEnd;
  let attempt = 1;
  do {
    // oxlint-disable-next-line no-await-in-loop -- one reference after the other
    end = await askForOrder(deps, { ...order, reference: referenceOf(`${name}:${attempt}`) }, by);
    attempt += 1;
  } while (attempt <= mostLinks && end.kind === 'exists');
  return end;
}

async function created(deps: DeskDeps, record: ChargeRecord, link: string): Promise<LinkResult> {
  return { kind: 'created', charge: await see(deps, record), link };
}

const mostLinks = 3;

const allLostWords = `${mostLinks} links for this charge were made before, and every answer was lost. Tell whoever runs this bot.`;

const overWords =
  'This charge is no longer declined. Look at what became of it before anything else is asked of the customer.';
