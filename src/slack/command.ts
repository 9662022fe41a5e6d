import type { InputBlock } from '@slack/types';
import type { Merchant } from '../domain/merchant.ts';
import type { OrderReference } from '../domain/order-reference.ts';
import { parsed, type Parsed } from '../domain/wording.ts';
import { withoutUndefined } from '../domain/json.ts';
import type { Choice, Run } from './kit/blocks.ts';
import type { Home, HomeBlock, Modal, SlackMessage } from './kit/message.ts';

/** A permission as roles in `payops.yml` list it under `may`. */
export type Permission = string;

/** The permission of what nobody is refused. */
export const anyone: Permission = 'anyone';

/** Who typed or pressed, and where. A channel's id that begins with D is of a direct message. */
export type Caller = {
  userId: string;
  teamId?: string;
  /** Absent in a modal, in the App Home and for a shortcut that is chosen on no message. */
  channelId?: string;
  /** The thread it was typed or pressed in. */
  threadTs?: string;
  /** What they did it in, as Slack says. A modal has no place of its own: that was judged when it was opened. */
  from?: 'command' | 'message' | 'modal' | 'home' | 'shortcut';
};

/** Whole sentences without their full stop. */
export type Refused = {
  kind: 'refused';
  rule: string;
  whoCan: string;
  /** Where the person may: channel ids, and `direct`. */
  where?: readonly string[];
  /** By the roles of `payops.yml`: `rule` and `whoCan` name permissions and roles, which are for those who can change them. */
  isByRole?: true;
  /** Some of those who can, by user id. */
  people?: readonly string[];
  /** For whoever writes `payops.yml`: which groups count as empty, and why. */
  notes?: readonly string[];
};

export type Permit = { kind: 'allowed' } | Refused;

/** Whether a caller holds a permission. Never throws: what cannot be found out is a refusal. */
export type MayRun = (permission: Permission, caller: Caller) => Promise<Permit>;

/**
 * Opens a modal in front of the person, on top of the one they pressed in, if any, and gives its view id.
 * Only within three seconds of what they did; throws `ModalRefused` when Slack does not open it.
 */
export type OpenModal = (modal: Modal) => Promise<string>;

/** What a running verb can do besides answering. */
export type Conversation = {
  caller: Caller;
  openModal: OpenModal;
  /**
   * Gives what the work gives; when that takes more than a moment, tells the person meanwhile. A function is asked
   * again a few times while it goes on, so that progress is seen.
   */
  whileWaiting: <T>(work: Promise<T>, message: SlackMessage | (() => SlackMessage)) => Promise<T>;
};

/** A button of a message that runs the verb again; the value it carries becomes the verb's words. */
export type Button = { actionId: string; words: (value: string) => readonly string[] };

/** What stands in a modal's inputs, by block id: typed text, or the value of what was chosen; blank is absent. */
export type ViewValues = Readonly<Record<string, string>>;

/** A modal that was submitted. `viewId` stays the same through every `update`, so it names one dialogue. */
export type Submission = { caller: Caller; viewId: string; privateMetadata: string; values: ViewValues };

/**
 * What a submitted modal becomes, within Slack's three seconds. `carryOn` runs once Slack has the answer:
 * whatever the outside may keep waiting for goes there, and a throw in it ends in the log and as a direct message.
 */
export type ViewAnswer =
  /** Words for fields, by block id; everything typed stays. */
  | { kind: 'errors'; errors: Readonly<Record<string, string>> }
  | { kind: 'update'; modal: Modal; carryOn?: () => Promise<void> }
  /** Closes this modal; those below it stay. */
  | { kind: 'close'; carryOn?: () => Promise<void> };

/** A modal by its `callback_id`. It is allowed to whoever may run the verb, and asked again when it is submitted. */
export type ModalDefinition = {
  callbackId: string;
  /**
   * What submitting it may do outside, so that a throw is told as what it is. Taken for `money` when absent:
   * no failure is called harmless unless it is known to be.
   */
  effect?: Effect;
  /** Where to look when its answer is late and never comes, as a sentence; by its effect when absent. */
  ifNoAnswer?: string;
  /** Any one of these is enough; the verb's own when absent. */
  permissions?: readonly Permission[];
  /** The reference it is about, by the modal's metadata, for the log and the audit. */
  about?: (privateMetadata: string) => string | undefined;
  submit: (submission: Submission) => Promise<ViewAnswer>;
};

