import { noteMessage } from '../../../src/slack/kit/note.ts';
import { cardEmailEnds, type CardEmailEnd, type ShownCardEmail } from '../../../src/domain/approval.ts';
import type { LimitRefusal } from '../../../src/features/charge/charge-limits.ts';
import {
  type ChargeNote,
  chargeDirectMessage,
  chargeMessage,
  chargeNoteMessage,
} from '../../../src/features/charge/charge-messages.ts';
import { type AgentNews, type ChargeSeen, verdicts } from '../../../src/domain/charge.ts';
import { parseOrderReference, type OrderReference } from '../../../src/domain/order-reference.ts';
import {
  cardEmailModal,
  changingMessage,
  endMessage,
  reviewModal,
} from '../../../src/features/card-email/card-email.ts';
import type { KnownCards } from '../../../src/domain/card.ts';
import { cardWords } from '../../../src/slack/words/card-words.ts';
import { doubtMessage, homeCharges, pendingCodesMessage } from '../../../src/features/charge/charge-list.ts';
import { createChargeForm } from '../../../src/features/charge/charge-form.ts';
import { chargeReviewModal } from '../../../src/features/charge/charge-review.ts';
import { homeLimits, limitRefusalModal } from '../../../src/features/charge/limit-words.ts';
import {
  chargeStateModal,
  unknownCharge,
  unknownChargeModal,
  unsureChargeModal,
} from '../../../src/features/charge/charge-modal.ts';
import {
  linkForm,
  linkMessage,
  linkModal,
  linkNoteMessage,
} from '../../../src/features/links/link-screens.ts';
import type { PaymentLink } from '../../../src/features/links/link-case.ts';
import { homeLinks } from '../../../src/features/links/link.ts';
import { agent, colleague, everyCharge, nowMs } from '../../features/charge/seen-charges.ts';
import { everyLink } from '../../features/links/seen-links.ts';
import { accountOf } from '../../support/account.ts';
import { anAccount } from './alert-surfaces.ts';
import { homeOf, messageOf, modalOf, type Outside, type Shown, type Surface } from './surface.ts';
import type { ShownAccount } from '../../../src/slack/words/account-foot.ts';

// Every message and form of a charge and of a card's e-mail, with outside words wherever possible.

const toldKinds: readonly AgentNews[] = ['otp', ...verdicts];
const about = { key: 'message:charge:1', mayBeRepeat: true };

export const chargeSurfaces: readonly Surface[] = [
  messageOf('a charge', (outside) => chargeMessage(chargeOf(outside), anAccount(outside), about)),
  messageOf('a note below a charge', (outside) =>
    chargeNoteMessage(noteOf(outside), chargeOf(outside), anAccount(outside), about),
  ),
  messageOf('a direct message about a charge', (outside) =>
    chargeDirectMessage(outside.random.pick(toldKinds), chargeOf(outside), anAccount(outside), about),
  ),
  messageOf('charges in doubt', (outside) =>
    doubtMessage(
      { charges: [chargeOf(outside), chargeOf(outside)], unread: [outside.text()] },
      anAccount(outside),
      nowMs,
    ),
  ),
  messageOf('charges that wait for a code', (outside) =>
    pendingCodesMessage([chargeOf(outside), chargeOf(outside)], anAccount(outside), { nowMs }),
  ),
  homeOf('charges in the App Home', (outside) =>
    homeCharges('Your last charges', [chargeOf(outside), chargeOf(outside)], anAccount(outside), nowMs),
  ),
  modalOf('the state of a charge', (outside) =>
    chargeStateModal(chargeOf(outside), anAccount(outside), {
      nowMs,
      viewerId: outside.random.pick([agent, colleague]),
    }),
  ),
  modalOf('the form of a charge', (outside) => {
    const { random, text } = outside;
    const { terms, card } = chargeOf(outside);
    const account = accountOf({
      shownAccount: anAccount(outside),
      settings: { chargeCurrencies: ['NGN', 'USD'] },
    });
    return createChargeForm(account, random.chance(0.7) ? ({} as KnownCards) : undefined).open({
      prefill: {
        card: { id: card, text: cardWords(terms.card, text()) },
        amountMinor: 500,
        currency: 'NGN',
        customerEmail: text(),
        customerId: text(),
        reason: text(),
      },
    });
  }),
  modalOf('the terms of a charge', (outside) => {
    const { terms, reference } = chargeOf(outside);
    const twin = { reference, by: colleague, at: nowMs - 60_000, outcome: 'approved' } as const;
    return chargeReviewModal({
      shownAccount: anAccount(outside),
      terms,
      draft: 'draft',
      nowMs,
      ...(outside.random.chance(0.5) ? { twins: [twin] } : {}),
      ...(outside.random.chance(0.3)
        ? { hold: { kind: 'under_way', reference: referenceOf(outside), by: colleague, at: nowMs } as const }
        : {}),
      ...(outside.random.chance(0.3) ? { approval: { rule: outside.text(), needed: 2 } } : {}),
    });
  }),
  modalOf('a charge beyond a limit', (outside) => limitRefusalModal(limitOf(outside), anAccount(outside))),
  homeOf('limits in the App Home', (outside) => {
    const currency = outside.random.pick(['NGN', outside.text()]);
    const limits = { per_charge: 1, per_agent_per_day: 1_000_000, per_card_per_day: 999 };
    return homeLimits({
      kind: 'limited',
      timeZone: 'Africa/Lagos',
      freesAtMs: nowMs,
      currencies: [{ currency, limits, usedMinor: 1 }],
    });
  }),
  ofLink('a payment link', (link, account) => ({
    kind: 'message',
    payload: linkMessage(link, account, about),
  })),
  messageOf('a note beside a payment link', (outside) =>
    linkNoteMessage(outside.random.pick(['paid', 'review']), payLinkOf(outside), anAccount(outside), about),
  ),
  ofLink('a payment link’s modal', (link, account) => ({ kind: 'modal', payload: linkModal(link, account) })),
  modalOf('the form of a payment link', (outside) =>
    linkForm({
      shownAccount: anAccount(outside),
      currencies: ['NGN'],
      nowMs: 0,
      channel: 'C0OWN00001',
      prefill: { customerEmail: outside.text(), customerId: outside.text(), reference: outside.text() },
    }),
  ),
  homeOf('payment links in the App Home', (outside) =>
    homeLinks([payLinkOf(outside), payLinkOf(outside)], anAccount(outside)),
  ),
  messageOf('an unknown charge', (outside) => noteMessage(unknownCharge(outside.text(), anAccount(outside)))),
  modalOf('an unknown charge’s form', (outside) => unknownChargeModal(outside.text(), anAccount(outside))),
  modalOf('a charge that is not sure', (outside) =>
    unsureChargeModal(referenceOf(outside), anAccount(outside)),
  ),
  modalOf('the form of a card’s e-mail', (outside) =>
    cardEmailModal(anAccount(outside), true, {
      card: { id: 'card', text: cardWords(faceOf(outside), outside.text()) },
      currentEmail: outside.text(),
      newEmail: outside.text(),
    }),
  ),
  modalOf('a card’s e-mail read back', (outside) =>
    reviewModal(emailsOf(outside), 'draft', anAccount(outside)),
  ),
  messageOf('a card’s e-mail being changed', (outside) =>
    changingMessage(emailsOf(outside), anAccount(outside)),
  ),
  messageOf('a card’s e-mail changed or not', (outside) =>
    endMessage(endOf(outside), { terms: emailsOf(outside), draft: 'draft' }, anAccount(outside), nowMs),
  ),
];

