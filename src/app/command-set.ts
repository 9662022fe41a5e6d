import { parseAmount } from '../domain/money.ts';
import { nearestWord } from '../domain/nearest-word.ts';
import type { Log } from '../log.ts';
import { wordsOf } from '../slack/command-text.ts';
import type { Command, CommandSet, MayRun, Understood } from '../slack/command.ts';
import { unknownVerbMessage } from '../slack/words/error-message.ts';
import { typedLookUpButton } from '../slack/words/evidence.ts';
import { menuActionId } from '../features/help/menu-message.ts';
import type { HomeBlock } from '../slack/kit/message.ts';
import { helpCommand, isListed } from '../features/help/help.ts';
import { homeFor } from '../features/help/home.ts';
import { menuCommand } from '../features/help/menu.ts';

/** What one of several merchant accounts makes of what stands in the set. */
export type OwnWays = {
  /** What becomes of each verb before anything asks for it, help and menu included. */
  bind: (command: Command) => Command;
  /** What becomes of the buttons of the Home. */
  buttons: (blocks: readonly HomeBlock[]) => readonly HomeBlock[];
  /** Of the other accounts: verbs that may have something waiting for whoever asks for the menu. */
  others: () => readonly Command[];
};

/**
 * Makes the verbs answer to what is typed, pressed and submitted, with help and menu made from the very same
 * list. Throws when two verbs share a word, the id of an element or that of a modal.
 */
export function createCommandSet(
  verbs: readonly Command[],
  mayRun: MayRun,
  log: Log,
  own: OwnWays = { bind: (command) => command, buttons: (blocks) => blocks, others: () => [] },
): CommandSet {
  const all: Command[] = [...verbs, helpCommand(() => all, mayRun)].map(withMenuButton).map(own.bind);
  const menu = own.bind(menuCommand(() => all, mayRun, log, own.others));
  const buttons = all.flatMap((command) => (command.buttons ?? []).map((button) => ({ command, button })));
  const presses = all.flatMap((command) => (command.presses ?? []).map((press) => ({ command, press })));
  const modals = all.flatMap((command) => (command.modals ?? []).map((modal) => ({ command, modal })));
  const suggestions = all.flatMap((command) =>
    (command.suggestions ?? []).map((suggestion) => ({ command, suggestion })),
  );
  const shortcuts = all.flatMap((command) =>
    (command.shortcuts ?? []).map((shortcut) => ({ command, shortcut })),
  );
  refuseTwins(all.map(({ verb }) => verb));
  refuseTwins([
    ...buttons.map(({ button }) => button.actionId),
    ...presses.map(({ press }) => press.actionId),
    ...suggestions.map(({ suggestion }) => suggestion.actionId),
  ]);
  refuseTwins(modals.map(({ modal }) => modal.callbackId));
  refuseTwins(shortcuts.map(({ shortcut }) => shortcut.callbackId));

  return {
    understand: (text) => understand(text, all, menu),
    pressed(actionId, value) {
      const found = buttons.find(({ button }) => button.actionId === actionId);
      return found && { kind: 'command', command: found.command, words: found.button.words(value) };
    },
    press: (actionId) => presses.find(({ press }) => press.actionId === actionId),
    modal: (callbackId) => modals.find(({ modal }) => modal.callbackId === callbackId),
    suggestion: (actionId) => suggestions.find(({ suggestion }) => suggestion.actionId === actionId),
    verb: (name) => all.find(({ verb }) => verb === name),
    shortcut: (callbackId) =>
      Promise.resolve(shortcuts.find(({ shortcut }) => shortcut.callbackId === callbackId)),
    home: (caller, others = []) =>
      homeFor(caller, { verbs: all, others, ownButtons: own.buttons, mayRun, log }),
  };
}

/** With the button of the menu, which runs the verb without words. */
function withMenuButton(command: Command): Command {
  const { verb, menu, buttons = [] } = command;
  if (menu === undefined) return command;
  return { ...command, buttons: [...buttons, { actionId: menuActionId(verb), words: () => [] }] };
}

/**
 * A verb first; else what is typed is a reference, unless it looks like a slip. A slip is a first word of
 * letters alone that is near a verb, or that is followed by more than an amount. Quotes make anything a
 * reference.
 */
function understand(text: string, verbs: readonly Command[], menu: Command): Understood {
  const words = wordsOf(text);
  const [first, ...rest] = words;
  if (first === undefined) return { kind: 'command', command: menu, words };
  const isQuoted = /^\s*["“”„«]/.test(text);
  const verb = isQuoted ? undefined : verbs.find((command) => command.verb === first.toLowerCase());
  if (verb) return { kind: 'command', command: verb, words: rest };
  const bare = verbs.find((command) => command.takesBareWords);
  const nearest = nearestWord(
    first,
    verbs.filter(isListed).map((command) => command.verb),
  );
  const isSlip = !isQuoted && /^\p{L}+$/u.test(first) && (nearest !== undefined || !endsInAmount(rest));
  return bare && !isSlip ? { kind: 'command', command: bare, words } : unclear(words, nearest, bare);
}

function endsInAmount(rest: readonly string[]): boolean {
  const [amount, ...more] = rest;
  return amount === undefined || (more.length === 0 && parseAmount(amount).ok);
}

/** With a button for what was probably meant: the misspelt look-up, or a reference after all. */
function unclear(
  [typed = '', ...rest]: readonly string[],
  nearest: string | undefined,
  bare: Command | undefined,
): Understood {
  if (nearest !== undefined && nearest === bare?.verb && rest.length > 0) return slip(typed, nearest, rest);
  const { text, blocks } = unknownVerbMessage(typed, nearest);
  const button = typedLookUpButton(`Look up the reference “${typed}”`, typed);
  return { kind: 'unclear', message: { text, blocks: [...blocks, ...button] } };
}

function slip(typed: string, nearest: string, rest: readonly string[]): Understood {
  const [reference = '', second = ''] = rest;
  const amount = parseAmount(second);
  const meant = [nearest, ...rest.map((word) => (word.includes(' ') ? `"${word}"` : word))].join(' ');
  const { text, blocks } = unknownVerbMessage(typed, meant);
  const button = typedLookUpButton(`Look up ${reference}`, reference, amount.ok ? amount.value : undefined);
  return { kind: 'unclear', message: { text, blocks: [...blocks, ...button] } };
}

function refuseTwins(names: readonly string[]): void {
  const twin = names.find((name, index) => names.indexOf(name) !== index);
  if (twin !== undefined) throw new Error(`two verbs share “${twin}”`);
}
