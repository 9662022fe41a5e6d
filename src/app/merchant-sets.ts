import type { Environment } from '../domain/alert.ts';
import type { Merchant } from '../domain/merchant.ts';
import { parsed } from '../domain/parsed.ts';
import type { Log } from '../log.ts';
import { code, context, plainText, words as say } from '../slack/kit/blocks.ts';
import {
  anyone,
  type Caller,
  type Command,
  type CommandSet,
  type MayRun,
  type Shortcut,
  type Understood,
} from '../slack/command.ts';
import { usageMessage } from '../slack/words/error-message.ts';
import { placeWords } from '../slack/words/evidence.ts';
import { merchantIds } from '../slack/merchant-ids.ts';
import type { HomeBlock, SlackMessage } from '../slack/kit/message.ts';
import { createCommandSet } from './command-set.ts';
import { merchantCommand } from './merchant-command.ts';
import { readMerchantWords } from './merchant-words.ts';

/** The verbs made of one account’s functions. */
export type MerchantVerbs = {
  merchant: Merchant;
  environment: Environment;
  /** What people call it, square and colour word included. */
  label: string;
  /** Where it is meant when nobody names one. */
  channels: readonly string[];
  verbs: readonly Command[];
};

type MerchantSet = MerchantVerbs & { set: CommandSet };

/**
 * All accounts’ verbs behind one command: `--account NAME` says whose are meant, else the channel does, else they are
 * the first’s. What is pressed or submitted goes to the account whose id it bears, whatever the channel says.
 */
export function createMerchantSets(all: readonly MerchantVerbs[], mayRun: MayRun, log: Log): CommandSet {
  const names = all.map(({ merchant }) => merchant.name);
  const sets: MerchantSet[] = all.map((one) => ({
    ...one,
    set: createCommandSet(one.verbs, mayRun, log, {
      bind: (command) => bind(command, one),
      buttons: (blocks) => ownButtons(blocks, one),
      others: () => sets.filter(({ merchant }) => merchant !== one.merchant).flatMap(waitingAt),
    }),
  }));
  const [first, ...further] = sets;
  if (!first) throw new Error('no account has verbs');

  function bind(command: Command, { merchant, label, environment }: MerchantVerbs): Command {
    const place = placeWords(environment, label);
    if (command.permission === anyone) return merchantCommand(withPlace(command, place, names), merchant);
    return merchantCommand(homeWithPlace(command, place), merchant);
  }

  const asked: AskedSets = { sets: [first, ...further], mayRun };
  return {
    understand: (text, channelId) => understand(text, channelId, asked.sets),
    pressed: (actionId, value) => firstOf(sets, ({ set }) => set.pressed(actionId, value)),
    press: (actionId) => firstOf(sets, ({ set }) => set.press(actionId)),
    modal: (callbackId) => firstOf(sets, ({ set }) => set.modal(callbackId)),
    suggestion: (actionId) => firstOf(sets, ({ set }) => set.suggestion(actionId)),
    verb: (name) => first.set.verb(name),
    shortcut: (callbackId, caller) => shortcut(callbackId, caller, asked),
    async home(caller) {
      const own = (await firstAllowed(caller, asked)) ?? first;
      return await own.set.home(caller, sets.filter((one) => one !== own).flatMap(homesOf));
    },
  };
}

type AskedSets = { sets: readonly [MerchantSet, ...MerchantSet[]]; mayRun: MayRun };

function understand(text: string, channelId: string | undefined, sets: AskedSets['sets']): Understood {
  const names = sets.map(({ merchant }) => merchant.name);
  const words = readMerchantWords(text, names);
  if (!words.ok) {
    const message = usageMessage(words.problem, `/pay charge --account ${names.at(-1)}`);
    return { kind: 'unclear', message };
  }
  const { name } = words.value;
  const named = sets.find(({ merchant }) => merchant.name === name);
  const { set, merchant } = named ?? usualIn(channelId, sets);
  const understood = set.understand(words.value.text);
  return understood.kind === 'unclear'
    ? { kind: 'unclear', message: merchantIds(merchant).message(understood.message) }
    : understood;
}

