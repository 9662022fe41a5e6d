import { setTimeout as sleep } from 'node:timers/promises';
import { chargePermission, limitRules } from '../config/limit-rules.ts';
import type { StandingOf } from '../domain/standing.ts';
import { createChargeRecords, standingOf as standingOfCharge } from '../features/charge/charge-record.ts';
import { createLimitClaims, noLimits, type LimitClaims } from '../features/charge/limit-claims.ts';
import type { Kept } from './kept.ts';
import type { Outside } from './outside.ts';

/** `standingOf` asks for this account alone. */
type LimitParts = { kept: Pick<Kept, 'store' | 'sealer'>; standingOf: StandingOf };

/** The limits of one merchant account, counted in its own part of the store; none when the policy has none for it. */
export function openLimits({ config, now }: Outside, { kept, standingOf }: LimitParts): LimitClaims {
  const rules = limitRules(config.policy, config.merchant?.name);
  if (!rules) return noLimits;
  const records = { store: kept.store, sealer: kept.sealer, wait: sleep };
  const charges = createChargeRecords(records);
  return createLimitClaims({
    ...records,
    rules,
    standingOf: (userId) => standingOf(chargePermission, userId),
    chargeStanding: async (reference) => (await standingOfCharge(charges, reference)) ?? 'ended',
    now,
  });
}
