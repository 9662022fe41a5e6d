import type { Account, Feature } from '../../account.ts';
import {
  type AccountField,
  type Length,
  isAnyLength,
  lengthWords,
  refLength,
  type AccountEnd,
  parseAccountKey,
  createAccountRequests,
} from './create-account.ts';
import type { Account as SubAccount, AccountKey, NewAccount } from '../../payments/accounts.ts';
import { type Parsed, parsed, problem, counted } from '../../domain/wording.ts';
import { limits } from '../../slack/kit/limits.ts';
import { cut, visible } from '../../slack/kit/text.ts';
import { messageModal } from '../../slack/kit/modals.ts';
import {
  type Run,
  bold,
  button,
  code,
  fields,
  modal,
  moment,
  person,
  rich,
  richText,
  select,
  textInput,
  words,
} from '../../slack/kit/blocks.ts';
import {
  type ShownAccount,
  withOtherAccounts,
  checkedFoot,
  accountFoot,
} from '../../slack/words/account-foot.ts';
import {
  type Permission,
  type Pressed,
  type Submission,
  type ViewAnswer,
  defineCommand,
} from '../../slack/command.ts';
import { customerWord, quoted, word } from '../../slack/words/payment-words.ts';
import type { Modal, SlackMessage } from '../../slack/kit/message.ts';
import type { Button, RichTextBlock } from '@slack/types';
import type { NotMade } from '../../domain/failure.ts';
import { withoutUndefined } from '../../domain/json.ts';
import { form, type Field, emailFormProblem } from '../../slack/kit/form.ts';
import { labelled } from '../../slack/words/charge-facts.ts';
import { failureWords } from '../../slack/words/error-message.ts';
import { type Note, noteMessage } from '../../slack/kit/note.ts';
import { maskNumbers } from '../../domain/card.ts';
import { maskPhone } from '../../domain/outside-text.ts';

/** Needed to create an account. A look-up needs only `accounts`. */
export const newAccountPermission: Permission = 'account-new';

type AccountCommand = { kind: 'look_up'; key: AccountKey } | { kind: 'new' };

/**
 * `/pay account <id or reference>` shows a sub account; `/pay account new` opens the form for a new one, which is
 * requested at most once under its reference (`create-account.ts`).
 */
export function createNewAccount(account: Account): Feature {
  const { shownAccount, settings, payments, slack, now } = account;
  const { accountNewFields: fields } = settings;
  const requests = createAccountRequests(account);

  async function lookUp(key: AccountKey): Promise<SlackMessage> {
    const answer = await payments.findAccount(key);
    const shown = { shownAccount, nowMs: now() };
    switch (answer.kind) {
      case 'found':
        return accountMessage(answer.account, shown);
      case 'not_found':
        return withOtherAccounts(noAccountMessage(key, shown), shownAccount);
      case 'refused':
        return refusedKeyMessage(key, answer.message, shown);
    }
  }

  /**
   * Requests the account once, even if submitted twice. If it was requested before, looks it up and shows it instead.
   */
  async function create({ caller, viewId, values }: Submission): Promise<ViewAnswer> {
    const filled = accountForm(fields).read(values);
    if (filled.kind === 'errors') return filled;
    const { userId } = caller;
    const wanted = withoutUndefined(filled.read) as NewAccount;
    const request = await requests.begin({ viewId, wanted, by: userId });
    return {
      kind: 'update',
      modal: resultModal(creatingMessage(request, shownAccount)),
      async carryOn() {
        const message = accountEndMessage(await request.carryOn(), request, { shownAccount, nowMs: now() });
        await slack.showResult({ viewId, userId }, { modal: resultModal(message), message });
      },
    };
  }

  /** Reopens the form, filled in: in its own modal, whose id gives the same generated reference, or in a new modal. */
  async function reopenForm({ value, view, updateModal, openModal }: Pressed): Promise<void> {
    const modal = accountModal(fields, shownAccount, await requests.wantedOf(value));
    await (view ? updateModal(modal) : openModal(modal));
  }

  const verb = defineCommand<AccountCommand>({
    verb: 'account',
    usage: '<reference> | new',
    summary: 'Account',
    examples: ['account PLAYGROUND-SUB-00003', 'account new'],
    permission: 'accounts',
    effect: 'none',
    alsoNeeds: ({ kind }) => (kind === 'new' ? newAccountPermission : undefined),
    parse: (words) => parseCommand(words, refLength(fields)),
    modals: [
      {
        callbackId: accountModalId,
        effect: 'access',
        ifNoAnswer: 'If none comes, look at /pay accounts before you create it again.',
        permissions: [newAccountPermission],
        submit: create,
      },
    ],
    presses: [
      {
        actionId: accountActions.lookUp,
        async press({ value, reply }) {
          const key = parseAccountKey(value);
          if (key.ok) await reply(await lookUp(key.value));
        },
      },
      { actionId: accountActions.again, permissions: [newAccountPermission], press: reopenForm },
    ],

    async run(question, { openModal, whileWaiting }) {
      if (question.kind === 'look_up') {
        return await whileWaiting(lookUp(question.key), lookingUpMessage(question.key));
      }
      await openModal(accountModal(fields, shownAccount));
      return undefined;
    },
  });
  return { verbs: [verb] };
}

