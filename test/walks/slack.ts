import type { HistoryAnswer, PostOutcome } from '../../src/domain/delivery.ts';
import type { Composed, Post } from '../../src/operations/outbox/prepare-post.ts';
import { postMessage } from '../../src/app/post-message.ts';
import { assertBlocks } from '../../src/slack/assert-blocks.ts';
import { messageDigest } from '../../src/slack/delivery.ts';
import type { SlackMessage } from '../../src/slack/message.ts';
import type { Random } from '../chaos/random.ts';
import type { Process, Schedule } from './schedule.ts';

/** A message as Slack has it. `key`: what its metadata says. */
export type Kept = {
  key: string;
  channel: string;
  ts: string;
  threadTs: string | undefined;
  post: Post;
  shown: SlackMessage;
  /** The first line of the post. */
  firstText: string;
  postedAtMs: number;
  /** Slack took it and shows it this late: until then no history has it. */
  visibleAtMs: number;
  edits: number[];
  /** A person deleted it. */
  goneAtMs?: number;
  /** It stands, and takes no edit any more. */
  closedAtMs?: number;
};

/** How often, of all calls. */
export type SlackFaults = { share: number };

type Refusal = Extract<PostOutcome, { kind: 'refused' }>;

export type SlackDeps = {
  random: Random;
  clock: { nowMs: number };
  schedule: Schedule;
  faults: SlackFaults;
  mayReadHistory: boolean;
  /** Called when a message has arrived, before anybody is told so. */
  arrived: (message: Kept) => void;
  /** Called before a message is edited. */
  edited: (before: Kept, shown: SlackMessage) => void;
  /** Called with what leaves for Slack, whatever becomes of it. */
  leaves: (message: SlackMessage, post: Post) => void;
};

export const place = { environment: 'live', account: 'main account' } as const;

const cause = new Error('a fault that the walk made');
const paceMs = 1_000;

/** Slack as a bot meets it, which takes, refuses, loses and answers late by the walk's own dice. */
export class Slack {
  readonly messages: Kept[] = [];
  /** Posts that came sooner after another of their channel than Slack takes them. */
  readonly tooSoon: { channel: string; atMs: number; key: string; after: Kept | undefined }[] = [];
  /** What Slack says to all for a channel, or, by `*`, to the whole bot. */
  readonly refusals = new Map<string, Refusal>();
  /** When an answer was lost, a call refused or not sent, and of what. */
  readonly faulted: { key: string; kind: PostOutcome['kind']; atMs: number }[] = [];
  away: PostOutcome['kind'] | undefined;
  /** When it came back last. */
  backAtMs = -Infinity;
  readonly faults: SlackFaults;
  private readonly lastPostMs = new Map<string, number>();
  private readonly deps: SlackDeps;

  constructor(deps: SlackDeps) {
    this.deps = deps;
    this.faults = deps.faults;
  }

  compose(process: Process, post: Post): Composed {
    const shown = postMessage(post, place, undefined);
    assertBlocks('message', shown.blocks);
    const { schedule, leaves } = this.deps;
    const key = String(shown.metadata?.event_payload['key']);
    return {
      digest: messageDigest(shown),
      post: async (channel, threadTs) => {
        await schedule.pass(process, true);
        leaves(shown, post);
        const outcome = this.take({ key, channel, threadTs, post, shown });
        await schedule.pass(process, true);
        return this.noted(key, outcome);
      },
      edit: async (channel, ts) => {
        await schedule.pass(process, true);
        leaves(shown, post);
        const outcome = this.edit({ channel, ts }, post, shown);
        await schedule.pass(process, true);
        return this.noted(key, outcome);
      },
    };
  }

  async findByKey(
    process: Process,
    { channel, key, sinceMs, threadTs }: { channel: string; key: string; sinceMs: number; threadTs?: string },
  ): Promise<HistoryAnswer> {
    const { schedule, random, faults, mayReadHistory, clock } = this.deps;
    await schedule.pass(process, true);
    await Promise.resolve();
    if (this.away || random.chance(faults.share / 2)) return { kind: 'unknown', slackError: 'no_answer' };
    if (!mayReadHistory) return { kind: 'unreadable', slackError: 'missing_scope' };
    const refusal = this.refusals.get('*') ?? this.refusals.get(channel);
    if (refusal && refusal.slackError !== 'is_archived')
      return { kind: 'unreadable', slackError: refusal.slackError };
    // Nobody gave the bot the scope for direct messages, and a person’s id names no conversation.
    if (channel.startsWith('U')) return { kind: 'unreadable', slackError: 'channel_not_found' };
    if (threadTs !== undefined && !this.stands(channel, threadTs))
      return { kind: 'unreadable', slackError: 'thread_not_found' };
    const found = this.messages.find(
      (one) =>
        one.key === key &&
        one.channel === channel &&
        one.threadTs === threadTs &&
        one.goneAtMs === undefined &&
        one.visibleAtMs <= clock.nowMs &&
        one.postedAtMs >= sinceMs - 900_000,
    );
    await schedule.pass(process, true);
    return found ? { kind: 'found', ts: found.ts } : { kind: 'absent' };
  }

