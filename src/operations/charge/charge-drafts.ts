import { z } from 'zod';
import type { ChargeTerms } from '../../domain/charge-terms.ts';
import type { RecordStore } from '../work/change-record.ts';
import type { Fingerprint } from '../work/fingerprint.ts';
import { createDrafts, type Drafts } from '../work/drafts.ts';
import type { Sealer } from '../../domain/sealer.ts';

/** The terms of a charge that a dialogue has read back. Not taken: a dialogue's reference is charged once anyway. */
export type ChargeDrafts = Pick<Drafts<ChargeTerms>, 'keep' | 'read'>;

const chargeTerms = z.object({
  tokenKey: z.string(),
  card: z.object({ cardType: z.string().exactOptional(), lastFour: z.string().exactOptional() }),
  money: z.object({ minor: z.number().int(), currency: z.string() }),
  customerEmail: z.string(),
  customerId: z.string().exactOptional(),
  reason: z.string().exactOptional(),
  alert: z.string().exactOptional(),
});

export function createChargeDrafts(deps: {
  store: RecordStore;
  sealer: Sealer;
  fingerprint: Fingerprint;
}): ChargeDrafts {
  return createDrafts(deps, { prefix: 'draft', terms: chargeTerms });
}
