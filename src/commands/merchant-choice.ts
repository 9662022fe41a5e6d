import type { Merchant } from '../domain/merchant.ts';
import { refuse } from '../slack/answer.ts';
import type { Command, MayRun, Pressed } from '../slack/command.ts';
import {
  readMerchantChoice,
  withMerchantChoice,
  withValues,
  type MerchantChoice,
} from '../slack/merchant-choice.ts';
import { merchantIds } from '../slack/merchant-ids.ts';
import { wordsModal } from '../slack/modals.ts';
import { placedAt, placeOf } from '../slack/people/place.ts';
import { merchantCommand } from './merchant-command.ts';

export type ChoiceParts = {
  choices: readonly MerchantChoice[];
  mayRun: MayRun;
  /** The verb as the account of that name has it. */
  verbOf: (name: string, verb: string) => Command | undefined;
};

/** The account’s verb; the form it opens, if it says so, has the choice of another account above everything else. */
export function withChoice(command: Command, merchant: Merchant, parts: ChoiceParts): Command {
  const { keepsForOtherAccount: kept, verb } = command;
  const { choices } = parts;
  if (kept === undefined || choices.length === 1) return merchantCommand(command, merchant);
  const actionId = merchantIds(merchant).id(`choose_account_${verb}`);
  const own = merchantCommand(command, merchant, (words, modal, caller) => {
    const place = placeOf(caller);
    return withMerchantChoice(modal, { actionId, choices, chosen: merchant.name, words, place });
  });
  const press = { actionId, press: (pressed: Pressed) => choose(pressed, { verb, kept }, parts) };
  return { ...own, presses: [...(own.presses ?? []), press] };
}

/** Puts the other account’s form in the place of this one, if the person may use it there. */
async function choose(
  pressed: Pressed,
  { verb, kept }: { verb: string; kept: readonly string[] },
  { mayRun, verbOf }: ChoiceParts,
): Promise<void> {
  const { view } = pressed;
  const choice = readMerchantChoice(pressed.value);
  const target = choice && verbOf(choice.name, verb);
  if (!view || !target) return;
  const read = target.prepare(choice.words);
  if (!read.ok) return;
  // Another account's form is opened here, so the place is judged, for that account.
  const caller = placedAt(choice.place, pressed.caller);
  const { permission } = read.value;
  const refusal =
    (await refuse(caller, target, mayRun)) ??
    (permission === undefined
      ? undefined
      : await refuse(caller, target, mayRun, { permissions: [permission] }));
  if (refusal) {
    await pressed.openModal(wordsModal('Not allowed', refusal.message));
    return;
  }
  await read.value.run({
    caller,
    async openModal(modal) {
      await pressed.updateModal(withValues(modal, view.values, kept));
      return view.id;
    },
    whileWaiting: (work) => work,
  });
}
