import type { Account } from '../../account.ts';
import { auditOfCharge } from '../../domain/audit-of-charge.ts';
import type { ShownTerms } from '../../domain/charge-terms.ts';
import type { PaymentEvent } from '../../domain/payment-event.ts';
import type { ApprovedCharge } from '../../domain/submit-result.ts';
import { outboxKey } from '../../messages/message-record.ts';
import type { Entry } from '../../store/store.ts';
import { createBackground } from '../../under-way.ts';
import { openCardHistory } from './card-history.ts';
import { createChargeDesk } from './charge-desk.ts';
import { createChargeDrafts } from './charge-drafts.ts';
import { createChargePosts } from './charge-posts.ts';
import { chargeLists, chargeOf, createChargeRecords, hasEnded, seenOf } from './charge-record.ts';
import { formParts, sayUnknown, type ChargeScreens } from './charge-views.ts';
import { doubtCommand } from './doubt.ts';
import { openLimits } from './limit-claims.ts';
import { otpCommand } from './otp.ts';
import { termsAgain } from './prefill.ts';
import { recoverCharge, triggerCharge, type ChargeDeps, type Room } from './run-charge.ts';
import { createShowCharge } from './show-charge.ts';
import { submitApproved } from './submit-charge.ts';
import { chargeActions } from './charge-actions.ts';
import { homeCharges } from './charge-list.ts';
import { chargeModal, type ChargeModalOptions } from './charge-modal.ts';
import { homeLimits } from './limit-words.ts';
import { defineCommand, type Caller, type Command, type Pressed } from '../../slack/command.ts';
import type { HomeBlock, Modal } from '../../slack/kit/message.ts';
import { parseAmountAlone } from '../../slack/amount-alone.ts';
import { chargeModals } from './charge-modals.ts';
import { chargePresses } from './charge-presses.ts';
import { suggestCards } from '../../slack/words/card-words.ts';

/** What charges need of other features. */
type Around = Pick<ChargeDeps, 'links' | 'approvals'> &
  Pick<ChargeScreens, 'ledger' | 'awaitDecision' | 'takenMessage'> & {
    alerts: ChargeDeps['alerts'];
    awaitEvent: NonNullable<ChargeDeps['awaitEvent']>;
    count: NonNullable<ChargeDeps['count']>;
  };

export type Charges = ReturnType<typeof createCharges>;

/** As many charges as one process settles at once. */
const settledAtOnce = 32;

/**
 * What moves money: `/pay charge`, `/pay otp` and `/pay doubt`. What people type stands here and in `otp.ts`;
 * `submit-charge.ts` writes a charge down, `run-charge.ts` does what the machine (`domain/charge.ts`) asks for.
 */
