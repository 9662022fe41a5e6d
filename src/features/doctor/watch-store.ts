import type { Log } from '../../log.ts';
import type { Notice } from '../../messages/notices.ts';
import { rich } from '../../slack/kit/blocks.ts';
import { lostFix } from '../../store/store-mark.ts';
import type { Storage } from '../../store/storage.ts';
import { dayMs } from '../../domain/span.ts';

const lookEveryMs = 15_000;

/**
 * Checks regularly whether the store can still be trusted: it was not emptied, and Redis has safe settings. Reports
 * each finding to the operators once, until it is over.
 */
export function createStoreWatch({
  storage,
  tell,
  log,
  now,
}: {
  storage: Pick<Storage, 'checked' | 'refusal' | 'mark'>;
  tell: (name: string, notice: Notice) => Promise<void>;
  log: Log;
  now: () => number;
}) {
  let timer: NodeJS.Timeout | undefined;
  let logged: string | undefined;
  let reported: string | undefined;

  /** Never throws: the connection reports a store that is away. */
  async function look(): Promise<void> {
    try {
      await storage.checked();
      const lost = await storage.mark.lost();
      const found = lost ?? storage.refusal();
      if (found === reported) return;
      if (lost !== undefined && lost !== logged) log('error', lost, { fix: lostFix });
      logged = lost;
      if (found !== undefined) {
        // The name makes it one notice a day. An emptied store forgets the name, so a second loss on that day is
        // reported, too.
        const name = `store-${lost === undefined ? 'refused' : 'lost'}:${Math.floor(now() / dayMs)}`;
        await tell(name, noticeOf(found, lost && lostFix));
      }
      // Only now: if the store didn't take the notice, the next look repeats it.
      reported = found;
    } catch (error) {
      log('debug', 'whether the store may be trusted could not be found out', {}, error);
    }
  }

  return {
    look,
    start(): void {
      timer = setInterval(() => void look(), lookEveryMs).unref();
    },
    stop(): void {
      clearInterval(timer);
    },
  };
}

function noticeOf(found: string, fix: string | undefined): Notice {
  return {
    state: 'The store can’t be trusted',
    about: [],
    lines: [rich`${found.replace(/\.$/, '')}.`, ...(fix === undefined ? [] : [rich`${fix}`])],
  };
}
