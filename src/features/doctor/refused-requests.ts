import type { Log } from '../../log.ts';
import { createLastSeen, readLastSeen, type LastSeen } from '../../records/last-seen.ts';
import type { Store } from '../../store/store.ts';
import type { Notice } from '../../messages/notices.ts';
import { rich } from '../../slack/kit/blocks.ts';
import type { RefusalCause } from '../../slack/router/receiver.ts';
import { dayMs, hourMs } from '../../domain/span.ts';

const key = 'slack-refused';
const quietMs = hourMs;

/** The refusals that are reported. Unsigned requests are not: they may come from strangers. */
const refusedWords: Readonly<Record<Exclude<RefusalCause, 'no_signature'>, { why: string; fix: string }>> = {
  mismatch: {
    why: 'its signature is not by our signing secret',
    fix: 'Set SLACK_SIGNING_SECRET to the Signing Secret of this Slack app (Basic Information), and restart the bot.',
  },
  time: {
    why: 'its time is more than five minutes from this machine’s clock',
    fix: 'Set the clock of this machine by NTP.',
  },
};

/**
 * Watches whether Slack's requests pass the signature check. A refused request is stored for the doctor until this
 * process accepts a request. If none was accepted for an hour, or yet, as with a wrong secret, calls `tell`; `name` is the same
 * all day, so that the notice is posted once a day.
 */
export function createRefusedRequests(options: {
  store: Pick<Store, 'create' | 'read' | 'write'>;
  count: (cause: RefusalCause) => void;
  tell: (name: string, notice: Notice) => Promise<void>;
  log: Log;
  now: () => number;
}): (refused: RefusalCause | undefined) => void {
  const { store, count, tell, log, now } = options;
  const remember = createLastSeen(store, key, log);
  let acceptedMs = -Infinity;
  /**
   * An earlier process may have stored a refusal. This process deletes it once it accepts a request: its secret is
   * right.
   */
  let mayBeOnRecord = true;

  async function forget(): Promise<void> {
    const entry = await store.read(key);
    if (entry) await store.write(entry, '', { ttlMs: 0 });
  }

  return function checked(refused) {
    const atMs = now();
    if (refused === undefined) {
      acceptedMs = atMs;
      if (!mayBeOnRecord) return;
      mayBeOnRecord = false;
      forget().catch(() => {
        mayBeOnRecord = true;
      });
      return;
    }
    count(refused);
    if (refused === 'no_signature') return;
    // If the clock was put back, the hour starts again; otherwise it would last until the clock catches up.
    acceptedMs = Math.min(acceptedMs, atMs);
    mayBeOnRecord = true;
    remember(atMs, () => refused);
    if (atMs - acceptedMs < quietMs) return;
    tell(`${key}:${Math.floor(atMs / dayMs)}`, refusedNotice(refused)).catch((error: unknown) =>
      log('debug', 'the operators are not told of refused requests', {}, error),
    );
  };
}

/** The last refused request, unless one was accepted since. Throws StoreUnavailable. */
export async function readRefusedRequest(
  store: Pick<Store, 'read'>,
): Promise<(LastSeen & (typeof refusedWords)['time']) | undefined> {
  const last = await readLastSeen(store, key);
  const words = Object.entries(refusedWords).find(([cause]) => cause === last?.why)?.[1];
  return last && words && { ...last, ...words };
}

function refusedNotice(cause: keyof typeof refusedWords): Notice {
  const { why, fix } = refusedWords[cause];
  return {
    state: 'The bot refuses what Slack sends',
    about: [],
    lines: [rich`Commands and buttons do nothing: the last request was refused, ${why}.`, rich`${fix}`],
  };
}
