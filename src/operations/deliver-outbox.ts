import type { Alert, Environment, Lookup } from '../domain/alert.ts';
import type { HistoryAnswer, PostOutcome } from '../domain/delivery.ts';
import { growingDelayMs } from '../domain/growing-delay.ts';
import type { PaymentEvent } from '../domain/payment-event.ts';
import { StoreUnavailable } from '../domain/store-unavailable.ts';
import { newErrorId, type Log } from '../log.ts';
import type { Entry, Store, WriteOptions } from '../store/store.ts';
import {
  openEvent,
  openNotice,
  outboxKey,
  readOutboxRecord,
  type Notice,
  type OutboxRecord,
  type Sealer,
} from './outbox.ts';
import { finish, paceMs, save, type Work } from './outbox-work.ts';
import { settleDoubt } from './settle-doubt.ts';
import { tellOperators, type TellDeps } from './tell-operators.ts';

/** What is posted: the words are made where Slack is known. */
export type Post =
  | { kind: 'alert'; alert: Alert }
  | { kind: 'notice'; notice: Notice; key: string; mayBeRepeat: boolean };

export type DeliverDeps = TellDeps & {
  store: Pick<Store, 'create' | 'take' | 'write'>;
  sealer: Sealer;
  lookUp: (event: PaymentEvent) => Promise<Lookup>;
  channelFor: (kind: PaymentEvent['kind']) => string | undefined;
  /** Makes the message, and throws when it cannot, before anything says that it was posted. */
  compose: (post: Post) => (channel: string) => Promise<PostOutcome>;
  findByKey: (channel: string, key: string, sinceMs: number) => Promise<HistoryAnswer>;
  /** What became of the last post to a channel, for health. */
  report: (channel: string, outcome: PostOutcome) => void;
  environment: Environment;
  account: string;
  rememberMs: number;
  /** Longer than a look-up, a history read and a post with their deadlines together. */
  leaseMs: number;
  /** Deadline of one post. */
  postTimeoutMs: number;
  log: Log;
};

/** A service that is away delays an alert by this much at most; then it is told unchecked. */
const lookUpPatienceMs = 10_000;
const lookUpAgainMs = 2_000;
const longestBackOffMs = 60_000;
/** A channel the bot may not post to is tried again this often: the fix is a person's. */
const refusedDelayMs = 60_000;
/** Failures in a row after which the operators are told that a record is stuck. */
const stuckAfter = 5;
const longestPutAsideMs = 3_600_000;
const repeatAgainMs = 300_000;

/**
 * Takes one due record and delivers it. Each is posted once: `doubt` is written before the post leaves, by
 * compare-and-swap, so a worker that lost its lease posts nothing, and one that finds it set asks the
 * channel's history before it repeats anything. A record that cannot be handled is put aside, so that its
 * channel goes on without it. False when nothing was due; throws StoreUnavailable alone.
 */
export async function deliverNext(deps: DeliverDeps): Promise<boolean> {
  const [entry] = await deps.store.take(deps.leaseMs);
  if (!entry) return false;
  const held = { entry };
  try {
    await deliver(deps, held);
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error;
    await putAside(deps, held.entry, error);
  }
  return true;
}

async function deliver(deps: DeliverDeps, held: { entry: Entry }): Promise<void> {
  const work: Work = { entry: held.entry, record: readOutboxRecord(held.entry.value) };
  const verdict = await settleDoubt(deps, work);
  if (verdict === 'settled') return;
  // A doubt that stands is older than this post: whatever becomes of the post, that one may have arrived.
  const standing = verdict === 'stands' ? work.record.doubt : undefined;
  const prepared = await prepare(deps, work, standing !== undefined);
  if (!prepared) return;
  const { channel, send } = prepared;
  const heldAtMs = deps.now();
  const doubt = widen(standing, channel, heldAtMs);
  const entry = await save(deps, work, { doubt }, { holdMs: deps.leaseMs });
  // Somebody else's by now, or this process slept so long that the post, or its words alone, could outlive the lease.
  if (!entry || deps.now() - heldAtMs > deps.leaseMs - 2 * deps.postTimeoutMs) return;
  held.entry = entry;
  const outcome = await send(channel);
  deps.report(channel, outcome);
  await conclude(deps, { entry, record: work.record }, { channel, outcome, standing, doubt });
}

/** The doubt about a new post: it covers the older one where both went to the same channel, and names it where not. */
function widen(
  standing: OutboxRecord['doubt'],
  channel: string,
  sinceMs: number,
): NonNullable<OutboxRecord['doubt']> {
  if (!standing) return { channel, sinceMs };
  return standing.channel === channel ? standing : { channel, sinceMs, elsewhere: true };
}

type Prepared = { channel: string; send: (channel: string) => Promise<PostOutcome> };

