import type { WebClient } from '@slack/web-api';
import { maskNumbers } from '../domain/card.ts';
import { withoutUndefined } from '../domain/json.ts';
import { tagLog, type Log } from '../log.ts';
import { headline } from './kit/blocks.ts';
import {
  anyone,
  permissionsOf,
  type AccountSide,
  type Caller,
  type Command,
  type CommandSet,
  type Conversation,
  type MayRun,
  type Permission,
  type Permit,
  type Prepared,
  type Understood,
} from './command.ts';
import { errorReply, refusalMessage, usageMessage } from './words/error-message.ts';
import type { SlackMessage } from './kit/message.ts';
import { inAccount } from './own-account.ts';
import type { Identity } from './workspace.ts';
import type { Screen } from './router/screen.ts';

/** The word in `manifest.yml`, used in examples; the bot answers any word that Slack sends. */
const slashCommand = '/pay';

/** A second delivery of a request gets no answer; a second press does. */
type Repeat = 'first' | 'delivered_again' | 'pressed_again';

/** True for the first caller of a key, false for later ones, on all replicas. Throws if that is unknown. */
type Claim = (key: string) => Promise<boolean>;

/** One request to the bot. */
export type Asked = {
  /** `press`: a button of the bot's; `command`: typed, or chosen in Slack's menus. */
  what: 'command' | 'press' | 'form';
  caller: Caller;
  account: AccountSide;
  /** The text of the button or menu entry; a refusal without it names the verb. */
  label?: string | undefined;
  understood: Understood;
  /** The id of an element that runs its own function. */
  part?: string;
  other?: string | undefined;
  /** Any one is enough; default: the verb's own. */
  permissions?: readonly Permission[] | undefined;
  repeat: (claim: Claim) => Promise<Repeat>;
  screen: Screen;
  /** How long the person may wait before a progress message; default: the usual time. */
  patienceMs?: number;
  /** The result, if the answer alone doesn't tell. */
  result?: () => 'unreadable' | undefined;
};

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
 * Runs the guards in order (permission, words, repeat), then the command, press or form, and answers the caller. Never
 * throws: every failure becomes words on the screen and a log line. Writes one audit line.
 */
export function answer(asked: Asked, side: SlackSide): Promise<void> {
  return inAccount(asked.account.merchant, () => answerAsked(asked, side));
}

async function answerAsked(asked: Asked, side: SlackSide): Promise<void> {
  const startedAt = side.now();
  const { understood, caller, what, screen, part, other } = asked;
  if (understood.kind === 'unclear') {
    await screen.reply(understood.message);
    recordAsked(side, { what, caller, result: 'unclear' });
    screen.letGo();
    return;
  }
  const { command, words } = understood;
  const talk: Talk = {};
  const working = carryOut({ asked, command, words, talk }, side).catch((error: unknown): Outcome => ({
    result: 'failed',
    ...errorReply(error, { command, caller, hasBegun: false }, side.log),
  }));
  const company = keepCompany(working, { asked, command, talk }, side);
  const { result, reason, prepared, message } = await working;
  await company;
  if (message) await say(screen, result, message);
  await screen.done();
  recordAsked(side, {
    what,
    caller,
    command,
    part,
    other,
    reference: spoken(prepared?.reference, part),
    result: (result === 'answered' ? asked.result?.() : undefined) ?? result,
    reason,
    startedAtMs: startedAt,
  });
}

/** Typed text may be a mistyped card number; a button's reference is not. */
function spoken(reference: string | undefined, part: string | undefined): string | undefined {
  return part === undefined && reference !== undefined ? maskNumbers(reference) : reference;
}

type Outcome = {
  result: 'answered' | 'refused' | 'unreadable' | 'repeated' | 'failed';
  message?: SlackMessage;
  reason?: string;
  prepared?: Prepared;
};

const problemTitles = { refused: 'Not allowed', failed: 'Something went wrong' } as const;

async function say(screen: Screen, result: Outcome['result'], message: SlackMessage): Promise<void> {
  if (result === 'repeated') return await screen.sayBeside(message);
  if (result !== 'refused' && result !== 'failed') return await screen.reply(message);
  await screen.sayProblem(problemTitles[result], message);
}

/** Progress words of a running verb. */
type Talk = { progress?: SlackMessage | (() => SlackMessage) };

type Run = { asked: Asked; command: Command; words: readonly string[]; talk: Talk };