  stands(channel: string, ts: string): Kept | undefined {
    return this.messages.find(
      (one) => one.channel === channel && one.ts === ts && one.goneAtMs === undefined,
    );
  }

  private noted(key: string, outcome: PostOutcome): PostOutcome {
    if (outcome.kind !== 'posted')
      this.faulted.push({ key, kind: outcome.kind, atMs: this.deps.clock.nowMs });
    return outcome;
  }

  private take(asked: Pick<Kept, 'key' | 'channel' | 'threadTs' | 'post' | 'shown'>): PostOutcome {
    const { clock } = this.deps;
    const channel = asked.channel.startsWith('U') ? `D${asked.channel}` : asked.channel;
    const refusal = this.refuse(asked.channel);
    if (refusal) return refusal;
    if (asked.threadTs !== undefined && !this.stands(channel, asked.threadTs))
      return { kind: 'gone', slackError: 'thread_not_found' };
    if (clock.nowMs - (this.lastPostMs.get(channel) ?? -Infinity) < paceMs) {
      const after = this.messages.findLast((one) => one.channel === channel);
      this.tooSoon.push({ channel, atMs: clock.nowMs, key: asked.key, after });
      return { kind: 'rate_limited', retryAfterMs: paceMs };
    }
    const fault = this.fault();
    if (fault && !this.arrivesAllTheSame(fault)) return fault;
    const ts = this.arrive({ ...asked, channel }, fault ? this.deps.random.below(8_000) : 0);
    return fault ?? { kind: 'posted', channel, ts };
  }

  private arrive(
    asked: Pick<Kept, 'key' | 'channel' | 'threadTs' | 'post' | 'shown'>,
    lateMs: number,
  ): string {
    const { clock, arrived } = this.deps;
    this.lastPostMs.set(asked.channel, clock.nowMs);
    const number = String(this.messages.length + 1).padStart(6, '0');
    const message: Kept = {
      ...asked,
      ts: `${Math.floor(clock.nowMs / 1_000)}.${number}`,
      firstText: asked.shown.text,
      postedAtMs: clock.nowMs,
      visibleAtMs: clock.nowMs + lateMs,
      edits: [],
    };
    arrived(message);
    this.messages.push(message);
    return message.ts;
  }

  private edit(
    { channel, ts }: { channel: string; ts: string },
    post: Post,
    shown: SlackMessage,
  ): PostOutcome {
    const refusal = this.refuse(channel);
    if (refusal) return refusal;
    const found = this.stands(channel, ts);
    if (!found) return { kind: 'gone', slackError: 'message_not_found' };
    if (found.closedAtMs !== undefined) return { kind: 'gone', slackError: 'cant_update_message' };
    const fault = this.fault();
    if (fault && !this.arrivesAllTheSame(fault)) return fault;
    this.deps.edited(found, shown);
    found.edits.push(this.deps.clock.nowMs);
    found.post = post;
    found.shown = shown;
    return fault ?? { kind: 'posted', channel, ts };
  }

  private arrivesAllTheSame({ kind }: PostOutcome): boolean {
    return kind === 'unsure' && this.deps.random.chance(0.5);
  }

  private refuse(channel: string): PostOutcome | undefined {
    if (this.away) return outcomeOf(this.away, 30_000);
    return this.refusals.get('*') ?? this.refusals.get(channel);
  }

  private fault(): PostOutcome | undefined {
    const { random, faults } = this.deps;
    if (!random.chance(faults.share)) return undefined;
    if (random.chance(0.05))
      return { kind: 'refused', slackError: 'msg_too_long', fix: '', about: 'message' };
    return outcomeOf(
      random.pick(['rate_limited', 'not_sent', 'unsure', 'unsure']),
      1_000 + random.below(30_000),
    );
  }
}

function outcomeOf(kind: PostOutcome['kind'], retryAfterMs: number): PostOutcome {
  if (kind === 'rate_limited') return { kind, retryAfterMs };
  return kind === 'not_sent' ? { kind, cause } : { kind: 'unsure', cause };
}
