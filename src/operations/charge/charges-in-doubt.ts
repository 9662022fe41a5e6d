import type { ChargeIntent } from '../../domain/charge-state.ts';
import type { ChargeSeen } from '../../domain/charge-seen.ts';
import type { Log } from '../../log.ts';
import type { Entry, Store } from '../../store/store.ts';
import { entriesOf } from '../work/change-record.ts';
import { chargeLists, chargePrefix, openCharge, seenOf, type ChargeRecord } from './charge-record.ts';
import type { Sealer } from '../../domain/sealer.ts';

type ReadDeps = {
  store: Pick<Store, 'list'>;
  sealer: Sealer;
  log: Log;
};

/** `unread`: the references of those that are there and cannot be opened, whose outcome is not known here either. */
export type Doubts = { charges: readonly ChargeSeen[]; unread: readonly string[] };

/** The charges whose outcome nobody knows, oldest first, then those that a person must look at. Changes nothing. */
export async function chargesInDoubt(deps: ReadDeps): Promise<Doubts> {
  const unread: string[] = [];
  const entries = await entriesOf(deps.store, chargeLists.open);
  const records = openCharges(deps, entries, (reference) => void unread.push(reference));
  const unsettled = records.filter(({ intent }) => isInDoubt(intent));
  const underReview = records.filter(({ intent }) => intent.state.kind === 'review');
  return { charges: [...unsettled, ...underReview].map((record) => seenOf(record)), unread };
}

/** One that cannot be opened must not hide all others. */
export function openCharges(
  { sealer, log }: Pick<ReadDeps, 'sealer' | 'log'>,
  entries: readonly Entry[],
  unread: (reference: string) => void = () => undefined,
): ChargeRecord[] {
  return entries.flatMap((entry) => {
    try {
      return [openCharge(sealer, entry)];
    } catch (error) {
      const reference = entry.key.slice(chargePrefix.length);
      log('error', 'a charge on a list cannot be opened', { orderReference: reference }, error);
      unread(reference);
      return [];
    }
  });
}

function isInDoubt({ state }: ChargeIntent): boolean {
  return state.kind === 'charging' || state.kind === 'confirming' || state.kind === 'otp_checking';
}
