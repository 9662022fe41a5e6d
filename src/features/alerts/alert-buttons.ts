// The buttons of an alert, their presses, their forms, and the answers to the person who pressed.

import type { ActionsBlock, Button, InputBlock, RichTextBlock } from '@slack/types';
import type { Account } from '../../account.ts';
import { DeadlinePassed, withDeadline } from '../../deadline.ts';
import type { AlertState, AlertCharge, AlertTaken, FoundDecline, OpenPayment } from '../../domain/alert.ts';
import type { OrderReference } from '../../domain/order-reference.ts';
import { type Parsed, parsed, problem, listed } from '../../domain/wording.ts';
import { referenceOfEventKey } from '../../domain/payment-event.ts';
import { withoutUndefined } from '../../domain/json.ts';
import type {
  Caller,
  ModalDefinition,
  Permission,
  Press,
  Pressed,
  Submission,
  ViewAnswer,
} from '../../slack/command.ts';
import {
  type Run,
  bold,
  button,
  modal,
  moment,
  overflow,
  person,
  plainText,
  rich,
  richText,
  select,
  textInput,
  words,
} from '../../slack/kit/blocks.ts';
import type { OfferedCard } from '../../slack/kit/form.ts';
import { limits } from '../../slack/kit/limits.ts';
import type { Modal, SlackMessage, ViewBlock } from '../../slack/kit/message.ts';
import { messageModal } from '../../slack/kit/modals.ts';
import { noteMessage } from '../../slack/kit/note.ts';
import { oneLine } from '../../slack/kit/text.ts';
import { offeredCard } from '../../slack/words/card-words.ts';
import { labelled, plain } from '../../slack/words/charge-facts.ts';
import { type ShownAccount, accountFoot } from '../../slack/words/account-foot.ts';
import { failureWords } from '../../slack/words/error-message.ts';
import { referenceRun, referenceWord } from '../../slack/words/payment-words.ts';
import { declineNext, holdLines } from '../../slack/words/next-steps.ts';
import { openPaymentBlocks } from '../../slack/words/twins.ts';
import { revealButtonOf, transactionNote } from '../../slack/words/transaction-message.ts';
import type { AlertCases, AlertMoveResult, FoundAlert } from './alert-cases.ts';
import type { ChargeAgain, JudgeAgain } from './charge-again.ts';
import {
  type AlertStatus,
  type AlertMove,
  type Evidence,
  type MovedAlert,
  customerEmailOf,
  isDeclined,
  isEnded,
  knownDecline,
  moneyOfFailure,
  recordOf,
} from './alert.ts';
import { hourMs } from '../../domain/span.ts';

/** Action ids; each button's value is the alert's id. */
export const alertActions = {
  acknowledge: 'alert_acknowledge',
  lookUp: 'alert_look_up',
  close: 'alert_close',
  chargeAgain: 'alert_charge_again',
  /** Offered if the card can't be charged now. */
  link: 'alert_link',
  /** A menu; the value of a choice is its kind, a colon and the alert's id. */
  more: 'alert_more',
} as const;

const choiceWords = { look_up: 'Look up', close: 'Resolve…', assign: 'Assign…', snooze: 'Snooze…' } as const;

type MoreChoice = keyof typeof choiceWords;

export const moreChoices = Object.keys(choiceWords) as readonly MoreChoice[];

export function writeMore(choice: MoreChoice, id: string): string {
  return `${choice}:${id}`;
}

function readMore(value: string): { choice: MoreChoice; id: string } | undefined {
  const at = value.indexOf(':');
  const choice = moreChoices.find((one) => one === value.slice(0, at));
  return choice && { choice, id: value.slice(at + 1) };
}

export function acknowledgeButton(id: string): Button {
  return button({ actionId: alertActions.acknowledge, text: 'Acknowledge', value: id, style: 'primary' });
}

/**
 * At most three buttons and a menu; none once the alert has ended. `canLookUp`: its order is known. A payment link is offered
 * after somebody acknowledged the alert: until then the merchant's own retry may still succeed.
 */
