import type { Environment } from '../../domain/alert.ts';
import { candidateReferences } from '../../domain/candidate-references.ts';
import { merchantId } from '../../domain/merchant.ts';
import { parseAmount } from '../../domain/money.ts';
import { listed, nearestWord, parsed, problem, type Parsed } from '../../domain/wording.ts';
import type { Log } from '../../log.ts';
import { button, context, plainText, rich } from '../../slack/kit/blocks.ts';
import { noteMessage } from '../../slack/kit/note.ts';
import { wordsOf } from '../../slack/command-text.ts';
import {
  anyone,
  permissionsOf,
  type AccountSide,
  type CommandButton,
  type Caller,
  type Command,
  type CommandSet,
  type Found,
  type Mention,
  type Parts,
  type Understood,
} from '../../slack/command.ts';
import { permitFor } from '../../slack/answer.ts';
import { unknownVerbMessage, usageMessage } from '../../slack/words/error-message.ts';
import { accountWords } from '../../slack/words/account-foot.ts';
import { typedLookUpButton } from '../../slack/words/payment-words.ts';
import { menuCommand } from './menu.ts';
import type { SlackMessage } from '../../slack/kit/message.ts';
import { inAccount } from '../../slack/own-account.ts';
import { helpCommand, isListed, type ListedAccount } from './help.ts';
import { homeFor } from './home.ts';

export type AccountCommands = AccountSide & {
  environment: Environment;
  /** The account's name for people, with its square and colour word. */
  label: string;
  /** Channels where commands are for this account by default. */
  channels: readonly string[];
  commands: readonly Command[];
};

type Listed = AccountCommands & { all: readonly Command[]; menu: Command; accountLabel: string | undefined };

/**
 * All commands of all accounts behind the one slash command, with their help and menu. The account is the one in
 * `--account NAME`, else the channel's default, else the first. A press or form goes to the account in its id, in any
 * channel. Throws if two commands share a name or an id.
 */
export function createCommandSet(
  accounts: readonly [AccountCommands, ...AccountCommands[]],
  log: Log,
): CommandSet {
  const names = accounts.flatMap(({ merchant }) => merchant?.name ?? []);
  const [first, ...further] = accounts;
  const lists: readonly [Listed, ...Listed[]] = [list(first), ...further.map(list)];
  const ids = idsOf(lists);

  function list(one: AccountCommands): Listed {
    const { merchant, mayRun } = one;
    const own = (command: Command): Command =>
      merchant ? ofAccount(command, { ...one, merchant }, names) : command;
    const all: Command[] = [...one.commands, helpCommand(() => all, mayRun)].map(own);
    const others = (): ListedAccount[] =>
      lists
        .filter((other) => other.merchant !== merchant)
        .map((other) => ({ ...other, commands: other.all.filter((command) => command.open !== undefined) }));
    const menu = own(menuCommand(() => all, others, mayRun, log));
    const accountLabel = merchant && accountWords(one.environment, one.label);
    return { ...one, all, menu, accountLabel };
  }
  function defaultFor(channelId: string | undefined): Listed {
    return lists.find(({ channels }) => channelId !== undefined && channels.includes(channelId)) ?? lists[0];
  }

  /** The account that the text or the channel names, and what the text asks of it. */
  function readFor(
    text: string,
    channelId: string | undefined,
    understood: (text: string, account: Listed) => Understood,
  ): { account: Listed; understood: Understood } {
    const usual = defaultFor(channelId);
    const read: Parsed<MerchantWords> =
      names.length === 0 ? parsed({ text }) : readMerchantWords(text, names);
    if (!read.ok) {
      const message = usageMessage(read.problem, '/pay lookup INV-2041 --account NAME');
      return { account: usual, understood: { kind: 'unclear', message } };
    }
    const { name, text: rest } = read.value;
    const named = lists.find(({ merchant }) => name !== undefined && merchant?.name === name);
    const account = named ?? usual;
    return { account, understood: inAccount(account.merchant, () => understood(rest, account)) };
  }

  return {
    understand: (text, channelId) => readFor(text, channelId, understand),
    mentioned: (mention, channelId) =>
      readFor(mention.text, channelId, (text, account) => understandMention({ ...mention, text }, account)),
    find: (kind, id) => ids[kind].get(id),
    async shortcut(callbackId, caller) {
      const all = lists.flatMap((account) =>
        account.all.flatMap((command) =>
          (command.shortcuts ?? []).flatMap((part) =>
            part.callbackId === callbackId ? [{ account, command, part }] : [],
          ),
        ),
      );
      const found = all.find(({ account }) => account === defaultFor(caller.channelId));
      // A global shortcut has no channel: use the first account that permits the person.
      return found?.part.kind === 'global' ? ((await firstPermitted(caller, all)) ?? found) : found;
    },
    async home(caller) {
      const all = lists.flatMap((account) => account.commands.map((command) => ({ account, command })));
      const own = (await firstPermitted(caller, all))?.account ?? lists[0];
      const others = lists
        .filter((one) => one !== own)
        .map((one) => ({ ...one, commands: one.all.filter((command) => command.home !== undefined) }));
      return await homeFor(caller, { own: { ...own, commands: own.all }, others, log });
    },
  };
}

