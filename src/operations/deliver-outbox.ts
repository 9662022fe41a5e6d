import type { Alert, Environment, Lookup } from '../domain/alert.ts';
import type { HistoryAnswer, PostOutcome } from '../domain/delivery.ts';
import type { PaymentEvent } from '../domain/payment-event.ts';
import type { Log } from '../log.ts';
import type { Entry, Store, WriteOptions } from '../store/store.ts';
import {
  openEvent,
  openNotice,
  readOutboxRecord,
  writeOutboxRecord,
  type Notice,
  type OutboxRecord,
  type Sealer,
} from './outbox.ts';

/** What is posted: the words are made where Slack is known. */
export type Post =
  | { kind: 'alert'; alert: Alert }
  | { kind: 'notice'; notice: Notice; key: string; mayBeRepeat: boolean };

export type DeliverDeps = {
  store: Pick<Store, 'take' | 'write'>;
  sealer: Sealer;
  lookUp: (event: PaymentEvent) => Promise<Lookup>;
  post: (channel: string, post: Post) => Promise<PostOutcome>;
  findByKey: (channel: string, key: string, sinceMs: number) => Promise<HistoryAnswer>;
  environment: Environment;
  account: string;
  rememberMs: number;
  /** Longer than a look-up, a history read and a post with their deadlines together. */
  leaseMs: number;
  now: () => number;
  log: Log;
};

/** Slack takes about one message a second in a channel. */
const paceMs = 1_000;
/** A service that is away delays an alert by this much at most; then it is told unchecked. */
const lookUpDelaysMs = [2_000, 8_000];
const longestBackOffMs = 60_000;
/** A channel the bot may not post to is tried again this often: the fix is a person's. */
const refusedDelayMs = 60_000;
/** How long a history that cannot be read for the moment is waited for before the post is repeated, marked. */
const historyPatienceMs = 300_000;

/**
 * Takes one due record and delivers it. Each record is posted once: `posting` is written first, by
 * compare-and-swap, so a worker that lost its lease posts nothing, and one that finds `posting` set asks
 * the channel's history before it repeats anything. False when nothing was due.
 */
export async function deliverNext(deps: DeliverDeps): Promise<boolean> {
  const [entry] = await deps.store.take(deps.leaseMs);
  if (!entry) return false;
  const record = readOutboxRecord(entry.value);
  const doubt = record.posting ? await settleDoubt(deps, entry, record) : { kind: 'none' as const };
  if (doubt.kind === 'settled') return true;
  const mayBeRepeat = doubt.kind === 'repeat';
  const post = await preparePost(deps, entry, record, mayBeRepeat);
  if (!post) return true;
  const held = await save(deps, entry, { ...record, posting: true }, { holdMs: deps.leaseMs });
  if (!held) return true;
  await concludePost(deps, held, record, await deps.post(record.channel, post));
  return true;
}

type Doubt = { kind: 'none' | 'repeat' | 'settled' };

/** An earlier attempt may have arrived. Found in the channel: done. Absent: post. Unreadable for good: post, marked. */
async function settleDoubt(deps: DeliverDeps, entry: Entry, record: OutboxRecord): Promise<Doubt> {
  const answer = await deps.findByKey(record.channel, entry.key, record.receivedAtMs);
  switch (answer.kind) {
    case 'found':
      await finish(deps, entry, record, answer.ts);
      return { kind: 'settled' };
    case 'absent':
      return { kind: 'none' };
    case 'unknown': {
      const patient = deps.now() - record.receivedAtMs < historyPatienceMs;
      if (answer.slackError === 'missing_scope' || !patient) return { kind: 'repeat' };
      await save(deps, entry, record, { delayMs: 5_000, pauseMs: paceMs });
      return { kind: 'settled' };
    }
  }
}

/** Undefined when the look-up found the service away and the record waits for it. */
async function preparePost(
  deps: DeliverDeps,
  entry: Entry,
  record: OutboxRecord,
  mayBeRepeat: boolean,
): Promise<Post | undefined> {
  if (record.kind === 'notice') {
    return {
      kind: 'notice',
      notice: openNotice(deps.sealer, entry.key, record),
      key: entry.key,
      mayBeRepeat,
    };
  }
  const event = openEvent(deps.sealer, entry.key, record);
  const lookup = await deps.lookUp(event);
  const delayMs = lookup.kind === 'unchecked' ? lookUpDelaysMs[record.lookUps] : undefined;
  if (delayMs !== undefined) {
    await save(deps, entry, { ...record, lookUps: record.lookUps + 1 }, { delayMs });
    return undefined;
  }
  const { environment, account } = deps;
  const alert: Alert = {
    event,
    lookup,
    environment,
    account,
    receivedAtMs: record.receivedAtMs,
    mayBeRepeat,
  };
  return {
    kind: 'alert',
    alert: { ...alert, event: { ...provenReference(lookup), ...event, key: entry.key } },
  };
}

/** The service's own record names the order, also where the event could not. */
function provenReference(lookup: Lookup): { orderReference?: string } {
  const found = 'transaction' in lookup ? lookup.transaction.orderReference : undefined;
  return found === undefined ? {} : { orderReference: found };
}

async function concludePost(
  deps: DeliverDeps,
  entry: Entry,
  record: OutboxRecord,
  outcome: PostOutcome,
): Promise<void> {
  const { log } = deps;
  const about = { key: entry.key, channel: record.channel, attempt: entry.attempts };
  const missed = { ...record, posting: false, misses: record.misses + 1 };
  switch (outcome.kind) {
    case 'posted':
      log('info', 'posted', about);
      await finish(deps, entry, record, outcome.ts);
      return;
    case 'rate_limited':
      log('warn', 'Slack asks to wait', { ...about, retryAfterMs: outcome.retryAfterMs });
      await save(deps, entry, { ...record, posting: false }, wait(outcome.retryAfterMs));
      return;
    case 'refused':
      log('error', 'Slack refuses the post', { ...about, slackError: outcome.slackError, fix: outcome.fix });
      await save(deps, entry, missed, wait(refusedDelayMs));
      return;
    case 'not_sent':
      log('warn', 'Slack could not be reached; will try again', about, outcome.cause);
      await save(deps, entry, missed, wait(backOffMs(record.misses)));
      return;
    case 'unsure':
      log('warn', 'the post may have arrived; will look before repeating it', about, outcome.cause);
      await save(deps, entry, { ...missed, posting: true }, wait(backOffMs(record.misses)));
      return;
  }
}

function wait(ms: number): WriteOptions {
  return { delayMs: ms, pauseMs: ms };
}

function backOffMs(misses: number): number {
  return Math.min(paceMs * 2 ** misses, longestBackOffMs);
}

async function finish(deps: DeliverDeps, entry: Entry, record: OutboxRecord, ts: string): Promise<void> {
  const options = { ttlMs: deps.rememberMs, pauseMs: paceMs };
  await save(deps, entry, { ...record, posting: false, posted: { ts } }, options);
}

/** Undefined when somebody else has it by now, and our effect is to be dropped. */
function save(
  deps: DeliverDeps,
  entry: Entry,
  record: OutboxRecord,
  options: WriteOptions,
): Promise<Entry | undefined> {
  return deps.store.write(entry, writeOutboxRecord(record), options);
}
