import type { EmailChange, EmailChangeAnswer, RejectionReason } from './charge-answer.ts';
import type { CardFace } from './charge.ts';
import { withoutUndefined } from './without-undefined.ts';

/** A change of a saved card's e-mail, whole, as a person agreed to it. `tokenKey` is a secret: it is kept sealed. */
export type CardEmailTerms = EmailChange & { card: CardFace };

/** The same as it may be read out to whoever is allowed to change it. */
export type ShownCardEmail = Omit<CardEmailTerms, 'tokenKey'>;

/**
 * What may become of a change. Only `changed` changes anything; after `unknown` it may have been changed: the answer was
 * lost, or the process that asked has died.
 */
export const cardEmailEnds = [
  'changed',
  /** The current e-mail that was given is not the one linked to the card. */
  'not_linked',
  'no_such_card',
  'email_invalid',
  'refused',
  'invalid_request',
  'unauthorized',
  'forbidden',
  'rate_limited',
  'unknown',
] as const;

/** As people are told it and as it is kept; the message is the service's own. `isListBehind`: the bot's own list of cards has the old address. */
export type CardEmailEnd = {
  kind: (typeof cardEmailEnds)[number];
  message?: string;
  isListBehind?: true;
};

/**
 * A change from its review to its end. The word stands for exactly these terms and is no secret; `card` is the card's
 * fingerprint. Without `askedAtMs` nothing was sent: it is written before the request leaves.
 */
export type CardEmailCase = {
  word: string;
  card: string;
  terms: CardEmailTerms;
  askedAtMs?: number;
  end?: CardEmailEnd;
};

export type CardEmailEvent =
  | { kind: 'reviewed'; word: string; card: string; terms: CardEmailTerms }
  | { kind: 'agreed'; word: string }
  | { kind: 'ended'; word: string; end: CardEmailEnd };

/** Longer than any call takes: who asked and has said nothing for so long has died. */
const answeredWithinMs = 60_000;

/**
 * What one dialogue makes of a change; undefined: what was agreed to is gone or other by now. Whoever's *agreed* sets
 * `askedAtMs` asks the service, and nobody else does: agreed to again it is the same change. There is no look-up by
 * which a lost answer could be settled, so that is a person's to ask about again: they alone know whether the current
 * e-mail was the linked one to begin with.
 *
 * Spec: change the email of a saved card.
 */
export function stepCardEmail(
  state: CardEmailCase | undefined,
  event: CardEmailEvent,
  nowMs: number,
): CardEmailCase | undefined {
  if (event.kind === 'reviewed') {
    const { kind: _reviewed, ...fresh } = event;
    // A form that is submitted twice makes nothing stale. What was agreed to gets another word: its repeat is not this.
    const isRepeat =
      state?.askedAtMs === undefined && JSON.stringify(state?.terms) === JSON.stringify(fresh.terms);
    return isRepeat ? state : fresh;
  }
  if (state?.word !== event.word) return undefined;
  if (event.kind === 'ended') return { ...state, end: event.end };
  if (state.askedAtMs === undefined) return { ...state, askedAtMs: nowMs };
  const isLost = state.end === undefined && nowMs - state.askedAtMs > answeredWithinMs;
  return isLost ? { ...state, end: { kind: 'unknown' } } : state;
}

/**
 * What an answer says became of it. The service has words of its own for two ends that it also tells by the answer's form.
 *
 * Spec: change the email of a saved card; Errors (saved-card charge rejections).
 */
export function endOfChange(answer: EmailChangeAnswer): CardEmailEnd {
  const message = withoutUndefined({ message: 'message' in answer ? answer.message : undefined });
  switch (answer.kind) {
    case 'rejected':
      return { kind: endsOfRejections[answer.reason] ?? 'refused', ...message };
    case 'not_made':
      return { kind: answer.failure, ...message };
    default:
      return { kind: answer.kind, ...message };
  }
}

const endsOfRejections: Partial<Record<RejectionReason, CardEmailEnd['kind']>> = {
  email_mismatch: 'not_linked',
  invalid_token: 'no_such_card',
  email_invalid: 'email_invalid',
};
