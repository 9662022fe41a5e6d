import type { Account } from '../../account.ts';
import {
  auditOfCharge,
  chargeLists,
  chargeOf,
  chargePrefix,
  createChargeRecords,
  hasEnded,
  seenOf,
} from './charge-record.ts';
import type { ChargeTerms, ShownTerms, ApprovedCharge } from '../../domain/charge.ts';
import type { PaymentEvent } from '../../domain/payment-event.ts';
import { messageKey } from '../../messages/message-record.ts';
import type { Entry } from '../../store/store.ts';
import { createBackground } from '../../under-way.ts';
import {
  type Caller,
  type Command,
  type ModalDefinition,
  type Press,
  type Pressed,
  type Submission,
  type ViewAnswer,
  defineCommand,
  itself,
} from '../../slack/command.ts';
import type { HomeBlock, Modal } from '../../slack/kit/message.ts';
import { parseAmountAlone } from '../../slack/command-text.ts';
import { suggestCards } from '../../slack/words/card-words.ts';
import type { AlertTaken } from '../../domain/alert.ts';
import { withoutUndefined } from '../../domain/without-undefined.ts';
import { wordsModal } from '../../slack/kit/modals.ts';
import { openCardHistory } from './card-history.ts';
import { createChargeDesk, type ChargeReview, createChargeDrafts, submitApproved } from './charge-desk.ts';
import { createChargePosts, chargeViews, chargeWords } from './charge-messages.ts';
import {
  type ChargeScreens,
  createShowCharge,
  formParts,
  openNamed,
  sayUnknown,
  showAndCarryOn,
  showCharge,
} from './charge-views.ts';
import { doubtCommand, homeCharges } from './charge-list.ts';
import { openLimits } from './limit-claims.ts';
import { otpCommand } from './otp.ts';
import {
  type ChargeModalOptions,
  agreedTerms,
  chargeFields,
  chargeModal,
  chargeModalId,
  formAgain,
  isCardWrong,
  readTerms,
  readTermsModal,
  staleTermsModal,
  termsModal,
  termsModalId,
  wholeForm,
} from './charge-forms.ts';
import { type ChargeDeps, type Room, recoverCharge, triggerCharge } from './run-charge.ts';
import { chargeActions, unsureChargeModal } from './charge-screens.ts';
import { homeLimits, limitProblem, limitRefusalModal } from './limit-words.ts';

/** What charges need of other features. */
type Around = Pick<ChargeDeps, 'approvals'> &
  Pick<ChargeScreens, 'ledger' | 'requestModal' | 'takenMessage' | 'linkForm'> & {
    alerts: ChargeDeps['alerts'];
    awaitEvent: NonNullable<ChargeDeps['awaitEvent']>;
    count: NonNullable<ChargeDeps['count']>;
  };

export type Charges = ReturnType<typeof createCharges>;

/** As many charges as one process settles at once. */
const settledAtOnce = 32;

/**
 * What moves money: `/pay charge`, `/pay otp` and `/pay doubt`. What people type stands here, on `charge-forms.ts` and
 * `charge-screens.ts`; all about a code in `otp.ts` and `otp-form.ts`. `charge-desk.ts` claims the limit and the card
 * (`limit-claims.ts`, `card-history.ts`) and stores the charge (`charge-record.ts`). `run-charge.ts` then does what the
 * machine (`machine.ts`) asks for, and `charge-messages.ts` says what came of it.
 */
