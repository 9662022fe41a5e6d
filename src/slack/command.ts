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

/** The person, and where they typed or pressed. */
export type Caller = {
  userId: string;
  teamId?: string;
  /** A direct message's id begins with D. Absent in a modal, the App Home and a global shortcut. */
  channelId?: string;
  /** The thread they wrote or pressed in. */
  threadTs?: string;
  /** The surface, as Slack says. A modal's channel was checked when it opened. */
  from?: 'command' | 'message' | 'modal' | 'home' | 'shortcut';
};

/** Why a person may not. The texts are sentences without the full stop. */
export type Refused = {
  kind: 'refused';
  rule: string;
  whoCan: string;
  /** Where the person is allowed: channel ids, or `direct`. */
  where?: readonly string[];
  /** Refused by the roles in `payops.yml`. Show `rule` and `whoCan` only to people who can change roles. */
  isByRole?: true;
  /** Some people who have the permission, by user id. */
  people?: readonly string[];
  /** For the authors of `payops.yml`: groups that count as empty, and why. */
  notes?: readonly string[];
};

export type Permit = { kind: 'allowed' } | Refused;

/** Whether a caller has a permission. Never throws: refuses if Slack gives no answer. */
export type MayRun = (permission: Permission, caller: Caller) => Promise<Permit>;

/**
 * Opens a modal and returns its view id; above the pressed button's modal, if the button was in one. Works for three seconds
 * after the person's action. Throws `ModalRefused` if Slack does not open the modal.
 */
export type OpenModal = (modal: Modal) => Promise<string>;

/** What a running command can do besides answering. */
export type Conversation = {
  caller: Caller;
  openModal: OpenModal;
  /** Returns the work's result, and shows the message if the work is slow; a function is called again for each message. */
  whileWaiting: <T>(work: Promise<T>, message: SlackMessage | (() => SlackMessage)) => Promise<T>;
};

/** A button that runs the command with arguments from the button's value. */
export type CommandButton = { actionId: string; words: (value: string) => readonly string[] };

/** Values of a modal's inputs, by block id: typed text or a chosen value; blank ones are absent. */
export type ViewValues = Readonly<Record<string, string>>;

/** A submitted modal. `viewId` survives every `update`, so it identifies one dialogue. */
export type Submission = { caller: Caller; viewId: string; privateMetadata: string; values: ViewValues };

/** A message for each wrong field, by block id. Never contains typed text. */
export type FormErrors = { kind: 'errors'; errors: Readonly<Record<string, string>> };

/**
 * The answer to a submitted modal, within Slack's three seconds. `carryOn` runs once Slack has the answer, so slow calls
 * belong there; an error in `carryOn` is logged and sent as a direct message.
 */
export type ViewAnswer =
  /** The modal stays, with what the person typed. */
  | FormErrors
  | { kind: 'update'; modal: Modal; carryOn?: () => Promise<void> }
  /** Closes this modal; modals below it stay. */
  | { kind: 'close' };

/** A modal by its `callback_id`. Submitting the modal checks the permission again. */
export type ModalDefinition = {
  callbackId: string;
  /**
   * What submitting may change; decides what an error message says. Default `money`: no failure counts as harmless by
   * default.
   */
  effect?: Effect;
  /** Says where to look if no answer comes; default: a sentence for the effect. */
  ifNoAnswer?: string;
  /** Any one of these permissions is enough; default: the command's own. */
  permissions?: readonly Permission[];
  /** The reference in the modal's metadata, for log and audit. */
  about?: (privateMetadata: string) => string | undefined;
  submit: (submission: Submission) => Promise<ViewAnswer>;
};

/** A press of a button, or a choice in a menu, in a message, a modal or the App Home. */
export type Pressed = {
  caller: Caller;
  /** The value of the button or option; never typed text. */
  value: string;
  /** The text of a field sent by Enter. Never part of a key, never stored. */
  typed?: string;
  /** The modal that holds the button, as shown. */
  view?: { id: string; privateMetadata: string; values: ViewValues };
  /** The message that holds the button, unless only the caller sees the message. */
  message?: { channel: string; ts: string };
  openModal: OpenModal;
  /** Replaces the modal that holds the button; does nothing if that modal was closed. */
  updateModal: (modal: Modal) => Promise<void>;
  /** Answers the caller alone. `inDirect`: sent instead as a direct message, because Slack keeps direct messages. */
  reply: (message: SlackMessage, inDirect?: SlackMessage) => Promise<void>;
};

/** A button with its own function. The press is acknowledged first; a repeated delivery does not run twice. */
export type Press = {
  actionId: string;
  press: (pressed: Pressed) => Promise<void>;
  /** Like a command's `opensForm`. */
  opensForm?: true;
  /** Answers replace the message that holds the button, if only the caller sees that message. */
  replacesMessage?: true;
  /** What pressing may change; decides what an error message says. Default `none`. */
  effect?: Effect;
  /** The reference in the button's value, for log and audit. */
  about?: (value: string) => string | undefined;
  /** The id of an object other than a payment, for the audit. */
  aboutOther?: (value: string) => string | undefined;
  /** Any one of these permissions is enough; default: the command's own. A function if they depend on the value. */
  permissions?: readonly Permission[] | ((value: string) => readonly Permission[] | undefined);
};

/** Choices of an external select for the typed text, at most a hundred, within Slack's three seconds. */
type Suggestion = {
  actionId: string;
  suggest: (typed: string, caller: Caller) => Promise<readonly Choice[]>;
};

/**
 * A shortcut in Slack's menus, declared in `manifest.yml` with the same id and name. `global`: runs the command without
 * arguments; there is no channel, so the answer is a modal. `message`: runs what `prepare` reads in the message.
 */