/** A charge with texts of an agent's form and of the bank. Its reference is generated, or chosen by the agent. */
export function chargeOf(outside: Outside): ChargeSeen {
  const { random, text } = outside;
  const [, plain] = random.pick(everyCharge);
  return {
    ...plain,
    reference: random.chance(0.5) ? plain.reference : referenceOf(outside),
    terms: {
      card: faceOf(outside),
      money: { minor: 1_250_000, currency: random.pick(['NGN', text()]) },
      customerEmail: random.pick([text(), `${text()}@${text()}`]),
      customerId: text(),
      reason: text(),
    },
    bankWords: text(),
    state: 'concludedAt' in plain.state ? { ...plain.state, why: text() } : plain.state,
    handOvers: random.chance(0.3) ? [{ at: nowMs, from: colleague, to: agent }] : [],
    resends: random.chance(0.3) ? [{ at: nowMs, by: agent, answer: 'resent' }] : [],
  };
}

/** A text that is a valid reference; most texts are not. */
function referenceOf({ text }: Outside): OrderReference {
  const reading = parseOrderReference(Array.from(text()).slice(0, 50).join(''));
  return reading.ok ? reading.value : ('REF-1' as OrderReference);
}

function faceOf({ random, text }: Outside): { cardType?: string; lastFour?: string } {
  return random.chance(0.9) ? { cardType: text(), lastFour: text() } : {};
}

function noteOf({ random }: Outside): ChargeNote {
  return random.pick<ChargeNote>([
    ...toldKinds.map((what) => ({ kind: 'told', what }) as const),
    { kind: 'handed_over', from: agent, to: colleague },
  ]);
}

/** Role names come from the policy file, whose author may write anything. */
function limitOf({ random, text }: Outside): LimitRefusal {
  const money = { minor: 1_250_000, currency: random.pick(['NGN', text()]) };
  const amounts = { money, limitMinor: 1_000_000, leftMinor: 1 };
  const whoCan = [text(), text()];
  return random.pick<() => LimitRefusal>([
    () => ({ kind: 'over', limit: 'per_charge', ...amounts, timeZone: 'UTC', whoCan }),
    () => ({
      kind: 'over',
      limit: 'per_card_per_day',
      ...amounts,
      freesAtMs: nowMs,
      timeZone: 'UTC',
      whoCan,
    }),
    () => ({ kind: 'currency', currency: text(), allowed: [text()], whoCan }),
  ])();
}

function payLinkOf(outside: Outside): PaymentLink {
  return { ...outside.random.pick(everyLink(outside.text())), reference: referenceOf(outside) };
}

function ofLink(name: string, show: (link: PaymentLink, account: ShownAccount) => Shown): Surface {
  return {
    name,
    compose(outside) {
      const link = payLinkOf(outside);
      return { ...show(link, anAccount(outside)), paymentLink: link.order?.checkoutLink };
    },
  };
}

function emailsOf(outside: Outside): ShownCardEmail {
  const { text } = outside;
  return { card: faceOf(outside), currentEmail: `${text()}@${text()}`, newEmail: text() };
}

function endOf({ random, text }: Outside): CardEmailEnd {
  return { kind: random.pick([...cardEmailEnds]), message: text() };
}
