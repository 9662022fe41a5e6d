import type { ChargeSeen, ChargeState, Verdict } from '../../src/domain/charge.ts';
import type { Doubt, HistoryAnswer, PostOutcome } from '../../src/messages/delivery.ts';
import type { OrderReference } from '../../src/domain/order-reference.ts';
import { StoreUnavailable } from '../../src/domain/failure.ts';
import { createChargePosts } from '../../src/features/charge/charge-messages.ts';
import type { Post } from './deliver-post.ts';
import type { Composed } from '../../src/messages/views.ts';
import { ownStore, ownStorePath } from '../support/own-store.ts';
import { deliverNext, house, killed, sealer, type Delivering } from './house.ts';

export const desk = 'C0DESK0001';
export const ada = 'U0ADA00001';
export const bola = 'U0BOLA0001';
export const reference = 'pay-1';

export function concluded(kind: Verdict): ChargeState {
  return { kind, concludedAt: 1_000_000 };
}

type Message = { channel: string; ts: string; threadTs?: string; key: string; text: string; edits: number };

/** What a person reads of it: enough to tell one message from another. */
function textOf(post: Post): string {
  if (post.kind === 'approval' || !('charge' in post)) return post.kind;
  const { kind } = post.charge.state;
  const repeat = 'mayBeRepeat' in post && post.mayBeRepeat ? ' (may be a repeat)' : '';
  if (post.kind === 'charge') return `charge: ${kind}${repeat}`;
  return post.kind === 'charge_note' ? `note: ${post.note.kind}${repeat}` : `${post.what}: ${kind}${repeat}`;
}

/**
 * The Slack of these tests: what stands in its channels, threads and direct messages. `answers` are given instead
 * of Slack's own, and then nothing is posted or edited; `dieAfterPost` ends the process once the message stands.
 */
function fakeSlack(clock: { nowMs: number }) {
  const messages: Message[] = [];
  const answers: PostOutcome[] = [];
  const faults = { dieAfterPost: false, dieAfterEdit: false, calls: 0 };

  function compose(post: Post): Composed {
    const text = textOf(post);
    const key = 'key' in post ? post.key : '';
    return {
      digest: text,
      post(to, threadTs) {
        faults.calls += 1;
        const given = answers.shift();
        if (given) return Promise.resolve(given);
        if (threadTs !== undefined && !messages.some((one) => one.ts === threadTs)) {
          return Promise.resolve({ kind: 'gone', slackError: 'thread_not_found' });
        }
        const channel = to.replace(/^U/, 'D');
        const ts = `${clock.nowMs / 1_000}.${String(messages.length + 1).padStart(6, '0')}`;
        messages.push({ channel, ts, ...(threadTs === undefined ? {} : { threadTs }), key, text, edits: 0 });
        return faults.dieAfterPost ? killed() : Promise.resolve({ kind: 'posted', channel, ts });
      },
      edit(channel, ts) {
        faults.calls += 1;
        const given = answers.shift();
        if (given) return Promise.resolve(given);
        const found = messages.find((one) => one.channel === channel && one.ts === ts);
        if (!found) return Promise.resolve({ kind: 'gone', slackError: 'message_not_found' });
        found.text = text;
        found.edits += 1;
        return faults.dieAfterEdit ? killed() : Promise.resolve({ kind: 'posted', channel, ts });
      },
    };
  }

  function findByKey({ channel, threadTs }: Doubt, key: string): HistoryAnswer {
    if (channel.startsWith('U')) return { kind: 'unreadable', slackError: 'channel_not_found' };
    const found = messages.find(
      (one) => one.channel === channel && one.threadTs === threadTs && one.key === key,
    );
    return found ? { kind: 'found', ts: found.ts } : { kind: 'absent' };
  }

  return { messages, answers, faults, compose, findByKey };
}

export type PostsHouse = ReturnType<typeof postsHouse>;

/**
 * Charges that are told, on the real store: how leases and re-arming go together is decided there.
 * `pass` is called before and after every await of a worker.
 */
