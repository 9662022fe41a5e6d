import type { ChargeStanding } from '../../src/features/charge/charge-record.ts';
import type { LimitRules } from '../../src/domain/charge.ts';
import type { Standing } from '../../src/slack/people/role.ts';
import type { RecordsDeps } from '../../src/records/records.ts';
import {
  createLimitClaims,
  type LimitClaims,
  type LimitedCharge,
} from '../../src/features/charge/limit-claims.ts';
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

/** A replica that counts, and what it needs of the world: who has which roles, and which charges stand how. */
export function countingHouse(store: RecordsDeps['store'], now: () => number, kept: LimitRules = rules) {
  const charges = new Map<string, ChargeStanding>();
  const standings = new Map<string, Standing>();
  const deps = {
    store,
    sealer,
    wait: () => Promise.resolve(),
    rules: kept,
    standingOf: (userId: string): Promise<Standing> =>
      Promise.resolve(standings.get(userId) ?? { kind: 'known', roles: ['agent'] }),
    chargeStanding: (reference: string) => Promise.resolve(charges.get(reference)),
    now,
  };
  return {
    charges,
    standings,
    replica: (other = store): LimitClaims => createLimitClaims({ ...deps, store: other }),
  };
}

export function chargeOf(reference: string, minor: number, more: Partial<LimitedCharge> = {}): LimitedCharge {
  return { reference, by: 'U1', card: 'card1', money: { minor, currency: 'NGN' }, atMs: noon, ...more };
}
