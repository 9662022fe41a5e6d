import { randomUUID } from 'node:crypto';
import type { InputBlock } from '@slack/types';
import type { Account } from '../../account.ts';
import { withoutUndefined } from '../../domain/json.ts';
import { parseAmount } from '../../domain/money.ts';
import {
  longestOrderReference,
  type OrderReference,
  parseOrderReference,
} from '../../domain/order-reference.ts';
import { parsed } from '../../domain/wording.ts';
import { createDelivery, type PostOutcome } from '../../messages/delivery.ts';
import {
  actions,
  button,
  code,
  context,
  fields,
  modal,
  noticeLine,
  person,
  plainText,
  rich,
  richText,
  textInput,
} from '../../slack/kit/blocks.ts';
import { type Note, noteMessage } from '../../slack/kit/note.ts';
import { withNames } from '../../slack/people/names.ts';
import { form as forms, optional, text } from '../../slack/kit/form.ts';
import { ownId } from '../../slack/own-account.ts';
import { wordsOf } from '../../slack/command-text.ts';
import { withOtherAccounts, accountFoot } from '../../slack/words/account-foot.ts';
import {
  type Caller,
  type Command,
  type Conversation,
  type Mention,
  type Prepared,
  type Press,
  type Pressed,
  type Submission,
  type ViewAnswer,
  defineCommand,
} from '../../slack/command.ts';
import {
  lookUpActionId,
  lookUpWords,
  typedLookUpButton,
  typedReference,
  word,
} from '../../slack/words/payment-words.ts';
import type { Modal, SlackMessage } from '../../slack/kit/message.ts';
import {
  type TransactionView,
  lookingUpNote,
  transactionNote,
} from '../../slack/words/transaction-message.ts';
import { holdsCardNumber } from '../../domain/card.ts';
import { cardNumberMessage, serviceFailureNote } from '../../slack/words/error-message.ts';
import { ServiceFailure } from '../../domain/failure.ts';
import {
  type AnswerContext,
  answerMessage,
  lookingUpModal,
  lookupActions,
  noAnswerModal,
  transactionModal,
  wordsOfView,
} from './answer-message.ts';
import {
  type DeclineOf,
  type Lookups,
  type Question,
  createAsk,
  isChannel,
  parseQuestion,
} from './question.ts';
import { createProof } from './proof.ts';
import { createReveals } from './reveal.ts';
import { candidateReferences } from '../../domain/candidate-references.ts';

export type Lookup = ReturnType<typeof createLookup>;

/**
 * Look-ups: the verdict on one reference with its proof, by command, button, shortcut or mention, and sharing the verdict in
 * the channel. A customer's whole e-mail needs a permission of its own, and an audit entry before it is shown.
 */
export function createLookup(
  account: Account,
  declineOf: DeclineOf,
  /** The bot's own charge or payment link, from the store alone; `provenAtMs`: when it was proven to be paid. */
  ownPayment: (
    reference: OrderReference,
  ) => Promise<{ customerEmail: string | undefined; provenAtMs: number | undefined }>,
) {
  const reveals = createReveals(account, async (reference) => (await ownPayment(reference)).customerEmail);
  const ask = createAsk(account, declineOf);
  const proof = createProof(account, ask, async (reference) => (await ownPayment(reference)).provenAtMs);
  return { verbs: [lookupCommand({ account, reveals, ask }, proof)], reveals };
}

