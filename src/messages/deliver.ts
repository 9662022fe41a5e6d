import type { WebClient } from '@slack/web-api';
import { growingDelayMs } from '../deadline.ts';
import { tagLog } from '../log.ts';
import type { Kind } from '../records/worker.ts';
import type { SlackMessage } from '../slack/kit/message.ts';
import { mrkdwnText } from '../slack/kit/text.ts';
import type { RefusalAbout } from '../slack/slack-error.ts';
import { ownKey } from '../slack/own-account.ts';
import { withNames, type NameOf } from '../slack/people/names.ts';
import type { Entry, WriteOptions } from '../store/store.ts';
import { createDelivery, messageDigest, type PostOutcome } from './delivery.ts';
import { concludeRefusal, forgetRefusedNow, giveUp } from './undelivered.ts';
import {
  findMessageRecord,
  historyKey,
  messageName,
  openBody,
  readMessageRecord,
  type MessageRecord,
} from './message-record.ts';
import {
  again,
  finish,
  hold,
  longestRetryMs,
  paceMs,
  rememberedFor,
  type Change,
  type Teller,
  type Work,
} from './message-work.ts';
import type { Composed, FeatureMessages, Rendered, Said } from './views.ts';
import { dayMs } from '../domain/span.ts';

const longestAccount = 40;

/** How long Slack may refuse a channel or a person: long enough that somebody looks at it on the next working day. */
const giveUpMs = dayMs;

/** What tells the channels whatever the features show. */
export function createOutbox(
  account: Pick<Teller, 'store' | 'sealer' | 'leaseMs' | 'now' | 'log'> & {
    /** Undefined in a bot that knows one account alone. */
    name: string | undefined;
    place: { account: string };
    settings: Parameters<typeof rememberedFor>[0] & {
      slackTimeoutSeconds: number;
      policy: { channels: { ops?: string | undefined } };
    };
    slack: { delivery: WebClient };
    people: { nameOf: NameOf };
  },
  messages: readonly FeatureMessages[],
  ahead: Kind['ahead'],
): Kind {
  const { sealer, settings, slack, people } = account;
  const views: FeatureMessages['views'] = Object.assign({}, ...messages.map((one) => one.views));
  const words: FeatureMessages['words'] = Object.assign({}, ...messages.map((one) => one.words));
  const postTimeoutMs = settings.slackTimeoutSeconds * 1_000;
  const delivery = createDelivery(slack.delivery, postTimeoutMs);
  const teller: Teller & Rendering<{ kind: string }> = {
    ...account,
    async render(work, said) {
      const name = messageName(work.entry.key);
      const view = views[name];
      if (!view) throw new Error(`No feature makes messages called ${name}.`);
      return await view(openBody(sealer, work.entry.key, work.record) as never, work, said);
    },
    compose(post) {
      const worded = words[post.kind]?.(post as never);
      if (!worded) throw new Error(`No feature has words for ${post.kind}.`);
      const { calls, orTo } = worded;
      const message = withAccount(account, withOwnKey(worded.message));
      const named = { ...(calls && { calls }), nameOf: people.nameOf };
      return {
        // Of the people and not of their names: one that is learnt or changed is no reason for an edit.
        digest: messageDigest(message),
        async post(channel, threadTs) {
          const said = await withNames(message, channel, { as: 'post', ...named });
          const outcome = await delivery.post(channel, said, threadTs);
          const isElsewhere = outcome.kind === 'refused' && outcome.about === 'channel';
          return isElsewhere && orTo !== undefined ? await delivery.post(orTo, said) : outcome;
        },
        async edit(channel, ts) {
          const said = await withNames(message, channel, { as: 'edit', ...named });
          return await delivery.edit({ channel, ts }, said);
        },
      };
    },
    findByKey: (doubt, key) => delivery.findByKey(doubt, ownKey(key)),
    opsChannel: settings.policy.channels.ops,
    postTimeoutMs,
    ...rememberedFor(settings),
    giveUpMs,
  };
  const work = (entry: Entry): Promise<void> => deliverEntry(teller, entry);
  return { prefix: 'message:', work, ...(ahead && { ahead }) };
}

/** Several accounts may post of one reference in one channel. */
function withOwnKey({ metadata, ...message }: SlackMessage): SlackMessage {
  if (!metadata) return message;
  return {
    ...message,
    metadata: { ...metadata, event_payload: { key: ownKey(metadata.event_payload.key) } },
  };
}

/** Where there are several accounts a notification begins with whose it is: its words are cut on a phone. */
function withAccount(
  { name, place }: { name: string | undefined; place: { account: string } },
  message: SlackMessage,
): SlackMessage {
  if (name === undefined) return message;
  return { ...message, text: `${mrkdwnText(place.account, longestAccount)}: ${message.text}` };
}

