import type { WebClient } from '@slack/web-api';
import { growingDelayMs } from '../deadline.ts';
import { tagLog } from '../log.ts';
import type { WorkKind } from '../records/worker.ts';
import type { SlackMessage } from '../slack/kit/message.ts';
import { mrkdwnText } from '../slack/kit/text.ts';
import type { RefusalAbout } from '../slack/slack-error.ts';
import { ownKey } from '../slack/own-account.ts';
import { withNames, type NameOf } from '../slack/people/names.ts';
import type { Entry, WriteOptions } from '../store/store.ts';
import { createDelivery, type Delivery, messageDigest, type PostOutcome } from './delivery.ts';
import { concludeRefusal, forgetRefusedNow, giveUp, type Outbox } from './undelivered.ts';
import {
  type Change,
  type MessageRecord,
  type Work,
  findMessageRecord,
  finish,
  historyKey,
  hold,
  longestRetryMs,
  messageName,
  openBody,
  paceMs,
  readMessageRecord,
  rememberedFor,
  reschedule,
} from './message-record.ts';
import type { PostAttempt } from '../slack/kit/note.ts';
import { dayMs } from '../domain/span.ts';

const mostAccountLetters = 40;

/** How long a refused channel or person is retried: a day, so that somebody has time to fix it. */
const giveUpMs = dayMs;

/** The worker's handler for stored messages: renders each by its feature and delivers it to Slack. */
export function createOutbox(
  account: Pick<Delivering, 'store' | 'sealer' | 'leaseMs' | 'now' | 'log'> & {
    /** Undefined if the bot has only one merchant account. */
    name: string | undefined;
    shownAccount: { account: string };
    settings: Parameters<typeof rememberedFor>[0] & {
      slackTimeoutSeconds: number;
      policy: { channels: { ops?: string | undefined } };
    };
    slack: { delivery: WebClient };
    people: { nameOf: NameOf };
  },
  messages: readonly FeatureMessages[],
  prepare: WorkKind['prepare'],
): WorkKind {
  const { sealer, settings, slack, people } = account;
  const renders: FeatureMessages = Object.assign({}, ...messages);
  const postTimeoutMs = settings.slackTimeoutSeconds * 1_000;
  const delivery = createDelivery(slack.delivery, postTimeoutMs);
  const outbox: Delivering = {
    ...account,
    async render(work, about) {
      const name = messageName(work.entry.key);
      const render = renders[name];
      if (!render) throw new Error(`No feature makes messages called ${name}.`);
      return await render(openBody(sealer, work.entry.key, work.record) as never, work, about);
    },
    compose({ message: shown, calls, orTo }) {
      const message = withAccount(account, withOwnKey(shown));
      const named = { ...(calls && { calls }), nameOf: people.nameOf };
      return {
        // Before names replace user ids: a person's new name is no reason for an edit.
        digest: messageDigest(message),
        async post(channel, threadTs) {
          const sent = await withNames(message, channel, { as: 'post', ...named });
          const outcome = await delivery.post(channel, sent, threadTs);
          const refusesChannel = outcome.kind === 'refused' && outcome.about === 'channel';
          // `orTo`: where the message goes if Slack refuses its channel.
          return refusesChannel && orTo !== undefined ? await delivery.post(orTo, sent) : outcome;
        },
        async edit(channel, ts) {
          const sent = await withNames(message, channel, { as: 'edit', ...named });
          return await delivery.edit({ channel, ts }, sent);
        },
      };
    },
    findByKey: (doubt, key) => delivery.findByKey(doubt, ownKey(key)),
    opsChannel: settings.policy.channels.ops,
    postTimeoutMs,
    ...rememberedFor(settings),
    giveUpMs,
  };
  const work = (entry: Entry): Promise<void> => deliverEntry(outbox, entry);
  return { prefix: 'message:', work, ...(prepare && { prepare }) };
}

/** Puts the account into the message's key: several accounts may post the same reference in one channel. */
function withOwnKey({ metadata, ...message }: SlackMessage): SlackMessage {
  if (!metadata) return message;
  return {
    ...message,
    metadata: { ...metadata, event_payload: { key: ownKey(metadata.event_payload.key) } },
  };
}