/** `/pay lookup <reference> [amount]`, and a reference typed without a command's name. */
function lookupCommand(deps: Lookups, proof: Press): Command {
  async function run(question: Question | undefined, conversation: Conversation) {
    if (question) return await answerHere(question, conversation);
    const { caller, openModal } = conversation;
    await openModal(lookUpForm(contextFor(deps, caller)));
    return undefined;
  }
  async function answerHere(
    question: Question,
    { caller, whileWaiting }: Conversation,
  ): Promise<SlackMessage> {
    const may = deps.reveals.may(caller);
    const view = await whileWaiting(deps.ask(question), stillLooking(question.reference));
    const share = isChannel(caller.channelId) && (caller.threadTs === undefined || 'in_thread');
    const message = answerMessage(view, { share, reveal: await may });
    return view.confirmation.kind === 'not_found'
      ? withOtherAccounts(message, deps.account.shownAccount)
      : message;
  }
  return defineCommand<Question | undefined>({
    verb: 'lookup',
    usage: '<reference> [amount]',
    summary: 'Paid?',
    examples: ['lookup INV-2041', 'lookup INV-2041 12,500.00', 'lookup "ORDER 17 B"', 'INV-2041'],
    permission: 'lookup',
    elsewhere: { words: [...refundWords, ...balanceWords], answer: dashboardMessage },
    effect: 'none',
    takesBareWords: true,
    menu: { actionId: 'menu.lookup', text: 'Look up a payment', opens: 'modal' },
    field: homeField,
    buttons: [{ actionId: lookUpActionId, words: lookUpWords }],
    presses: [
      { actionId: homeFieldId, opensForm: true, press: (pressed) => openTyped(deps, pressed) },
      { actionId: lookupActions.open, press: (pressed) => openAnswer(deps, pressed) },
      { actionId: lookupActions.again, press: (pressed) => askAgain(deps, pressed) },
      {
        actionId: lookupActions.share,
        about: (value) => lookUpWords(value)[0],
        press: (pressed) => share(deps, pressed),
      },
      proof,
      deps.reveals.press,
    ],
    modals: [{ callbackId: formId, effect: 'none', submit: (submission) => submitForm(deps, submission) }],
    shortcuts: [
      { callbackId: 'lookup', kind: 'global', name: 'Look up a payment' },
      {
        callbackId: 'lookup_here',
        kind: 'message',
        name: 'Look up reference here',
        prepare: (texts) => prepareHere(deps, texts, answerHere),
      },
    ],
    mention: (mention) => prepareMention(mention, answerHere),
    parse: (words) => (words.length === 0 ? parsed(undefined) : parseQuestion(words)),
    reference: (question) => question?.reference,
    run,
  });
}

const refundWords = ['refund', 'refunds', 'reversal', 'chargeback'];
const balanceWords = ['balance', 'balances'];

/** Says where refunds or balances are found. */
function dashboardMessage(typed: string): SlackMessage {
  const what = balanceWords.includes(typed) ? 'Balances are shown' : 'Refunds are made';
  return noteMessage({
    state: `${what} in the payments service’s dashboard, not here`,
    body: [rich`${code('/pay <reference>')} looks the payment up.`],
  });
}

function stillLooking(reference: OrderReference): SlackMessage {
  const waiting = rich`The payments service has not answered yet. The answer follows here.`;
  return noteMessage({ ...lookingUpNote(reference), body: [waiting] });
}

/**
 * The shortcut *Look up reference here* on a message: looks up the message's only reference, opens a choice among several,
 * or says how to go on without any.
 */
function prepareHere(
  deps: Lookups,
  texts: readonly string[],
  run: (question: Question, conversation: Conversation) => Promise<SlackMessage>,
): Prepared {
  const [first, ...others] = candidateReferences(texts);
  if (first === undefined) {
    const message = texts.some(holdsCardNumber) ? cardNumberMessage() : noReferenceMessage();
    return { run: () => Promise.resolve(message) };
  }
  const all = [first, ...others] as const;
  if (others.length === 0) {
    return { reference: first, run: (conversation) => run({ reference: first }, conversation) };
  }
  return {
    async run({ caller, openModal }) {
      await openModal(chooseModal(all, contextFor(deps, caller)));
      return undefined;
    },
  };
}

/** A mention asks for its own references, else for those of the newest message in the thread that has any. */
function prepareMention(
  { texts, thread }: Mention,
  run: (question: Question, conversation: Conversation) => Promise<SlackMessage>,
): Prepared {
  const own = candidateReferences(texts);
  const prepared: Prepared = {
    ...(own.length === 1 ? withoutUndefined({ reference: own[0] }) : {}),
    async run(conversation) {
      const read = own.length > 0 ? [] : await thread?.();
      const named = [own, ...(read ?? []).map(candidateReferences)].find((all) => all.length > 0) ?? [];
      const [reference, ...others] = named;
      if (reference === undefined) return noneNamedMessage(thread && (read ? 'read' : 'unread'));
      if (others.length > 0) return chooseMessage(named);
      // The log and the audit read the reference after this run.
      prepared.reference = reference;
      return await run({ reference }, conversation);
    },
  };
  return prepared;
}

/** More choices don't fit at a glance. */
const mostChoices = 5;

function chooseMessage(named: readonly OrderReference[]): SlackMessage {
  const choices = named
    .slice(0, mostChoices)
    .flatMap((one) => typedLookUpButton(`Look up ${one}`, one).map((choice) => actions(choice)));
  const rest = choices.length < named.length ? [nameIt] : [];
  return noteMessage({ state: 'Which reference?', body: [...choices, ...rest] });
}

const nameIt = rich`Name it: ${code('@pay <reference>')}`;