export function statusButtons({ id, state, again }: AlertStatus, canLookUp: boolean): ActionsBlock[] {
  if (isEnded(state)) return [];
  const isOpen = state.kind === 'open';
  const of = (actionId: string, text: string): Button => button({ actionId, text, value: id });
  const lookUp = of(alertActions.lookUp, 'Look up');
  const close = of(alertActions.close, 'Resolve…');
  const pays =
    again === 'charge'
      ? of(alertActions.chargeAgain, 'Charge again…')
      : again === 'link' && !isOpen
        ? of(alertActions.link, 'Payment link')
        : undefined;
  const isCloseHidden = isOpen && pays !== undefined && canLookUp;
  const hidden: readonly MoreChoice[] = [
    ...(pays && canLookUp ? (['look_up'] as const) : []),
    ...(isCloseHidden ? (['close'] as const) : []),
    ...(isOpen ? [] : (['assign', 'snooze'] as const)),
  ];
  const more = hidden.map((choice) => ({ text: choiceWords[choice], value: writeMore(choice, id) }));
  const elements = [
    ...(isOpen ? [acknowledgeButton(id)] : []),
    ...(pays ? [pays] : canLookUp ? [lookUp] : []),
    ...(isCloseHidden ? [] : [close]),
    ...overflow(alertActions.more, more),
  ];
  return [{ type: 'actions', elements }];
}

export type ButtonsNeeds = {
  chargeForm: (filled: { prefill: Prefill; alert: string }) => Modal;
  linkForm: (filled: LinkPrefill, caller: Caller, alert: string) => Promise<Modal>;
  /** The customer's whole e-mail, for people with the permission. */
  mayReveal: (caller: Caller) => Promise<boolean>;
  /** The payment links of a chain's first alert that may be paid. */
  openLinks: (alert: string) => Promise<readonly OpenPayment[]>;
};

type LinkPrefill = {
  amountMinor?: number;
  currency?: string;
  customerEmail?: string;
  customerId?: string;
};

type Prefill = { card?: OfferedCard; amountMinor?: number; currency?: string; customerId?: string };

/** Any permission of a list is enough. */
const lookPermissions = ['alerts', 'lookup'];
const chargePermissions = ['charge'];
const linkPermissions = ['link'];

/** How long a person may wait for a form. */
const lookAgainMs = 4_000;

