import type { Log } from '../../log.ts';
import { createLastSeen, readLastSeen, type LastSeen } from '../../records/last-seen.ts';
import type { Store } from '../../store/store.ts';
import type { Notice } from '../../messages/notices.ts';
import { rich } from '../../slack/kit/blocks.ts';
import type { RefusalCause } from '../../slack/router/receiver.ts';
import { dayMs, hourMs } from '../../domain/span.ts';

const key = 'slack-refused';
const quietMs = hourMs;

/** What of a refusal is told: strangers send requests without a signature too. */
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
 * Whether Slack's requests are taken. One that is refused is remembered for the doctor until this process takes one;
 * `tell` is called, with a name for each day, where none was taken in the last hour: with a wrong secret all are refused.
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
  let takenMs = -Infinity;
  /** What another process left is this one's to take away: it may be the one with the right secret. */
  let mayBeOnRecord = true;

  async function forget(): Promise<void> {
    const entry = await store.read(key);
    if (entry) await store.write(entry, '', { ttlMs: 0 });
  }

  return function checked(refused) {
    const atMs = now();
    if (refused === undefined) {
      takenMs = atMs;
      if (!mayBeOnRecord) return;
      mayBeOnRecord = false;
      forget().catch(() => {
        mayBeOnRecord = true;
      });
      return;
    }
    count(refused);
    if (refused === 'no_signature') return;
    // After the clock was put back the quiet hour begins again, and doesn't last until the clock is there once more.
    takenMs = Math.min(takenMs, atMs);
    mayBeOnRecord = true;
    remember(atMs, () => refused);
    if (atMs - takenMs < quietMs) return;
    tell(`${key}:${Math.floor(atMs / dayMs)}`, refusedNotice(refused)).catch((error: unknown) =>
      log('debug', 'the operators are not told of refused requests', {}, error),
    );
  };
}

/** The last one, while none was taken since. Throws StoreUnavailable. */
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