/** What is meant where nobody names one. */
function usualIn(channelId: string | undefined, sets: AskedSets['sets']): MerchantSet {
  return sets.find(({ channels }) => channelId !== undefined && channels.includes(channelId)) ?? sets[0];
}

/** On a message, the channel’s account. A global one has no channel: the first account for which the person may do it. */
async function shortcut(
  callbackId: string,
  caller: Caller,
  asked: AskedSets,
): Promise<{ command: Command; shortcut: Shortcut } | undefined> {
  const { sets, mayRun } = asked;
  const found = await usualIn(caller.channelId, sets).set.shortcut(callbackId, caller);
  if (!found) return undefined;
  const { command, shortcut: own } = found;
  if (own.kind === 'message') return found;
  const verbs = sets.flatMap(({ set }) => set.verb(command.verb) ?? []);
  return { command: (await firstPermitted(caller, verbs, mayRun)) ?? command, shortcut: own };
}

/** The first account for which the person may do anything at all. */
async function firstAllowed(caller: Caller, { sets, mayRun }: AskedSets): Promise<MerchantSet | undefined> {
  for (const one of sets) {
    const commands = one.verbs.flatMap(({ verb }) => one.set.verb(verb) ?? []);
    // oxlint-disable-next-line no-await-in-loop -- nearly everybody is allowed something for the first
    if (await firstPermitted(caller, commands, mayRun)) return one;
  }
  return undefined;
}

async function firstPermitted(
  caller: Caller,
  commands: readonly Command[],
  mayRun: MayRun,
): Promise<Command | undefined> {
  const permits = await Promise.all(commands.map(({ permission }) => mayRun(permission, caller)));
  return commands.find((_, index) => permits[index]?.kind === 'allowed');
}

/** Those of a further account stand below whose they are: they are there when the first account’s are not. */
function ownButtons(
  blocks: readonly HomeBlock[],
  { merchant, label, environment }: MerchantVerbs,
): readonly HomeBlock[] {
  if (merchant.isFirst) return blocks;
  return [context(plainText(placeWords(environment, label))), ...merchantIds(merchant).home(blocks)];
}

/** The verbs of the account that may have something for a person’s Home. */
function homesOf({ set, verbs }: MerchantSet): Command[] {
  return verbs.flatMap(({ verb }) => set.verb(verb) ?? []).filter(({ home }) => home !== undefined);
}

/** What the verb has for a person’s Home stands below whose it is: one Home is of all accounts. */
function homeWithPlace(command: Command, place: string): Command {
  const { home } = command;
  if (!home) return command;
  return {
    ...command,
    async home(caller) {
      const blocks = await home(caller);
      return blocks.length === 0 ? [] : [context(plainText(place)), ...blocks];
    },
  };
}

/** What of the account waits for a person, with whose it is and how to get there. */
function waitingAt({ set, verbs, label, merchant }: MerchantSet): Command[] {
  return verbs.flatMap(({ verb }) => {
    const command = set.verb(verb);
    const open = command?.open;
    if (!command || !open) return [];
    return {
      ...command,
      async open(caller) {
        const items = await open(caller);
        if (!items) return undefined;
        const there = code(`/pay ${command.verb} --account ${merchant.name}`);
        return { ...items, line: [...items.line, say(` · ${label} · `), there] };
      },
    } satisfies Command;
  });
}

/** Help and menu say whose verbs they list, and how to mean another’s. */
function withPlace(command: Command, place: string, names: readonly string[]): Command {
  const sentence = `${place} is meant here. Another: --account with ${names.join(', ')}.`;
  function placed(message: SlackMessage | undefined): SlackMessage | undefined {
    return message && { ...message, blocks: [...message.blocks, context(plainText(sentence))] };
  }
  return {
    ...command,
    prepare(words) {
      const read = command.prepare(words);
      if (!read.ok) return read;
      const { run } = read.value;
      return parsed({ ...read.value, run: async (conversation) => placed(await run(conversation)) });
    },
  };
}

function firstOf<From, Found>(
  from: readonly From[],
  find: (one: From) => Found | undefined,
): Found | undefined {
  for (const one of from) {
    const found = find(one);
    if (found !== undefined) return found;
  }
  return undefined;
}