/** With several accounts, a notification's text begins with the account, because phones cut its end. */
function withAccount(
  { name, shownAccount }: { name: string | undefined; shownAccount: { account: string } },
  message: SlackMessage,
): SlackMessage {
  if (name === undefined) return message;
  return { ...message, text: `${mrkdwnText(shownAccount.account, mostAccountLetters)}: ${message.text}` };
}

/** Keys of the thread's first message, and of the earlier replies to wait for, latest first. */
type Below = { key: string; after?: readonly string[] };

type Shown = {
  kind: 'shown';
  message: SlackMessage;
  /** User ids to mention; other people are shown by name, without a ping. */
  calls?: readonly string[];
  /** The user who gets the message instead if the bot can't post in the channel. */
  orTo?: string;
  below?: Below;
  /** See `MessageRecord`. Stored with the post. */
  evidence?: string;
  /** If Slack refuses an edit, the message stays as it is. */
  ifRefused?: 'leave';
};

/** What a message shows now. */
export type Rendered =
  | Shown
  /** Don't post it any more. */
  | { kind: 'nothing' }
  /** Not yet: retried with a growing back-off, while its lane goes on. */
  | { kind: 'later' }
  /** The renderer has already written the record, and ended its lease. */
  | { kind: 'written' };

type Render<Body> = (body: Body, work: Work, about: PostAttempt) => Promise<Rendered>;

/** Renders a feature's messages from their stored bodies, each by the name in its key. */
export type Renders<Bodies> = { [Name in keyof Bodies]: Render<Bodies[Name]> };

export type FeatureMessages = Readonly<Record<string, Render<never>>>;

/** A message and both ways of sending it. Neither throws for Slack or the network. */
type Composed = {
  /** See `messageDigest`. */
  digest: string;
  post: (channel: string, threadTs?: string) => Promise<PostOutcome>;
  edit: (channel: string, ts: string) => Promise<PostOutcome>;
};

type Delivering = Outbox & {
  render: (work: Work, about: PostAttempt) => Promise<Rendered>;
  compose: (shown: Shown) => Composed;
  findByKey: Delivery['findByKey'];
  /** Lease on one message: longer than the deadlines of a look-up, a history search and a post together. */
  leaseMs: number;
  postTimeoutMs: number;
};

/**
 * Delivers one leased record: renders it, then posts it, or edits it if it looks different. To post it once, `doubt` is
 * stored by compare-and-swap before the post leaves: a worker that lost its lease posts nothing, and one that finds a
 * doubt searches the channel's history before it repeats the post. Throws what the store and rendering throw.
 */
async function deliverEntry(outbox: Delivering, entry: Entry): Promise<void> {
  const leasedAtMs = outbox.now();
  const work: Work = { entry, record: readMessageRecord(entry.value) };
  const { record } = work;
  tagLog({ requestId: record.requestId });
  const { withinMs = Infinity } = record;
  if (!record.posted && leasedAtMs - record.receivedAtMs >= withinMs) return await settle(outbox, work);
  const history = await askHistory(outbox, work);
  if (history === 'rescheduled') return;
  const mayBeRepeat = history === 'unsure' || record.mayBeRepeat === true;
  const about = { key: historyKey(entry.key, record), mayBeRepeat };
  const rendered = await outbox.render(work, about);
  switch (rendered.kind) {
    case 'written':
      return;
    case 'nothing':
      return await settle(outbox, work);
    case 'later':
      return await tryLater(outbox, work);
    case 'shown': {
      const message = outbox.compose(rendered);
      const { below, evidence, ifRefused } = rendered;
      if (!record.posted) return await post(outbox, work, { message, below, evidence, history });
      if (record.shown === message.digest) return await settle(outbox, work);
      if (!hasTime(outbox, leasedAtMs)) return;
      const { channel, ts } = record.posted;
      const outcome = await message.edit(channel, ts);
      const shown = message.digest;
      const sent = { kind: 'edit', channel, outcome, shown, ifNotSent: {}, ifRefused } as const;
      return await conclude(outbox, work, sent);
    }
  }
}

