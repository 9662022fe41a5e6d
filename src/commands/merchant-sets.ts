import type { Merchant } from '../domain/merchant.ts';
import { parsed } from '../domain/parsed.ts';
import type { Log } from '../log.ts';
import { context, plainText } from '../slack/blocks.ts';
import {
  anyone,
  type Command,
  type CommandSet,
  type MayRun,
  type Pressed,
  type Understood,
} from '../slack/command.ts';
import { usageMessage } from '../slack/error-message.ts';
import { placeWords } from '../slack/evidence.ts';
import { merchantIds } from '../slack/merchant-ids.ts';
import { readMerchantChoice, withMerchantChoice, withValues } from '../slack/merchant-choice.ts';
import type { SlackMessage } from '../slack/message.ts';
import { refuse } from '../slack/answer.ts';
import { wordsModal } from '../slack/modals.ts';
import { createCommandSet } from './command-set.ts';
import { merchantCommand } from './merchant-command.ts';
import { readMerchantWords } from './merchant-words.ts';

/** The verbs made of one account’s functions. */
export type MerchantVerbs = {
  merchant: Merchant;
  environment: 'live' | 'sandbox';
  /** What people call it, square and colour word included. */
  label: string;
  /** Where it is meant when nobody names one. */
  channels: readonly string[];
  verbs: readonly Command[];
};

/** A form in front of the person, and the choice in it by which another account’s takes its place. */
const choiceId = 'choose_account';

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
    ids: merchantIds(one.merchant),
    set: createCommandSet(one.verbs, mayRun, log, (command) => bind(command, one)),
  }));
  const [first] = sets;
  if (!first) throw new Error('no account has verbs');

  function bind(command: Command, own: MerchantVerbs): Command {
    const { merchant } = own;
    const named = command.permission === anyone ? withPlace(command, own, names) : command;
    if (command.keepsForOtherAccount === undefined || all.length === 1)
      return merchantCommand(named, merchant);
    const actionId = merchantIds(merchant).id(`${choiceId}_${command.verb}`);
    const bound = merchantCommand(named, merchant, (words, modal) =>
      withMerchantChoice(modal, { actionId, choices, chosen: merchant.name, words }),
    );
    const press = { actionId, press: (pressed: Pressed) => choose(pressed, command) };
    return { ...bound, presses: [...(bound.presses ?? []), press] };
  }

  /** Another account’s form in the place of this one, if the person may use it there. */
  async function choose(pressed: Pressed, { verb, keepsForOtherAccount: kept = [] }: Command): Promise<void> {
    const choice = readMerchantChoice(pressed.value);
    const target = sets.find(({ merchant }) => merchant.name === choice?.name)?.set.verb(verb);
    if (!choice || !target || !pressed.view) return;
    const { caller, view } = pressed;
    const read = target.prepare(choice.words);
    if (!read.ok) return;
    const permissions = [
      target.permission,
      ...(read.value.permission === undefined ? [] : [read.value.permission]),
    ];
    for (const permission of permissions) {
      // oxlint-disable-next-line no-await-in-loop -- two, and the first refusal is told
      const refusal = await refuse(caller, target, mayRun, [permission]);
      if (refusal) return void (await pressed.openModal(wordsModal('Not allowed', refusal)));
    }
    await read.value.run({
      caller,
      async openModal(modal) {
        await pressed.updateModal(withValues(modal, view.values, kept));
        return view.id;
      },
      whileWaiting: (work) => work,
    });
  }

  return {
    understand(text, channelId): Understood {
      const words = readMerchantWords(text, names);
      if (!words.ok)
        return { kind: 'unclear', message: usageMessage(words.problem, `/pay --account ${names[0]} …`) };
      const { name } = words.value;
      const named = sets.find(({ merchant }) => merchant.name === name);
      const here = sets.find(({ channels }) => channelId !== undefined && channels.includes(channelId));
      const { set, ids } = named ?? here ?? first;
      const understood = set.understand(words.value.text);
      if (understood.kind === 'command') return understood;
      return { kind: 'unclear', message: ids.message(understood.message) };
    },
    pressed: (actionId, value) => firstOf(sets, ({ set }) => set.pressed(actionId, value)),
    press: (actionId) => firstOf(sets, ({ set }) => set.press(actionId)),
    modal: (callbackId) => firstOf(sets, ({ set }) => set.modal(callbackId)),
    suggestion: (actionId) => firstOf(sets, ({ set }) => set.suggestion(actionId)),
    verb: (name) => first.set.verb(name),
    home: (caller) => first.set.home(caller, sets.slice(1).flatMap(homesOf)),
  };
}

/** What each verb of the account has for a person, below whose it is. */
function homesOf({ set, verbs, label, environment }: MerchantVerbs & { set: CommandSet }): Command[] {
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
function withPlace(
  command: Command,
  { label, environment }: MerchantVerbs,
  names: readonly string[],
): Command {
  const say = `${placeWords(environment, label)} is meant here. Another: --account with ${names.join(', ')}.`;
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
