import { listed } from '../../domain/wording.ts';
import type { InputBlock } from '@slack/types';
import { DeadlinePassed, withDeadline } from '../../deadline.ts';
import { type CardMove, knownDecline, recordOf } from './alert.ts';
import type { AlertTaken } from '../../domain/alert.ts';
import type { DeclineRule } from '../../domain/decline-reason.ts';
import { referenceOfEventKey } from '../../domain/payment-event.ts';
import { type Parsed, parsed, problem } from '../../domain/parsed.ts';
import type { StandingOf } from '../../slack/people/role.ts';
import { withoutUndefined } from '../../domain/without-undefined.ts';
import type { AlertCards, CardMoveResult, FoundAlert } from './alert-cards.ts';
import {
  lookedUpMessage,
  notAgainMessage,
  refusedMessage,
  takenMessage,
  unknownAlertMessage,
} from './card-answers.ts';
import { alertActions, readMore } from './alert-message.ts';
import type { ChargeAgain } from './charge-again.ts';
import type {
  Caller,
  ModalDefinition,
  Permission,
  Press,
  Pressed,
  Submission,
  ViewAnswer,
  ViewValues,
} from '../../slack/command.ts';
import { modal, plainText, richText, select, textInput, words } from '../../slack/kit/blocks.ts';
import type { OfferedCard } from '../../slack/kit/form.ts';
import { limits } from '../../slack/kit/limits.ts';
import type { Modal } from '../../slack/kit/message.ts';
import { wordsModal } from '../../slack/kit/modals.ts';
import { oneLine } from '../../slack/kit/text.ts';
import { cardChoice } from '../../slack/words/card-words.ts';
import { type ChargePlace, placeFoot, placeTitle } from '../../slack/words/charge-place.ts';

export type AlertCardDeps = ChargePlace & {
  alertCards: Pick<AlertCards, 'find' | 'move' | 'lookUpNow'>;
  chargeAgain: (alert: FoundAlert) => Promise<ChargeAgain>;
  declines: DeclineRule;
  /** For this account. */
  standingOf: StandingOf;
  /** Why no charge can be begun from the alert now; undefined: one can. */
  alertTaken: (alert: string) => Promise<AlertTaken | undefined>;
  chargeForm: (filled: { prefill: Prefill; alert: string }) => Modal;
  /** The customer's e-mail in full, for whoever may read it. */
  mayReveal: (caller: Caller) => Promise<boolean>;
};

type Prefill = { card?: OfferedCard; amountMinor?: number; currency?: string; customerId?: string };

/** Whoever may look a payment up may do it from its card. */
const lookers = ['alerts', 'lookup'];
const chargers = ['charge'];

/**
 * What acts on the cards of failed charges: the buttons of their messages, and the forms those open. Every one
 * is decided once, on all replicas; whoever comes second is told who was first.
 */
export function alertCardParts(deps: AlertCardDeps): { presses: Press[]; modals: ModalDefinition[] } {
  return {
    presses: [
      {
        actionId: alertActions.acknowledge,
        about: referenceOfEventKey,
        press: (pressed) => acknowledge(deps, pressed),
      },
      {
        actionId: alertActions.lookUp,
        about: referenceOfEventKey,
        press: (pressed) => lookUp(deps, pressed, pressed.value),
        permissions: lookers,
      },
      {
        actionId: alertActions.close,
        about: referenceOfEventKey,
        opensForm: true,
        press: (pressed) => open(pressed, closeModal(pressed.value, deps)),
      },
      {
        actionId: alertActions.chargeAgain,
        about: referenceOfEventKey,
        opensForm: true,
        press: (pressed) => chargeAgain(deps, pressed),
        permissions: chargers,
      },
      {
        actionId: alertActions.more,
        about: (value) => referenceOfEventKey(readMore(value)?.id ?? ''),
        press: (pressed) => more(deps, pressed),
        permissionsFor: mayChoose,
      },
    ],
    modals: [
      form(deps, closeModalId, cardFieldIds.reason, ({ values, caller }) =>
        moveOf(readCloseModal(values), (reason) => ({ kind: 'close', by: caller.userId, reason })),
      ),
      form(deps, assignModalId, cardFieldIds.assignee, (submission) => readAssignment(deps, submission)),
      form(deps, snoozeModalId, cardFieldIds.snooze, ({ values, caller }) =>
        moveOf(readSnoozeModal(values), (forMs) => ({ kind: 'snooze', by: caller.userId, forMs })),
      ),
    ],
  };
}

