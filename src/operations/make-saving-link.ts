import type { CheckoutOrder, CheckoutOrderAnswer } from '../domain/charge-answer.ts';
import { amendCharge, readCharge } from './advance-charge.ts';
import type { LinkResult } from './charge-desk.ts';
import type { ChargeRecord } from './charge-record.ts';
import type { DeskDeps } from './charge-desk-deps.ts';
import { see, showProgress } from './run-charge.ts';
import { referenceOf } from './submit-charge.ts';

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
  const order = { money, customerEmail, ...(customerId === undefined ? {} : { customerId }) };
  const answer = await createUnheard(deps, order, `saving:${reference}`);
  deps.log('info', 'card-saving order answered', {
    orderReference: reference,
    userId: by,
    result: answer.kind,
  });
  if (answer.kind !== 'created') return { kind: 'not_created', why: whyNot(answer) };
  const { checkoutLink } = answer;
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
  name: string,
): Promise<CheckoutOrderAnswer> {
  let answer: CheckoutOrderAnswer;
  let attempt = 1;
  do {
    // oxlint-disable-next-line no-await-in-loop -- one reference after the other
    answer = await deps.createCheckoutOrder({ ...order, reference: referenceOf(`${name}:${attempt}`) });
    attempt += 1;
  } while (attempt <= mostLinks && answer.kind === 'rejected' && answer.reason === 'reference_exists');
  return answer;
}

async function created(deps: DeskDeps, record: ChargeRecord, link: string): Promise<LinkResult> {
  return { kind: 'created', charge: await see(deps, record), link };
}

function whyNot(answer: Exclude<CheckoutOrderAnswer, { kind: 'created' }>): string {
  switch (answer.kind) {
    case 'rejected':
      return answer.reason === 'reference_exists'
        ? `${mostLinks} links for this charge were made before, and every answer was lost. Tell whoever runs this bot.`
        : (answer.message ?? 'The payments service rejected the order.');
    case 'not_made':
      return answer.failure === 'invalid_request'
        ? (answer.message ?? 'The payments service found the order invalid.')
        : 'The payments service did not take the order. Try again in a few minutes.';
    case 'unknown':
      return 'The payments service has not answered. Nothing was charged; try again in a minute.';
  }
}

const mostLinks = 3;

const overWords =
  'This charge is no longer declined. Look at what became of it before anything else is asked of the customer.';
