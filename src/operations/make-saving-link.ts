import type { CheckoutOrderAnswer } from '../domain/charge-answer.ts';
import { amendCharge, readCharge } from './advance-charge.ts';
import type { LinkResult } from './charge-desk.ts';
import type { ChargeRecord } from './charge-record.ts';
import type { DeskDeps } from './charge-desk-deps.ts';
import { see, showProgress } from './run-charge.ts';
import { referenceOf } from './submit-charge.ts';

/**
 * See `ChargeDesk.makeSavingLink`. The order's reference is made of the charge's, so that asking twice is one
 * order; creating it charges nobody.
 *
 * Spec: Checkout order; 3D Secure on a saved-card charge ("a new card-saving payment is needed").
 */
export async function makeSavingLink(
  deps: DeskDeps,
  { reference, by }: { reference: string; by: string },
): Promise<LinkResult> {
  const record = await readCharge(deps, reference);
  if (!record) return { kind: 'unknown_charge' };
  if (record.savingLink !== undefined) return await created(deps, record, record.savingLink);
  const { money, customerEmail, customerId } = record.terms;
  const answer = await deps.createCheckoutOrder({
    money,
    customerEmail,
    reference: referenceOf(`saving:${reference}`),
    ...(customerId === undefined ? {} : { customerId }),
  });
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

async function created(deps: DeskDeps, record: ChargeRecord, link: string): Promise<LinkResult> {
  return { kind: 'created', charge: await see(deps, record), link };
}

function whyNot(answer: Exclude<CheckoutOrderAnswer, { kind: 'created' }>): string {
  switch (answer.kind) {
    case 'rejected':
      return answer.reason === 'reference_exists'
        ? 'A link for this charge was made before, and the answer that held it was lost. Make one with a new charge.'
        : (answer.message ?? 'The payments service rejected the order.');
    case 'not_made':
      return answer.failure === 'invalid_request'
        ? (answer.message ?? 'The payments service found the order invalid.')
        : 'The payments service did not take the order. Try again in a few minutes.';
    case 'unknown':
      return 'The payments service has not answered. Nothing was charged; try again in a minute.';
  }
}
