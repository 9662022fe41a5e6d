import type { Store } from '../../src/store/store.ts';
import type { LimitRules } from '../../src/domain/charge.ts';
import type { HeldRoles } from '../../src/slack/people/role.ts';
import {
  createLimitClaims,
  type LimitClaims,
  type LimitedCharge,
} from '../../src/features/charge/charge-limits.ts';
import { accountOf } from '../support/account.ts';
import { sealer } from './house.ts';

export const minute = 60_000;
export const hour = 60 * minute;
/** 13:00 in Lagos. */
export const noon = Date.parse('2026-11-21T12:00:00Z');
export const lagosMidnight = Date.parse('2026-11-21T23:00:00Z');

export const rules: LimitRules = {
  timeZone: 'Africa/Lagos',
  roles: {
    agent: { limits: { NGN: { per_charge: 5_000, per_agent_per_day: 20_000, per_card_per_day: 8_000 } } },
    lead: {},
  },
};

/** A replica's limits, with people's roles and the states of charges. */
export function countingHouse(store: Store, now: () => number, kept: LimitRules = rules) {
  /** For each stored charge, whether it has ended without money. */
  const ended = new Map<string, boolean>();
  const heldRoles = new Map<string, HeldRoles>();
  const rolesOf = async (_permission: string, userId: string): Promise<HeldRoles> =>
    heldRoles.get(userId) ?? { kind: 'known', roles: ['agent'] };
  return {
    ended,
    heldRoles,
    replica(other = store): LimitClaims {
      const account = accountOf({
        store: other,
        sealer,
        now,
        people: { rolesOf },
        rules: { limits: kept, approvals: [] },
      });
      return createLimitClaims(account, kept, async (reference) => ended.get(reference));
    },
  };
}

export function chargeOf(reference: string, minor: number, more: Partial<LimitedCharge> = {}): LimitedCharge {
  return { reference, by: 'U1', card: 'card1', money: { minor, currency: 'NGN' }, atMs: noon, ...more };
}
