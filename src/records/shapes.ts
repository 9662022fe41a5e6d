import { z } from 'zod';
import type { AlertNews } from '../domain/alert.ts';
import type { ChargeTerms } from '../domain/charge.ts';
import type { OrderReference } from '../domain/order-reference.ts';

// Schemas of domain types within records, shared by several features.

/**
 * One entry of the audit: something that a person or the bot did. It contains no secret and no whole e-mail address;
 * `before`, `after` and `reason` are short texts for people, from which both were removed.
 */
export const auditEntryShape = z.object({
  /** Stays the same if the entry is written again after a crash: an id that occurs twice counts once. */
  id: z.string(),
  atMs: z.number(),
  /**
   * A Slack user id; `payops` for the bot's own steps, `payments` for answers and events of the payments service,
   * `customer` for the page on which customers type codes, `operator` for the command line.
   */
  who: z.string(),
  /** A channel's id, or `home`, `modal`, `shortcut` or `cli`; absent if there is none. */
  where: z.string().exactOptional(),
  /**
   * `command`, `press`, `form`: a request in Slack or on the command line. `decision`: a request for approval was
   * approved, refused or withdrawn. `step`: something changed its state, like a charge or an alert. `answer`: the
   * payments service answered. `reveal`: an address was shown unmasked. `retention`: old entries were removed.
   */
  what: z.enum(['command', 'press', 'form', 'decision', 'step', 'answer', 'reveal', 'retention']),
  verb: z.string().exactOptional(),
  /** The merchant account's name; absent in a bot with one account. */
  account: z.string().exactOptional(),
  /** The order reference, or the id of something that is not a payment. */
  reference: z.string().exactOptional(),
  before: z.string().exactOptional(),
  after: z.string().exactOptional(),
  /** The result: `answered`, `refused`, `approved` … */
  result: z.string().exactOptional(),
  reason: z.string().exactOptional(),
});

export type AuditEntry = z.infer<typeof auditEntryShape>;

export const moneyShape = z.object({ minor: z.int(), currency: z.string() });

/**
 * A domain type within a record. Only these members are checked: nobody else can write a sealed record, and unknown fields
 * must survive a round trip through an older release.
 */
export function stored<T extends object>(...members: (keyof T & string)[]) {
  return z.custom<T>((value) => value instanceof Object && members.every((name) => name in value));
}

export const alertNewsShape = stored<AlertNews>('kind', 'failed');

export const cardFaceShape = z.object({
  cardType: z.string().exactOptional(),
  lastFour: z.string().exactOptional(),
});

/** Not parsed again: it was parsed before it was stored. */
export const referenceShape = z.custom<OrderReference>((value) => typeof value === 'string');

export const chargeTermsShape = stored<ChargeTerms>('tokenKey', 'money', 'card', 'customerEmail');
