import { hash } from 'node:crypto';
import type { Account } from '../../account.ts';
import type { ForwardedDelivery } from '../../domain/forwarding.ts';
import { counted } from '../../domain/wording.ts';
import { tellOperators } from '../../messages/messages.ts';
import type { Notice } from '../../messages/notices.ts';
import { code, rich } from '../../slack/kit/blocks.ts';
import type { Entry } from '../../store/store.ts';
import { createBackground } from '../../under-way.ts';
import { type Forward, forwardDepth, forwardKind, forwardRecords, revive } from './forward-record.ts';
import { type Sent, sendDelivery } from './send-delivery.ts';
import { dayMs, hourMs } from '../../domain/span.ts';

/** The most connections of one account from one process, so that a hanging backend can't take more. */
const mostAtOnce = 16;
const longestSendMs = 10_000;
const firstRetryMs = 5_000;
const longestRetryMs = hourMs;
/** Operators get a notice after this time: longer than a deploy of the backend. */
const tellAfterMs = 900_000;

export type Forwarding = ReturnType<typeof createForwarding>;

/**
 * Forwards deliveries to the merchant's own backend, each until it answers 2xx, in order by order reference: a
 * reference's lane waits for its oldest one. `count`: called for each try and each abandoned delivery.
 */
export function createForwarding(account: Account, count: (result: Sent['kind'] | 'left') => void) {
  const { store, settings, name, leaseMs, now, wake, log } = account;
  const { webhookForwardUrl: url, webhookForwardDays: days, webhookRememberDays, policy } = settings;
  const records = forwardRecords(account);
  const operators = { ...account, opsChannel: policy.channels.ops };
  const background = createBackground(log, 'forwarded events');
  const queue = createQueue(mostAtOnce);
  const sendMs = Math.min(longestSendMs, leaseMs / 2);

  /** One notice a day per cause; the log has every case. */
  async function tell(cause: string, notice: Notice): Promise<void> {
    await tellOperators(operators, `forward:${cause}:${Math.floor(now() / dayMs)}`, notice);
  }

  /** Abandons a delivery: kept, but only sent again on request. */
  async function abandon(entry: Entry, forward: Forward, why: string): Promise<void> {
    const value = { ...forward, leftWhy: why };
    if (!(await records.write(entry, value, { ttlMs: webhookRememberDays * dayMs }))) return;
    count('left');
    const fix = 'Fix the backend, then: npm run payops -- forward';
    log('error', 'Your backend did not take an event', { ...forward.about, failure: why, fix });
    wake();
  }

  /** Holds the delivery's lane until the next try, which keeps the order. */
  async function retry(entry: Entry, forward: Forward, why: string): Promise<void> {
    const ageMs = Math.max(0, now() - forward.triedSinceMs);
    if (ageMs >= days * dayMs) {
      await abandon(entry, forward, why);
      await tell('left', tooOldNotice(why, forward, days));
      return;
    }
    // Wait half as long as this delivery has been tried: a return is noticed soon, and days of outage cost few tries.
    const holdMs = Math.min(Math.max(ageMs / 2, firstRetryMs), longestRetryMs);
    await store.write(entry, entry.value, { holdMs });
    if (ageMs >= tellAfterMs) await tell('away', awayNotice(why, days));
  }

  async function send(entry: Entry, forward: Forward): Promise<void> {
    const startedAtMs = now();
    const body = Buffer.from(forward.body, 'base64');
    const sent: Sent =
      url === undefined
        ? { kind: 'missed', why: 'WEBHOOK_FORWARD_URL is not set' }
        : await sendDelivery(url, { body, headers: forward.headers }, sendMs);
    const { kind, why, httpStatus } = sent;
    count(kind);
    const about = { ...forward.about, attempt: entry.attempts, durationMs: now() - startedAtMs, httpStatus };
    switch (kind) {
      case 'taken':
        log('info', 'Webhook forwarded', about);
        await store.write(entry, '', { ttlMs: 0, index: {} });
        wake();
        return;
      case 'refused':
        await abandon(entry, forward, why);
        await tell(why, refusedNotice(why, forward));
        return;
      case 'missed':
        log('warn', 'Webhook not forwarded; it is retried', { ...about, failure: why });
        await retry(entry, forward, why);
    }
  }

  async function work(entry: Entry): Promise<void> {
    const forward = records.open(entry);
    const ticket = queue.enter(now());
    if (ticket.kind === 'wait') {
      await store.write(entry, entry.value, { holdMs: ticket.ms });
      return;
    }
    // In the background: the delivery's lane stays leased, and the worker is free for alerts.
    background.add(send(entry, forward).finally(() => ticket.leave(now())));
  }

  return {
    cases: [{ prefix: forwardKind.prefix, work }],
    drained: background.drained,
    /**
     * Stores a delivery to forward; idempotent while it waits. Undefined if forwarding is off. Throws StoreUnavailable.
     */
    keep:
      url === undefined
        ? undefined
        : async ({ body, headers, orderedBy, about }: ForwardedDelivery): Promise<void> => {
            const id = digest(body);
            const atMs = now();
            const value: Forward = {
              body: body.toString('base64'),
              headers: headers.map(([header, text]) => [header, text]),
              about,
              receivedAtMs: atMs,
              triedSinceMs: atMs,
            };
            const lane = `forward/${digest(`${name ?? ''}\0${orderedBy}`)}`;
            // The sender repeats an abandoned delivery: try it again.
            if (!(await records.create(id, value, { delayMs: 0, lane }))) await revive(records, id, atMs);
            wake();
          },
    depth: () => forwardDepth(account),
  };
}