export function postsHouse(options: { deskChannel?: string | undefined } = {}) {
  const deskChannel = 'deskChannel' in options ? options.deskChannel : desk;
  const { clock, deliver: plain } = house();
  const store = ownStore({ path: ownStorePath('posts'), now: () => clock.nowMs });
  const slack = fakeSlack(clock);
  const charges = new Map<string, ChargeSeen>();
  const watched: { pass: (point: string) => Promise<void> } = { pass: () => Promise.resolve() };

  async function at<T>(point: string, call: () => Promise<T>): Promise<T> {
    await watched.pass(`before ${point}`);
    const result = await call();
    await watched.pass(`after ${point}`);
    return result;
  }

  const deliver: Delivering = {
    ...plain,
    store: {
      ...store,
      create: (...args) => at('create', () => store.create(...args)),
      read: (...args) => at('read', () => store.read(...args)),
      write: (...args) => at('write', () => store.write(...args)),
    },
    findCharge: (wanted) => at('find', () => Promise.resolve(charges.get(wanted))),
    compose(post) {
      const { digest, post: send, edit } = slack.compose(post);
      return {
        digest,
        post: (...args) => at('post', () => send(...args)),
        edit: (...args) => at('edit', () => edit(...args)),
      };
    },
    findByKey: (...args) => at('history', () => Promise.resolve(slack.findByKey(...args))),
  };

  const now = (): number => clock.nowMs;
  const told = {
    store,
    sealer,
    now,
    wake: () => undefined,
    leaseMs: plain.leaseMs,
    rememberMs: 365 * 86_400_000,
  };
  const posts = createChargePosts(told, deskChannel);

  /** As the bot does it: the charge is stored first, then its messages are told to catch up. */
  async function become(state: ChargeState, agents: readonly string[] = [ada]): Promise<void> {
    const charge: ChargeSeen = {
      reference: reference as OrderReference,
      terms: { card: {}, money: { minor: 1_250_000, currency: 'NGN' }, customerEmail: 'jane@example.com' },
      by: ada,
      agent: ada,
      submittedAt: 1_000_000,
      at: clock.nowMs,
      state,
      sends: 1,
      heard: [],
      card: 'fingerprint',
      handOvers: [],
      resends: [],
    };
    charges.set(reference, charge);
    await posts.refresh(reference, agents);
  }

  async function drain(forMs = 0): Promise<void> {
    const endsAtMs = clock.nowMs + forMs;
    for (;;) {
      while (await deliverNext(deliver));
      if (clock.nowMs >= endsAtMs) return;
      clock.nowMs += 1_000;
    }
  }

  const standing = (channel: string) => slack.messages.filter((one) => one.channel === channel);
  const texts = (channel: string) => standing(channel).map(({ text }) => text);
  return { clock, store, slack, charges, watched, deliver, posts, become, drain, standing, texts };
}

/** Ends the process once the message stands and before that is written; then the lease runs out. */
export async function dieAfterPost({ slack, drain, clock, deliver }: PostsHouse): Promise<void> {
  slack.faults.dieAfterPost = true;
  const survived = await drain().then(() => true, isNoKill);
  if (survived) throw new Error('nothing was posted');
  slack.faults.dieAfterPost = false;
  clock.nowMs += deliver.leaseMs;
}

/** Runs one delivery and does something at its nth await, whose name it gives; undefined when it has no such await. */
export async function deliverWith(
  built: PostsHouse,
  nth: number,
  act: (point: string) => Promise<void>,
): Promise<string | undefined> {
  let passed = 0;
  let reached: string | undefined;
  built.watched.pass = async (point) => {
    passed += 1;
    if (passed !== nth) return;
    reached = point;
    // What is done there has awaits of its own, which do not count.
    built.watched.pass = () => Promise.resolve();
    await act(point);
  };
  await deliverNext(built.deliver).catch(isNoKill);
  built.watched.pass = () => Promise.resolve();
  return reached;
}

/** False for the kill a test asked for; throws what it did not. */
function isNoKill(error: unknown): boolean {
  if (!(error instanceof StoreUnavailable)) throw error;
  return false;
}
