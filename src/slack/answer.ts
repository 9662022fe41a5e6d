import { setTimeout as sleep } from 'node:timers/promises';
import type { WebClient } from '@slack/web-api';
import { withoutUndefined } from '../domain/json.ts';
import { tagLog, type Log } from '../log.ts';
import { noteMessage } from './kit/note.ts';
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

/** True for the first caller of a key, false for later ones, on all replicas. Throws if the store gives no answer. */
type Claim = (key: string) => Promise<boolean>;

export type BotRequest = {
  /** `press`: a button of the bot's; `command`: typed, or chosen in Slack's menus. */
  what: 'command' | 'press' | 'form';
  who: Caller;
  account: AccountSide;
  /** The button, menu entry or command, as the person knows it. */
  label: string;
  /** The caller needs one permission of each inner list. */
  permission: readonly (readonly Permission[])[];
  about: About;
  /** What the request may change outside the bot. */
  effect: Effect;
  opensForm: boolean;
  repeat: (claim: Claim) => Promise<Repeat>;
  run: (conversation: Conversation) => Promise<RunResult>;
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

/**
 * Without a message, `run` has already shown the answer. `unreadable`: the arguments or fields can't be read. `unclear`: the
 * words name no command.
 */
type RunResult = { result: 'answered' | 'unreadable' | 'unclear'; message?: SlackMessage | undefined };

/** Detects a second delivery: Slack gives each command, shortcut or form one trigger id. */
export function once(triggerId: string): BotRequest['repeat'] {
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
  /** The part of `submitMs` in which a form waits for a quick result. */
  resultMs: number;
  /** For a typeahead. */
  suggestMs: number;
};

/** What every request from Slack needs to be answered: one object for all listeners. */
export type SlackSide = Times & {
  client: WebClient;
  commands: CommandSet;
  /** Undefined while Slack has not said who the bot is. */
  identity: () => Identity | undefined;
  claimOnce: Claim;
  /** Writes an audit entry in the background; absent: only the log is written. */
  note?: (
    entry: Pick<BotRequest, 'what'> & { who: string; result: string } & Partial<
        Record<'account' | 'where' | 'verb' | 'reference' | 'reason', string>
      >,
  ) => void;
  log: Log;
  now: () => number;
};

/**
 * Runs the guards in order (permission, repeat), then the request, and answers the person. Never throws: every failure
 * becomes words on the screen and a log line. Writes one audit entry.
 */
export function answer(request: BotRequest, side: SlackSide): Promise<void> {
  return inAccount(request.account.merchant, async () => {
    const startedAtMs = side.now();
    const { screen, what, who, about } = request;
    tagLog({ orderReference: about.reference });
    const progress: Progress = {};
    const working = carryOut(request, progress, side);
    let shown: Promise<void> | undefined;
    const slow = setTimeout(
      () => void (shown = showProgress(working, request, progress)),
      request.opensForm ? side.openMs : side.patienceMs,
    );
    const { result, reason, message } = await working;
    clearTimeout(slow);
    await shown;
    if (message) await say(screen, result, message);
    await screen.done();
    recordRequest(side, { what, who, about, result, reason, startedAtMs });
  });
}

type Outcome = {
  result: RunResult['result'] | 'refused' | 'repeated' | 'failed';
  message?: SlackMessage | undefined;
  reason?: string;
};

export const problemTitles = { refused: 'Not allowed', failed: 'Something went wrong' } as const;

async function say(screen: Screen, result: Outcome['result'], message: SlackMessage): Promise<void> {
  if (result === 'repeated') return await screen.sayBeside(message);
  if (result !== 'refused' && result !== 'failed') return await screen.reply(message);
  await screen.sayProblem(problemTitles[result], message);
}

/** The message to show while a command still runs. */
type Progress = { message?: SlackMessage | (() => SlackMessage) };

async function carryOut(request: BotRequest, progress: Progress, side: SlackSide): Promise<Outcome> {
  const { who, account, label, permission, about, effect, opensForm, screen } = request;
  let hasBegun = false;
  try {
    for (const anyOf of permission) {
      const refusal = await refuse(who, anyOf, account.mayRun, label);
      if (refusal) return { result: 'refused', ...refusal };
    }
    // A command without effect may run twice, unless it opens a form.
    const mustRunOnce = effect !== 'none' || about.part !== undefined || opensForm;
    const repeat = mustRunOnce ? await request.repeat(side.claimOnce) : 'first';
    if (repeat === 'delivered_again') return { result: 'repeated' };
    if (repeat === 'pressed_again') return { result: 'repeated', message: pressedAgainMessage(label) };
    hasBegun = true;
    return await request.run({
      caller: who,
      openModal: screen.openModal,
      whileWaiting(work, message) {
        progress.message = message;
        screen.acknowledge();
        return work;
      },
    });
  } catch (error) {
    const { verb, reference, part } = about;
    const moneyMayHaveMoved = hasBegun && effect === 'money';
    // The error message names the reference of a command, not of a button or form with its own function.
    const named = part === undefined ? reference : undefined;
    return {
      result: 'failed',
      ...errorReply(error, { who, verb, reference: named, moneyMayHaveMoved }, side.log),
    };
  }
}

type Refusal = { message: SlackMessage; reason: string };

/** Any one of the permissions is enough. A refusal explains the first. */
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

/** The command as people type it. */
export function asTyped({ verb }: Pick<Command, 'verb'>): string {
  return `${slashCommand} ${verb}`;
}

/** Undefined if the caller has any of the permissions; else why they may not do what `label` names. */
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
  return noteMessage({ state: '⏳ Already on it', about: [label, 'one press is enough'] });
}

function stillWorkingMessage(label: string): SlackMessage {
  return noteMessage({ state: '⏳ Still working', about: [label] });
}

/** The wait after each progress message. Only four, because a response_url takes five messages, the answer included. */
const progressMs = [4_000, 12_000, 40_000, 0];

/** While slow work runs: opens a loading form before the trigger expires, or sends progress messages. */
async function showProgress(
  working: Promise<unknown>,
  { screen, label, opensForm }: BotRequest,
  progress: Progress,
): Promise<void> {
  if (opensForm) return screen.openLoading();
  for (const waitMs of progressMs) {
    const { message = stillWorkingMessage(label) } = progress;
    const isFunction = typeof message === 'function';
    const isSaid = await screen.sayMeanwhile(isFunction ? message() : message);
    if (!isSaid || !isFunction) return;
    if (await Promise.race([working.then(() => true), sleep(waitMs, false, { ref: false })])) return;
  }
}

/** One request and its result, without typed text. */
type Answered = Pick<BotRequest, 'what' | 'who' | 'about'> & {
  result: string;
  /** The rule that refused the request, or the error's id. */
  reason?: string | undefined;
  startedAtMs?: number;
};

/** The only place that writes requests to the log and the audit. Never throws. */
export function recordRequest({ log, now, note }: SlackSide, answered: Answered): void {
  const { what, who, about, result, reason, startedAtMs } = answered;
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
  const named = verb && part && verb !== part ? `${verb} ${part}` : verb || part;
  // Without a channel: *home*, *modal* or *shortcut*.
  const where = channelId ?? who.from;
  note?.({
    who: userId,
    what,
    result,
    ...withoutUndefined({ account, where, verb: named, reference: reference ?? about.other, reason }),
  });
}