/** Ends the work without sending anything. Forgets a refusal, but a dead letter stays one. */
async function settle(outbox: Outbox, work: Work): Promise<void> {
  const { refused } = work.record;
  await finish(outbox, work, { ...cleared, refused: refused?.givenUp && refused }, 0);
}

/** Retries later. The lane goes on, because the message that this one waits for may be behind it. */
async function tryLater(outbox: Outbox, work: Work, longestMs = 60_000): Promise<void> {
  const delayMs = growingDelayMs(1_000, work.entry.attempts - 1, longestMs);
  await reschedule(outbox, work, {}, { delayMs, pauseMs: 0 });
}

/** False if this process was suspended so long that a post and its text-only retry could outlive the lease. */
function hasTime(outbox: Delivering, heldAtMs: number): boolean {
  return outbox.now() - heldAtMs <= outbox.leaseMs - 2 * outbox.postTimeoutMs;
}

/**
 * How long the history may stay unanswered before the post is repeated, marked as a possible repeat: longer than usual
 * outages of Slack. Meanwhile the whole lane waits, because Slack wouldn't answer its other messages either; if only
 * the history is rate limited, the others go on.
 */
const historyPatienceMs = 900_000;
const historyRetryMs = 5_000;

/**
 * Finds out whether an earlier post arrived. `absent`: none arrived. `unsure`: the history can't tell, so a repeat must
 * say that it may be one. `rescheduled`: the post was found, and the next run edits it if its content is out of date;
 * or the history will be searched later.
 */
async function askHistory(outbox: Delivering, work: Work): Promise<'absent' | 'unsure' | 'rescheduled'> {
  const { entry, record } = work;
  const { doubt } = record;
  if (!doubt) return 'absent';
  const { channel } = doubt;
  const answer = await outbox.findByKey(doubt, historyKey(entry.key, record));
  switch (answer.kind) {
    case 'found': {
      const posted = { channel, ts: answer.ts };
      await reschedule(outbox, work, { ...cleared, posted }, { delayMs: paceMs, pauseMs: paceMs });
      return 'rescheduled';
    }
    case 'absent':
      return 'absent';
    case 'unreadable':
      return 'unsure';
    case 'unknown': {
      const { retryAfterMs, cursor } = answer;
      const silentSinceMs = doubt.silentSinceMs ?? outbox.now();
      if (outbox.now() - silentSinceMs >= historyPatienceMs) return 'unsure';
      const change = { doubt: { ...doubt, silentSinceMs, cursor } };
      const wait =
        retryAfterMs === undefined ? waitAll(historyRetryMs) : waitAlone(Math.max(paceMs, retryAfterMs));
      await reschedule(outbox, work, change, wait);
      return 'rescheduled';
    }
  }
}

/** Clears what only an unfinished message has. */
const cleared = { doubt: undefined, refused: undefined, misses: 0 } as const;

/** How long a reply waits for its thread's first message to be stored; then it goes into the channel. */
const parentPatienceMs = 600_000;
/** How long a reply waits for the replies before it: long enough for one that is retried with the longest back-off. */
const earlierReplyPatienceMs = 2 * longestRetryMs;
/** How long a reply waits for the edit of its thread's first message, so that people see the edit first. */
const editPatienceMs = 10_000;

type Place = { channel: string; threadTs?: string };

/**
 * Where to post: in the channel, or in a thread once its first message and the earlier replies are posted. Each reply
 * has its own back-off, so the lane alone doesn't keep their order; replies before one that was never stored don't
 * count. `later` and `soon`: retry, with a long or a short back-off. `never`: the thread's first message is not posted.
 */
