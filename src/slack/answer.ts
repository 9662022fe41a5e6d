import { setTimeout as sleep } from 'node:timers/promises';
import { maskNumbers } from '../domain/card-number.ts';
import {
  anyone,
  permissionsOf,
  type Caller,
  type Command,
  type Conversation,
  type MayRun,
  type Permission,
  type OpenModal,
  type Prepared,
  type Understood,
} from './command.ts';
import { errorReply } from './error-reply.ts';
import { refusalMessage, usageMessage } from './error-message.ts';
import type { SlackMessage } from './message.ts';
import { recordAsked, type RecordDeps } from './record-asked.ts';
import type { Reply } from './reply.ts';

/** The word of `manifest.yml`; examples show it, while any word that Slack sends is answered. */
const slashCommand = '/pay';

/** One thing asked of the bot, already acknowledged. */
export type Asked = {
  caller: Caller;
  /** A press of one of the bot's buttons; else it was typed, or chosen in Slack's menus. */
  what?: 'press';
  understood: Understood;
  /** The same for a double click and a repeated delivery, different for anything asked anew. */
  claimKey: string;
  openModal: OpenModal;
  reply: Reply;
};

export type AnswerDeps = RecordDeps & {
  mayRun: MayRun;
  /** True for the first caller of a key, false for every later one, on all replicas. Throws when that cannot be known. */
  claimOnce: (key: string) => Promise<boolean>;
  /** How long a person may look at nothing before being told what is happening. */
  patienceMs: number;
};

/**
 * Runs the guards in their order (permission, words, repeat), then the verb, and answers the caller.
 * Never throws: every failure ends as words on the screen and a line in the log. One audit line each.
 */
export async function answer(asked: Asked, deps: AnswerDeps): Promise<void> {
  const startedAt = deps.now();
  const { understood, caller, what = 'command' } = asked;
  if (understood.kind === 'unclear') {
    await asked.reply(understood.message);
    recordAsked(deps, { what, caller, result: 'unclear' });
    return;
  }
  const { command } = understood;
  const outcome = await carryOut(asked, command, understood.words, deps).catch((error: unknown): Outcome => ({
    result: 'failed',
    ...errorReply(error, { command, caller: asked.caller, hasBegun: false }, deps.log),
  }));
  if (outcome.message) await asked.reply(outcome.message);
  const { result, reason, prepared } = outcome;
  const reference = prepared?.reference;
  recordAsked(deps, {
    what,
    caller,
    command,
    answeredBy: prepared?.answeredBy?.(),
    reference: reference && maskNumbers(reference),
    result,
    reason,
    startedAtMs: startedAt,
  });
}

type Outcome = {
  result: 'answered' | 'refused' | 'unreadable' | 'repeated' | 'failed';
  message?: SlackMessage;
  reason?: string;
  prepared?: Prepared;
};

async function carryOut(
  asked: Asked,
  command: Command,
  words: readonly string[],
  deps: AnswerDeps,
): Promise<Outcome> {
  const refusal = await refuse(asked.caller, command, deps.mayRun);
  const read = command.prepare(words);
  // What was asked about is named to the audit, and read no further.
  if (refusal) return { result: 'refused', ...refusal, ...(read.ok ? { prepared: read.value } : {}) };
  if (!read.ok) {
    const example = `${slashCommand} ${command.examples[0] ?? command.verb}`;
    return { result: 'unreadable', message: usageMessage(read.problem, example) };
  }
  const prepared = read.value;
  const more =
    prepared.permission && (await refuse(asked.caller, command, deps.mayRun, [prepared.permission]));
  if (more) return { result: 'refused', ...more, prepared };
  let hasBegun = false;
  try {
    if (command.effect !== 'none' && !(await deps.claimOnce(asked.claimKey))) {
      return { result: 'repeated', prepared };
    }
    hasBegun = true;
    const message = await prepared.run(conversationOf(asked, deps));
    return { result: 'answered', ...(message === undefined ? {} : { message }), prepared };
  } catch (error) {
    const reference = prepared.reference === undefined ? {} : { reference: prepared.reference };
    const failure = errorReply(error, { command, caller: asked.caller, ...reference, hasBegun }, deps.log);
    return { result: 'failed', ...failure, prepared };
  }
}

/** What a person is told, and the rule behind it, for the audit. */
export type Refusal = { message: SlackMessage; reason: string };

/** Why the caller may not run the verb, in words; undefined when they may. */
export async function refuse(
  caller: Caller,
  command: Command,
  mayRun: MayRun,
  permissions: readonly Permission[] = permissionsOf(command),
): Promise<Refusal | undefined> {
  if (permissions.includes(anyone)) return undefined;
  const permits = await Promise.all(permissions.map((permission) => mayRun(permission, caller)));
  const [permit] = permits;
  if (!permit || permit.kind === 'allowed' || permits.some(({ kind }) => kind === 'allowed'))
    return undefined;
  const message = refusalMessage({ ...permit, what: `${slashCommand} ${command.verb}` });
  return { message, reason: permit.rule };
}

function conversationOf(asked: Asked, deps: AnswerDeps): Conversation {
  return {
    caller: asked.caller,
    openModal: asked.openModal,
    async whileWaiting(work, message) {
      const settled = work.then(
        () => true,
        () => true,
      );
      const [tell, waitsMs] =
        typeof message === 'function'
          ? [message, [deps.patienceMs, ...progressMs]]
          : [() => message, [deps.patienceMs]];
      for (const waitMs of waitsMs) {
        // oxlint-disable-next-line no-await-in-loop -- one wait after the other
        if (await isDoneWithin(settled, waitMs)) break;
        // oxlint-disable-next-line no-await-in-loop
        await asked.reply(tell());
      }
      return work;
    },
  };
}

/** A response_url is good for five answers, the last of which is the answer itself. */
const progressMs = [4_000, 12_000, 40_000];

async function isDoneWithin(settled: Promise<boolean>, waitMs: number): Promise<boolean> {
  const stop = new AbortController();
  const impatient = sleep(waitMs, false, { signal: stop.signal }).catch(() => true);
  const isDone = await Promise.race([settled, impatient]);
  stop.abort();
  return isDone;
}
