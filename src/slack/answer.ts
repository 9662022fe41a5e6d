import type { WebClient } from '@slack/web-api';
import { withoutUndefined } from '../domain/json.ts';
import { tagLog, type Log } from '../log.ts';
import { headline } from './kit/blocks.ts';
import {
  anyone,
  type AccountSide,
  type Caller,
  type Command,
  type CommandSet,
  type Conversation,
  type Effect,
  type MayRun,
  type Permission,
  type Permit,
} from './command.ts';
import { errorReply, refusalMessage } from './words/error-message.ts';
import type { SlackMessage } from './kit/message.ts';
import { inAccount } from './own-account.ts';
import type { Identity } from './workspace.ts';
import type { Screen } from './router/screen.ts';

/** The word in `manifest.yml`, used in examples; the bot answers any word that Slack sends. */
export const slashCommand = '/pay';

/** A second delivery of a request gets no answer; a second press does. */
type Repeat = 'first' | 'delivered_again' | 'pressed_again';

/** True for the first caller of a key, false for later ones, on all replicas. Throws if that is unknown. */
type Claim = (key: string) => Promise<boolean>;

/** One request to the bot, from any listener. */
export type Asked = {
  /** `press`: a button of the bot's; `command`: typed, or chosen in Slack's menus. */
  what: 'command' | 'press' | 'form';
  who: Caller;
  account: AccountSide;
  /** The button, menu entry or command, as the person knows it. */
  label: string;
  /** Each inner list must be satisfied; any one permission of it is enough. */
  permission: readonly (readonly Permission[])[];
  about: About;
  /** What the request may change outside the bot. */
  effect: Effect;
  opensForm: boolean;
  repeat: (claim: Claim) => Promise<Repeat>;
  run: (conversation: Conversation) => Promise<Ran>;
  screen: Screen;
};

/** What a request is about, for the log and the audit. */
type About = {
  /** Undefined if the words name no command of the bot. */
  verb?: string | undefined;
  merchant?: string | undefined;
  /** The id of a button or form that runs its own function. */
  part?: string | undefined;
  reference?: string | undefined;
  /** The id of an object other than a payment. */
  other?: string | undefined;
};

/** Without a message, `run` has shown the answer itself. */
type Ran = { result: 'answered' | 'unreadable' | 'unclear'; message?: SlackMessage | undefined };

/** Slack may deliver a command, shortcut or form twice; each has one trigger id. */
export function once(triggerId: string): Asked['repeat'] {
  return async (claim) => ((await claim(`asked:${triggerId}`)) ? 'first' : 'delivered_again');
}

/** Time limits; Slack waits three seconds. */
export type Times = {
  /** Until a command is acknowledged without its answer. */
  ackMs: number;
  /** Until a person without an answer gets a progress message. */
  patienceMs: number;
  /** Until a loading form opens. */
  openMs: number;
  /** For the answer to a form; the rest of the three seconds is for the network. */
  submitMs: number;
  /** Of `submitMs`, for the result. */
  resultMs: number;
  /** For a typeahead. */
  suggestMs: number;
};

/** Shared by everything that answers Slack. */
export type SlackSide = Times & {
  client: WebClient;
  commands: CommandSet;
  /** Undefined while Slack has not said who the bot is. */
  identity: () => Identity | undefined;
  claimOnce: Claim;
  /** Writes to the audit in the background; absent: only the log. */
  note?: (
    asked: Pick<Asked, 'what'> & { who: string; result: string } & Partial<
        Record<'account' | 'where' | 'verb' | 'reference' | 'reason', string>
      >,
  ) => void;
  log: Log;
  now: () => number;
};

/**
 * Runs the guards in order (permission, repeat), then the request, and answers the person. Never throws: every failure
 * becomes words on the screen and a log line. Writes one audit line.
 */
export function answer(asked: Asked, side: SlackSide): Promise<void> {
  return inAccount(asked.account.merchant, async () => {
    const startedAtMs = side.now();
    const { screen, what, who, about } = asked;
    tagLog({ orderReference: about.reference });
    const talk: Talk = {};
    const working = carryOut(asked, talk, side);
    const company = keepCompany(working, asked, talk, side);
    const { result, reason, message } = await working;
    await company;
    if (message) await say(screen, result, message);
    await screen.done();
    recordAsked(side, { what, who, about, result, reason, startedAtMs });
  });
}

type Outcome = {
  result: Ran['result'] | 'refused' | 'repeated' | 'failed';
  message?: SlackMessage | undefined;
  reason?: string;
};

export const problemTitles = { refused: 'Not allowed', failed: 'Something went wrong' } as const;

async function say(screen: Screen, result: Outcome['result'], message: SlackMessage): Promise<void> {
  if (result === 'repeated') return await screen.sayBeside(message);
  if (result !== 'refused' && result !== 'failed') return await screen.reply(message);
  await screen.sayProblem(problemTitles[result], message);
}

/** Progress words of a running verb. */
type Talk = { progress?: SlackMessage | (() => SlackMessage) };