/** `thread`: whether the thread's messages were readable; undefined outside a thread. */
function noneNamedMessage(thread: 'read' | 'unread' | undefined): SlackMessage {
  if (thread === undefined) return noteMessage({ state: 'No reference in your message', body: [nameIt] });
  return thread === 'read'
    ? noteMessage({ state: 'No reference found in this thread', body: [nameIt] })
    : noteMessage({
        state: 'No reference in your message, and the bot can’t read this thread',
        body: [nameIt, rich`To let it read threads here: ${code('/invite @pay')}`],
      });
}

/** Answers in the form's modal: first *Looking up*, then the verdict. */
async function submitForm(deps: Lookups, submission: Submission): Promise<ViewAnswer> {
  const { viewId, caller, values, privateMetadata } = submission;
  const read = form.read(values);
  if (read.kind === 'errors') return read;
  const { reference, amount } = read.read;
  const question = { reference, ...withoutUndefined({ amountMinor: amount }) };
  const channelId = privateMetadata || undefined;
  return {
    kind: 'update',
    modal: lookingUpModal(reference, { ...deps.account.shownAccount, channelId }),
    async carryOn() {
      const shown = await answerTo(deps, question, { caller, channelId });
      await deps.account.slack.showResult({ viewId, userId: caller.userId }, shown);
    },
  };
}

/** For the App Home's field: a typed reference, and perhaps its expected amount. */
async function openTyped(deps: Lookups, pressed: Pressed): Promise<void> {
  const { typed = '', caller, openModal } = pressed;
  const question = parseQuestion(wordsOf(typed));
  if (question.ok) return await openAnswerTo(deps, question.value, pressed);
  await openModal(lookUpForm(contextFor(deps, caller), question.problem));
}

async function openAnswer(deps: Lookups, pressed: Pressed): Promise<void> {
  const question = parseQuestion(lookUpWords(pressed.value));
  if (question.ok) await openAnswerTo(deps, question.value, pressed);
}

async function openAnswerTo(
  deps: Lookups,
  question: Question,
  { caller, openModal }: Pick<Pressed, 'caller' | 'openModal'>,
): Promise<void> {
  const where = contextFor(deps, caller);
  const viewId = await openModal(lookingUpModal(question.reference, where));
  const shown = await answerTo(deps, question, { caller, channelId: where.channelId });
  await deps.account.slack.showResult({ viewId, userId: caller.userId }, shown);
}

function contextFor({ account }: Lookups, { channelId }: Caller): AnswerContext {
  return { ...account.shownAccount, channelId: isChannel(channelId) ? channelId : undefined };
}

async function askAgain(deps: Lookups, { value, caller, view, updateModal }: Pressed): Promise<void> {
  const question = parseQuestion(lookUpWords(value));
  if (!question.ok || !view) return;
  const channelId = isChannel(view.privateMetadata) ? view.privateMetadata : undefined;
  await updateModal(lookingUpModal(question.value.reference, { ...deps.account.shownAccount, channelId }));
  const { modal } = await answerTo(deps, question.value, { caller, channelId });
  await updateModal(modal);
}

/** Shows a failure of the service in the modal too, so that the modal doesn't say *Looking up* for ever. */
async function answerTo(
  deps: Lookups,
  question: Question,
  { caller, channelId }: { caller: Caller; channelId: string | undefined },
): Promise<{ modal: Modal; message: SlackMessage }> {
  try {
    const may = deps.reveals.may(caller);
    const view = await deps.ask(question);
    const shown = transactionModal(view, channelId, { share: true, reveal: await may });
    // If the modal was closed, the answer goes by direct message, without buttons to share or reveal.
    return { modal: shown, message: answerMessage(view, { share: false, reveal: false }) };
  } catch (error) {
    if (!(error instanceof ServiceFailure)) throw error;
    const { reference } = question;
    const again = { reference, words: wordsOfView(question) };
    return {
      modal: noAnswerModal(error, again, { ...deps.account.shownAccount, channelId }),
      message: noteMessage(serviceFailureNote(error, { reference, moneyMayHaveMoved: false })),
    };
  }
}

/** A choice between several references of a message. */
export function chooseModal(candidates: readonly OrderReference[], where: AnswerContext): Modal {
  return modal({
    callbackId: 'lookup_choose',
    title: 'Look up a payment',
    privateMetadata: where.channelId ?? '',
    blocks: [
      richText(rich`The message names several references.`),
      ...candidates.map((reference) =>
        actions(
          button({
            actionId: lookupActions.again,
            text: typedReference(reference),
            value: JSON.stringify([reference]),
          }),
        ),
      ),
      accountFoot(where),
    ],
  });
}