type Shortcut = { callbackId: string; name: string } & (
  | { kind: 'global' }
  | { kind: 'message'; prepare: (texts: readonly string[]) => Prepared }
);

export type Mention = {
  /** Typed text without the mention. */
  text: string;
  /** All readable texts of the message. */
  texts: readonly string[];
  /** The texts of each message of the thread, newest first; undefined if unreadable. Absent outside a thread. */
  thread: (() => Promise<readonly (readonly string[])[] | undefined>) | undefined;
};

/** A button of the `/pay` menu that runs the command without arguments. */
export type MenuEntry = { actionId: string; text: string; opens: 'modal' | 'message' };

/** A person's waiting items, as one line of their menu. */
export type OpenItems = {
  /** Words with their symbol, like *2 charges wait for a code from you*. */
  line: readonly Run[];
  count: number;
  /** When they expire (UTC ms); absent: never. */
  untilMs?: number;
};

/** What a request may change outside the bot: nothing, who may do something, or money. */
export type Effect = 'none' | 'access' | 'money';

type Facts = {
  /** The command's name: the word after `/pay`. */
  verb: string;
  /** Arguments, like `<reference> [amount]`; empty for none. */
  usage: string;
  /** One line, an imperative: *Look up a transaction by its reference*. */
  summary: string;
  /** Typed examples, most usual first. */
  examples: readonly string[];
  /** If several, any one is enough. */
  permission: Permission | readonly Permission[];
  /** A command with effect `none` may run twice. */
  effect: Effect;
  buttons?: readonly CommandButton[];
  presses?: readonly Press[];
  modals?: readonly ModalDefinition[];
  suggestions?: readonly Suggestion[];
  shortcuts?: readonly Shortcut[];
  /** Answers a message that mentions the bot without naming another command. */
  mention?: (mention: Mention) => Prepared;
  /** The answer is a form; a slow one opens a loading form first. */
  opensForm?: boolean;
  /** The App Home shows this button only if it opens a modal: there is no channel to answer in. */
  menu?: MenuEntry;
  /** A field at the top of the App Home; Enter sends its text to the press with the field's id. */
  field?: () => InputBlock;
  /** The person's waiting items; undefined: none. Only called for people who may run the command. */
  open?: (caller: Caller) => Promise<OpenItems | undefined>;
  /** This command's part of the App Home comes first. */
  isUrgent?: true;
  /** This command's part of the person's App Home; may be empty. Only called for people who may run the command. */
  home?: (caller: Caller) => Promise<readonly MessageBlock[]>;
  /** Takes text typed without a command's name: any, or the words for which the function returns true. */
  takesBareWords?: true | ((words: readonly string[]) => boolean);
  /** Words that people type although no command has that name, and an answer that says where to go. */
  elsewhere?: { words: readonly string[]; answer: (typed: string) => SlackMessage };
  /** The command's merchant account, for the log; absent with one account. */
  merchant?: string;
  /** Works when typed, but is listed nowhere because a setting is missing. */
  hidden?: true;
};

type Definition<Input> = Facts & {
  parse: (words: readonly string[]) => Parsed<Input>;
  /** The reference among the arguments, for log and error messages. */
  reference?: (input: Input) => OrderReference | undefined;
  /** A permission that these arguments need besides the command's own. */
  alsoNeeds?: (input: Input) => Permission | undefined;
  /**
   * The answer, for the caller alone; undefined if a modal is the answer. Throws `ServiceFailure`, `StoreUnavailable` or
   * `ModalRefused`; any other error is a bug.
   */
  run: (input: Input, conversation: Conversation) => Promise<SlackMessage | undefined>;
};

/** Any one of these permissions is enough to run the command. */
export function permissionsOf({ permission }: Pick<Command, 'permission'>): readonly Permission[] {
  return typeof permission === 'string' ? [permission] : permission;
}

/** For `about`: the button's whole value is the reference. */
export function wholeValue(value: string): string | undefined {
  return value === '' ? undefined : value;
}

/** A command with its arguments read, ready to run. */
export type Prepared = {
  /** For log and audit. `run` may set it later, if it finds the reference only in a thread. */
  reference?: OrderReference;
  /** Needed besides the command's own permission. */
  permission?: Permission;
  run: (conversation: Conversation) => Promise<SlackMessage | undefined>;
};

export type Command = Facts & { prepare: (words: readonly string[]) => Parsed<Prepared> };

/** Hides the input's type, so commands of different inputs fit in one list. */
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

/** What typed text, a mention or a pressed button asks for. */
export type Understood =
  | { kind: 'command'; command: Command; words: readonly string[] }
  /** Read from a message: a look-up, which may run twice. */
  | { kind: 'read'; command: Command; prepared: Prepared }
  /** Neither a command nor a reference; the message suggests a likely command. */
  | { kind: 'unclear'; message: SlackMessage };

export type Found<Part> = { account: AccountSide; command: Command; part: Part };

/** The parts of a command that Slack names by id. */
export type Parts = { action: CommandButton | Press; suggestion: Suggestion; modal: ModalDefinition };

/** All commands, and their parts by id. Each look-up returns undefined if no command has that id. */
export type CommandSet = {
  /** `channelId`: where the text was typed. */
  understand(text: string, channelId?: string): { account: AccountSide; understood: Understood };
  mentioned(mention: Mention, channelId: string): { account: AccountSide; understood: Understood };
  find<Kind extends keyof Parts>(kind: Kind, id: string): Found<Parts[Kind]> | undefined;
  /** The shortcut for this caller and channel. */
  shortcut(callbackId: string, caller: Caller): Promise<Found<Shortcut> | undefined>;
  /** The App Home tab. */
  home(caller: Caller): Promise<Home>;
};