/** Undefined when the look-up found the service away and the record waits for it. */
async function prepare(deps: DeliverDeps, work: Work, mayBeRepeat: boolean): Promise<Prepared | undefined> {
  const { entry, record } = work;
  if (record.kind === 'notice') {
    const notice = openNotice(deps.sealer, entry.key, record);
    const send = deps.compose({ kind: 'notice', notice, key: entry.key, mayBeRepeat });
    return { channel: deps.opsChannel ?? record.channel, send };
  }
  const event = openEvent(deps.sealer, entry.key, record);
  const lookup = await deps.lookUp(event);
  if (lookup.kind === 'unchecked' && deps.now() - record.receivedAtMs < lookUpPatienceMs) {
    await save(deps, work, {}, { delayMs: lookUpAgainMs });
    return undefined;
  }
  const { environment, account } = deps;
  const told = { ...provenReference(lookup), ...event, key: entry.key };
  const alert: Alert = {
    event: told,
    lookup,
    environment,
    account,
    receivedAtMs: record.receivedAtMs,
    mayBeRepeat,
  };
  return {
    channel: deps.channelFor(event.kind) ?? record.channel,
    send: deps.compose({ kind: 'alert', alert }),
  };
}

/** The service's own record names the order, also where the event could not. */
function provenReference(lookup: Lookup): { orderReference?: string } {
  const found = 'transaction' in lookup ? lookup.transaction.orderReference : undefined;
  return found === undefined ? {} : { orderReference: found };
}

/** `standing`: the doubt that stays though this post did not arrive; `doubt`: the one if it may have. */
type Conclusion = {
  channel: string;
  outcome: PostOutcome;
  standing: OutboxRecord['doubt'];
  doubt: OutboxRecord['doubt'];
};

async function conclude(deps: DeliverDeps, work: Work, conclusion: Conclusion): Promise<void> {
  const { channel, outcome, standing, doubt } = conclusion;
  const about = { key: work.entry.key, channel, attempt: work.entry.attempts };
  const missed = { doubt: standing, misses: work.record.misses + 1 };
  switch (outcome.kind) {
    case 'posted':
      deps.log('info', 'posted', about);
      await finish(deps, work, { channel, ts: outcome.ts });
      return;
    case 'rate_limited':
      deps.log('warn', 'Slack asks to wait', { ...about, retryAfterMs: outcome.retryAfterMs });
      await save(deps, work, { doubt: standing }, waitAll(outcome.retryAfterMs));
      return;
    case 'refused': {
      const { slackError, fix } = outcome;
      const errorId = newErrorId();
      deps.log('error', 'Slack refuses the post', { ...about, errorId, slackError, fix });
      const wait = outcome.about === 'channel' ? waitAll(refusedDelayMs) : waitAlone(longestPutAsideMs);
      await save(deps, work, missed, wait);
      if (outcome.about === 'message') await tellStuck(deps, work.entry, errorId);
      return;
    }
    case 'not_sent':
      deps.log('warn', 'Slack could not be reached; will try again', about, outcome.cause);
      await save(deps, work, missed, waitAll(backOffMs(work.record.misses)));
      return;
    case 'unsure': {
      deps.log('warn', 'the post may have arrived; will look before repeating it', about, outcome.cause);
      // Slack may still be about to show it: a look that comes too soon finds nothing.
      const lookMs = Math.max(1.5 * deps.postTimeoutMs, backOffMs(work.record.misses));
      // A marked repeat whose answer is lost too must not become a stream of marked repeats.
      const repeatMs = growingDelayMs(repeatAgainMs, work.record.misses, longestPutAsideMs);
      await save(deps, work, { ...missed, doubt }, waitAlone(standing ? repeatMs : lookMs));
      return;
    }
  }
}

/** The whole channel waits: what holds for this record holds for the next. */
function waitAll(ms: number): WriteOptions {
  const waitMs = Math.max(paceMs, ms);
  return { delayMs: waitMs, pauseMs: waitMs };
}

function waitAlone(ms: number): WriteOptions {
  return { delayMs: ms, pauseMs: paceMs };
}

function backOffMs(misses: number): number {
  return growingDelayMs(paceMs, misses, longestBackOffMs);
}

/** What cannot be read, opened or told is kept and tried ever more rarely, and never holds up its channel. */
async function putAside(deps: DeliverDeps, entry: Entry, error: unknown): Promise<void> {
  const errorId = newErrorId();
  const about = { errorId, key: entry.key, channel: entry.lane, attempt: entry.attempts };
  deps.log('error', 'this cannot be posted as it is; trying again later', about, error);
  const delayMs = growingDelayMs(paceMs, entry.attempts, longestPutAsideMs);
  const written = await deps.store.write(entry, entry.value, { delayMs, pauseMs: paceMs });
  if (written && entry.attempts >= stuckAfter) await tellStuck(deps, entry, errorId);
}

/** Once for each record. A notice of a stuck notice would be one without end. */
async function tellStuck(deps: DeliverDeps, entry: Entry, errorId: string): Promise<void> {
  if (entry.key.startsWith(outboxKey('notice', ''))) return;
  await tellOperators(deps, `stuck:${entry.key}`, { kind: 'stuck', record: entry.key, errorId });
}