/** The typed text without the option, and the account's name in lower case. */
type MerchantWords = { text: string; name?: string };

/** Matches the option, and quoted text to skip it: quotes hold a reference. Phones turn two hyphens into a dash. */
const accountOption =
  /"[^"]*"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|(?<=^|\s)(?:--|—|–)account(?:[\s=]+(?!--|—|–)([^\s"“”„«»]+)|(?=[\s=]|$)=?)/giu;

/** Takes `--account NAME` out of the typed text, wherever it is. */
export function readMerchantWords(text: string, names: readonly string[]): Parsed<MerchantWords> {
  const found: (string | undefined)[] = [];
  const rest = text.replaceAll(accountOption, (whole: string, name?: string) => {
    if (/^["“„«]/.test(whole)) return whole;
    found.push(name?.toLowerCase());
    return ' ';
  });
  if (found.length === 0) return parsed({ text });
  const [name, ...more] = found;
  if (name === undefined || more.length > 0)
    return problem(`Name one account after --account: ${names.join(', ')}.`);
  if (names.includes(name)) return parsed({ text: rest.trim(), name });
  const nearest = nearestWord(name, names);
  const hint = nearest === undefined ? '' : ` Did you mean --account ${nearest}?`;
  return problem(`There is no account “${name}”.${hint} The accounts are ${names.join(', ')}.`);
}

type Ids = { [Kind in keyof Parts]: Map<string, Found<Parts[Kind]>> };

/** All ids as sent to Slack, with the account's name, and the part that each id names. */
function idsOf(lists: readonly Listed[]): Ids {
  const ids: Ids = { action: new Map(), suggestion: new Map(), modal: new Map() };
  const taken = new Set<string>();
  function take(name: string): void {
    if (taken.has(name)) throw new Error(`two commands share “${name}”`);
    taken.add(name);
  }
  for (const account of lists) {
    const { merchant } = account;
    for (const command of account.all) {
      take(`${command.verb} ${merchant?.name ?? ''}`);
      const { menu, buttons = [], presses = [], suggestions = [], modals = [] } = command;
      function add<Part>(to: Map<string, Found<Part>>, id: string, part: Part): void {
        const wire = merchant ? merchantId(id, merchant) : id;
        take(`${to === ids.modal ? 'modal' : 'action'} ${wire}`);
        to.set(wire, { account, command, part });
      }
      const own: CommandButton[] = menu === undefined ? [] : [{ actionId: menu.actionId, words: () => [] }];
      for (const part of [...buttons, ...own, ...presses]) add(ids.action, part.actionId, part);
      for (const part of suggestions) add(ids.suggestion, part.actionId, part);
      for (const part of modals) add(ids.modal, part.callbackId, part);
    }
  }
  return ids;
}

/** The first command that the person may use, in the order of the accounts. */
async function firstPermitted<One extends { account: AccountSide; command: Command }>(
  caller: Caller,
  all: readonly One[],
): Promise<One | undefined> {
  for (const one of all) {
    const { command, account } = one;
    const permit = await permitFor(caller, permissionsOf(command), account.mayRun);
    if (permit.kind === 'allowed') return one;
  }
  return undefined;
}

/** The command, as one of several accounts has it. */
function ofAccount(
  command: Command,
  { merchant, environment, label }: AccountCommands & { merchant: NonNullable<AccountCommands['merchant']> },
  names: readonly string[],
): Command {
  const accountLabel = accountWords(environment, label);
  const own = { ...command, merchant: merchant.name };
  const others = names.filter((name) => name !== merchant.name);
  return command.permission === anyone ? withAccountLine(own, accountLabel, others) : own;
}

/** Adds to help or menu which account they are for, and how to choose another. */
function withAccountLine(command: Command, accountLabel: string, others: readonly string[]): Command {
  const sentence = `This is for ${accountLabel}. For another account, add --account ${listed(others, 'or')}.`;
  function said(message: SlackMessage | undefined): SlackMessage | undefined {
    return message && { ...message, blocks: [...message.blocks, context(plainText(sentence))] };
  }
  return {
    ...command,
    prepare(words) {
      const read = command.prepare(words);
      if (!read.ok) return read;
      const { run } = read.value;
      return parsed({ ...read.value, run: async (conversation) => said(await run(conversation)) });
    },
  };
}

/**
 * What typed text asks for. A command's name comes first; else the text is a reference, unless its first word looks like a
 * mistyped command: only letters, and either near a command's name or followed by more than an amount. Quotes make
 * anything a reference.
 */
function understand(text: string, { all, menu }: Pick<Listed, 'all' | 'menu'>): Understood {
  const words = wordsOf(text);
  const [first, ...rest] = words;
  if (first === undefined) return { kind: 'command', command: menu, words };
  const isQuoted = /^\s*["“”„«]/.test(text);
  const verb = isQuoted ? undefined : all.find((command) => command.verb === first.toLowerCase());
  if (verb) return { kind: 'command', command: verb, words: rest };
  const elsewhere = isQuoted ? undefined : doneElsewhere(first.toLowerCase(), all);
  if (elsewhere) return elsewhere;
  const own = isQuoted
    ? undefined
    : all.find(({ takesBareWords }) => typeof takesBareWords === 'function' && takesBareWords(words));
  if (own) return { kind: 'command', command: own, words };
  const bare = all.find((command) => command.takesBareWords === true);
  const nearest = nearestWord(
    first,
    all.filter(isListed).map((command) => command.verb),
  );
  const isMistyped = !isQuoted && /^\p{L}+$/u.test(first) && (nearest !== undefined || !endsInAmount(rest));
  return bare && !isMistyped ? { kind: 'command', command: bare, words } : unclear(words, nearest, bare);
}

/** The answer to a word that people type although no command has that name. */
function doneElsewhere(typed: string, all: readonly Command[]): Understood | undefined {
  const found = all.find(({ elsewhere }) => elsewhere?.words.includes(typed))?.elsewhere;
  return found && { kind: 'unclear', message: found.answer(typed) };
}

/**
 * A mention looks up its reference, with any words around it. A mention doesn't run other commands: the answer to their
 * names has a button.
 */
function understandMention(mention: Mention, { all }: Pick<Listed, 'all'>): Understood {
  const first = wordsOf(mention.text)[0]?.toLowerCase() ?? '';
  const lookUp = all.find((command) => command.mention !== undefined);
  const verb = all.find((command) => command.verb === first && command !== lookUp);
  const elsewhere = verb ? undefined : doneElsewhere(first, all);
  if (elsewhere) return elsewhere;
  const command = verb ?? lookUp;
  if (!command)
    return { kind: 'unclear', message: usageMessage('Nothing can be looked up here.', '/pay help') };
  const prepared = verb
    ? { run: () => Promise.resolve(notTypedMessage(verb)) }
    : (lookUp?.mention?.(mention) ?? { run: () => Promise.resolve(undefined) });
  return { kind: 'read', command, prepared };
}

/** A mention brings no trigger for a form, but the press of a button does. */
function notTypedMessage({ verb, menu }: Command): SlackMessage {
  return menu === undefined
    ? noteMessage({
        state: `Type /pay ${verb} in the channel`,
        body: [rich`In a thread the bot looks references up, and nothing else.`],
      })
    : noteMessage({
        state: `/pay ${verb} opens by its button`,
        buttons: [button({ actionId: menu.actionId, text: menu.text })],
      });
}

function endsInAmount(rest: readonly string[]): boolean {
  const [amount, ...more] = rest;
  return amount === undefined || (more.length === 0 && parseAmount(amount).ok);
}

/** No command; has a button for what the text likely means, a look-up with a misspelt name or a reference. */
function unclear(
  [typed = '', ...rest]: readonly string[],
  nearest: string | undefined,
  bare: Command | undefined,
): Understood {
  if (nearest !== undefined && nearest === bare?.verb && rest.length > 0)
    return misspelt(typed, nearest, rest);
  const [reference = typed] = candidateReferences([[typed, ...rest].join(' ')]);
  const button = typedLookUpButton(`Look up “${reference}”`, reference);
  return { kind: 'unclear', message: unknownVerbMessage(typed, nearest, button) };
}

function misspelt(typed: string, nearest: string, rest: readonly string[]): Understood {
  const [reference = '', second = ''] = rest;
  const amount = parseAmount(second);
  const meant = [nearest, ...rest.map((word) => (word.includes(' ') ? `"${word}"` : word))].join(' ');
  const button = typedLookUpButton(`Look up ${reference}`, reference, amount.ok ? amount.value : undefined);
  return { kind: 'unclear', message: unknownVerbMessage(typed, meant, button) };
}
