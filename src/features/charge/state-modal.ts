import type { ChargeSeen } from '../../domain/charge-seen.ts';
import { codeLines, modal } from '../../slack/kit/blocks.ts';
import type { Modal, ModalBlock } from '../../slack/kit/message.ts';
import { modalButtons } from './charge-buttons.ts';
import { chargeHeadline, modalFacts } from '../../slack/words/charge-facts.ts';
import { moneyTitle, placeFoot, type ChargePlace } from '../../slack/words/charge-place.ts';
import { otpModal, type OtpModalOptions } from './otp-modal.ts';
import { stateBlocks } from './state-lines.ts';

/** Nothing is submitted in it. */
const chargeStateModalId = 'charge_state';

/** The modal of a charge, whatever has become of it: what is shown while it goes on, and when it is opened again. */
export function chargeStateModal(charge: ChargeSeen, place: ChargePlace, options: OtpModalOptions): Modal {
  if (charge.state.kind === 'otp') return otpModal(charge, place, options);
  const blocks: ModalBlock[] = [
    chargeHeadline(charge).block,
    ...stateBlocks(charge),
    ...savingLink(charge),
    ...modalButtons(charge),
    ...(charge.state.kind === 'review' ? [] : modalFacts(charge)),
    placeFoot(place),
  ];
  return modal({ callbackId: chargeStateModalId, title: moneyTitle('Charge', place), blocks });
}

/** To be copied: the customer gets it from the agent. */
function savingLink({ state, savingLink }: ChargeSeen): ModalBlock[] {
  if (savingLink === undefined || state.kind !== 'declined') return [];
  return [codeLines([savingLink])];
}