const formId = 'lookup_form';

const form = forms('lookup', {
  reference: text(
    { label: 'Reference', placeholder: 'INV-2041', maxLength: longestOrderReference, focus: true },
    parseOrderReference,
  ),
  amount: optional(
    text({ label: 'Amount', placeholder: '12,500.00', hint: 'What it should be, if you know.' }, parseAmount),
  ),
});

/** Asks for a reference. `problem`: why the text in the App Home's field can't be looked up. */
function lookUpForm(where: AnswerContext, problem?: string): Modal {
  return modal({
    callbackId: formId,
    title: 'Look up a payment',
    submit: 'Look up',
    privateMetadata: where.channelId ?? '',
    blocks: [
      ...(problem === undefined ? [] : [noticeLine('warning', problem)]),
      ...form.inputs(),
      accountFoot(where),
    ],
  });
}

const homeFieldId = 'lookup_home';

/** A new block id each time: Slack keeps a field's text while its id stays. */
function homeField(): InputBlock {
  const field = textInput({
    id: homeFieldId,
    label: 'Look up a payment',
    placeholder: 'Reference, then Enter',
    maxLength: longestTyped,
    onEnter: true,
  });
  return {
    ...field,
    block_id: `${homeFieldId}~${randomUUID()}`,
    element: { ...field.element, action_id: ownId(homeFieldId) },
  };
}

/** Room for a reference and an amount. */
const longestTyped = 100;

function noReferenceMessage(): SlackMessage {
  return noteMessage({
    state: 'No reference found in that message',
    body: [rich`Type ${code('/pay lookup <reference>')} instead.`],
  });
}

/**
 * Looks up again, so that the post is up to date and the button needs no answer in its value. Posts at once, without the
 * outbox, because the person waits.
 */
async function share(deps: Lookups, pressed: Pressed): Promise<void> {
  const { caller, view: modal, reply, updateModal } = pressed;
  const question = parseQuestion(lookUpWords(pressed.value));
  if (!question.ok) return;
  const channel = modal ? modal.privateMetadata : caller.channelId;
  if (!isChannel(channel)) return await reply(noteMessage(noChannelNote));
  const { slack, people } = deps.account;
  const view = await deps.ask(question.value);
  const message = sharedMessage(view, caller.userId);
  const named = await withNames(message, channel, { as: 'post', nameOf: people.nameOf });
  const threadTs = modal ? undefined : caller.threadTs;
  const outcome = await createDelivery(slack.interactive).post(channel, named, threadTs);
  const note = notSharedNote(outcome);
  if (!modal) return note && (await reply(noteMessage(note)));
  const may = { share: outcome.kind !== 'posted', reveal: await deps.reveals.may(caller) };
  const shown = transactionModal(view, channel, may);
  const said = note ? noteMessage(note).blocks : [noticeLine('info', 'Shared to the channel.')];
  await updateModal({ ...shown, blocks: [...said, ...shown.blocks] });
}

/** A look-up for a channel, with the e-mail masked. *Look up* answers only the person who presses. */
export function sharedMessage(view: TransactionView, by: string): SlackMessage {
  const note = transactionNote(view);
  return noteMessage({ ...note, body: [...note.body, ...fields({ 'Shared by': [person(by)] })] });
}

const noChannelNote: Note = { state: 'Not shared', body: [rich`Type the look-up in the channel it’s for.`] };

const outsideWords = 'Type /invite @pay here and press again. Where no app can be invited, copy the answer.';

/** Why sharing failed, for the person alone; undefined if the message was posted. */
export function notSharedNote(outcome: PostOutcome): Note | undefined {
  switch (outcome.kind) {
    case 'posted':
      return undefined;
    case 'unsure':
      return {
        state: '⚠️ Slack didn’t say whether it was shared',
        body: [rich`If it isn’t in the channel, press Share to channel again.`],
      };
    case 'refused':
      if (/^(channel_not_found|not_in_channel)$/.test(outcome.slackError))
        return { state: '⚠️ Not shared: the bot isn’t in this conversation', body: [rich`${outsideWords}`] };
      return {
        state: '⚠️ Not shared: Slack refuses the bot here',
        body: [rich`${outcome.fix}`, context(plainText(`Slack says: ${word(outcome.slackError)}`))],
      };
    case 'gone':
      return {
        state: '⚠️ Not shared: this thread takes no replies',
        body: [rich`Look it up in the channel, and share it there.`],
      };
    case 'not_sent':
    case 'rate_limited':
      return { state: '⚠️ Not shared', body: [rich`Slack is busy. Press again in a moment.`] };
  }
}