function parseCommand(words: readonly string[], length: Length): Parsed<AccountCommand> {
  const [first = '', ...rest] = words;
  if (rest.length > 0) return problem('Give one account id or reference, or the word new.');
  if (first.toLowerCase() === 'new') return parsed({ kind: 'new' });
  const key = parseAccountKey(first, length);
  return key.ok ? parsed({ kind: 'look_up', key: key.value }) : key;
}

function lookingUpMessage({ value }: AccountKey): SlackMessage {
  return noteMessage({ state: '⏳ Looking up the account …', about: [word(value) ?? ''] });
}

const accountActions = {
  lookUp: 'account.look_up',
  again: 'account.again',
} as const;

const accountModalId = 'account_new';

/** The form for a new account, with each field's constraint. Submitting it requests the account. */
export function accountModal(
  fields: readonly AccountField[],
  account: ShownAccount,
  prefill: NewAccount = {},
): Modal {
  return modal({
    callbackId: accountModalId,
    title: 'New account',
    blocks: [...accountForm(fields).inputs(prefill), accountFoot(account)],
    submit: 'Create the account',
  });
}

function accountForm(fields: readonly AccountField[]) {
  return form('account_new', Object.fromEntries(fields.map((field) => [field.name, formField(field)])));
}

/** The form's input for this field. An empty input is read as undefined. */
function formField(field: AccountField): Field<string | undefined> {
  const { name, required, choices, secret } = field;
  const only = choices?.length === 1 ? choices[0] : undefined;
  return {
    input(id, prefilled) {
      const initial = secret ? undefined : (prefilled ?? only);
      const parts = { id, label: labelOf(name), optional: !required, ...withoutUndefined({ initial }) };
      return choices === undefined
        ? textInput({ ...parts, ...withoutUndefined({ hint: hintOf(field) }) })
        : select({ ...parts, choices: choices.map((choice) => ({ text: choice, value: choice })) });
    },
    read(typed) {
      const read = readAccountField(field, typed);
      // The specification also asks for a valid e-mail, in words instead of a length.
      const isEmail = name === 'email' && read.ok && read.value !== undefined;
      const wrong = isEmail ? emailFormProblem(typed) : undefined;
      return wrong === undefined ? read : problem(wrong);
    },
  };
}

const knownLabels: Readonly<Record<string, string>> = {
  accountRef: 'Reference',
  bvn: 'BVN',
  pin: 'PIN',
  email: 'E-mail',
  phoneNumber: 'Telephone number',
};