/** Presses and forms of alerts. A person whose press changes nothing reads who was first; see `alerts.move`. */
export function alertButtons(
  { shownAccount, rules, people, now }: Pick<Account, 'shownAccount' | 'rules' | 'people' | 'now'>,
  alerts: Pick<AlertCases, 'find' | 'move' | 'lookUpNow' | 'taken' | 'firstAlert'>,
  judging: Pick<JudgeAgain, 'judge' | 'nextTry'>,
  needs: ButtonsNeeds,
): { presses: Press[]; modals: ModalDefinition[] } {
  /** The message shows the result; only a second person gets an answer. */
  async function acknowledge({ value, caller, reply }: Pressed): Promise<void> {
    const result = await alerts.move(value, { kind: 'acknowledge', by: caller.userId });
    if (result.kind !== 'moved') await reply(answerOf(result, caller.userId));
  }

  /** The message shows the result to everybody; the person who pressed gets it in full. */
  async function lookUp({ caller, reply }: Pressed, id: string): Promise<void> {
    const [found, mayReveal] = await Promise.all([alerts.lookUpNow(id), needs.mayReveal(caller)]);
    if (!found?.evidence) return await reply(unknownAlertMessage());
    const { event, evidence } = found;
    const [{ verdict }, taken] = await Promise.all([judging.nextTry(found), alerts.taken(id)]);
    const current = { ...found, lookup: evidence.lookup };
    const known = knownDecline(current, rules.declines, { nowMs: now(), verdict });
    const declined = known && { ...known, ...withoutUndefined({ taken }) };
    const reference = event.orderReference ?? recordOf(evidence.lookup)?.orderReference ?? '';
    const { environment, account } = shownAccount;
    await reply(lookedUpMessage(evidence, reference, { environment, account, mayReveal, declined }));
  }

  /** The form warns of a charge and of payment links that may still move money. */
  async function openForm(kind: keyof typeof forms, { value, openModal }: Pressed): Promise<void> {
    const open = openPaymentBlocks(await needs.openLinks(await alerts.firstAlert(value)), now());
    const charging = await chargingOf(value);
    await openModal(alertForm(kind, value, shownAccount, withoutUndefined({ charging, open })));
  }

  async function chargingOf(id: string): Promise<AlertCharge | undefined> {
    const taken = await alerts.taken(id);
    return taken?.kind === 'charging' ? taken.charge : undefined;
  }

  async function more(pressed: Pressed): Promise<void> {
    const { choice, id = '' } = readMore(pressed.value) ?? {};
    if (choice === 'look_up') await lookUp(pressed, id);
    else if (choice) await openForm(choice, { ...pressed, value: id });
  }

  /**
   * Opens the form of `/pay charge`, filled in. The button may be outdated, so this checks the alert again; the form carries the
   * alert's id, which its review checks once more and its submit claims.
   */
  async function chargeAgain(pressed: Pressed): Promise<void> {
    const alert = await failedNow(pressed);
    if (!alert) return;
    const { value, reply, openModal } = pressed;
    const again = await judging.judge(alert);
    if (again.kind === 'no') return await reply(notAgain(refusalWords[again.why]));
    const { card, verdict } = again;
    if (again.offer !== 'charge') {
      const isFraud = again.offer === undefined || verdict.kind === 'allowed';
      return await reply(notAgain(isFraud ? declineNext({ reason: 'fraud' }) : holdLines(verdict)));
    }
    const prefill = withoutUndefined({ card: card && offeredCard(card), ...failedTerms(alert) });
    await openModal(needs.chargeForm({ prefill, alert: value }));
  }

  /** Opens the form of `/pay link`, filled in, if the card can't be charged now. */
  async function openLink(pressed: Pressed): Promise<void> {
    const alert = await failedNow(pressed);
    if (!alert) return;
    const { value, caller, reply, openModal } = pressed;
    const { event, evidence } = alert;
    if (!evidence || !isDeclined({ event, lookup: evidence.lookup })) {
      return await reply(notAgain(refusalWords.not_declined));
    }
    if (event.isErased) return await reply(notAgain(refusalWords.erased));
    const mayReveal = await needs.mayReveal(caller);
    const customerEmail = mayReveal ? customerEmailOf(event, evidence.lookup) : undefined;
    const filled = withoutUndefined({ ...failedTerms(alert), customerEmail });
    await openModal(await needs.linkForm(filled, caller, value));
  }

  /** The alert as it is now, if a new payment for it may begin; else the person reads why not. */
  async function failedNow({ value, caller, reply }: Pressed): Promise<FoundAlert | undefined> {
    const alert = await alerts.find(value);
    const taken = alert && (await alerts.taken(value));
    if (alert && !taken) return await lookedAtAgain(value, alert);
    await reply(taken ? takenMessage(taken, caller.userId) : unknownAlertMessage());
    return undefined;
  }

  /**
   * The alert with a new look-up, because a payment's event may be lost; without an answer in time, the alert as it is known.
   */
  async function lookedAtAgain(id: string, known: FoundAlert): Promise<FoundAlert> {
    try {
      const found = await withDeadline(lookAgainMs, () => alerts.lookUpNow(id));
      return found?.evidence && found.evidence.lookup.kind !== 'unchecked' ? found : known;
    } catch (error) {
      if (error instanceof DeadlinePassed) return known;
      throw error;
    }
  }

  /** A form that moves the alert named in its metadata. `read` turns the typed text into the move, or a problem to show. */
  function form(
    { callbackId, field }: (typeof forms)[keyof typeof forms],
    read: (typed: string, by: string) => Parsed<AlertMove> | Promise<Parsed<AlertMove>>,
  ): ModalDefinition {
    return {
      callbackId,
      effect: 'none',
      ifNoAnswer: 'If none comes, look at the alert: it shows what was done. Nothing was charged.',
      about: (metadata) => referenceOfEventKey(readAbout(metadata).id),
      async submit({ values, caller, privateMetadata }: Submission): Promise<ViewAnswer> {
        const move = await read(values[field] ?? '', caller.userId);
        if (!move.ok) return { kind: 'errors', errors: { [field]: move.problem } };
        const { id, despite } = readAbout(privateMetadata);
        const charging = move.value.kind === 'close' ? await chargingOf(id) : undefined;
        // Warn once per charge: the second submit names the charge in its metadata.
        if (charging && charging.reference !== despite) {
          const reason = values[field] ?? '';
          return { kind: 'update', modal: alertForm('close', id, shownAccount, { charging, reason }) };
        }
        const result = await alerts.move(id, move.value);
        if (result.kind === 'moved') return { kind: 'close' };
        return { kind: 'update', modal: messageModal('Not changed', answerOf(result, caller.userId)) };
      },
    };
  }

  /** Refuses people who may press none of the alert's buttons. */
  async function readAssignee(to: string, by: string): Promise<Parsed<AlertMove>> {
    if (!/^[UW][A-Z0-9]+$/.test(to)) return problem('Choose a person.');
    const answers = await Promise.all(
      [...lookPermissions, ...chargePermissions].map((one) => people.rolesOf(one, to)),
    );
    // Assign if Slack doesn't answer: the assignee can pass it on.
    const mayPress = answers.some((one) => one.kind === 'unknown' || one.roles.length > 0);
    return mayPress ? parsed({ kind: 'assign', by, to }) : problem(mayPressNothing);
  }

  const about = referenceOfEventKey;
  return {
    presses: [
      { actionId: alertActions.acknowledge, about, press: acknowledge },
      {
        actionId: alertActions.lookUp,
        about,
        press: (pressed) => lookUp(pressed, pressed.value),
        permissions: lookPermissions,
      },
      {
        actionId: alertActions.close,
        about,
        opensForm: true,
        press: async (pressed) => await openForm('close', pressed),
      },
      {
        actionId: alertActions.chargeAgain,
        about,
        opensForm: true,
        press: chargeAgain,
        permissions: chargePermissions,
      },
      { actionId: alertActions.link, about, opensForm: true, press: openLink, permissions: linkPermissions },
      {
        actionId: alertActions.more,
        about: (value) => referenceOfEventKey(readMore(value)?.id ?? ''),
        press: more,
        // The same permissions as on its own button.
        permissions: (value: string): readonly Permission[] | undefined =>
          readMore(value)?.choice === 'look_up' ? lookPermissions : undefined,
      },
    ],
    modals: [form(forms.close, readReason), form(forms.assign, readAssignee), form(forms.snooze, readSnooze)],
  };
}

