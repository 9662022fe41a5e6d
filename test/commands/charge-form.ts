import type { Twin } from '../../src/domain/card-refusal.ts';
import type { OrderReference } from '../../src/domain/order-reference.ts';
import { chargeFields, chargeModalId } from '../../src/slack/charge/charge-modal.ts';
import { termsModalId } from '../../src/slack/charge/terms-modal.ts';
import type { ViewAnswer } from '../../src/slack/command.ts';
import type { Modal } from '../../src/slack/message.ts';
import { agent, colleague, nowMs, pastedToken, type Stage } from './charge-stage.ts';
import { modalOf } from './shown-modal.ts';

export const fields = chargeFields;
export const form = { [fields.card]: 'card1', [fields.amount]: '12,500.00', [fields.currency]: 'NGN' };
export const pasted = {
  [fields.token]: pastedToken,
  [fields.amount]: '12,500.00',
  [fields.currency]: 'NGN',
  [fields.email]: 'zoe@example.org',
};
export const twin: Twin = {
  reference: 'pay-first' as OrderReference,
  by: colleague,
  at: nowMs - 60_000,
  outcome: 'approved',
};

/** The form, filled and read back. */
export async function readBack(stage: Stage, values: Record<string, string> = form): Promise<Modal> {
  return modalOf(await stage.submit(chargeModalId, { values }));
}

export function agree(stage: Stage, terms: Modal): Promise<ViewAnswer> {
  return stage.submit(termsModalId, { privateMetadata: terms.private_metadata ?? '' });
}

export async function errorsOf(
  stage: Stage,
  values: Record<string, string>,
): Promise<Record<string, string>> {
  const answer = await stage.submit(chargeModalId, { values });
  return answer.kind === 'errors' ? answer.errors : {};
}

/** The calls that send something to the bank. */
export function sends(stage: Stage): string[] {
  return stage.desk.calls.filter((call) => call.startsWith('send'));
}

export async function suggested(stage: Stage, typed: string): Promise<unknown> {
  const [suggestion] = stage.verb('charge').suggestions ?? [];
  return await suggestion?.suggest(typed, { userId: agent });
}
