// Whether the customer's card may be charged once more for a failure: the one answer for an alert's Next, its buttons and
// the form that *Charge again…* opens.

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
import type { Evidence } from './alert-record.ts';
import { type AgainOffer, customerEmailOf, isDeclined, recordOf } from './alert.ts';

/** What the answer needs of other features. */
export type AgainNeeds = {
  /** Undefined: no card is remembered. */
  ledger: Pick<KnownCards, 'search'> | undefined;
  /** By the card's history and `outside`, a failure that isn't in it; see `CardHistory`. */
  mayTry: (card: string, outside?: OutsideDecline) => Promise<RetryVerdict>;
  /** What the bot itself charged under this reference; undefined: nothing. */
  chargeOf: (reference: string) => Promise<BotCharge | undefined>;
  /** A second person may decide that a card on hold is charged. */
  mayOverride: () => boolean;
};

export type ChargeAgain =
  | { kind: 'no'; why: 'not_declined' | 'erased' | 'no_card' }
  /** `card`: the one that failed, where that is known. Without `offer` nothing is to be charged for it. */
  | { kind: 'known'; card?: KnownCard; verdict: RetryVerdict; offer?: AgainOffer };

type Failed = { event: PaymentEvent; evidence?: Evidence; receivedAtMs: number };

export type JudgeAgain = ReturnType<typeof createJudge>;

export function createJudge(
  { rules }: Pick<Account, 'rules'>,
  { ledger, mayTry, chargeOf, mayOverride }: AgainNeeds,
) {
  /** The cards that may be the one that failed: of several, which one it was is known only where the bot charged it. */
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

  /** The failure as one more attempt of the card; undefined: neither bank nor card spoke, or none is known to have. */
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
    const verdicts = await Promise.all(cards.map(({ id }) => mayTry(id, outside)));
    // Of several cards, one that may be charged.
    const verdict = verdicts.find(({ kind }) => kind === 'allowed') ?? verdicts[0];
    if (!verdict) return { kind: 'no', why: 'no_card' };
    const card = cards.length === 1 ? cards[0] : undefined;
    const offer = offerFor(verdict, reasonOf(failed));
    return { kind: 'known', verdict, ...withoutUndefined({ card, offer }) };
  }

  function offerFor({ kind }: RetryVerdict, reason: DeclineReason): AgainOffer | undefined {
    if (reason === 'fraud') return undefined;
    const mayCharge = kind === 'allowed' || kind === 'under_way' || (kind === 'resting' && mayOverride());
    return mayCharge ? 'charge' : 'link';
  }

  return {
    judge,

    /** The same for a message: what the card's history says of the next try, and what stands on the alert. */
    async look(failed: Failed): Promise<{ verdict?: RetryVerdict; offer?: AgainOffer }> {
      const again = await judge(failed);
      if (again.kind === 'no') return {};
      return { verdict: again.verdict, ...withoutUndefined({ offer: again.offer }) };
    },

    /** The decline that counts for this card when it is charged for that failure. */
    async declineOf(failed: Failed, card: string): Promise<OutsideDecline | undefined> {
      const outside = outsideOf(failed);
      return outside && (await failedCards(failed)).some(({ id }) => id === card) ? outside : undefined;
    },
  };
}
