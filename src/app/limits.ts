import { chargePermission, limitRules } from '../config/limit-rules.ts';
import type { StandingOf } from '../domain/standing.ts';
import { chargeStanding } from '../operations/charge/charge-standing.ts';
import { createLimitClaims, noLimits, type LimitClaims } from '../operations/charge/limit-claims.ts';
import type { Kept } from './kept.ts';
import type { Outside } from './outside.ts';

/** `standingOf` asks for this account alone. */
type LimitParts = { kept: Pick<Kept, 'store' | 'sealer'>; standingOf: StandingOf };

/** The limits of one merchant account, counted in its own part of the store; none when the policy has none for it. */
export function openLimits({ config, now }: Outside, { kept, standingOf }: LimitParts): LimitClaims {
  const rules = limitRules(config.policy, config.merchant?.name);
  if (!rules) return noLimits;
  return createLimitClaims({
    store: kept.store,
    rules,
    standingOf: (userId) => standingOf(chargePermission, userId),
    chargeStanding: (reference) => chargeStanding(kept, reference),
    now,
  });
}