async function findPlace(
  { store, now }: Outbox,
  { channel, unthreaded, receivedAtMs }: MessageRecord,
  below: Below | undefined,
): Promise<Place | 'later' | 'soon' | 'never'> {
  if (!below || unthreaded) return { channel };
  const parent = await findMessageRecord(store, below.key);
  if (!parent) return now() - receivedAtMs >= parentPatienceMs ? { channel } : 'later';
  const { posted } = parent;
  if (!posted) return isSettled(parent) && !parent.refused ? 'never' : 'later';
  if (isBeingEdited(parent) && now() - receivedAtMs < editPatienceMs) return 'soon';
  let sinceMs = Math.max(Number(posted.ts) * 1_000, receivedAtMs);
  let hasEarlier = false;
  for (const key of below.after ?? []) {
    const earlier = await findMessageRecord(store, key);
    if (earlier?.posted) sinceMs = Math.max(sinceMs, Number(earlier.posted.ts) * 1_000);
    if (!earlier || earlier.posted || isSettled(earlier)) break;
    // Slack refuses the channel of the earlier reply, so it would refuse this reply, too.
    if (earlier.refused) return 'later';
    hasEarlier = true;
  }
  if (hasEarlier && now() - sinceMs < earlierReplyPatienceMs) return 'soon';
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
  below: Below | undefined;
  evidence: string | undefined;
  history: 'absent' | 'unsure';
};

async function post(outbox: Delivering, work: Work, posting: Posting): Promise<void> {
  const { message, below, evidence, history } = posting;
  const { record } = work;
  const place = await findPlace(outbox, record, below);
  if (place === 'never') return await settle(outbox, work);
  if (place === 'later') return await tryLater(outbox, work);
  if (place === 'soon') return await tryLater(outbox, work, 1_000);
  const { channel, threadTs } = place;
  const heldAtMs = outbox.now();
  // Keep the doubt of an earlier post: that post may have arrived even if this one fails.
  const older = history === 'unsure' ? record.doubt : undefined;
  const isSamePlace = older && older.channel === channel && older.threadTs === threadTs;
  const held = await hold(outbox, work, {
    ...(evidence !== undefined && { evidence }),
    // No cursor: the pages read before don't hold this post.
    doubt: isSamePlace ? { ...older, untilMs: heldAtMs, cursor: undefined } : { ...place, sinceMs: heldAtMs },
    mayBeRepeat: history === 'unsure' || record.mayBeRepeat,
    // The history may still show an earlier post, whose content can differ from this one's: then it must be edited.
    shown: record.doubt ? undefined : message.digest,
  });
  // The message's subject changed and nothing was sent: render it again, still first in its lane.
  if (!held) return void (await reschedule(outbox, work, {}, { holdMs: 0 }));
  if (!hasTime(outbox, heldAtMs)) return;
  const outcome = await message.post(channel, threadTs);
  const ifNotSent = { doubt: older, mayBeRepeat: record.mayBeRepeat };
  const kind = older ? 'repeat' : 'post';
  await conclude(outbox, held, { kind, channel, outcome, shown: message.digest, ifNotSent });
}

type Sent = {
  /** `repeat`: a post while an earlier one may have arrived. */
  kind: 'post' | 'repeat' | 'edit';
  channel: string;
  outcome: PostOutcome;
  /** Digest of what was sent. */
  shown: string;
  /** The change that restores the record if the message certainly didn't arrive. */
  ifNotSent: Change;
  /** See `Shown`. */
  ifRefused?: 'leave' | undefined;
};

const longestBackOffMs = 60_000;
const markedRepeatDelayMs = 300_000;
/** After so many lost answers in a row the message itself is the likely cause, so it no longer holds its lane. */
const mostMissesHoldingLane = 30;

