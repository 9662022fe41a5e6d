import type { DatabaseSync } from 'node:sqlite';
import { StoreUnavailable } from '../domain/failure.ts';

/** What the calls of one transaction share: one reading of the clock (UTC ms) and the version counter, raised as they change things. */
export type Turn = { readonly now: number; version: number };

export type GroupCommit = {
  /** Resolves after the commit, never before. Throws StoreUnavailable when it failed; nothing of it is then in the file. */
  run<T>(change: (turn: Turn) => T): Promise<T>;
  /** Commits what waits; later calls throw StoreUnavailable. */
  close(): void;
};

type Call = {
  /** Makes the change and gives what to do once it is committed. */
  run: (turn: Turn) => () => void;
  reject: (error: Error) => void;
};

/** Records forgotten per call, at most: more than the one a call can add, so that the file stops growing. */
const sweptPerCall = 4;

/**
 * One transaction, and so one wait for the disk, for all calls that arrive in the same turn of the event
 * loop: a burst of webhooks costs a few fsyncs instead of one each. The calls run one after another in
 * the order they came; as they share a transaction, a disk that fails fails all of them.
 */
export function createGroupCommit(db: DatabaseSync, now: () => number): GroupCommit {
  const begin = db.prepare('begin immediate');
  const commit = db.prepare('commit');
  const readVersion = db.prepare('select version from counter');
  const writeVersion = db.prepare('update counter set version = ?');
  const sweep = db.prepare(
    'delete from entries where id in (select id from entries where expires_at <= ? order by expires_at limit ?)',
  );
  let waiting: Call[] = [];
  let closed = false;

  function transact(batch: readonly Call[]): (() => void)[] {
    begin.run();
    const before = Number(readVersion.get()?.['version']);
    const turn: Turn = { now: Math.floor(now()), version: before };
    const answers = batch.map((call) => call.run(turn));
    sweep.run(turn.now, batch.length * sweptPerCall);
    if (turn.version !== before) writeVersion.run(turn.version);
    commit.run();
    return answers;
  }

  function flush(): void {
    const batch = waiting;
    waiting = [];
    if (batch.length === 0) return;
    try {
      for (const answer of transact(batch)) answer();
    } catch (cause) {
      if (db.isTransaction) db.exec('rollback');
      const error = new StoreUnavailable('The store file did not take the change.', cause);
      for (const call of batch) call.reject(error);
    }
  }

  return {
    run(change) {
      return new Promise((resolve, reject) => {
        if (closed) throw new StoreUnavailable('The store is closed.');
        waiting.push({
          run: (turn) => {
            const result = change(turn);
            return () => resolve(result);
          },
          reject,
        });
        if (waiting.length === 1) setImmediate(flush);
      });
    },
    close() {
      if (closed) return;
      closed = true;
      flush();
    },
  };
}