/** Of a message: what it shows as it leaves, and the words of that. */
export type Rendering<Shown> = {
  render: (work: Work, said: Said) => Promise<Rendered<Shown>>;
  /** Makes the message, and throws when it cannot, before anything says that it was posted. */
  compose: (post: Shown & Said) => Composed;
};

/**
 * Delivers one record that was taken: makes the message, and posts or edits it where it looks different. It is posted once:
 * `doubt` is written before the post leaves, by compare-and-swap, so a worker that lost its lease posts nothing, and one
 * that finds it set asks the channel's history before it repeats anything. Throws what keeps it from being delivered.
 */
export async function deliverEntry<Shown extends object>(
  teller: Teller & Rendering<Shown>,
  entry: Entry,
): Promise<void> {
  const takenAtMs = teller.now();
  const work: Work = { entry, record: readMessageRecord(entry.value) };
  const { record } = work;
  tagLog({ requestId: record.requestId });
  const { withinMs = Infinity } = record;
  if (!record.posted && takenAtMs - record.receivedAtMs >= withinMs) return await settle(teller, work);
  const history = await askHistory(teller, work);
  if (history === 'waits') return;
  const mayBeRepeat = history === 'stands' || record.mayBeRepeat === true;
  const said = { key: historyKey(entry.key, record), mayBeRepeat };
  const rendered = await teller.render(work, said);
  switch (rendered.kind) {
    case 'settled':
      return;
    case 'nothing':
      return await settle(teller, work);
    case 'later':
      return await tryLater(teller, work);
    case 'shown': {
      const message = teller.compose({ ...rendered.post, ...said });
      const { below, keep, ifRefused } = rendered;
      if (!record.posted) return await post(teller, work, { message, below, keep, history, mayBeRepeat });
      if (record.shown === message.digest) return await settle(teller, work);
      if (hasTime(teller, takenAtMs)) await edit(teller, work, record.posted, { message, ifRefused });
      return;
    }
  }
}

/** Nothing is left to send, so nothing is refused any more either: but a dead letter stays listed. */
async function settle(teller: Teller, work: Work): Promise<void> {
  const { refused } = work.record;
  const kept = refused?.givenUp ? refused : undefined;
  await finish(teller, work, { doubt: undefined, refused: kept, misses: 0 }, 0);
}

/** What it waits for may stand behind it in the same channel, so nothing behind it waits. */
async function tryLater(teller: Teller, work: Work, longestMs = 60_000): Promise<void> {
  const delayMs = growingDelayMs(1_000, work.entry.attempts - 1, longestMs);
  await again(teller, work, {}, { delayMs, pauseMs: 0 });
}

/** False when this process slept so long that the post, or its words alone, could outlive the lease. */
function hasTime(teller: Teller, heldAtMs: number): boolean {
  return teller.now() - heldAtMs <= teller.leaseMs - 2 * teller.postTimeoutMs;
}

/**
 * How long a history that does not answer is waited for before the post is repeated, marked: longer than Slack is
 * usually away. Until then it keeps its place before all that came after it, because those would not be answered either; but
 * where Slack only asks to read its history more slowly, the others pass.
 */
const historyPatienceMs = 900_000;
const askAgainMs = 5_000;

/**
 * What is known of an earlier post that may have arrived. `none`: it did not, or there was none. `stands`: it cannot be
 * found out, so a repeat must say that it may be one. `waits`: it is found, and looked at again in a moment, as it may show
 * what was known before; or the history is asked later.
 */
async function askHistory(teller: Teller, work: Work): Promise<'none' | 'stands' | 'waits'> {
  const { entry, record } = work;
  const { doubt } = record;
  if (!doubt) return 'none';
  const { channel } = doubt;
  const answer = await teller.findByKey(doubt, historyKey(entry.key, record));
  switch (answer.kind) {
    case 'found': {
      const posted = { channel, ts: answer.ts };
      await again(teller, work, { ...standing, posted }, { delayMs: paceMs, pauseMs: paceMs });
      return 'waits';
    }
    case 'absent':
      return 'none';
    case 'unreadable':
      return 'stands';
    case 'unknown': {
      const { retryAfterMs, cursor } = answer;
      const silentSinceMs = doubt.silentSinceMs ?? teller.now();
      if (teller.now() - silentSinceMs >= historyPatienceMs) return 'stands';
      const change = { doubt: { ...doubt, silentSinceMs, cursor } };
      const wait =
        retryAfterMs === undefined ? waitAll(askAgainMs) : waitAlone(Math.max(paceMs, retryAfterMs));
      await again(teller, work, change, wait);
      return 'waits';
    }
  }
}

/** Of a message that is in its channel. */
const standing = { doubt: undefined, refused: undefined, misses: 0 } as const;