/** Stores the outcome of a post or an edit, and schedules a retry if one is needed. */
async function conclude(outbox: Delivering, work: Work, sent: Sent): Promise<void> {
  const { kind, channel, outcome, shown, ifNotSent } = sent;
  const { entry, record } = work;
  const { log } = outbox;
  const about = { key: entry.key, channel, attempt: entry.attempts };
  const misses = record.misses + 1;
  const backOffMs = growingDelayMs(paceMs, record.misses, longestBackOffMs);
  switch (outcome.kind) {
    case 'posted': {
      log('info', kind === 'edit' ? 'edited' : 'posted', about);
      if (record.refused) await forgetRefusedNow(outbox.store, record.refused.channel);
      await finish(outbox, work, {
        ...cleared,
        ...(kind === 'edit' && { reposted: undefined }),
        ...(outcome.unthreaded && { unthreaded: true }),
        posted: { channel: outcome.channel, ts: outcome.ts },
        shown,
      });
      return;
    }
    case 'rate_limited':
      log('warn', 'Slack asks to wait', { ...about, retryAfterMs: outcome.retryAfterMs });
      await reschedule(outbox, work, ifNotSent, waitAll(outcome.retryAfterMs));
      return;
    case 'not_sent':
      log('warn', 'Slack could not be reached; will try again', about, outcome.cause);
      await reschedule(outbox, work, { ...ifNotSent, misses }, waitAll(backOffMs));
      return;
    case 'unsure': {
      // Slack may still be carrying out the call. So wait: a search now could miss the post, and a second edit now could
      // be overwritten by the first.
      const lookMs = Math.max(1.5 * outbox.postTimeoutMs, backOffMs);
      const wait = misses < mostMissesHoldingLane ? waitAll(lookMs) : waitAlone(lookMs);
      if (kind === 'edit') {
        log('warn', 'the edit may not have arrived; it is repeated', about, outcome.cause);
        await reschedule(outbox, work, { misses }, wait);
        return;
      }
      log('warn', 'the post may have arrived; will look before repeating it', about, outcome.cause);
      // If a marked repeat's answer is lost too, wait long: the channel must not fill with marked repeats.
      const repeatMs = growingDelayMs(markedRepeatDelayMs, record.misses, longestRetryMs);
      await reschedule(outbox, work, { misses }, kind === 'repeat' ? waitAlone(repeatMs) : wait);
      return;
    }
    case 'gone':
      await concludeGone(outbox, work, outcome.slackError, { ...sent, ifNotSent: { ...ifNotSent, misses } });
      return;
    case 'refused':
      if (sent.ifRefused && isOfChannel(outcome.about))
        await settleUnedited(outbox, work, outcome.slackError);
      else await concludeRefusal(outbox, work, { channel, outcome, missed: { ...ifNotSent, misses } });
      return;
  }
}

/** True if Slack refuses edits in this channel (it is archived, say), or for an unknown reason. */
function isOfChannel(about: RefusalAbout): boolean {
  return about === 'channel' || about === 'unclear';
}

/** Settles the message as it is in Slack: no retry, no notice, no pause. */
async function settleUnedited(outbox: Outbox, work: Work, slackError: string): Promise<void> {
  const about = { key: work.entry.key, slackError };
  outbox.log('info', 'a message can no longer be edited; it is left as it is', about);
  await finish(outbox, work, { refused: undefined, misses: 0 }, 0);
}

async function concludeGone(
  outbox: Outbox,
  work: Work,
  slackError: string,
  { ifNotSent, ifRefused }: Pick<Sent, 'ifNotSent' | 'ifRefused'>,
): Promise<void> {
  const { posted, replaced, reposted, isNote, misses } = work.record;
  if (ifRefused) return await settleUnedited(outbox, work, slackError);
  if (isNote && posted) return void (await finish(outbox, work, { misses: 0 }));
  if (posted && reposted) {
    // Repost once at most, because Slack would refuse to edit the new message, too.
    const fix = 'Let the bot edit its own messages; then deliver them again, which posts each once more.';
    const refusal = { channel: posted.channel, sinceMs: outbox.now(), slackError, fix };
    return await giveUp(outbox, work, refusal, { misses: 0 });
  }
  const about = { key: work.entry.key, slackError };
  outbox.log('info', 'the message or its thread is gone; posting it once more', about);
  const next = isNote
    ? { unthreaded: true }
    : { posted: undefined, shown: undefined, reposted: true, replaced: posted ?? replaced };
  const backOffMs = growingDelayMs(paceMs, misses, longestBackOffMs);
  await reschedule(outbox, work, { ...ifNotSent, ...next }, waitAlone(backOffMs));
}

/** The whole lane waits and keeps its order, because the next message would fail, too. */
function waitAll(ms: number): WriteOptions {
  return { holdMs: Math.max(paceMs, ms) };
}

/** This message waits; the rest of its lane goes on. */
function waitAlone(ms: number): WriteOptions {
  return { delayMs: ms, pauseMs: paceMs };
}