/** What stands on a button of one card and in the menu of another is for the same people. */
function mayChoose(value: string): readonly Permission[] | undefined {
  return readMore(value)?.choice === 'look_up' ? lookers : undefined;
}

/** The message shows it; only whoever was not first is told anything. */
async function acknowledge({ alertCards }: AlertCardDeps, { value, caller, reply }: Pressed): Promise<void> {
  const result = await alertCards.move(value, { kind: 'acknowledge', by: caller.userId });
  if (result.kind !== 'moved') await reply(answerOf(result, caller.userId));
}

function answerOf(
  result: Exclude<CardMoveResult, { kind: 'moved' }>,
  userId: string,
): ReturnType<typeof refusedMessage> {
  return result.kind === 'refused' ? refusedMessage(result.why, result.card, userId) : unknownAlertMessage();
}

/** In the message for everybody, and in full to whoever asked. */
async function lookUp(deps: AlertCardDeps, { caller, reply }: Pressed, id: string): Promise<void> {
  const [found, may] = await Promise.all([deps.alertCards.lookUpNow(id), deps.mayReveal(caller)]);
  if (!found?.evidence) return await reply(unknownAlertMessage());
  const { environment, account } = deps;
  const declined = knownDecline({ ...found, lookup: found.evidence.lookup }, deps.declines);
  const place = { environment, account, mayReveal: may, declined };
  await reply(lookedUpMessage(found.evidence, referenceOf(found), place));
}

function referenceOf({ event, evidence }: FoundAlert): string {
  return event.orderReference ?? recordOf(evidence?.lookup)?.orderReference ?? '';
}

async function more(deps: AlertCardDeps, pressed: Pressed): Promise<void> {
  const chosen = readMore(pressed.value);
  if (!chosen) return;
  const { choice, id } = chosen;
  switch (choice) {
    case 'look_up':
      return await lookUp(deps, pressed, id);
    case 'assign':
      return await open(pressed, assignModal(id, deps));
    case 'snooze':
      return await open(pressed, snoozeModal(id, deps));
  }
}

async function open({ openModal }: Pressed, modal: Parameters<Pressed['openModal']>[0]): Promise<void> {
  await openModal(modal);
}

/** As long as somebody waits in front of a form that loads. */
const lookAgainMs = 4_000;

/**
 * The alert by what the service says now: what its message shows may be as old as the rest is long, and the event of
 * the payment that came since may be lost. As it was where the service gives no answer, or none in time.
 */
async function lookedAtAgain(
  { alertCards }: AlertCardDeps,
  id: string,
  known: FoundAlert,
): Promise<FoundAlert> {
  try {
    const found = await withDeadline(lookAgainMs, () => alertCards.lookUpNow(id));
    return found?.evidence && found.evidence.lookup.kind !== 'unchecked' ? found : known;
  } catch (error) {
    if (error instanceof DeadlinePassed) return known;
    throw error;
  }
}

/**
 * The form of `/pay charge`, begun with what failed. Nothing is charged by opening it. The message shows the button
 * until it is edited, so the alert is asked: it may be resolved, or being charged. The form takes the alert's id along,
 * which is asked again on review and claimed on submit.
 */
async function chargeAgain(deps: AlertCardDeps, { value, caller, reply, openModal }: Pressed): Promise<void> {
  const alert = await deps.alertCards.find(value);
  if (!alert) return await reply(unknownAlertMessage());
  const taken = await deps.alertTaken(value);
  if (taken) return await reply(takenMessage(taken, caller.userId));
  const shown = await deps.chargeAgain(alert);
  const mayOpen = shown.kind === 'allowed';
  const verdict = mayOpen ? await deps.chargeAgain(await lookedAtAgain(deps, value, alert)) : shown;
  if (verdict.kind !== 'allowed') return await reply(notAgainMessage(verdict));
  const { card, money, customerId } = verdict;
  const prefill = withoutUndefined({
    card: card && cardChoice(card),
    amountMinor: money?.minor,
    currency: money?.currency,
    customerId,
  });
  await openModal(deps.chargeForm({ prefill, alert: value }));
}

/** A form that moves the card its metadata names. Its field is told what is wrong with what was typed. */
function form(
  { alertCards }: AlertCardDeps,
  callbackId: string,
  field: string,
  read: (submission: Submission) => Parsed<CardMove> | Promise<Parsed<CardMove>>,
): ModalDefinition {
  return {
    callbackId,
    effect: 'none',
    ifNoAnswer: 'If none comes, look at the alert: it shows what was done. Nothing was charged.',
    about: referenceOfEventKey,
    async submit(submission): Promise<ViewAnswer> {
      const move = await read(submission);
      if (!move.ok) return { kind: 'errors', errors: { [field]: move.problem } };
      const result = await alertCards.move(submission.privateMetadata, move.value);
      if (result.kind === 'moved') return { kind: 'close' };
      const message = answerOf(result, submission.caller.userId);
      return { kind: 'update', modal: wordsModal('Not changed', message) };
    },
  };
}