/** The failed amount and its customer, to fill in a form. */
function failedTerms({ event, evidence }: FoundAlert) {
  const money = moneyOfFailure(event, evidence?.lookup);
  const { customerId } = event;
  return withoutUndefined({ amountMinor: money?.minor, currency: money?.currency, customerId });
}

function notAgain(body: Run[][]): SlackMessage {
  return noteMessage({ state: '🚫 Not charged again', body });
}

/** Says why no payment can be begun from the alert. */
const refusalWords: Record<Extract<ChargeAgain, { kind: 'no' }>['why'], Run[][]> = {
  not_declined: [
    plain('The look-up doesn’t say declined, so money may have moved.'),
    labelled('Next', 'look it up first.'),
  ],
  erased: [
    plain('This alert is too old: its customer’s details were erased.'),
    labelled('Next', 'use /pay charge if the customer still owes it.'),
  ],
  no_card: [plain('The bot knows no saved card of this customer.')],
};

const mayPressNothing = `They can’t use its buttons: no role in payops.yml gives them ${listed([...lookPermissions, ...chargePermissions], 'or')}. Choose somebody else.`;

export const longestTypedReason = 300;

const snoozes = [
  { text: '1 hour', value: '1' },
  { text: '4 hours', value: '4' },
  { text: '1 day', value: '24' },
  { text: '3 days', value: '72' },
  { text: '1 week', value: '168' },
] as const;

