import { z } from 'zod';
import { minorFromWire } from '../domain/money.ts';
import { withoutUndefined } from '../domain/without-undefined.ts';

const words = 'must be an amount like 50000.00, without separators';

const amount = z.union([z.string(), z.number()], words).transform((written, context): number => {
  const minor = minorFromWire(written);
  // Nothing at all is said by a role that may not charge.
  if (minor !== undefined && minor > 0) return minor;
  context.addIssue({ code: 'custom', message: minor === 0 ? 'must be more than zero' : words });
  return z.NEVER;
});

const currencyLimits = z
  .strictObject({
    per_charge: amount.optional().describe('One charge at most.'),
    per_agent_per_day: amount.optional().describe('All charges of one person in one day.'),
    per_card_per_day: amount.optional().describe('All charges of one card in one day, by anyone.'),
  })
  .transform((limits) => withoutUndefined(limits));

/** `limits` of a role, in minor units; what holds between them and other settings is judged elsewhere. */
export const limitsSchema = z
  .record(z.string().regex(/^[A-Z]{3}$/, 'must be a currency code in capitals, like NGN'), currencyLimits)
  .refine((limits) => Object.keys(limits).length > 0, {
    error: 'names no currency: the role may then charge nothing',
  })
  .describe(
    'How much a role that may charge lets one person charge, by currency; one that is not named may then not be charged. No limit when absent.',
  );
