import type { OrderReference } from '../domain/order-reference.ts';
import { parsed, type Parsed } from '../domain/parsed.ts';
import type { SlackMessage } from './message.ts';

/** A permission as roles in `payops.yml` list it under `may`. */
export type Permission = string;

/** The permission of what nobody is refused. */
export const anyone: Permission = 'anyone';

/** Who typed or pressed, and where. */
export type Caller = { userId: string; teamId?: string; channelId?: string };

export type Permit = { kind: 'allowed' } | { kind: 'refused'; rule: string; whoCan: string };

/** Whether a caller holds a permission. Never throws: what cannot be found out is a refusal. */
export type MayRun = (permission: Permission, caller: Caller) => Promise<Permit>;

/** What a running verb can do besides answering. */
export type Conversation = {
  caller: Caller;
  /** Gives what the work gives; when that takes more than a moment, tells the person meanwhile. */
  whileWaiting: <T>(work: Promise<T>, message: SlackMessage) => Promise<T>;
};

/** A button of a message that runs the verb again; the value it carries becomes the verb's words. */
export type Button = { actionId: string; words: (value: string) => readonly string[] };

type Facts = {
  /** The word after the slash command. */
  verb: string;
  /** What follows the verb, like `<reference> [amount]`; empty when nothing does. */
  usage: string;
  /** One line, an imperative: *Look up a transaction by its reference*. */
  summary: string;
  /** What a person would type after the slash command, most usual first. */
  examples: readonly string[];
  permission: Permission;
  /** What running it twice would do harm to; with `none` a repeat is simply answered again. */
  effect: 'none' | 'access' | 'money';
  buttons?: readonly Button[];
  /** Words typed without a verb go to this one. */
  takesBareWords?: true;
};

export type Definition<Input> = Facts & {
  parse: (words: readonly string[]) => Parsed<Input>;
  /** The reference the words are about, for the log and for error words. */
  reference?: (input: Input) => OrderReference;
  /** The answer, seen by the caller alone. Throws `ServiceFailure` when the outside is broken; any other throw is a bug. */
  run: (input: Input, conversation: Conversation) => Promise<SlackMessage>;
};

/** One verb with its words read, ready to run. */
export type Prepared = {
  reference?: OrderReference;
  run: (conversation: Conversation) => Promise<SlackMessage>;
};

export type Command = Facts & { prepare: (words: readonly string[]) => Parsed<Prepared> };

/** Closes over the input's type, so that verbs of different inputs stand in one list. */
export function defineCommand<Input>(definition: Definition<Input>): Command {
  const { parse, reference, run, ...facts } = definition;
  return {
    ...facts,
    prepare(words) {
      const input = parse(words);
      if (!input.ok) return input;
      return parsed({
        ...(reference === undefined ? {} : { reference: reference(input.value) }),
        run: (conversation) => run(input.value, conversation),
      });
    },
  };
}

/** What typed text or a pressed button asks for. */
export type Understood =
  | { kind: 'command'; command: Command; words: readonly string[] }
  /** Not a verb and not taken for a reference; the message says what was probably meant. */
  | { kind: 'unclear'; message: SlackMessage };

/** All that can be asked of the bot, as the router needs it. */
export type CommandSet = {
  understand(text: string): Understood;
  /** Undefined for a button that no verb claims. */
  pressed(actionId: string, value: string): Understood | undefined;
  /** What the App Home tab shows. */
  home(caller: Caller): Promise<SlackMessage>;
};