/** A button was pressed, or an option chosen, in a message, a modal or the App Home. */
export type Pressed = {
  caller: Caller;
  /** The button's, or the chosen option's; never what was typed. */
  value: string;
  /** What was typed into the field that Enter was pressed in: in no key, and kept nowhere. */
  typed?: string;
  /** The modal it stands in, as it was. */
  view?: { id: string; privateMetadata: string; values: ViewValues };
  /** The message it stands in, if everybody sees it. */
  message?: { channel: string; ts: string };
  openModal: OpenModal;
  /** Puts another modal in the place of the one it stands in; does nothing when that is closed by now. */
  updateModal: (modal: Modal) => Promise<void>;
  /** Tells the caller alone; `inDirect` is what a direct message, which stays, says in its place. */
  reply: (message: SlackMessage, inDirect?: SlackMessage) => Promise<void>;
};

/**
 * A button that does more than run the verb with other words. Its press is acknowledged before it runs, and
 * a repeat of the same press does not run it twice.
 */
export type Press = {
  actionId: string;
  press: (pressed: Pressed) => Promise<void>;
  /** As of a verb. */
  opensForm?: true;
  /** Its answers take the place of the message it stands in, where only the caller sees that. */
  replacesMessage?: true;
  /** What pressing it may do outside; nothing when absent. Decides what a person is told when it breaks. */
  effect?: Effect;
  /** The reference it is about, by the value it carries, for the log and the audit. */
  about?: (value: string) => string | undefined;
  /** The id of what it is about, where that is no payment, for the audit. */
  aboutOther?: (value: string) => string | undefined;
  /** Any one of these is enough; the verb's own when absent. */
  permissions?: readonly Permission[];
  /** In place of those, where they hang on what was chosen. */
  permissionsFor?: (value: string) => readonly Permission[] | undefined;
};

/** What an external select offers for what was typed so far, at most a hundred; within Slack's three seconds. */
type Suggestion = {
  actionId: string;
  suggest: (typed: string, caller: Caller) => Promise<readonly Choice[]>;
};

/**
 * An entry of Slack's own menus, which `manifest.yml` declares under the same id and name. A `global` one runs the
 * verb without words; there is no channel then, so the answer is a modal. One on a `message` does what `prepare`
 * makes of everything that can be read in it.
 */
type Shortcut = { callbackId: string; name: string } & (
  | { kind: 'global' }
  | { kind: 'message'; prepare: (texts: readonly string[]) => Prepared }
);

/** A message that names the bot. */
export type Mention = {
  /** What was typed, without the name. */
  text: string;
  /** What can be read in it. */
  texts: readonly string[];
  /** The same of each message of its thread, newest first; gives undefined where the bot may not read them. Absent outside a thread. */
  thread: (() => Promise<readonly (readonly string[])[] | undefined>) | undefined;
};

/** A button of the menu that runs the verb without words. */
export type MenuEntry = { actionId: string; text: string; opens: 'modal' | 'message' };

/** What waits for a person, in one line of their menu. */
export type OpenItems = {
  /** Words with their symbol, like *2 charges wait for a code from you*. */
  line: readonly Run[];
  count: number;
  /** When it is too late (UTC milliseconds); absent: it can wait. */
  untilMs?: number;
};