/** A message waits this long for the one it belongs below to be asked for at all. */
const parentPatienceMs = 600_000;
/**
 * A step that Slack does not take keeps the next one for so long. The message itself may be found as late, after a lost
 * answer, and all of its steps wait until then.
 */
const stepPatienceMs = 2 * longestRetryMs;
const editPatienceMs = 10_000;

type Place = { channel: string; threadTs?: string };

/**
 * Where it is posted: in its channel, or below the message it belongs to, once that stands and the steps before it do,
 * because each of them waits as long as its own attempts have it. `never`: that one is told nowhere.
 */
async function placeOf(
  { store, now }: Teller,
  { channel, unthreaded, receivedAtMs }: MessageRecord,
  below: Posting['below'],
): Promise<Place | 'later' | 'soon' | 'never'> {
  if (!below || unthreaded) return { channel };
  const parent = await findMessageRecord(store, below.key);
  if (!parent) return now() - receivedAtMs >= parentPatienceMs ? { channel } : 'later';
  const { posted } = parent;
  if (!posted) return isSettled(parent) && !parent.refused ? 'never' : 'later';
  // What the message says comes before what its thread says, unless its edit is long in coming.
  if (isBeingEdited(parent) && now() - receivedAtMs < editPatienceMs) return 'soon';
  let sinceMs = Math.max(Number(posted.ts) * 1_000, receivedAtMs);
  let isBehind = false;
  for (const key of below.after ?? []) {
    const before = await findMessageRecord(store, key);
    if (before?.posted) sinceMs = Math.max(sinceMs, Number(before.posted.ts) * 1_000);
    if (!before || before.posted || isSettled(before)) break;
    // Its channel is refused, and so would this one be.
    if (before.refused) return 'later';
    isBehind = true;
  }
  if (isBehind && now() - sinceMs < stepPatienceMs) return 'soon';
  return { channel: posted.channel, threadTs: posted.ts };
}

function isBeingEdited({ settled, wanted, refused, misses }: MessageRecord): boolean {
  return settled < wanted && !refused && misses === 0;
}

function isSettled({ settled, wanted }: MessageRecord): boolean {
  return settled >= wanted;
}

type Posting = {
  message: Composed;
  below: { key: string; after?: readonly string[] } | undefined;
  keep: Change | undefined;
  history: 'none' | 'stands';
  mayBeRepeat: boolean;
};

async function post(teller: Teller, work: Work, posting: Posting): Promise<void> {
  const { message, below, keep, history, mayBeRepeat } = posting;
  const { record } = work;
  const place = await placeOf(teller, record, below);
  if (place === 'never') return await settle(teller, work);
  if (place === 'later') return await tryLater(teller, work);
  if (place === 'soon') return await tryLater(teller, work, 1_000);
  const { channel, threadTs } = place;
  const heldAtMs = teller.now();
  // A doubt that stands is older than this post: whatever becomes of the post, that one may have arrived.
  const older = history === 'stands' ? record.doubt : undefined;
  const isSamePlace = older && older.channel === channel && older.threadTs === threadTs;
  const held = await hold(
    teller,
    work,
    {
      ...keep,
      // What was read of the history does not show this post.
      doubt: isSamePlace
        ? { ...older, untilMs: heldAtMs, cursor: undefined }
        : { ...place, sinceMs: heldAtMs },
      mayBeRepeat: mayBeRepeat || undefined,
      shown: older ? undefined : message.digest,
    },
    teller.leaseMs,
  );
  // What it tells of went on, and nothing was sent: it is read again, before all that came after it.
  if (!held) return void (await again(teller, work, {}, { holdMs: 0 }));
  if (!hasTime(teller, heldAtMs)) return;
  const outcome = await message.post(channel, threadTs);
  const undone = { doubt: older, mayBeRepeat: record.mayBeRepeat };
  const kind = older ? 'repeat' : 'post';
  await conclude(teller, held, { kind, channel, outcome, shown: message.digest, undone });
}

async function edit(
  teller: Teller,
  work: Work,
  { channel, ts }: { channel: string; ts: string },
  { message, ifRefused }: Pick<Posting, 'message'> & Pick<Sent, 'ifRefused'>,
): Promise<void> {
  const outcome = await message.edit(channel, ts);
  const shown = message.digest;
  await conclude(teller, work, { kind: 'edit', channel, outcome, shown, undone: {}, ifRefused });
}

type Sent = {
  kind: 'post' | 'repeat' | 'edit';
  channel: string;
  outcome: PostOutcome;
  /** Digest of what was sent. */
  shown: string;
  /** What is taken back where it surely did not arrive. */
  undone: Change;
  /** See `Rendered`. */
  ifRefused?: 'leave' | undefined;
};