async function carryOut(asked: Asked, talk: Talk, side: SlackSide): Promise<Outcome> {
  const { who, account, label, permission, about, effect, opensForm, screen } = asked;
  let hasBegun = false;
  try {
    for (const anyOf of permission) {
      const refusal = await refuse(who, anyOf, account.mayRun, label);
      if (refusal) return { result: 'refused', ...refusal };
    }
    const isStrict = effect !== 'none' || about.part !== undefined || opensForm;
    // A repeated form opens once. Idempotent commands skip the duplicate check.
    const repeat = isStrict ? await asked.repeat(side.claimOnce) : 'first';
    if (repeat === 'delivered_again') return { result: 'repeated' };
    if (repeat === 'pressed_again') return { result: 'repeated', message: pressedAgainMessage(label) };
    hasBegun = true;
    return await asked.run({
      caller: who,
      openModal: screen.openModal,
      whileWaiting(work, message) {
        talk.progress = message;
        screen.letGo();
        return work;
      },
    });
  } catch (error) {
    const { verb, reference, part } = about;
    const moneyMayHaveMoved = hasBegun && effect === 'money';
    const typed = part === undefined ? reference : undefined;
    return {
      result: 'failed',
      ...errorReply(error, { who, verb, reference: typed, moneyMayHaveMoved }, side.log),
    };
  }
}

/** The message for the person, and the rule for the audit. */
type Refusal = { message: SlackMessage; reason: string };

/** Any one permission is enough; a refusal explains the first. */
export async function permitFor(
  caller: Caller,
  permissions: readonly Permission[],
  mayRun: MayRun,
): Promise<Permit> {
  if (permissions.includes(anyone)) return { kind: 'allowed' };
  const permits = await Promise.all(permissions.map((permission) => mayRun(permission, caller)));
  const [first = { kind: 'allowed' } as const] = permits;
  return permits.find(({ kind }) => kind === 'allowed') ?? first;
}

/** People with this permission also read which permission is missing and who has it. */
const adminPermission: Permission = 'doctor';

/** The verb, as an example or a refusal shows it. */
export function asTyped({ verb }: Pick<Command, 'verb'>): string {
  return `${slashCommand} ${verb}`;
}

/** Why the caller may not do what `label` names; undefined if they hold any of the permissions. */
export async function refuse(
  caller: Caller,
  permissions: readonly Permission[],
  mayRun: MayRun,
  label: string,
): Promise<Refusal | undefined> {
  const permit = await permitFor(caller, permissions, mayRun);
  if (permit.kind === 'allowed') return undefined;
  const admin = permit.isByRole === true && (await mayRun(adminPermission, caller)).kind === 'allowed';
  return { message: refusalMessage({ ...permit, what: label }, { admin }), reason: permit.rule };
}

function pressedAgainMessage(label: string): SlackMessage {
  const { text, block } = headline('⏳ Already on it', [label, 'one press is enough']);
  return { text, blocks: [block] };
}

function stillWorkingMessage(label: string): SlackMessage {
  const { text, block } = headline('⏳ Still working', [label]);
  return { text, blocks: [block] };
}

/** A response_url takes five answers; keep one for the answer itself. */
const progressMs = [4_000, 12_000, 40_000];

/** Opens a loading form before the trigger expires; sends a progress message to a person who still sees nothing. */
async function keepCompany(
  working: Promise<unknown>,
  { screen, label, opensForm }: Asked,
  talk: Talk,
  { openMs, patienceMs }: SlackSide,
): Promise<void> {
  if (opensForm) {
    if (!(await isDoneWithin(working, openMs))) screen.openLoading();
    return;
  }
  for (const waitMs of [patienceMs, ...progressMs]) {
    if (await isDoneWithin(working, waitMs)) return;
    const { progress = stillWorkingMessage(label) } = talk;
    const isFunction = typeof progress === 'function';
    const isSaid = await screen.sayMeanwhile(isFunction ? progress() : progress);
    if (!isSaid || !isFunction) return;
  }
}

function isDoneWithin(working: Promise<unknown>, waitMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, waitMs, false);
    void working.finally(() => {
      clearTimeout(timer);
      resolve(true);
    });
  });
}

/** One request and its result, without typed text. */
type Answered = Pick<Asked, 'what' | 'who' | 'about'> & {
  result: string;
  /** The rule that refused it, or the error's id. */
  reason?: string | undefined;
  startedAtMs?: number;
};

/** The only place that writes requests to the log and the audit. Never throws; don't await it. */
export function recordAsked({ log, now, note }: SlackSide, asked: Answered): void {
  const { what, who, about, result, reason, startedAtMs } = asked;
  const { verb, merchant: account, part, reference } = about;
  const { userId, channelId } = who;
  log('info', 'Asked and answered', {
    verb,
    ...withoutUndefined({ account }),
    userId,
    channel: channelId,
    orderReference: reference,
    result,
    durationMs: startedAtMs && now() - startedAtMs,
  });
  const named = [...new Set([verb, part])].filter((word) => word !== undefined).join(' ') || undefined;
  // The channel; else *home*, *modal* or *shortcut*.
  const where = channelId ?? who.from;
  note?.({
    who: userId,
    what,
    result,
    ...withoutUndefined({ account, where, verb: named, reference: reference ?? about.other, reason }),
  });
}
