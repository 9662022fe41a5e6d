import type { InputBlock } from '@slack/types';
import type { Merchant } from '../domain/merchant.ts';
import type { OrderReference } from '../domain/order-reference.ts';
import { parsed, type Parsed } from '../domain/wording.ts';
import { withoutUndefined } from '../domain/json.ts';
import type { Choice, Run } from './kit/blocks.ts';
import type { Home, MessageBlock, Modal, SlackMessage } from './kit/message.ts';

/** A permission, as listed under `may` in `payops.yml`. */
export type Permission = string;

/** The permission that everybody has. */
export const anyone: Permission = 'anyone';

/** The person, and where they typed or pressed. Ids of direct messages begin with D. */
export type Caller = {
  userId: string;
  teamId?: string;
  /** Absent in a modal, the App Home and a shortcut without a message. */
  channelId?: string;
  /** The thread it was typed or pressed in. */
  threadTs?: string;
  /** The surface, as Slack says. A modal's channel was checked when it opened. */
  from?: 'command' | 'message' | 'modal' | 'home' | 'shortcut';
};

/** Its texts are sentences without the full stop. */
export type Refused = {
  kind: 'refused';
  rule: string;
  whoCan: string;
  /** Where the person is allowed: channel ids, or `direct`. */
  where?: readonly string[];
  /** Refused by a role of `payops.yml`. Show `rule` and `whoCan` only to people who can change roles. */
  isByRole?: true;
  /** Some people who may, by user id. */
  people?: readonly string[];
  /** For the authors of `payops.yml`: groups that count as empty, and why. */
  notes?: readonly string[];
};

export type Permit = { kind: 'allowed' } | Refused;

/** Whether a caller holds a permission. Never throws: if unknown, refuses. */
export type MayRun = (permission: Permission, caller: Caller) => Promise<Permit>;

/**
 * Opens a modal, on top of the one pressed in, and returns its view id. Works for three seconds after the person's action;
 * throws `ModalRefused` if Slack does not open it.
 */
export type OpenModal = (modal: Modal) => Promise<string>;

/** What a running verb can do besides answering. */
export type Conversation = {
  caller: Caller;
  openModal: OpenModal;
  /**
   * Returns the work's result; if it is slow, shows the message meanwhile. A function is called several times, to show
   * progress.
   */
  whileWaiting: <T>(work: Promise<T>, message: SlackMessage | (() => SlackMessage)) => Promise<T>;
};

/** A message button that runs the verb again, with words from its value. */
export type Button = { actionId: string; words: (value: string) => readonly string[] };

/** Values of a modal's inputs, by block id: typed text or a chosen value; blank ones are absent. */
export type ViewValues = Readonly<Record<string, string>>;

/** A submitted modal. `viewId` survives every `update`, so it identifies one dialogue. */
export type Submission = { caller: Caller; viewId: string; privateMetadata: string; values: ViewValues };

/**
 * The answer to a submitted modal, within Slack's three seconds. `carryOn` runs once Slack has the answer: put slow outside
 * calls there. Its errors are logged and sent as a direct message.
 */
export type ViewAnswer =
  /** Words for fields, by block id; typed text stays. */
  | { kind: 'errors'; errors: Readonly<Record<string, string>> }
  | { kind: 'update'; modal: Modal; carryOn?: () => Promise<void> }
  /** Closes this modal; those below stay. */
  | { kind: 'close'; carryOn?: () => Promise<void> };

/** A modal by its `callback_id`. Submitting it needs the verb's permission, checked again. */
export type ModalDefinition = {
  callbackId: string;
  /**
   * What submitting may do outside; decides the words of an error. Default `money`: no failure counts as harmless unless it
   * is known to be.
   */
  effect?: Effect;
  /** Where to look if its answer never comes, as a sentence; default: by its effect. */
  ifNoAnswer?: string;
  /** Any one is enough; default: the verb's own. */
  permissions?: readonly Permission[];
  /** The reference in the modal's metadata, for log and audit. */
  about?: (privateMetadata: string) => string | undefined;
  submit: (submission: Submission) => Promise<ViewAnswer>;
};

