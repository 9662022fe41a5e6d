import type { Lookup } from '../../src/domain/alert.ts';
import type { HistoryAnswer, PostOutcome } from '../../src/domain/delivery.ts';
import type { PaymentEvent } from '../../src/domain/payment-event.ts';
import { StoreUnavailable } from '../../src/domain/store-unavailable.ts';
import { deliverNext, type DeliverDeps, type Post } from '../../src/operations/deliver-outbox.ts';
import type { ReceiveDeps } from '../../src/operations/receive-event.ts';
import { memoryStore } from './memory-store.ts';

export const channel = 'C0ALERTS01';
export const ops = 'C0OPS00001';
export const event: PaymentEvent = {
  kind: 'payment_failed',
  key: 'payment_failed:SUB-1',
  orderReference: 'SUB-1',
  transactionId: 'canary-transaction',
  customerEmail: 'jane@example.com',
  reason: 'Insufficient funds',
};
export const sealer = {
  seal: (context: string, plain: string) => Buffer.from(`${context}|${plain}`).toString('base64'),
  open: (context: string, sealed: string) =>
    Buffer.from(sealed, 'base64')
      .toString()
      .slice(context.length + 1),
};

/** What a kill leaves behind: nothing is written any more. */
export const killed = () => Promise.reject(new StoreUnavailable('killed'));

type Answers = { posts?: PostOutcome[]; lookups?: Lookup[]; history?: HistoryAnswer[] };

export function house(answers: Answers = {}) {
  const clock = { nowMs: 1_000_000 };
  const store = memoryStore(clock);
  const posts: { channel: string; post: Post }[] = [];
  const receive: ReceiveDeps = {
    store,
    sealer,
    channelFor: (kind) => (kind === 'payment_failed' ? channel : undefined),
    opsChannel: ops,
    rememberMs: 30 * 86_400_000,
    now: () => clock.nowMs,
    wake: () => undefined,
  };
  const deliver: DeliverDeps = {
    store,
    sealer,
    opsChannel: ops,
    channelFor: receive.channelFor,
    report: () => undefined,
    postTimeoutMs: 10_000,
    lookUp: () => Promise.resolve(answers.lookups?.shift() ?? { kind: 'not_found' }),
    compose: (post) => (to) => {
      posts.push({ channel: to, post });
      return Promise.resolve(answers.posts?.shift() ?? { kind: 'posted', ts: `${clock.nowMs}.0001` });
    },
    findByKey: () => Promise.resolve(answers.history?.shift() ?? { kind: 'absent' }),
    environment: 'live',
    account: 'main account',
    rememberMs: 30 * 86_400_000,
    leaseMs: 45_000,
    now: () => clock.nowMs,
    log: () => undefined,
  };
  async function drain(forMs = 0): Promise<void> {
    const endsAtMs = clock.nowMs + forMs;
    for (;;) {
      while (await deliverNext(deliver));
      if (clock.nowMs >= endsAtMs) return;
      clock.nowMs += 1_000;
    }
  }
  return { clock, store, posts, receive, deliver, drain };
}
