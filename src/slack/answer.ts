import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../log.ts';
import {
  anyone,
  auditOf,
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
import type { Reply } from './reply.ts';

/** The word of `manifest.yml`; examples show it, while any word that Slack sends is answered. */
const slashCommand = '/pay';

/** One thing asked of the bot, already acknowledged. */
export type Asked = {
  caller: Caller;
  understood: Understood;
  /** The same for a double click and a repeated delivery, different for anything asked anew. */
  claimKey: string;
  openModal: OpenModal;
  reply: Reply;
};

export type AnswerDeps = {
  log: Log;
  now: () => number;
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
  const { understood } = asked;
  if (understood.kind === 'unclear') {
    await asked.reply(understood.message);
    deps.log('info', 'Asked and answered', { userId: asked.caller.userId, result: 'unclear' });
    return;
  }
  const { command } = understood;
  const outcome = await carryOut(asked, command, understood.words, deps).catch((error: unknown): Outcome => ({
    result: 'failed',
    message: errorReply(error, { command, caller: asked.caller, hasBegun: false }, deps.log),
  }));
  if (outcome.message) await asked.reply(outcome.message);
  deps.log('info', 'Asked and answered', {
    ...auditOf(command, outcome.prepared?.answeredBy?.()),
    userId: asked.caller.userId,
    ...(asked.caller.channelId === undefined ? {} : { channel: asked.caller.channelId }),
    ...(outcome.prepared?.reference === undefined ? {} : { orderReference: outcome.prepared.reference }),
    result: outcome.result,
    durationMs: deps.now() - startedAt,
  });
}

type Outcome = {
  result: 'answered' | 'refused' | 'unreadable' | 'repeated' | 'failed';
  message?: SlackMessage;
  prepared?: Prepared;
};

async function carryOut(
  asked: Asked,
  command: Command,
  words: readonly string[],
  deps: AnswerDeps,
): Promise<Outcome> {
  const refusal = await refuse(asked.caller, command, deps.mayRun);
  if (refusal) return { result: 'refused', message: refusal };
  const read = command.prepare(words);
  if (!read.ok) {
    const example = `${slashCommand} ${command.examples[0] ?? command.verb}`;
    return { result: 'unreadable', message: usageMessage(read.problem, example) };
  }
  const prepared = read.value;
  const more =
    prepared.permission && (await refuse(asked.caller, command, deps.mayRun, [prepared.permission]));
  if (more) return { result: 'refused', message: more };
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
    const message = errorReply(error, { command, caller: asked.caller, ...reference, hasBegun }, deps.log);
    return { result: 'failed', message, prepared };
  }
}

/** Why the caller may not run the verb, in words; undefined when they may. */
export async function refuse(
  caller: Caller,
  command: Command,
  mayRun: MayRun,
  permissions: readonly Permission[] = permissionsOf(command),
): Promise<SlackMessage | undefined> {
  if (permissions.includes(anyone)) return undefined;
  const permits = await Promise.all(permissions.map((permission) => mayRun(permission, caller)));
  const [permit] = permits;
  if (!permit || permit.kind === 'allowed' || permits.some(({ kind }) => kind === 'allowed'))
    return undefined;
  return refusalMessage({ ...permit, what: `${slashCommand} ${command.verb}` });
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
