import { growingDelayMs } from '../../domain/growing-delay.ts';
import { isOld, type AlertAgeDeps } from './alert-age.ts';
import type { OutboxRecord } from './outbox.ts';

/** A digest would be edited every few seconds: where Slack takes no edit, this is how long one stands. */
const digestStandsMs = 300_000;
/** A card changes a few times in all, and whoever waits for it reads its thread meanwhile. */
const cardStandsMs = 30_000;
const longestStandsMs = 3_600_000;

type Anew = Pick<OutboxRecord, 'anew'> & Partial<Pick<OutboxRecord, 'posted' | 'shown' | 'replaced'>>;

/**
 * How a message that Slack lets nobody edit is posted anew, from `soonestMs` on or, with `dueMs`, later: each time that
 * Slack has taken no edit since the last, the message stands twice as long. One that was edited before was most likely
 * deleted by a person and is told again at once. Until it is due its thread goes on below the old message.
 */
export function planAnew(record: OutboxRecord, soonestMs: number): Anew {
  const { kind, posted, whole, anew } = record;
  const times = anew?.times ?? 0;
  const isDigest = kind === 'digest';
  const refusals = times + (isDigest && whole !== undefined ? 1 : 0);
  const standsMs =
    refusals === 0
      ? 0
      : growingDelayMs(isDigest ? digestStandsMs : cardStandsMs, refusals - 1, longestStandsMs);
  const dueMs = (posted ? Number(posted.ts) * 1_000 : 0) + standsMs;
  return dueMs > soonestMs ? { anew: { times: times + 1, dueMs } } : standsNowhere(record, times + 1);
}

function standsNowhere({ posted, replaced }: OutboxRecord, times: number): Anew {
  return { posted: undefined, shown: undefined, anew: { times }, replaced: posted ?? replaced };
}

/**
 * The record as it is to be told from now on: one whose time to be posted anew has come stands nowhere any more.
 * Undefined: that time has not come. An old alert is never posted anew: its details are to go.
 */
export function startAnew(deps: AlertAgeDeps, record: OutboxRecord): OutboxRecord | undefined {
  const { kind, anew } = record;
  if (anew?.dueMs === undefined) return record;
  if (kind === 'alert' && (record.isErased || isOld(deps, record))) return record;
  if (deps.now() < anew.dueMs) return undefined;
  return { ...record, ...standsNowhere(record, anew.times) };
}

/**
 * Whether the edit that Slack refused would have added nothing but names to what the message says: it is then left as
 * it is, since a new post would leave them out again.
 */
export function addsNamesAlone({ whole }: OutboxRecord, shown: string | undefined): boolean {
  return whole !== undefined && shown === whole;
}
