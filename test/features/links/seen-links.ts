import type { OrderReference } from '../../../src/domain/order-reference.ts';
import type { LinkState, PaymentLink } from '../../../src/features/links/link-case.ts';

export const nowMs = 1_700_000_000_000;
export const agent = 'U0AGENT01';

const check = (part: 'status' | 'reference' | 'amount', text: string) =>
  ({ part, holds: false, statement: `${part} ${text}` }) as const;

/** One link in each state, with `text` in every field that may hold outside text. */
export function everyLink(text: string): PaymentLink[] {
  const states: LinkState[] = [
    { kind: 'asking' },
    { kind: 'refused', why: text },
    { kind: 'lost', why: text },
    { kind: 'open' },
    { kind: 'confirming', sinceMs: nowMs, looks: 3 },
    { kind: 'paid', money: { minor: 15_000, currency: 'NGN' }, atMs: nowMs },
    { kind: 'review', atMs: nowMs },
    { kind: 'aged', atMs: nowMs },
    { kind: 'given_back', atMs: nowMs },
  ];
  return states.map((state) => ({
    reference: (Array.from(text.trim()).slice(0, 50).join('') || 'REF-1') as OrderReference,
    terms: {
      money: { minor: Number.MAX_SAFE_INTEGER, currency: 'NGN' },
      customerEmail: `${text}@${text}`,
      customerId: text,
      savesCard: true,
    },
    by: agent,
    askedAtMs: nowMs,
    state,
    misses: 0,
    order: { orderId: text, checkoutLink: new URL(`https://pay.example/${text}`).href },
    failure: { atMs: nowMs, why: text },
    cardSaved: { kind: 'kept', face: { cardType: text, lastFour: text } },
    evidence: {
      status: check('status', text),
      reference: check('reference', text),
      amount: check('amount', text),
    },
    viewId: 'V1',
    place: agent,
  }));
}
