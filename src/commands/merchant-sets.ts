import type { Environment } from '../domain/alert.ts';
import type { Merchant } from '../domain/merchant.ts';
import { parsed } from '../domain/parsed.ts';
import type { Log } from '../log.ts';
import { context, plainText } from '../slack/blocks.ts';
import { anyone, type Command, type CommandSet, type MayRun, type Understood } from '../slack/command.ts';
import { usageMessage } from '../slack/error-message.ts';
import { placeWords } from '../slack/evidence.ts';
import { merchantIds } from '../slack/merchant-ids.ts';
import type { SlackMessage } from '../slack/message.ts';
import { createCommandSet } from './command-set.ts';
import { withChoice } from './merchant-choice.ts';
import { merchantCommand } from './merchant-command.ts';
import { ofWhoKnows } from './merchant-knows.ts';
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
  const choices = all.map(({ merchant: { name }, label, environment }) => ({
    name,
    label: placeWords(environment, label),
  }));
  const sets = all.map((one) => ({
    ...one,
    set: createCommandSet(one.verbs, mayRun, log, (command) => bind(command, one)),
  }));
  const [first, ...further] = sets;
  if (!first) throw new Error('no account has verbs');

  function bind(command: Command, { merchant, label, environment }: MerchantVerbs): Command {
    if (command.permission === anyone) {
      return merchantCommand(withPlace(command, placeWords(environment, label), names), merchant);
    }
    return withChoice(command, merchant, { choices, mayRun, verbOf });
  }
  function verbOf(name: string, verb: string): Command | undefined {
    return sets.find(({ merchant }) => merchant.name === name)?.set.verb(verb);
  }

  return {
    understand: (text, channelId) => understand(text, channelId, { sets: [first, ...further], mayRun }),
    pressed: (actionId, value) => firstOf(sets, ({ set }) => set.pressed(actionId, value)),
    press: (actionId) => firstOf(sets, ({ set }) => set.press(actionId)),
    modal: (callbackId) => firstOf(sets, ({ set }) => set.modal(callbackId)),
    suggestion: (actionId) => firstOf(sets, ({ set }) => set.suggestion(actionId)),
    verb: (name) => first.set.verb(name),
    home: (caller) => first.set.home(caller, sets.slice(1).flatMap(homesOf)),
  };
}

type Sets = readonly [MerchantSet, ...MerchantSet[]];

function understand(
  text: string,
  channelId: string | undefined,
  { sets, mayRun }: { sets: Sets; mayRun: MayRun },
): Understood {
  const names = sets.map(({ merchant }) => merchant.name);
  const words = readMerchantWords(text, names);
  if (!words.ok) {
    const message = usageMessage(words.problem, `/pay charge --account ${names.at(-1)}`);
    return { kind: 'unclear', message };
  }
  const { name } = words.value;
  const named = sets.find(({ merchant }) => merchant.name === name);
  const here = sets.find(({ channels }) => channelId !== undefined && channels.includes(channelId));
  const usual = here ?? sets[0];
  const { set, merchant } = named ?? usual;
  const understood = set.understand(words.value.text);
  if (understood.kind === 'unclear') {
    return { kind: 'unclear', message: merchantIds(merchant).message(understood.message) };
  }
  if (named) return understood;
  const inOrder = [usual, ...sets.filter((one) => one !== usual)];
  return { ...understood, command: ofWhoKnows(understood.command, inOrder, mayRun) };
}

/** What each verb of the account has for a person, below whose it is. */
function homesOf({ set, verbs, label, environment }: MerchantSet): Command[] {
  const whose = context(plainText(placeWords(environment, label)));
  return verbs.flatMap(({ verb }) => {
    const command = set.verb(verb);
    const home = command?.home;
    if (!command || !home) return [];
    return {
      ...command,
      async home(caller) {
        const blocks = await home(caller);
        return blocks.length === 0 ? [] : [whose, ...blocks];
      },
    } satisfies Command;
  });
}

/** Help and menu say whose verbs they list, and how to mean another’s. */
function withPlace(command: Command, place: string, names: readonly string[]): Command {
  const say = `${place} is meant here. Another: --account with ${names.join(', ')}.`;
  function placed(message: SlackMessage | undefined): SlackMessage | undefined {
    return message && { ...message, blocks: [...message.blocks, context(plainText(say))] };
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
