import { z } from 'zod';
import type { ChargeTerms } from '../domain/charge.ts';
import type { OrderReference } from '../domain/order-reference.ts';

// Shapes of the domain's words as records hold them, for the schemas of several features.

export const moneyShape = z.object({ minor: z.int(), currency: z.string() });

export const cardFaceShape = z.object({
  cardType: z.string().exactOptional(),
  lastFour: z.string().exactOptional(),
});

/** It was parsed before it was written. */
export const referenceShape = z.custom<OrderReference>((value) => typeof value === 'string');

/** The fields of a charge's terms that may be shown. */
export const shownTerms = {
  money: moneyShape,
  card: cardFaceShape,
  customerEmail: z.string(),
  customerId: z.string().exactOptional(),
  reason: z.string().exactOptional(),
  alert: z.string().exactOptional(),
};

export const chargeTermsShape: z.ZodType<ChargeTerms> = z.object({ tokenKey: z.string(), ...shownTerms });
