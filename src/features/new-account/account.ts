import { refLength, type AccountField, type Length } from '../../domain/account-field.ts';
import { parseAccountKey, type AccountAnswer, type AccountKey } from '../../domain/account.ts';
import { parsed, problem, type Parsed } from '../../domain/parsed.ts';
import type { BeginAccount } from './create-account.ts';
import { accountMessage, noAccountMessage, refusedKeyMessage } from './account-message.ts';
import {
  accountActions,
  accountEndMessage,
  accountEndModal,
  accountModal,
  accountModalId,
  creatingModal,
  readAccountModal,
  readWanted,
} from './new-account.ts';
import { headline } from '../../slack/kit/blocks.ts';
import { askedHereAlone, type ChargePlace } from '../../slack/words/charge-place.ts';
import {
  defineCommand,
  type Command,
  type Permission,
  type Pressed,
  type Submission,
  type ViewAnswer,
} from '../../slack/command.ts';
import { word } from '../../slack/words/evidence.ts';
import type { SlackMessage } from '../../slack/kit/message.ts';
import type { ShowEnd } from '../../slack/show-end.ts';

export type AccountDeps = ChargePlace & {
  /** Throws `ServiceFailure` when the service gave no usable answer. */
  findAccount: (key: AccountKey) => Promise<AccountAnswer>;
  beginAccount: BeginAccount;
  /** What the form asks for; see the settings. */
  accountFields: readonly AccountField[];
  showEnd: ShowEnd;
  now: () => number;
};

/** To create an account; the look-up alone needs `accounts`. */
export const newAccountPermission: Permission = 'account-new';

type Question = { kind: 'look_up'; key: AccountKey } | { kind: 'new' };

/** `/pay account <id or reference>`: one sub account; `/pay account new`: the form for another. */
export function accountCommand(deps: AccountDeps): Command {
  return defineCommand<Question>({
    verb: 'account',
    usage: '<id or reference> | new',
    summary: 'Show or create a sub account',
    examples: ['account PLAYGROUND-SUB-00003', 'account new'],
    permission: 'accounts',
    effect: 'none',
    alsoNeeds: ({ kind }) => (kind === 'new' ? newAccountPermission : undefined),
    parse: (words) => parseQuestion(words, refLength(deps.accountFields)),
    modals: [
      {
        callbackId: accountModalId,
        effect: 'access',
        ifNoAnswer: 'If none comes, look at /pay accounts before you create it again.',
        permissions: [newAccountPermission],
        submit: (submission) => createIt(deps, submission),
      },
    ],
    presses: [
      { actionId: accountActions.lookUp, press: (pressed) => lookUpPressed(deps, pressed) },
      {
        actionId: accountActions.again,
        permissions: [newAccountPermission],
        press: (pressed) => correctAgain(deps, pressed),
      },
    ],

    async run(question, { openModal, whileWaiting }) {
      if (question.kind === 'look_up') {
        return await whileWaiting(lookUp(deps, question.key), stillLooking(question.key));
      }
      await openModal(accountModal(deps.accountFields, deps));
      return undefined;
    },
  });
}

function parseQuestion(words: readonly string[], length: Length): Parsed<Question> {
  const [first = '', ...rest] = words;
  if (rest.length > 0) return problem('Give one account id or reference, or the word new.');
  if (first.toLowerCase() === 'new') return parsed({ kind: 'new' });
  const key = parseAccountKey(first, length);
  return key.ok ? parsed({ kind: 'look_up', key: key.value }) : key;
}

async function lookUp(deps: AccountDeps, key: AccountKey): Promise<SlackMessage> {
  const shown = { place: deps, nowMs: deps.now() };
  const answer = await deps.findAccount(key);
  switch (answer.kind) {
    case 'found':
      return accountMessage(answer.account, shown);
    case 'not_found':
      return askedHereAlone(noAccountMessage(key, shown), deps);
    case 'refused':
      return refusedKeyMessage(key, answer.message, shown);
  }
}

function stillLooking({ value }: AccountKey): SlackMessage {
  const { text, block } = headline('⏳ Looking up the account …', [word(value) ?? '']);
  return { text, blocks: [block] };
}

async function lookUpPressed(deps: AccountDeps, { value, reply }: Pressed): Promise<void> {
  const key = parseAccountKey(value);
  if (key.ok) await reply(await lookUp(deps, key.value));
}

/** Asked for once, whoever submits it how often: what is known already is looked up and shown instead. */
async function createIt(deps: AccountDeps, submission: Submission): Promise<ViewAnswer> {
  const { caller, viewId, values } = submission;
  const read = readAccountModal(values, deps.accountFields);
  if (read.kind === 'errors') return read;
  const asked = await deps.beginAccount({ viewId, wanted: read.wanted, by: caller.userId });
  return {
    kind: 'update',
    modal: creatingModal(asked, deps),
    async carryOn() {
      const end = await asked.carryOn();
      const modal = accountEndModal(end, asked, deps);
      const message = accountEndMessage(end, asked, { place: deps, nowMs: deps.now() });
      await deps.showEnd({ viewId, userId: caller.userId }, { modal, message });
    },
  };
}

/** Back to the form, in the same dialogue; the bot's own reference stays the view's. */
async function correctAgain(deps: AccountDeps, { view, updateModal }: Pressed): Promise<void> {
  if (!view) return;
  await updateModal(accountModal(deps.accountFields, deps, readWanted(view.privateMetadata)));
}