/** What running a verb twice would do harm to. */
export type Effect = 'none' | 'access' | 'money';

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
  /** Any one of these is enough too. */
  orPermissions?: readonly Permission[];
  /** With `none` a repeat is simply answered again. */
  effect: Effect;
  buttons?: readonly Button[];
  presses?: readonly Press[];
  modals?: readonly ModalDefinition[];
  suggestions?: readonly Suggestion[];
  shortcuts?: readonly Shortcut[];
  /** What a message runs that names the bot and no other verb. */
  mention?: (mention: Mention) => Prepared;
  /** Its answer is a form: one that waits is opened where it takes longer than a moment. */
  opensForm?: boolean;
  /** The verb can be run without words by a button; in the App Home only if it opens a modal, for want of a channel. */
  menu?: MenuEntry;
  /** A field at the top of the App Home, sent by Enter to the press of its id. */
  field?: () => InputBlock;
  /** What waits for the person; nothing when undefined. Only for whom may run it. */
  open?: (caller: Caller) => Promise<OpenItems | undefined>;
  /** Its part of the App Home stands above those that can wait. */
  isUrgent?: true;
  /** What the verb has for the person's App Home; nothing when empty. Only for whom may run it. */
  home?: (caller: Caller) => Promise<readonly HomeBlock[]>;
  /** Words typed without a verb go to this one, or those that it says are its own, which nobody else then has. */
  takesBareWords?: true | ((words: readonly string[]) => boolean);
  /** Words that people type first for what no verb does, and the answer: where it is done. */
  elsewhere?: { words: readonly string[]; answer: (typed: string) => SlackMessage };
  /** The merchant account whose verb it is, for the log; absent where the bot knows one alone. */
  merchant?: string;
  /** Answers when it is typed, and stands in no list: something it needs is not set up. */
  hidden?: true;
};

type Definition<Input> = Facts & {
  parse: (words: readonly string[]) => Parsed<Input>;
  /** The reference the words are about, for the log and for error words. */
  reference?: (input: Input) => OrderReference | undefined;
  /** What these words need besides the verb's own permission. */
  alsoNeeds?: (input: Input) => Permission | undefined;
  /**
   * The answer, seen by the caller alone; undefined when a modal is the answer. Throws `ServiceFailure` when
   * the outside is broken; any other throw is a bug.
   */
  run: (input: Input, conversation: Conversation) => Promise<SlackMessage | undefined>;
};

/** Any one of these is enough to run the verb. */
export function permissionsOf({
  permission,
  orPermissions = [],
}: Pick<Command, 'permission' | 'orPermissions'>): readonly Permission[] {
  return [permission, ...orPermissions];
}

/** Of a button that carries the reference and nothing else. */
export function itself(value: string): string | undefined {
  return value === '' ? undefined : value;
}

/** One verb with its words read, ready to run. */
export type Prepared = {
  reference?: OrderReference;
  /** Needed besides the verb's own. */
  permission?: Permission;
  run: (conversation: Conversation) => Promise<SlackMessage | undefined>;
};

export type Command = Facts & { prepare: (words: readonly string[]) => Parsed<Prepared> };

/** Closes over the input's type, so that verbs of different inputs stand in one list. */
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

/** The merchant account whose a thing is, and who may do it there. */
export type AccountSide = {
  /** Undefined in a bot that knows one account alone. */
  merchant: Merchant | undefined;
  mayRun: MayRun;
};

/** What typed text or a pressed button asks for. */
export type Understood =
  | { kind: 'command'; command: Command; words: readonly string[] }
  /** Not a verb and not taken for a reference; the message says what was probably meant. */
  | { kind: 'unclear'; message: SlackMessage };

/** A part of a verb, found by its id on the wire. */
export type Found<Part> = { account: AccountSide; command: Command; part: Part };

/** What is found by its id alone. */
export type Parts = { action: Button | Press; suggestion: Suggestion; modal: ModalDefinition };

/** All that can be asked of the bot, by what Slack says of it. Undefined: no verb claims it. */
export type CommandSet = {
  /** `channelId` is where it was typed. */
  understand(text: string, channelId?: string): { account: AccountSide; understood: Understood };
  mentioned(mention: Mention, channelId: string): { account: AccountSide; understood: Understood };
  find<Kind extends keyof Parts>(kind: Kind, id: string): Found<Parts[Kind]> | undefined;
  /** The entry of Slack’s menus, as it is for whom and where it was chosen. */
  shortcut(callbackId: string, caller: Caller): Promise<Found<Shortcut> | undefined>;
  /** What the App Home tab shows. */
  home(caller: Caller): Promise<Home>;
};