/** For example "Account name" for `accountName`. */
function labelOf(name: string): string {
  const known = knownLabels[name];
  if (known !== undefined) return known;
  const words = name
    .replaceAll('_', ' ')
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function hintOf(field: AccountField): string | undefined {
  const words = [
    // A limit that nobody can reach would only confuse.
    ...(isAnyLength(field) ? [] : [`${lengthWords(field).replace(/^./, (first) => first.toUpperCase())}.`]),
    ...(field.name === 'accountRef' ? ['Must be unique. Leave empty to have one generated.'] : []),
    ...(field.secret ? ['Sent to the service and not kept.'] : []),
  ];
  return words.length === 0 ? undefined : words.join(' ');
}

function resultModal(message: SlackMessage): Modal {
  return messageModal('New account', message);
}

type ShownRequest = {
  /** The stored request's id. */
  id: string;
  wanted: NewAccount;
  /** The person who requested it earlier; then no new request is made. */
  askedBy?: string;
};

/** Shown during the request. After a crash it stays on screen, so it also says what to do then. */
export function creatingMessage({ wanted, askedBy }: ShownRequest, account: ShownAccount): SlackMessage {
  return noteMessage({
    state: askedBy === undefined ? '⏳ Creating the account …' : '⏳ Looking up the account …',
    about: nameOf(wanted),
    body: [
      rich`You may close this: the result comes as a direct message.`,
      earlierLine(askedBy),
      labelled('If nothing comes within a minute', 'it may have been created: ', ...lookUpWords(wanted)),
    ],
    foot: accountFoot(account),
  });
}

/** The result. If a correction may help, with a button that reopens the form. */
export function accountEndMessage(
  end: AccountEnd,
  request: ShownRequest,
  { shownAccount, nowMs }: FootParts,
): SlackMessage {
  return noteMessage({ ...endNote(end, request), foot: checkedFoot(shownAccount, nowMs) });
}

function endNote(end: AccountEnd, { id, wanted, askedBy }: ShownRequest): Note {
  const about = nameOf(wanted);
  switch (end.kind) {
    case 'created':
      return {
        state: '✓ Account created',
        about,
        body: [earlierLine(askedBy), ...accountFacts({ ...requestedFacts(wanted), ...end.account })],
      };
    case 'not_made':
      return {
        state: '✗ Account not created',
        about,
        body: notMadeLines(end),
        buttons: againButton(end, id),
      };
    case 'doubt':
      return {
        state: '❔ In doubt: the account may have been created',
        about,
        body: [
          rich`The payments service gave no clear answer. ${doubtWords[end.lookUp]}`,
          earlierLine(askedBy),
          labelled('Next', ...lookUpWords(wanted), ' Ask again only if it isn’t there.'),
        ],
        buttons: lookUpButton(wanted),
      };
  }
}

function againButton({ failure }: NotMade, id: string): Button[] {
  if (failure === 'unauthorized' || failure === 'forbidden') return [];
  // An id may be longer than a button's value. The cut id finds no record, and the form opens empty.
  const value = cut(visible(id), limits.buttonValue);
  // A reference of invisible characters alone becomes empty, and Slack refuses a button without a value.
  return value === ''
    ? []
    : [button({ actionId: accountActions.again, text: 'Correct and try again', value })];
}

const doubtWords: Record<Extract<AccountEnd, { kind: 'doubt' }>['lookUp'], string> = {
  not_found: 'A look-up doesn’t find it yet.',
  another: 'Its reference belongs to an account with another name.',
  failed: 'A look-up failed too.',
  impossible: 'It has no reference.',
};

function notMadeLines(end: NotMade): NonNullable<Note['body']> {
  if (end.failure === 'invalid_request') {
    const next = 'correct it. Reference, telephone number or e-mail may belong to another account.';
    const said = quoted('The service says:', end.message);
    return [rich`The service calls the request invalid.`, labelled('Next', next), ...said];
  }
  const { what, next } = failureWords[end.failure];
  const { retryAfterMs } = end.cause;
  const wait = retryAfterMs && `try again in ${counted(Math.ceil(retryAfterMs / 1_000), 'second')}.`;
  return [rich`${what}.`, labelled('Next', wait || next)];
}

function nameOf(wanted: NewAccount): string[] {
  return [word(wanted['accountName'] ?? wanted['accountRef']) ?? ''];
}

/** The requested fields as account facts: the service's answer may leave some out. */
function requestedFacts(wanted: NewAccount): SubAccount {
  const { accountRef, accountName, type, currency, email, phoneNumber, address, description } = wanted;
  const facts = { accountRef, accountName, type, currency, email, phoneNumber, address, description };
  return withoutUndefined(facts);
}

function earlierLine(askedBy: string | undefined): Run[] {
  if (askedBy === undefined) return [];
  return labelled('Asked for before', 'by ', person(askedBy), '. One reference, one account.');
}

function lookUpWords(wanted: NewAccount): Run[] {
  const ref = wanted['accountRef'];
  return ref === undefined
    ? rich`look for it in ${code('/pay accounts')}.`
    : rich`look it up with ${code(`/pay account ${word(ref)}`)}.`;
}

function lookUpButton(wanted: NewAccount): Button[] {
  const ref = parseAccountKey(wanted['accountRef'] ?? '');
  return ref.ok ? [button({ actionId: accountActions.lookUp, text: 'Look up', value: ref.value.value })] : [];
}

/** At most so many bank accounts are shown; the others are counted. */
const mostBanks = 3;

type FootParts = { shownAccount: ShownAccount; nowMs: number };

/** One sub account, its e-mail and telephone number masked. */
export function accountMessage(account: SubAccount, { shownAccount, nowMs }: FootParts): SlackMessage {
  return noteMessage({
    state: 'Account',
    about: [word(account.accountName) ?? '', word(account.status) ?? ''],
    body: accountFacts(account),
    foot: checkedFoot(shownAccount, nowMs),
  });
}

/** The account's facts, at most six lines, and its bank accounts. */
function accountFacts(account: SubAccount): RichTextBlock[] {
  const { accountRef, accountId, type, currency, email, phoneNumber, createdAt, banks = [] } = account;
  const contact = [customerWord(email), phoneNumber === undefined ? '' : maskPhone(phoneNumber)];
  return [
    ...fields({
      Reference: accountRef === undefined ? undefined : [code(word(accountRef) ?? '')],
      'Account id': accountId === undefined ? undefined : [code(word(accountId) ?? '')],
      Kind: [word(type), word(currency)].filter((part) => part !== undefined).join(', ') || undefined,
      Contact: contact.filter((part) => part !== '').join(', ') || undefined,
      Created: createdWord(createdAt),
      Address: word(account.address),
    }),
    ...(banks.length === 0 ? [] : [richText(...bankLines(banks))]),
    ...quoted('Its description:', account.description),
  ];
}

function createdWord(createdAt: string | undefined): readonly Run[] | string | undefined {
  if (createdAt === undefined) return undefined;
  const ms = Date.parse(createdAt);
  // Slack refuses a date before 1970 or after 2286, and with it the whole message.
  return ms >= 0 && ms < 1e13 ? [moment(ms)] : word(createdAt);
}

function bankLines(banks: NonNullable<SubAccount['banks']>): Run[][] {
  const hidden = banks.length - mostBanks;
  return [
    ...banks
      .slice(0, mostBanks)
      .map(({ bankAccountNumber, bankName, bankAccountName }): Run[] => [
        bold('Bank account'),
        words('  '),
        code(word(bankAccountNumber) || 'no number'),
        words([bankName, bankAccountName].map((part) => (part ? ` · ${word(part)}` : '')).join('')),
      ]),
    ...(hidden > 0 ? [rich`… and ${String(hidden)} more.`] : []),
  ];
}

const keyWords: Record<AccountKey['by'], string> = { accountId: 'account id', accountRef: 'reference' };

/** The service knows no such account. */
export function noAccountMessage(
  { by, value }: AccountKey,
  { shownAccount, nowMs }: FootParts,
): SlackMessage {
  return noteMessage({
    state: 'Not found',
    about: [`sub account with the ${keyWords[by]} ${word(maskNumbers(value))}`],
    body: [labelled('Next', 'check the spelling, or look through ', code('/pay accounts'), '.')],
    foot: checkedFoot(shownAccount, nowMs),
  });
}

/** The service refused the reference or id as malformed: its specification declares both as UUIDs. */
export function refusedKeyMessage(
  { by, value }: AccountKey,
  message: string | undefined,
  { shownAccount, nowMs }: FootParts,
): SlackMessage {
  const other = by === 'accountRef' ? 'take its account id from ' : 'find it in ';
  return noteMessage({
    state: `⚠️ The service doesn’t take this ${keyWords[by]}`,
    about: [word(maskNumbers(value)) ?? ''],
    body: [labelled('Next', other, code('/pay accounts'), '.'), ...quoted('The service says:', message)],
    foot: checkedFoot(shownAccount, nowMs),
  });
}

/**
 * Reads a typed field, or says what is wrong, without repeating the typed text: it may be secret. Undefined: an
 * optional field was left empty.
 */
function readAccountField(field: AccountField, typed: string): Parsed<string | undefined> {
  const { required, choices } = field;
  if (typed === '') {
    return required ? problem('This is needed.') : parsed(undefined);
  }
  if (choices !== undefined) {
    return choices.includes(typed) ? parsed(typed) : problem('Choose one of those offered.');
  }
  const { length } = [...typed];
  return length >= field.shortest && length <= field.longest
    ? parsed(typed)
    : problem(`Needs ${lengthWords(field)}; this has ${length}.`);
}
