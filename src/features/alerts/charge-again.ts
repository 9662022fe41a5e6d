// Decides whether the customer's card may be charged again for a failure. The alert's text, its buttons and the form behind
// *Charge again…* all use this decision.

import type { Account } from '../../account.ts';
import {
  type DeclineReason,
  declineReason,
  outcomeOfReason,
  type OutsideDecline,
  type RetryVerdict,
} from '../../domain/decline-reason.ts';
import { cardsOfEmail, type KnownCard, type KnownCards } from '../../domain/card.ts';
import type { BotCharge } from '../../domain/alert.ts';
import { withoutUndefined } from '../../domain/json.ts';
import type { PaymentEvent } from '../../domain/payment-event.ts';
import { undefinedIfUnreadable } from '../../records/records.ts';
import { type AgainOffer, type Evidence, customerEmailOf, isDeclined, recordOf } from './alert.ts';

export type AgainNeeds = {
  /** Undefined: no card is remembered. */
  ledger: Pick<KnownCards, 'search'> | undefined;
  /** Decides by the card's history and `outside`, a failure missing from that history; see `CardHistory`. */
  mayTry: (card: string, outside?: OutsideDecline) => Promise<RetryVerdict>;
  chargeOf: (reference: string) => Promise<BotCharge | undefined>;
  /** Whether a second person may approve a charge of a card on hold. */
  mayOverride: () => boolean;
};

export type ChargeAgain =
  | { kind: 'no'; why: 'not_declined' | 'erased' | 'no_card' }
  /** `card`: the one that failed, if known. Without `offer` nothing may be charged. */
  | { kind: 'known'; card?: KnownCard; verdict: RetryVerdict; offer?: AgainOffer };

type Failed = { event: PaymentEvent; evidence?: Evidence; receivedAtMs: number };

export type JudgeAgain = ReturnType<typeof createJudge>;

export function createJudge(
  { rules }: Pick<Account, 'rules'>,
  { ledger, mayTry, chargeOf, mayOverride }: AgainNeeds,
) {
  /** The customer's saved cards; only the failed one if the bot charged it. */
  async function failedCards({ event, evidence }: Failed): Promise<readonly KnownCard[]> {
    const known = evidence ? await cardsOfEmail(ledger, customerEmailOf(event, evidence.lookup)) : [];
    const { orderReference } = event;
    if (known.length < 2 || orderReference === undefined) return known;
    const charged = await chargeOf(orderReference);
    const own = known.filter(({ id }) => id === charged?.card);
    return own.length > 0 ? own : known;
  }

  function reasonOf({ event, evidence }: Failed) {
    const said = event.reason ?? recordOf(evidence?.lookup)?.gatewayMessage;
    return declineReason(said, rules.declines.threeDSecureWords);
  }

  /** The failure as a decline for the card's history; undefined: the bank didn't decline it, or nobody knows. */
  function outsideOf(failed: Failed): OutsideDecline | undefined {
    const { event, evidence, receivedAtMs: atMs } = failed;
    if (!evidence || !isDeclined({ event, lookup: evidence.lookup })) return undefined;
    const outcome = outcomeOfReason(reasonOf(failed));
    return outcome && { reference: event.orderReference ?? event.key, atMs, outcome };
  }

  /** Charges nothing; the form's own review and claim decide. Spec: charge a saved card (retry rules). */
  async function judge(failed: Failed): Promise<ChargeAgain> {
    const { event, evidence } = failed;
    if (!evidence || !isDeclined({ event, lookup: evidence.lookup }))
      return { kind: 'no', why: 'not_declined' };
    if (event.isErased) return { kind: 'no', why: 'erased' };
    const cards = await failedCards(failed);
    const outside = outsideOf(failed);
    const read = cards.map(({ id }) => mayTry(id, outside).catch(undefinedIfUnreadable));
    const verdicts = (await Promise.all(read)).filter((one) => one !== undefined);
    // With several cards, prefer one that may be charged.
    const verdict = verdicts.find(({ kind }) => kind === 'allowed') ?? verdicts[0];
    if (!verdict) return { kind: 'no', why: 'no_card' };
    const card = cards.length === 1 ? cards[0] : undefined;
    const offer = offerFor(verdict, reasonOf(failed));
    return { kind: 'known', verdict, ...withoutUndefined({ card, offer }) };
  }

  function offerFor({ kind }: RetryVerdict, reason: DeclineReason): AgainOffer | undefined {
    if (reason === 'fraud') return undefined;
    const mayCharge = kind === 'allowed' || kind === 'under_way' || (kind === 'on_hold' && mayOverride());
    return mayCharge ? 'charge' : 'link';
  }

  return {
    judge,

    /** The part of `judge` that a message shows: the verdict on the next try, and the offered way to pay. */
    async nextTry(failed: Failed): Promise<{ verdict?: RetryVerdict; offer?: AgainOffer }> {
      const again = await judge(failed);
      if (again.kind === 'no') return {};
      return { verdict: again.verdict, ...withoutUndefined({ offer: again.offer }) };
    },

    /** The failure as a decline of this card; undefined: another card failed, or nothing is known. */
    async declineOf(failed: Failed, card: string): Promise<OutsideDecline | undefined> {
      const outside = outsideOf(failed);
      return outside && (await failedCards(failed)).some(({ id }) => id === card) ? outside : undefined;
    },
  };
}