/** A button press or a choice in a message, a modal or the App Home. */
export type Pressed = {
  caller: Caller;
  /** The value of the button or option; never typed text. */
  value: string;
  /** Text of a field sent by Enter: never part of a key, never stored. */
  typed?: string;
  /** The modal it is in, as shown. */
  view?: { id: string; privateMetadata: string; values: ViewValues };
  /** The message it is in, if it is public. */
  message?: { channel: string; ts: string };
  openModal: OpenModal;
  /** Replaces the modal it is in; does nothing if that was closed. */
  updateModal: (modal: Modal) => Promise<void>;
  /**
   * Answers the caller alone. `inDirect`: sent instead if the answer is a direct message, because that stays in Slack.
   */
  reply: (message: SlackMessage, inDirect?: SlackMessage) => Promise<void>;
};

/** A button with its own function. The press is acknowledged first; a repeated delivery does not run twice. */
export type Press = {
  actionId: string;
  press: (pressed: Pressed) => Promise<void>;
  /** Like a command's `opensForm`. */
  opensForm?: true;
  /** Answers replace the message, if only the caller sees it. */
  replacesMessage?: true;
  /** What pressing may do outside; default none. Decides the words of an error. */
  effect?: Effect;
  /** The reference in its value, for log and audit. */
  about?: (value: string) => string | undefined;
  /** The id of an object other than a payment, for the audit. */
  aboutOther?: (value: string) => string | undefined;
  /** Any one is enough; default: the verb's own. A function if they depend on the choice. */
  permissions?: readonly Permission[] | ((value: string) => readonly Permission[] | undefined);
};

/** Choices of an external select for the typed text, at most a hundred, within Slack's three seconds. */
type Suggestion = {
  actionId: string;
  suggest: (typed: string, caller: Caller) => Promise<readonly Choice[]>;
};

/**
 * An entry of Slack's menus, declared in `manifest.yml` with the same id and name. A `global` one runs the verb without
 * words; there is no channel, so the answer is a modal. One on a `message` runs what `prepare` reads in it.
 */
type Shortcut = { callbackId: string; name: string } & (
  | { kind: 'global' }
  | { kind: 'message'; prepare: (texts: readonly string[]) => Prepared }
);

/** A message that mentions the bot. */
export type Mention = {
  /** Typed text without the mention. */
  text: string;
  /** All readable texts. */
  texts: readonly string[];
  /** The same for each message of the thread, newest first; undefined if unreadable. Absent outside a thread. */
  thread: (() => Promise<readonly (readonly string[])[] | undefined>) | undefined;
};

/** A menu button that runs the verb without words. */
export type MenuEntry = { actionId: string; text: string; opens: 'modal' | 'message' };

/** A person's waiting items, as one line of their menu. */
export type OpenItems = {
  /** Words with their symbol, like *2 charges wait for a code from you*. */
  line: readonly Run[];
  count: number;
  /** When they expire (UTC ms); absent: never. */
  untilMs?: number;
};

/** What a second run could harm. */
export type Effect = 'none' | 'access' | 'money';

type Facts = {
  /** The word after the slash command. */
  verb: string;
  /** Arguments, like `<reference> [amount]`; empty for none. */
  usage: string;
  /** One line, an imperative: *Look up a transaction by its reference*. */
  summary: string;
  /** Typed examples, most usual first. */
  examples: readonly string[];
  /** If several, any one is enough. */
  permission: Permission | readonly Permission[];
  /** With `none` a repeat is simply answered again. */
  effect: Effect;
  buttons?: readonly Button[];
  presses?: readonly Press[];
  modals?: readonly ModalDefinition[];
  suggestions?: readonly Suggestion[];
  shortcuts?: readonly Shortcut[];
  /** Runs for a mention without another verb. */
  mention?: (mention: Mention) => Prepared;
  /** The answer is a form; a slow one opens a loading form first. */
  opensForm?: boolean;
  /**
   * A menu button that runs the command without words. In the App Home only if it opens a modal: there is no channel to
   * answer in.
   */
  menu?: MenuEntry;
  /** A field at the top of the App Home; Enter sends it to the press of its id. */
  field?: () => InputBlock;
  /** The person's waiting items; undefined: none. Only called for people who may run it. */
  open?: (caller: Caller) => Promise<OpenItems | undefined>;
  /** Its part of the App Home comes first. */
  isUrgent?: true;
  /** Its part of the person's App Home; may be empty. Only called for people who may run it. */
  home?: (caller: Caller) => Promise<readonly MessageBlock[]>;
  /** Takes words typed without a verb: all, or those it claims as its own. */
  takesBareWords?: true | ((words: readonly string[]) => boolean);
  /** Words people try although no verb does them, and an answer that says where to go. */
  elsewhere?: { words: readonly string[]; answer: (typed: string) => SlackMessage };
  /** The verb's merchant account, for the log; absent with one account. */
  merchant?: string;
  /** Works when typed but is listed nowhere: a setting is missing. */
  hidden?: true;
};