const longestBackOffMs = 60_000;
const repeatAgainMs = 300_000;
/** An answer that is lost so often is lost because of this message, which then lets the others pass. */
const mostMissesInFront = 30;

/** Writes what became of a post or an edit, and when it is tried again if it has to be. */
async function conclude(teller: Teller, work: Work, sent: Sent): Promise<void> {
  const { kind, channel, outcome, shown, undone } = sent;
  const { entry, record } = work;
  const { log } = teller;
  const about = { key: entry.key, channel, attempt: entry.attempts };
  const misses = record.misses + 1;
  const backOffMs = growingDelayMs(paceMs, record.misses, longestBackOffMs);
  switch (outcome.kind) {
    case 'posted': {
      log('info', kind === 'edit' ? 'edited' : 'posted', about);
      const posted = { channel: outcome.channel, ts: outcome.ts };
      const isTaken = kind === 'edit' ? { reposted: undefined } : {};
      const place = outcome.unthreaded ? { unthreaded: true } : {};
      if (record.refused) await forgetRefusedNow(teller.store, record.refused.channel);
      await finish(teller, work, { ...standing, ...isTaken, ...place, posted, shown });
      return;
    }
    case 'rate_limited':
      log('warn', 'Slack asks to wait', { ...about, retryAfterMs: outcome.retryAfterMs });
      await again(teller, work, undone, waitAll(outcome.retryAfterMs));
      return;
    case 'not_sent':
      log('warn', 'Slack could not be reached; will try again', about, outcome.cause);
      await again(teller, work, { ...undone, misses }, waitAll(backOffMs));
      return;
    case 'unsure': {
      // Slack may still be about to show it: a look that comes too soon finds nothing, and a later edit is overwritten.
      const lookMs = Math.max(1.5 * teller.postTimeoutMs, backOffMs);
      const wait = misses < mostMissesInFront ? waitAll(lookMs) : waitAlone(lookMs);
      if (kind === 'edit') {
        log('warn', 'the edit may not have arrived; it is repeated', about, outcome.cause);
        await again(teller, work, { misses }, wait);
        return;
      }
      log('warn', 'the post may have arrived; will look before repeating it', about, outcome.cause);
      // A marked repeat whose answer is lost too must not become a stream of marked repeats.
      const repeatMs = growingDelayMs(repeatAgainMs, record.misses, longestRetryMs);
      await again(teller, work, { misses }, kind === 'repeat' ? waitAlone(repeatMs) : wait);
      return;
    }
    case 'gone':
      await concludeGone(teller, work, outcome.slackError, { ...sent, undone: { ...undone, misses } });
      return;
    case 'refused':
      if (sent.ifRefused && isOfPlace(outcome.about)) await leave(teller, work, outcome.slackError);
      else await concludeRefusal(teller, work, { channel, outcome, missed: { ...undone, misses } });
      return;
  }
}

/** A channel takes no edits any more, an archived one perhaps. */
function isOfPlace(about: RefusalAbout): boolean {
  return about === 'channel' || about === 'unclear';
}

/** Nothing waits for it, and nobody is told. */
async function leave(teller: Teller, work: Work, slackError: string): Promise<void> {
  const about = { key: work.entry.key, slackError };
  teller.log('info', 'a message can no longer be edited; it is left as it is', about);
  await finish(teller, work, { refused: undefined, misses: 0 }, 0);
}

async function concludeGone(
  teller: Teller,
  work: Work,
  slackError: string,
  { undone, ifRefused }: Pick<Sent, 'undone' | 'ifRefused'>,
): Promise<void> {
  const { posted, replaced, reposted, isNote, misses } = work.record;
  if (ifRefused) return await leave(teller, work, slackError);
  if (isNote && posted) return void (await finish(teller, work, { misses: 0 }));
  if (posted && reposted) {
    // A third would say little that a fourth must not say again.
    const fix = 'Let the bot edit its own messages; then deliver them again, which posts each once more.';
    const refusal = { channel: posted.channel, sinceMs: teller.now(), slackError, fix };
    return await giveUp(teller, work, refusal, { misses: 0 });
  }
  const about = { key: work.entry.key, slackError };
  teller.log('info', 'the message or its thread is gone; posting it once more', about);
  const next = isNote
    ? { unthreaded: true }
    : { posted: undefined, shown: undefined, reposted: true, replaced: posted ?? replaced };
  const backOffMs = growingDelayMs(paceMs, misses, longestBackOffMs);
  await again(teller, work, { ...undone, ...next }, waitAlone(backOffMs));
}

/** The whole channel waits, and the order in it stays: what holds for this record holds for the next. */
function waitAll(ms: number): WriteOptions {
  return { holdMs: Math.max(paceMs, ms) };
}

function waitAlone(ms: number): WriteOptions {
  return { delayMs: ms, pauseMs: paceMs };
}
