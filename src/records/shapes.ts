import { z } from 'zod';
import type { ChargeTerms } from '../domain/charge.ts';
import type { OrderReference } from '../domain/order-reference.ts';

// Shapes of the domain's words as records hold them, for the schemas of several features.

/**
 * One thing that somebody or something did, as the audit keeps it. It holds no secret and no full e-mail address;
 * `before`, `after` and `reason` are short words for people, cleaned of both.
 *
 * Spec: not shown; this is the bot's own account of what it did.
 */
export const auditEntryShape = z.object({
  /** The same when the same thing is written again after a crash: read twice it counts once. */
  id: z.string(),
  atMs: z.number(),
  /** A Slack user id; `payops` for what the bot did by itself, `payments` for what the service or its events said. */
  who: z.string(),
  /** A channel's id, or `home`, `modal`, `shortcut`, `cli`; absent where there is none. */
  where: z.string().exactOptional(),
  /**
   * `command`, `press`, `form`: asked in Slack or at the command line. `decision`: of a second person. `step`: a charge,
   * link, approval or saved card went from one state to another. `answer`: the payments service said something.
   * `reveal`: an address was shown in full. `retention`: old entries were removed.
   */
  what: z.enum(['command', 'press', 'form', 'decision', 'step', 'answer', 'reveal', 'retention']),
  verb: z.string().exactOptional(),
  /** The merchant account's name; absent in a bot that knows one alone. */
  account: z.string().exactOptional(),
  /** The order reference, or the id of what is not a payment. */
  reference: z.string().exactOptional(),
  before: z.string().exactOptional(),
  after: z.string().exactOptional(),
  /** What became of it: `answered`, `refused`, `approved` … */
  result: z.string().exactOptional(),
  reason: z.string().exactOptional(),
});

export type AuditEntry = z.infer<typeof auditEntryShape>;

export const moneyShape = z.object({ minor: z.int(), currency: z.string() });

/** What else ended the alert that a payment is for: another payment, or a person. */
export const alertNewsShape = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('paid'), failed: z.string(), reference: z.string() }),
  z.object({ kind: z.literal('closed'), failed: z.string(), by: z.string(), reason: z.string() }),
]);

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