type Definition<Input> = Facts & {
  parse: (words: readonly string[]) => Parsed<Input>;
  /** The reference in the words, for the log and for errors. */
  reference?: (input: Input) => OrderReference | undefined;
  /** A permission these words need besides the verb's own. */
  alsoNeeds?: (input: Input) => Permission | undefined;
  /**
   * The answer, for the caller alone; undefined if a modal is the answer. Throws `ServiceFailure` if the outside is broken;
   * any other error is a bug.
   */
  run: (input: Input, conversation: Conversation) => Promise<SlackMessage | undefined>;
};

/** Any one of these is enough to run the verb. */
export function permissionsOf({ permission }: Pick<Command, 'permission'>): readonly Permission[] {
  return typeof permission === 'string' ? [permission] : permission;
}

/** The `about` of a button whose value is the reference. */
export function wholeValue(value: string): string | undefined {
  return value === '' ? undefined : value;
}

/** A verb with its words read, ready to run. */
export type Prepared = {
  /** For log and audit. `run` may set it later, if it finds the reference only in a thread. */
  reference?: OrderReference;
  /** Needed besides the verb's own. */
  permission?: Permission;
  run: (conversation: Conversation) => Promise<SlackMessage | undefined>;
};

export type Command = Facts & { prepare: (words: readonly string[]) => Parsed<Prepared> };

/** Hides the input's type, so verbs of different inputs fit in one list. */
export function defineCommand<Input>(definition: Definition<Input>): Command {
  const { parse, reference, alsoNeeds, run, ...facts } = definition;
  return {
    ...facts,
    prepare(words) {
      const input = parse(words);
      if (!input.ok) return input;
      const permission = alsoNeeds?.(input.value);
      return parsed({
        ...withoutUndefined({ reference: reference?.(input.value) }),
        ...(permission === undefined ? {} : { permission }),
        run: (conversation) => run(input.value, conversation),
      });
    },
  };
}

/** A merchant account, and its permission check. */
export type AccountSide = {
  /** Undefined with one account. */
  merchant: Merchant | undefined;
  mayRun: MayRun;
};

/** The meaning of typed text or a pressed button. */
export type Understood =
  | { kind: 'command'; command: Command; words: readonly string[] }
  /** Read in a message: only looks, so a repeat does no harm. */
  | { kind: 'read'; command: Command; prepared: Prepared }
  /** Neither a verb nor a reference; the message suggests a likely one. */
  | { kind: 'unclear'; message: SlackMessage };

/** Part of a verb, found by its id. */
export type Found<Part> = { account: AccountSide; command: Command; part: Part };

/** Parts that are found by id. */
export type Parts = { action: Button | Press; suggestion: Suggestion; modal: ModalDefinition };

/** All commands, and their parts by id. Each look-up returns undefined if no command has that id. */
export type CommandSet = {
  /** `channelId`: where it was typed. */
  understand(text: string, channelId?: string): { account: AccountSide; understood: Understood };
  mentioned(mention: Mention, channelId: string): { account: AccountSide; understood: Understood };
  find<Kind extends keyof Parts>(kind: Kind, id: string): Found<Parts[Kind]> | undefined;
  /** The entry of Slack’s menus, for this caller and place. */
  shortcut(callbackId: string, caller: Caller): Promise<Found<Shortcut> | undefined>;
  /** The App Home tab. */
  home(caller: Caller): Promise<Home>;
};
