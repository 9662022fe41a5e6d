import type { ChargeIntent } from '../../domain/charge-state.ts';
import type { ChargeSeen } from '../../domain/charge-seen.ts';
import { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { Log } from '../../log.ts';
import type { Store } from '../../store/store.ts';
import { readCharge } from './advance-charge.ts';
import { seenOf, type ChargeRecord } from './charge-record.ts';
import type { OpenList } from '../work/open-list.ts';
import type { Sealer } from '../../domain/sealer.ts';

type ReadDeps = {
  store: Pick<Store, 'read'>;
  sealer: Sealer;
  log: Log;
};

/** `unread`: the references of those that are there and cannot be opened, whose outcome is not known here either. */
export type Doubts = { charges: readonly ChargeSeen[]; unread: readonly string[] };

/** The charges whose outcome nobody knows, oldest first, then those that a person must look at. Changes nothing. */
export async function chargesInDoubt(
  deps: ReadDeps & { openCharges: Pick<OpenList, 'all'> },
): Promise<Doubts> {
  const unread: string[] = [];
  const note = (reference: string): void => void unread.push(reference);
  const records = oldestFirst(await readCharges(deps, await deps.openCharges.all(), note));
  const unsettled = records.filter(({ intent }) => isInDoubt(intent));
  const underReview = records.filter(({ intent }) => intent.state.kind === 'review');
  return { charges: [...unsettled, ...underReview].map((record) => seenOf(record)), unread };
}

/** Those of the charges that there are. One that cannot be opened must not hide all others. */
export async function readCharges(
  deps: ReadDeps,
  references: readonly string[],
  unread: (reference: string) => void = () => undefined,
): Promise<ChargeRecord[]> {
  const records = await Promise.all(references.map((reference) => readIfPossible(deps, reference, unread)));
  return records.filter((record) => record !== undefined);
}

async function readIfPossible(
  deps: ReadDeps,
  reference: string,
  unread: (reference: string) => void,
): Promise<ChargeRecord | undefined> {
  try {
    return await readCharge(deps, reference);
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error;
    deps.log('error', 'a charge on a list cannot be opened', { orderReference: reference }, error);
    unread(reference);
    return undefined;
  }
}

export function oldestFirst(records: readonly ChargeRecord[]): ChargeRecord[] {
  return records.toSorted((a, b) => a.intent.submittedAt - b.intent.submittedAt);
}

function isInDoubt({ state }: ChargeIntent): boolean {
  return state.kind === 'charging' || state.kind === 'confirming' || state.kind === 'otp_checking';
}
