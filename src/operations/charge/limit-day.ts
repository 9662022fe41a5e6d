import { z } from 'zod';
import type { LocalDay } from '../../domain/local-day.ts';
import { claimTimes } from '../../domain/charge-state.ts';

/** `final`: it will count whatever comes. `ended`: it moved no money, or there is no such charge. */
export type ChargeStanding = 'final' | 'counts' | 'ended';

const dayClaim = z.object({
  reference: z.string(),
  /** One submit of the charge: what one takes back is not what another counted. */
  holder: z.string(),
  minor: z.number().int(),
  at: z.number(),
  isFinal: z.literal(true).exactOptional(),
});
const dayRecord = z.object({ claims: z.array(dayClaim) });

/** One charge as one day of one agent or card counts it. */
export type DayClaim = z.infer<typeof dayClaim>;

/** Longer than two replicas' clocks may differ about when a day ended. */
const keepAfterMs = 3_600_000;

/** Throws when the text is no record of ours: what cannot be counted is not charged. */
export function readDayClaims(text: string | undefined): DayClaim[] {
  return text === undefined ? [] : dayRecord.parse(JSON.parse(text)).claims;
}

/**
 * Those that count, without what a crash left: a claim whose charge was never stored, or has ended and was not taken
 * off. Only what is older than `claimTimes.lostMs` is asked about, and what has moved money for good never again.
 */
export async function standingClaims(
  deps: { chargeStanding: (reference: string) => Promise<ChargeStanding>; now: () => number },
  claims: readonly DayClaim[],
): Promise<DayClaim[]> {
  const now = deps.now();
  const judged = await Promise.all(
    claims.map(async (claim): Promise<DayClaim[]> => {
      if (claim.isFinal || now - claim.at < claimTimes.lostMs) return [claim];
      const standing = await deps.chargeStanding(claim.reference);
      if (standing === 'ended') return [];
      return [standing === 'final' ? { ...claim, isFinal: true } : claim];
    }),
  );
  return judged.flat();
}

/** What the others count together; a reference that was claimed more than once counts once, at its largest. */
export function usedBy(claims: readonly DayClaim[], except?: string): number {
  const most = new Map<string, number>();
  for (const { reference, minor } of claims) {
    if (reference !== except) most.set(reference, Math.max(minor, most.get(reference) ?? 0));
  }
  return [...most.values()].reduce((sum, minor) => sum + minor, 0);
}

export function withoutReference(claims: readonly DayClaim[], reference: string): DayClaim[] {
  return claims.filter((claim) => claim.reference !== reference);
}

export function writtenClaims(
  claims: readonly DayClaim[],
  { endsAtMs }: LocalDay,
  nowMs: number,
): { kind: 'write'; value: string; ttlMs: number } {
  const ttlMs = Math.max(0, endsAtMs - nowMs) + keepAfterMs;
  return { kind: 'write', value: JSON.stringify({ claims }), ttlMs };
}