export function createCharges(account: Account, around: Around) {
  const { settings, place, payments, slack, audit, log, now } = account;
  const { ledger, approvals } = around;
  const background = createBackground(log, 'a charge');
  const deskChannel = settings.policy.channels.desk;
  const charges = createChargeRecords(account);
  const cards = openCardHistory(account, charges);
  const deps: ChargeDeps = {
    ...account,
    ...payments,
    ...around,
    charges,
    cards,
    limits: openLimits(account, charges),
    drafts: createChargeDrafts(account),
    audit: audit.write,
    note: audit.note,
    threeDSecureWords: settings.chargeThreeDSecureWords,
    tell: { ...createChargePosts({ ...account, deskChannel }), hasDesk: deskChannel !== undefined },
    show: createShowCharge({ client: slack.interactive, place, now, log }),
    inBackground: background.add,
  };
  const room: Room = { taken: 0, size: settledAtOnce };
  const desk = createChargeDesk(deps);
  const screens: ChargeScreens = {
    ...place,
    ...around,
    desk,
    currencies: settings.chargeCurrencies,
    approvalFrom: (currency) => approvals?.chargesFrom(currency),
    now,
  };
  return {
    verbs: [chargeCommand(screens), otpCommand(screens), doubtCommand(screens)],
    /** The form, filled with what is known of a charge that is to be made. */
    form: (filled: FilledForm): Modal => chargeModal({ ...formParts(screens), ...filled }),
    /** The form as it was, without the token key, for the card of that id. */
    formAgain: async (terms: ShownTerms, card: string | undefined): Promise<Modal> =>
      chargeModal({ ...formParts(screens), ...(await termsAgain(terms, card, ledger)) }),
    /** There is no such charge: said where the button was pressed. */
    sayUnknown: (pressed: Pressed) => sayUnknown(screens, pressed),
    alertTaken: (alert: string) => desk.alertTaken(alert),
    find: (reference: string) => desk.find(reference),
    submitApproved: (charge: ApprovedCharge, atMs: number) => submitApproved(deps, charge, atMs),
    /** A charge the store gave out as due. */
    recover: (entry: Entry) => recoverCharge(deps, room, entry),
    /** A signed event came; see `triggerCharge`. */
    trigger: (event: PaymentEvent) => triggerCharge(deps, event),
    mayTry: (card: string) => cards.mayTry(card),
    /** Charges of the card that may still move money. */
    underWay: (card: string) => cards.underWay(card),
    /** Those that are not over. */
    open: () => charges.all(chargeLists.open),
    hasEnded: (reference: string) => hasEnded(charges, reference),
    chargeOf: (reference: string) => chargeOf(charges, reference),
    story: async (reference: string) => {
      const record = await charges.read(reference);
      const posts = [outboxKey('charge', reference)];
      return record && { charge: seenOf(record), entries: auditOfCharge(record.intent.history), posts };
    },
    drained: background.drained,
  };
}

type FilledForm = Pick<ChargeModalOptions, 'prefill' | 'alert'>;

type Beginning = { amountMinor?: number };

const recentCharges = 3;

/**
 * `/pay charge [amount]`: the form, the review of its exact terms, the charge, and what became of it, all in
 * one modal. Running it charges nothing, so a repeat is harmless; the charge itself goes by the dialogue's own
 * reference, and is made at most once for it.
 */
export function chargeCommand(deps: ChargeScreens): Command {
  return defineCommand<Beginning>({
    verb: 'charge',
    usage: '[amount]',
    summary: 'Charge a saved card',
    examples: ['charge', 'charge 12,500.00'],
    permission: 'charge',
    menu: { text: 'Charge a card', opens: 'modal' },
    opensForm: true,
    shortcuts: [{ callbackId: 'charge', kind: 'global', name: 'Charge a saved card' }],
    effect: 'none',
    parse: (typed) => parseAmountAlone(typed, 'The card and everything else are asked for in a form.'),
    modals: chargeModals(deps),
    presses: chargePresses(deps),
    suggestions: [{ actionId: chargeActions.card, suggest: (typed, caller) => suggest(deps, typed, caller) }],
    home: async (caller) => (await Promise.all([ownLimits(deps, caller), recent(deps, caller)])).flat(),

    async run(beginning, { openModal }) {
      await openModal(chargeModal({ ...formParts(deps), prefill: beginning }));
      return undefined;
    },
  });
}

function suggest(
  { desk, ledger, currencies: [currency = ''] }: ChargeScreens,
  typed: string,
  { userId: by }: Caller,
) {
  return suggestCards(ledger, typed, (card) => desk.holdOf({ card, by, currency }));
}

async function ownLimits({ desk }: ChargeScreens, { userId }: Caller): Promise<HomeBlock[]> {
  return homeLimits(await desk.limitsOf(userId));
}

async function recent(deps: ChargeScreens, { userId }: Caller): Promise<HomeBlock[]> {
  const charges = await deps.desk.recent(userId, 2 * recentCharges);
  // What is open stands under its own heading.
  const settled = charges.filter(({ state }) => 'concludedAt' in state && state.kind !== 'review');
  return homeCharges('Your last charges', settled.slice(0, recentCharges), deps, deps.now());
}