/** Never to somebody for whom none of the card’s buttons is: it would be in nobody’s hand. */
async function readAssignment(
  { standingOf }: AlertCardDeps,
  { values, caller }: Submission,
): Promise<Parsed<CardMove>> {
  const read = readAssignModal(values);
  if (!read.ok) return read;
  const to = read.value;
  const standings = await Promise.all([...lookers, ...chargers].map((one) => standingOf(one, to)));
  // Where Slack does not say, nothing is lost: whoever is given it can pass it on.
  const mayPress = standings.some((one) => one.kind === 'unknown' || one.roles.length > 0);
  return mayPress ? parsed({ kind: 'assign', by: caller.userId, to }) : problem(mayPressNothing);
}

const mayPressNothing = `They can’t use its buttons: no role in payops.yml gives them ${listed([...lookers, ...chargers], 'or')}. Choose somebody else.`;

function moveOf<Value>(read: Parsed<Value>, move: (value: Value) => CardMove): Parsed<CardMove> {
  return read.ok ? { ok: true, value: move(read.value) } : read;
}

const closeModalId = 'alert_close';
const assignModalId = 'alert_assign';
const snoozeModalId = 'alert_snooze';

const cardFieldIds = {
  reason: 'alert_close_reason',
  assignee: 'alert_assignee',
  snooze: 'alert_snooze_for',
} as const;

const longestReason = 300;

export function closeModal(id: string, place: ChargePlace): Modal {
  return modal({
    callbackId: closeModalId,
    title: placeTitle('Close alert', place),
    submit: 'Close the alert',
    close: 'Back',
    privateMetadata: id,
    blocks: [
      richText([words('The alert keeps its first line and your reason. No money moves.')]),
      textInput({
        id: cardFieldIds.reason,
        label: 'Reason',
        placeholder: 'The customer paid in cash',
        hint: 'Everybody in the channel sees it.',
        maxLength: longestReason,
        focus: true,
      }),
      placeFoot(place),
    ],
  });
}

function readCloseModal(values: ViewValues): Parsed<string> {
  const reason = oneLine(values[cardFieldIds.reason] ?? '');
  return reason === '' ? problem('Say in a few words why.') : parsed(reason);
}

export function assignModal(id: string, place: ChargePlace): Modal {
  const input: InputBlock = {
    type: 'input',
    block_id: cardFieldIds.assignee,
    label: plainText('Assign to', limits.inputLabel),
    hint: plainText('They get a direct message now, and when a payment resolves it.', limits.inputHint),
    element: { type: 'users_select', action_id: cardFieldIds.assignee },
  };
  return modal({
    callbackId: assignModalId,
    title: placeTitle('Assign alert', place),
    submit: 'Assign',
    close: 'Back',
    privateMetadata: id,
    blocks: [input, placeFoot(place)],
  });
}

function readAssignModal(values: ViewValues): Parsed<string> {
  const userId = values[cardFieldIds.assignee] ?? '';
  return /^[UW][A-Z0-9]+$/.test(userId) ? parsed(userId) : problem('Choose a person.');
}

const hourMs = 3_600_000;

const snoozes = [
  { text: '1 hour', value: '1' },
  { text: '4 hours', value: '4' },
  { text: '1 day', value: '24' },
  { text: '3 days', value: '72' },
  { text: '1 week', value: '168' },
] as const;

export function snoozeModal(id: string, place: ChargePlace): Modal {
  return modal({
    callbackId: snoozeModalId,
    title: placeTitle('Snooze alert', place),
    submit: 'Snooze',
    close: 'Back',
    privateMetadata: id,
    blocks: [
      select({
        id: cardFieldIds.snooze,
        label: 'For how long',
        hint: 'Then the thread says so and the assignee gets a direct message. A payment still resolves it.',
        choices: snoozes,
        initial: '4',
      }),
      placeFoot(place),
    ],
  });
}

/** Milliseconds. */
function readSnoozeModal(values: ViewValues): Parsed<number> {
  const chosen = snoozes.find(({ value }) => value === values[cardFieldIds.snooze]);
  return chosen ? parsed(Number(chosen.value) * hourMs) : problem('Choose how long.');
}
