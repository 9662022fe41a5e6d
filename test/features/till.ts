import {
  createCardHistory,
  type CardClaim,
  type ClaimResult,
} from '../../src/features/charge/card-history.ts';
import type { Twin } from '../../src/domain/charge.ts';
import { defaultRetryRule } from '../../src/domain/decline-reason.ts';
import type { OrderReference } from '../../src/domain/order-reference.ts';
import { accountOf } from '../support/account.ts';
import { sealer } from './house.ts';
import { memoryStore } from './memory-store.ts';

export const minute = 60_000;
export const hour = 60 * minute;
export const day = 24 * hour;
export const start = 1_800_000_000_000;
export const twinMs = 10 * minute;
export const card = 'f00d';

export function claimOf(reference: string, minor = 500_000, more: Partial<CardClaim> = {}): CardClaim {
  const money = { minor, currency: 'NGN' };
  return { card, reference: ref(reference), money, by: 'U1', ...more };
}

export function ref(reference: string): OrderReference {
  return reference as OrderReference;
}

/** Two replicas on one store in memory, with a clock that the test moves, and the charges that exist. */
export function till(rule = defaultRetryRule) {
  const clock = { nowMs: start };
  const store = memoryStore(clock);
  const charges = new Set<string>();
  const account = accountOf({ store, sealer, now: () => clock.nowMs });
  const isUnsettled = async (reference: string) => (charges.has(reference) ? false : undefined);
  const open = () => createCardHistory(account, { rule, twinMs, isUnsettled });
  const history = open();
  /** Like the desk: claims, then stores the charge. */
  async function begin(claim: CardClaim): Promise<ClaimResult> {
    const result = await history.claim(claim);
    if (result.kind === 'claimed') charges.add(claim.reference);
    return result;
  }
  async function run(reference: string, outcome: Twin['outcome'], minor?: number): Promise<void> {
    const { kind } = await begin(claimOf(reference, minor));
    if (kind !== 'claimed') throw new Error(`The claim of ${reference} was ${kind}.`);
    await history.settle(card, ref(reference), outcome);
  }
  return { clock, store, charges, history, other: open(), begin, run };
}
