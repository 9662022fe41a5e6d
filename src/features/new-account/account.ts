import type { Account, Feature } from '../../account.ts';
import { refLength, type Length } from '../../domain/account-field.ts';
import { parseAccountKey, type AccountKey } from '../../domain/account.ts';
import { parsed, problem, type Parsed } from '../../domain/parsed.ts';
import { createBeginAccount, type BeginAccount } from './create-account.ts';
import {
  accountActions,
  accountEndMessage,
  accountEndModal,
  accountMessage,
  accountModal,
  accountModalId,
  creatingModal,
  noAccountMessage,
  readAccountModal,
  readWanted,
  refusedKeyMessage,
} from './new-account.ts';
import { headline } from '../../slack/kit/blocks.ts';
import { askedHereAlone } from '../../slack/words/charge-place.ts';
import {
  defineCommand,
  type Permission,
  type Pressed,
  type Submission,
  type ViewAnswer,
} from '../../slack/command.ts';
import { word } from '../../slack/words/evidence.ts';
import type { SlackMessage } from '../../slack/kit/message.ts';

/** To create an account; the look-up alone needs `accounts`. */
export const newAccountPermission: Permission = 'account-new';

type Question = { kind: 'look_up'; key: AccountKey } | { kind: 'new' };

/**
 * `/pay account <id or reference>`: one sub account; `/pay account new`: the form for another. A new one is asked for
 * at most once under its reference (`create-account.ts`).
 */
export function createNewAccount(account: Account): Feature {
  const { place, settings } = account;
  const fields = settings.accountNewFields;
  const begin = createBeginAccount({
    ...account,
    ...account.payments,
    fields,
    note: account.audit.note,
  });
  const verb = defineCommand<Question>({
    verb: 'account',
    usage: '<reference> | new',
    summary: 'Show or create',
    examples: ['account PLAYGROUND-SUB-00003', 'account new'],
    permission: 'accounts',
    effect: 'none',
    alsoNeeds: ({ kind }) => (kind === 'new' ? newAccountPermission : undefined),
    parse: (words) => parseQuestion(words, refLength(fields)),
    modals: [
      {
        callbackId: accountModalId,
        effect: 'access',
        ifNoAnswer: 'If none comes, look at /pay accounts before you create it again.',
        permissions: [newAccountPermission],
        submit: (submission) => createIt(account, begin, submission),
      },
    ],
    presses: [
      { actionId: accountActions.lookUp, press: (pressed) => lookUpPressed(account, pressed) },
      {
        actionId: accountActions.again,
        permissions: [newAccountPermission],
        press: (pressed) => correctAgain(account, pressed),
      },
    ],

    async run(question, { openModal, whileWaiting }) {
      if (question.kind === 'look_up') {
        return await whileWaiting(lookUp(account, question.key), stillLooking(question.key));
      }
      await openModal(accountModal(fields, place));
      return undefined;
    },
  });
  return { verbs: [verb] };
}

function parseQuestion(words: readonly string[], length: Length): Parsed<Question> {
  const [first = '', ...rest] = words;
  if (rest.length > 0) return problem('Give one account id or reference, or the word new.');
  if (first.toLowerCase() === 'new') return parsed({ kind: 'new' });
  const key = parseAccountKey(first, length);
  return key.ok ? parsed({ kind: 'look_up', key: key.value }) : key;
}

async function lookUp({ payments, place, now }: Account, key: AccountKey): Promise<SlackMessage> {
  const shown = { place, nowMs: now() };
  const answer = await payments.findAccount(key);
  switch (answer.kind) {
    case 'found':
      return accountMessage(answer.account, shown);
    case 'not_found':
      return askedHereAlone(noAccountMessage(key, shown), place);
    case 'refused':
      return refusedKeyMessage(key, answer.message, shown);
  }
}

function stillLooking({ value }: AccountKey): SlackMessage {
  const { text, block } = headline('⏳ Looking up the account …', [word(value) ?? '']);
  return { text, blocks: [block] };
}

async function lookUpPressed(account: Account, { value, reply }: Pressed): Promise<void> {
  const key = parseAccountKey(value);
  if (key.ok) await reply(await lookUp(account, key.value));
}

/** Asked for once, whoever submits it how often: what is known already is looked up and shown instead. */
async function createIt(
  { place, settings, slack, now }: Account,
  begin: BeginAccount,
  { caller, viewId, values }: Submission,
): Promise<ViewAnswer> {
  const read = readAccountModal(values, settings.accountNewFields);
  if (read.kind === 'errors') return read;
  const asked = await begin({ viewId, wanted: read.wanted, by: caller.userId });
  return {
    kind: 'update',
    modal: creatingModal(asked, place),
    async carryOn() {
      const end = await asked.carryOn();
      const modal = accountEndModal(end, asked, place);
      const message = accountEndMessage(end, asked, { place, nowMs: now() });
      await slack.showEnd({ viewId, userId: caller.userId }, { modal, message });
    },
  };
}

/** Back to the form, in the same dialogue; the bot's own reference stays the view's. */
async function correctAgain({ place, settings }: Account, { view, updateModal }: Pressed): Promise<void> {
  if (!view) return;
  await updateModal(accountModal(settings.accountNewFields, place, readWanted(view.privateMetadata)));
}