/** Outside text must not shape a key. */
function digest(content: string | Buffer): string {
  return hash('sha256', content, 'hex').slice(0, 40);
}

/**
 * Limits concurrent deliveries. Further ones wait, for a time estimated from the last deliveries' durations, so that a
 * backlog is sent at the backend's pace.
 */
function createQueue(most: number) {
  let underWay = 0;
  let meanMs = 50;
  let endsAtMs = 0;
  return {
    enter(nowMs: number): { kind: 'wait'; ms: number } | { kind: 'go'; leave: (nowMs: number) => void } {
      if (underWay >= most) {
        endsAtMs = Math.max(endsAtMs, nowMs) + meanMs / most;
        return { kind: 'wait', ms: Math.max(250, endsAtMs - nowMs) };
      }
      underWay += 1;
      return {
        kind: 'go',
        leave(endedAtMs) {
          underWay -= 1;
          meanMs += (Math.max(0, endedAtMs - nowMs) - meanMs) / most;
        },
      };
    },
  };
}

const again = rich`Fix it, then run ${code('npm run payops -- forward')}: it sends what is left.`;

function awayNotice(why: string, days: number): Notice {
  return {
    state: 'Your backend doesn’t take events',
    about: [why],
    lines: [
      rich`The bot keeps them and retries for ${counted(days, 'day')}, in order. Alerts go on as usual.`,
      rich`Look at the backend behind ${code('WEBHOOK_FORWARD_URL')}. ${code('/readyz')} says how many wait.`,
    ],
  };
}

function tooOldNotice(why: string, { about: { orderReference } }: Forward, days: number): Notice {
  return {
    state: `Your backend hasn’t taken an event for ${counted(days, 'day')}`,
    about: [why, orderReference ?? 'no reference'],
    lines: [rich`The bot stops retrying events this old, and keeps them.`, again],
  };
}

function refusedNotice(why: string, { about: { orderReference } }: Forward): Notice {
  return {
    state: 'Your backend refuses an event',
    about: [why, orderReference ?? 'no reference'],
    lines: [rich`The bot won’t send it again by itself. Later events go on.`, again],
  };
}