export function createCharges(account: Account, around: Around) {
  const { settings, place, payments, slack, audit, log, now } = account;
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
    tell: createChargePosts({ ...account, deskChannel }),
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
    now,
  };
  return {
    verbs: [chargeCommand(screens), otpCommand(screens), doubtCommand(screens)],
    /** The form, filled with what is known of a charge that is to be made. */
    form: (filled: FilledForm): Modal => chargeModal({ ...formParts(screens), ...filled }),
    alertTaken: (alert: string) => desk.alertTaken(alert),
    find: (reference: string) => desk.find(reference),
    submitApproved: (charge: ApprovedCharge, atMs: number) => submitApproved(deps, charge, atMs),
    messages: {
      views: chargeViews({ findCharge: (reference) => desk.find(reference), log }),
      words: chargeWords(place),
    },
    cases: [{ prefix: chargePrefix, work: (entry: Entry) => recoverCharge(deps, room, entry) }],
    onPaymentEvent: (event: PaymentEvent) => triggerCharge(deps, event),
    mayTry: (card: string) => cards.mayTry(card),
    /** Those that are not over. */
    open: () => charges.all(chargeLists.open),
    hasEnded: (reference: string) => hasEnded(charges, reference),
    chargeOf: (reference: string) => chargeOf(charges, reference),
    story: async (reference: string) => {
      const record = await charges.read(reference);
      const posts = [messageKey('charge', reference)];
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
    summary: 'Charge a card',
    examples: ['charge', 'charge 12,500.00'],
    permission: 'charge',
    menu: { actionId: 'menu.charge', text: 'Charge a card', opens: 'modal' },
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

/**
 * The form and the review: one dialogue, by its view id. What throws while the form is read has sent nothing.
 * A throw of the review is told as one of money, because `carryOn` may throw with the charge on its way.
 */
function chargeModals(deps: ChargeScreens): ModalDefinition[] {
  return [
    { callbackId: chargeModalId, effect: 'none', submit: (submission) => review(deps, submission) },
    { callbackId: termsModalId, effect: 'money', submit: (submission) => submitTerms(deps, submission) },
  ];
}

/** Nothing is sent from here: the terms are kept and shown for review. */
async function review(deps: ChargeScreens, submission: Submission): Promise<ViewAnswer> {
  const { viewId, values, caller } = submission;
  const alert = submission.privateMetadata || undefined;
  const taken = alert === undefined ? undefined : await deps.desk.alertTaken(alert, viewId);
  if (taken) return update(alertTakenModal(deps, taken, caller.userId));
  const read = await readTerms(values, deps.currencies, deps.ledger);
  if (read.kind === 'errors') return read;
  const terms: ChargeTerms = { ...read.terms, ...withoutUndefined({ alert }) };
  const reviewed = await deps.desk.review({ viewId, terms, by: caller.userId });
  if (reviewed.kind === 'over_limit') {
    return { kind: 'errors', errors: { [chargeFields.amount]: limitProblem(reviewed.refusal) } };
  }
  const draft = await deps.desk.keepDraft(viewId, terms);
  return update(reviewModal(deps, { terms, draft, reviewed }));
}

type Reviewed = { terms: ChargeTerms; draft: string; reviewed: Extract<ChargeReview, { kind: 'ready' }> };

function reviewModal(deps: ChargeScreens, { terms, draft, reviewed }: Reviewed): Modal {
  const { kind: _ready, ...restrictions } = reviewed;
  return termsModal({ place: deps, terms: shown(terms), draft, ...restrictions, nowMs: deps.now() });
}

/**
 * Charges on the reviewed terms, or asks whoever decides it. A second submit of the same dialogue finds the first one's
 * charge or request. A store that is away is the desk's `unsure`: an earlier submit of the dialogue may have charged.
 */
async function submitTerms(deps: ChargeScreens, submission: Submission): Promise<ViewAnswer> {
  const { caller, viewId, privateMetadata, values } = submission;
  const read = readTermsModal(values, privateMetadata);
  if (read.kind === 'errors') return read;
  if (read.kind === 'stale') return update(staleTermsModal(deps));
  const { kind: _agreed, ...agreed } = read;
  const result = await deps.desk.submit({ viewId, by: caller.userId, ...agreed });
  switch (result.kind) {
    case 'begun':
      return showAndCarryOn(deps, result.charge, submission, result.carryOn);
    case 'known':
      return showAndCarryOn(deps, result.charge, submission);
    case 'refused':
    case 'twin':
      return update(await reviewAgain(deps, submission, agreed.draft));
    case 'over_limit':
      return update(limitRefusalModal(result.refusal, deps));
    case 'awaiting_approval':
      return update(deps.requestModal(result.approval));
    case 'alert_taken':
      return update(alertTakenModal(deps, result.taken, submission.caller.userId));
    case 'stale':
      return update(staleTermsModal(deps));
    case 'unsure':
      return update(unsureChargeModal(result.reference, deps));
  }
}

/** The same terms with what has come between: a hold, or a twin. Agreeing now is agreeing beside that very twin. */
async function reviewAgain(
  deps: ChargeScreens,
  { viewId, caller }: Submission,
  draft: string,
): Promise<Modal> {
  const terms = await deps.desk.readDraft(viewId, draft);
  if (!terms) return staleTermsModal(deps);
  const reviewed = await deps.desk.review({ viewId, terms, by: caller.userId });
  return reviewed.kind === 'over_limit'
    ? limitRefusalModal(reviewed.refusal, deps)
    : reviewModal(deps, { terms, draft, reviewed });
}

/** As the press says it that comes too late. */
function alertTakenModal({ takenMessage }: ChargeScreens, taken: AlertTaken, userId: string): Modal {
  return wordsModal('Not charged', takenMessage(taken, userId));
}

/** Without the token key: what goes to Slack is made of this alone. */
function shown({ tokenKey: _secret, ...terms }: ChargeTerms): ShownTerms {
  return terms;
}

function update(modal: Modal): ViewAnswer {
  return { kind: 'update', modal };
}

/** Whom `/pay doubt` shows a charge may also see it, and have it looked up. */
const lookers = ['charge', 'otp', 'doubt'];

/** None of these makes a charge: a throw of the store from here means that nothing new was sent. */
function chargePresses(deps: ChargeScreens): Press[] {
  return [
    { actionId: chargeActions.change, press: (pressed) => changeTerms(deps, pressed) },
    {
      actionId: chargeActions.more,
      async press({ view, updateModal }) {
        if (view) await updateModal(await wholeForm(deps, view));
      },
    },
    {
      actionId: chargeActions.another,
      about: itself,
      opensForm: true,
      press: (pressed) => chargeAnother(deps, pressed),
    },
    {
      actionId: chargeActions.link,
      about: itself,
      opensForm: true,
      press: (pressed) => openLinkForm(deps, pressed),
      permissions: ['link'],
    },
    {
      actionId: chargeActions.show,
      about: itself,
      opensForm: true,
      press: (pressed) => openNamed(deps, pressed),
      permissions: lookers,
    },
    // A look-up can find that the charge never arrived, and then it is sent again under its reference.
    {
      actionId: chargeActions.checkNow,
      about: itself,
      press: (pressed) => checkNow(deps, pressed),
      permissions: lookers,
      effect: 'money',
    },
  ];
}

/** Back to the form, in the same dialogue: should that have charged already, it will show that charge. */
async function changeTerms(deps: ChargeScreens, { view, updateModal }: Pressed): Promise<void> {
  if (!view) return;
  const agreed = agreedTerms.read(view.privateMetadata);
  const terms = agreed && (await deps.desk.readDraft(view.id, agreed.draft));
  if (!terms) return await updateModal(staleTermsModal(deps));
  const card = await deps.ledger?.idOf(terms.tokenKey);
  await updateModal(await formAgain(deps, terms, card ?? ''));
}

/** Always a modal of its own: in the old one the next charge would be the same charge. */
async function chargeAnother(deps: ChargeScreens, pressed: Pressed): Promise<void> {
  const charge = await deps.desk.find(pressed.value);
  if (!charge) return await sayUnknown(deps, pressed);
  const card = isCardWrong(charge) ? undefined : charge.card;
  // A colleague types the e-mail, which they see masked.
  const customerEmail = charge.by === pressed.caller.userId ? charge.terms.customerEmail : '';
  await pressed.openModal(await formAgain(deps, { ...charge.terms, customerEmail }, card));
}

/** The link is one like any other from then on, with a message of its own. A colleague types the e-mail, which they see masked. */
async function openLinkForm(deps: ChargeScreens, pressed: Pressed): Promise<void> {
  const { caller, value } = pressed;
  const charge = await deps.desk.find(value);
  if (!charge) return await sayUnknown(deps, pressed);
  const { money, customerId, customerEmail } = charge.terms;
  const email = charge.by === caller.userId ? customerEmail : undefined;
  const filled = withoutUndefined({ customerId, customerEmail: email });
  await pressed.openModal(
    deps.linkForm({ ...filled, amountMinor: money.minor, currency: money.currency }, caller),
  );
}

async function checkNow(deps: ChargeScreens, pressed: Pressed): Promise<void> {
  const { caller, value } = pressed;
  const charge = await deps.desk.lookUpNow({ reference: value, by: caller.userId });
  await (charge ? showCharge(deps, pressed, charge) : sayUnknown(deps, pressed));
}