async function carryOut({ asked, command, words, talk }: Run, side: SlackSide): Promise<Outcome> {
  const { caller, account, label, permissions, part, screen } = asked;
  const { mayRun } = account;
  const refusal = await refuse(caller, command, mayRun, { permissions, label });
  const read = command.prepare(words);
  // A refusal names the object to the audit, and reads nothing more.
  if (refusal) return { result: 'refused', ...refusal, ...(read.ok ? { prepared: read.value } : {}) };
  if (!read.ok) {
    const example = `${slashCommand} ${command.examples[0] ?? command.verb}`;
    return { result: 'unreadable', message: usageMessage(read.problem, example) };
  }
  const prepared = read.value;
  tagLog({ orderReference: spoken(prepared.reference, part) });
  const more =
    prepared.permission &&
    (await refuse(caller, command, mayRun, { permissions: [prepared.permission], label }));
  if (more) return { result: 'refused', ...more, prepared };
  let hasBegun = false;
  try {
    const isStrict = command.effect !== 'none' || part !== undefined || command.opensForm === true;
    // A repeated form opens once. Idempotent commands skip the duplicate check.
    const repeat = isStrict ? await asked.repeat(side.claimOnce) : 'first';
    if (repeat === 'delivered_again') return { result: 'repeated', prepared };
    if (repeat === 'pressed_again') {
      return { result: 'repeated', message: pressedAgainMessage(label), prepared };
    }
    hasBegun = true;
    const conversation: Conversation = {
      caller,
      openModal: screen.openModal,
      whileWaiting(work, message) {
        talk.progress = message;
        screen.letGo();
        return work;
      },
    };
    const message = await prepared.run(conversation);
    return { result: 'answered', ...(message === undefined ? {} : { message }), prepared };
  } catch (error) {
    const { reference } = prepared;
    const about = reference === undefined || part !== undefined ? {} : { reference };
    return {
      result: 'failed',
      ...errorReply(error, { command, caller, ...about, hasBegun }, side.log),
      prepared,
    };
  }
}

/** The message for the person, and the rule for the audit. */
type Refusal = { message: SlackMessage; reason: string };

/** Any one permission is enough; a refusal explains the first. */
async function permitFor(
  caller: Caller,
  permissions: readonly Permission[],
  mayRun: MayRun,
): Promise<Permit> {
  if (permissions.includes(anyone)) return { kind: 'allowed' };
  const permits = await Promise.all(permissions.map((permission) => mayRun(permission, caller)));
  const [first = { kind: 'allowed' } as const] = permits;
  return permits.find(({ kind }) => kind === 'allowed') ?? first;
}

/** Its holders see which permission is missing, and who has it. */
const adminPermission: Permission = 'doctor';

/** Why the caller may not, naming what they pressed or typed; undefined if they may. */
export async function refuse(
  caller: Caller,
  command: Command,
  mayRun: MayRun,
  { permissions = permissionsOf(command), label = typed(command) }: Pick<Asked, 'permissions' | 'label'> = {},
): Promise<Refusal | undefined> {
  const permit = await permitFor(caller, permissions, mayRun);
  if (permit.kind === 'allowed') return undefined;
  const admin = permit.isByRole === true && (await mayRun(adminPermission, caller)).kind === 'allowed';
  return { message: refusalMessage({ ...permit, what: label }, { admin }), reason: permit.rule };
}

function typed({ verb }: Command): string {
  return `${slashCommand} ${verb}`;
}

function pressedAgainMessage(label = 'It'): SlackMessage {
  const { text, block } = headline('⏳ Already on it', [label, 'one press is enough']);
  return { text, blocks: [block] };
}

function stillWorkingMessage({
  label,
  command,
}: {
  label?: string | undefined;
  command: Command;
}): SlackMessage {
  const { text, block } = headline('⏳ Still working', [label ?? typed(command)]);
  return { text, blocks: [block] };
}

/** A response_url takes five answers; keep one for the answer itself. */
const progressMs = [4_000, 12_000, 40_000];

/** Opens a loading form before its trigger dies; tells a person who sees nothing that work goes on. */
async function keepCompany(
  working: Promise<unknown>,
  { asked, command, talk }: Pick<Run, 'asked' | 'command' | 'talk'>,
  side: SlackSide,
): Promise<void> {
  const { screen, label, patienceMs = side.patienceMs } = asked;
  if (command.opensForm) {
    if (!(await isDoneWithin(working, side.openMs))) screen.openLoading();
    return;
  }
  for (const waitMs of [patienceMs, ...progressMs]) {
    if (await isDoneWithin(working, waitMs)) return;
    const { progress = stillWorkingMessage({ label, command }) } = talk;
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
type Answered = Pick<Asked, 'what' | 'caller' | 'other'> & {
  /** The id of the button or form. */
  part?: string | undefined;
  /** Undefined: no verb of the bot, or refused before it was read. */
  command?: Command;
  reference?: string | undefined;
  result: string;
  /** The rule that refused it, or the error's id. */
  reason?: string | undefined;
  startedAtMs?: number;
};

/** The only place that writes requests to the log and the audit. Never throws; don't await it. */
export function recordAsked({ log, now, note }: SlackSide, asked: Answered): void {
  const { what, caller, command, part, other, result, reason, startedAtMs } = asked;
  const { userId, channelId, from } = caller;
  const whose = command && { verb: command.verb, ...withoutUndefined({ account: command.merchant }) };
  log('info', 'Asked and answered', {
    ...whose,
    userId,
    channel: channelId,
    orderReference: asked.reference,
    result,
    durationMs: startedAtMs && now() - startedAtMs,
  });
  const verb =
    [...new Set([command?.verb, part])].filter((word) => word !== undefined).join(' ') || undefined;
  // The channel; else *home*, *modal* or *shortcut*.
  const where = channelId ?? from;
  note?.({
    who: userId,
    what,
    result,
    ...withoutUndefined({
      account: command?.merchant,
      where,
      verb,
      reference: asked.reference ?? other,
      reason,
    }),
  });
}