/** Why somebody resolves it. */
export function reasonInput(id: string, initial?: string, placeholder = 'The customer paid in cash') {
  return textInput({
    id,
    label: 'Reason',
    ...withoutUndefined({ initial }),
    placeholder,
    hint: 'Everybody in the channel sees it.',
    maxLength: longestTypedReason,
    focus: true,
  });
}

const forms = {
  close: {
    callbackId: 'alert_close',
    field: 'alert_close_reason',
    title: 'Resolve alert',
    submit: 'Resolve',
    asks: (id: string, { charging, reason }: Filled = {}) => [
      ...(charging
        ? []
        : [richText([words('The alert keeps its first line and your reason. No money moves.')])]),
      reasonInput(id, reason),
    ],
  },
  assign: {
    callbackId: 'alert_assign',
    field: 'alert_assignee',
    title: 'Assign alert',
    submit: 'Assign',
    asks: (id: string): InputBlock[] => [
      {
        type: 'input',
        block_id: id,
        label: plainText('Assign to', limits.inputLabel),
        hint: plainText('They get a direct message now, and when a payment resolves it.', limits.inputHint),
        element: { type: 'users_select', action_id: id },
      },
    ],
  },
  snooze: {
    callbackId: 'alert_snooze',
    field: 'alert_snooze_for',
    title: 'Snooze alert',
    submit: 'Snooze',
    asks: (id: string) => [
      select({
        id,
        label: 'For how long',
        hint: 'Then the thread says so and the assignee gets a direct message. A payment still resolves it.',
        choices: snoozes,
        initial: '4',
      }),
    ],
  },
} as const;

/**
 * `charging`: a charge that may still move money. `open`: the same of payment links, in words. `reason`: as typed before the
 * warning about that charge.
 */
type Filled = { charging?: AlertCharge; open?: readonly ViewBlock[]; reason?: string };

export function alertForm(
  kind: keyof typeof forms,
  id: string,
  account: ShownAccount,
  filled: Filled = {},
): Modal {
  const { callbackId, field, title, submit, asks } = forms[kind];
  const { charging, open = [], reason } = filled;
  const isAskedAgain = charging !== undefined && reason !== undefined;
  return modal({
    callbackId,
    title,
    submit: isAskedAgain ? 'Resolve anyway' : submit,
    privateMetadata: isAskedAgain ? `${id}\n${charging.reference}` : id,
    blocks: [
      ...(charging ? [chargingLine(charging)] : []),
      ...open,
      ...asks(field, filled),
      accountFoot(account),
    ],
  });
}

function chargingLine({ by, reference, needsReview }: AlertCharge): RichTextBlock {
  return richText(
    needsReview
      ? rich`${bold('🚨 ')}${person(by)}’s charge ${referenceRun(reference)} needs review: money may have moved.`
      : rich`${bold('⏳ ')}${person(by)} is charging it: ${referenceRun(reference)} isn’t over. Money may still move.`,
  );
}

/** Metadata: the alert's id and, after a line break, the charge that the person was warned about. */
function readAbout(metadata: string): { id: string; despite?: string } {
  const at = metadata.lastIndexOf('\n');
  return at < 0 ? { id: metadata } : { id: metadata.slice(0, at), despite: metadata.slice(at + 1) };
}

export function readReason(typed: string, by: string): Parsed<Extract<AlertMove, { kind: 'close' }>> {
  const reason = oneLine(typed);
  return reason === '' ? problem('Say in a few words why.') : parsed({ kind: 'close', by, reason });
}

function readSnooze(typed: string, by: string): Parsed<AlertMove> {
  const chosen = snoozes.find(({ value }) => value === typed);
  return chosen
    ? parsed({ kind: 'snooze', by, forMs: Number(chosen.value) * hourMs })
    : problem('Choose how long.');
}

function answerOf(result: Exclude<AlertMoveResult, { kind: 'moved' }>, userId: string): SlackMessage {
  return result.kind === 'refused' ? refusedMessage(result.why, result.state, userId) : unknownAlertMessage();
}

type Refused = Extract<MovedAlert, { kind: 'refused' }>['why'];

/** Says why nothing changed, and who did what before. */
export function refusedMessage(why: Refused, state: AlertState, askedBy: string): SlackMessage {
  return noteMessage({ state: refusedWords(why, state, askedBy), body: [stateLine(state, askedBy)] });
}

/** Says why no charge can begin from the alert now: it has ended, or is being charged. */
export function takenMessage(taken: AlertTaken, askedBy: string): SlackMessage {
  if (taken.kind === 'ended') return refusedMessage('ended', taken.state, askedBy);
  const { reference, by, at, needsReview } = taken.charge;
  const who =
    by === askedBy ? rich`You started it ${moment(at)}` : rich`${person(by)} started it ${moment(at)}`;
  return noteMessage({
    state: needsReview ? '🚨 An earlier charge needs review' : '⏳ Already being charged',
    about: [referenceWord(reference)],
    body: [
      [...who, words('. You charged nothing.')],
      labelled(
        'Next',
        needsReview ? 'your payments lead finds out whether it was paid.' : 'wait for its result.',
      ),
    ],
  });
}

function refusedWords(why: Refused, state: AlertState, askedBy: string): string {
  switch (why) {
    case 'acknowledged':
      return state.kind === 'acknowledged' && state.by === askedBy
        ? '👀 You already acknowledged it'
        : '👀 Acknowledged by somebody else first';
    case 'ended':
      return `${state.kind === 'recovered' ? '✅' : '☑️'} Already resolved`;
    case 'not_acknowledged':
      return 'Acknowledge it first';
    case 'nothing_new':
      return 'Already done';
  }
}

function stateLine(state: AlertState, askedBy: string): Run[] {
  const by = (userId: string): Run => (userId === askedBy ? words('you') : person(userId));
  switch (state.kind) {
    case 'open':
      return [words('Nobody has acknowledged it yet.')];
    case 'acknowledged': {
      const to = state.assignee === undefined ? [] : rich`, assigned to ${by(state.assignee)}`;
      return [...rich`Acknowledged by ${by(state.by)} ${moment(state.at)}`, ...to, words('.')];
    }
    case 'recovered':
      return rich`A payment resolved it ${moment(state.at)}.`;
    case 'closed':
      return rich`Resolved by ${by(state.by)} ${moment(state.at)}.`;
  }
}

function unknownAlertMessage(): SlackMessage {
  const next = plain('It’s older than the bot remembers. Look the reference up instead.');
  return noteMessage({ state: 'This alert is gone', body: [next] });
}

/** A look-up's result, as `/pay lookup` shows it. */
export function lookedUpMessage(
  { lookup, atMs }: Evidence,
  reference: string,
  {
    mayReveal,
    declined,
    ...shownAccount
  }: ShownAccount & { mayReveal: boolean; declined?: FoundDecline | undefined },
): SlackMessage {
  if (lookup.kind === 'unchecked') {
    const why = plain(`${failureWords[lookup.failure].what}. The alert stays as it was.`);
    return noteMessage({ state: '❔ Not checked', about: [referenceWord(reference)], body: [why] });
  }
  if (lookup.kind === 'no_reference') return noteMessage({ state: '❔ There is no signed order to look up' });
  const view = {
    // Valid: it was looked up.
    reference: reference as OrderReference,
    confirmation: lookup,
    ...shownAccount,
    checkedAtMs: atMs,
    ...(declined ? { declined } : {}),
  };
  return noteMessage(transactionNote(view, mayReveal ? revealButtonOf(view) : []));
}
