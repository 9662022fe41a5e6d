import type { Account } from '../../account.ts';
import { type ChargeSeen, isClosed } from '../../domain/charge.ts';
import { cardsOfEmail } from '../../domain/card.ts';
import { withoutUndefined } from '../../domain/json.ts';
import { parsed, problem, type Parsed } from '../../domain/wording.ts';
import { messageKey } from '../../messages/message-record.ts';
import {
  type Caller,
  type Command,
  type Conversation,
  type Press,
  type Pressed,
  defineCommand,
  wholeValue,
} from '../../slack/command.ts';
import { parseAmountAlone } from '../../slack/command-text.ts';
import { emailFormProblem } from '../../slack/kit/form.ts';
import type { MessageBlock, Modal } from '../../slack/kit/message.ts';
import { offeredCard, suggestCards } from '../../slack/words/card-words.ts';
import { auditOfCharge } from './charge-audit.ts';
import { openCardHistory } from './card-history.ts';
import { type CodeLinkNeeds, createChargeOperations } from './charge-operations.ts';
import { createChargeForm, isCardWrong } from './charge-form.ts';
import { openLimits } from './charge-limits.ts';
import { doubtCommand, homeCharges } from './charge-list.ts';
import { chargeRenders } from './charge-messages.ts';
import {
  chargeLists,
  chargeOf,
  chargePrefix,
  hasEnded,
  tellsFailure,
  openChargeBook,
  seenOf,
} from './charge-record.ts';
import { createReview, type ReviewNeeds } from './charge-review.ts';
import { chargeActions, createChargeViews } from './charge-modal.ts';
import { homeLimits } from './limit-words.ts';
import { type CustomerLink, otpCommand } from './otp.ts';
import { createChargeRunner, createChargeWork, type RunNeeds } from './run-charge.ts';
import type { SubmitNeeds } from './submit-charge.ts';

type ChargeNeeds = SubmitNeeds &
  RunNeeds &
  CodeLinkNeeds &
  ReviewNeeds & {
    customerLink: CustomerLink;
    /** The form of `/pay link`, filled with these values. `alert`: the alert that the link should resolve. */
    linkForm: (
      filled: { amountMinor: number; currency: string; customerEmail?: string; customerId?: string },
      caller: Caller,
      alert: string | undefined,
    ) => Promise<Modal>;
  };

export type Charges = ReturnType<typeof createCharges>;

/**
 * The feature that moves money: `/pay charge`, `/pay otp` and `/pay doubt`. `charge-form.ts` reads what people type,
 * `charge-review.ts` shows it for review, and `submit-charge.ts` claims and stores the charge. Then `run-charge.ts`
 * runs the effects of the machine (`machine.ts`), `charge-modal.ts` shows the result, and `charge-messages.ts` posts it.
 * `charge-operations.ts` has everything that people can do with a charge.
 */
export function createCharges(account: Account, needs: ChargeNeeds) {
  const charges = openChargeBook(account);
  const cards = openCardHistory(account, charges);
  const runner = createChargeRunner(account, charges, cards, needs);
  const work = createChargeWork(account, charges, cards, runner);
  const limits = openLimits(account, charges);
  const operations = createChargeOperations(account, { charges, cards, limits, runner, needs });
  const form = createChargeForm(account, needs.ledger);
  const views = createChargeViews(account, operations);
  const review = createReview(account, { operations, form, views, needs });
  const { shownAccount, now, settings } = account;
  const [usualCurrency = ''] = settings.chargeCurrencies;

  async function homeRecent({ userId }: Caller): Promise<MessageBlock[]> {
    const found = await operations.recent(userId, 2 * recentCharges);
    // Leave out open charges, which have their own section.
    const settled = found.filter(isClosed);
    return homeCharges('Your last charges', settled.slice(0, recentCharges), shownAccount, now());
  }

  /** Always open a new modal: its view id is the idempotency key. */
  async function openAgain(pressed: Pressed): Promise<void> {
    const charge = await views.findUnpaid(pressed);
    if (!charge) return;
    const card = isCardWrong(charge) ? undefined : charge.card;
    const customerEmail = emailFor(pressed.caller, charge) ?? '';
    await pressed.openModal(await form.refilled({ ...charge.terms, customerEmail }, card));
  }

  /** Opens the form for a payment link, filled with the terms of a review or of the named charge. */
  async function openLinkForm(pressed: Pressed): Promise<void> {
    const found = pressed.value === '' ? await review.read(pressed) : await views.findUnpaid(pressed);
    if (!found) return;
    const { money, customerId, alert } = found.terms;
    const known = withoutUndefined({ customerId, customerEmail: emailFor(pressed.caller, found) });
    const terms = { amountMinor: money.minor, currency: money.currency, ...known };
    await pressed.openModal(await needs.linkForm(terms, pressed.caller, alert));
  }

  async function checkNow(pressed: Pressed): Promise<void> {
    const { caller, value } = pressed;
    await views.show(pressed, await operations.lookUpNow({ reference: value, by: caller.userId }));
  }

  async function showAllFields({ view, updateModal }: Pressed): Promise<void> {
    if (view) await updateModal(await form.whole(view));
  }

  /**
   * Opens the review if the typed words leave nothing to ask: an amount, an e-mail with one saved card, and an account
   * with one currency. Otherwise opens the form, filled as far as possible.
   */
  async function beginCharge({ amountMinor, email }: Beginning, conversation: Conversation): Promise<void> {
    const openForm = async (filled: Parameters<typeof form.open>[0]): Promise<void> =>
      void (await conversation.openModal(form.open(filled)));
    const amount = withoutUndefined({ amountMinor });
    const saved = await cardsOfEmail(needs.ledger, email);
    const [card, ...others] = saved;
    if (!card && email !== undefined && needs.ledger) {
      return await openForm({ prefill: amount, problem: 'The bot knows no saved card of that e-mail.' });
    }
    // Without a ledger the form has a field for the e-mail.
    if (!card) return await openForm({ prefill: withoutUndefined({ amountMinor, customerEmail: email }) });
    if (others.length > 0) return await openForm({ prefill: amount, cards: saved });
    const found = await needs.ledger?.find(card.id);
    const [currency, ...currencies] = settings.chargeCurrencies;
    if (!found || amountMinor === undefined || currency === undefined || currencies.length > 0) {
      return await openForm({ prefill: { ...amount, card: offeredCard(card) } });
    }
    const { tokenKey, face, customerEmail = '' } = found;
    const terms = {
      tokenKey,
      card: face,
      customerEmail: customerEmail.trim(),
      money: { minor: amountMinor, currency },
    };
    await review.open(terms, conversation);
  }

  /** None of these presses begins a charge. Only *Look up* (`checkNow`) may send anything. */
  const presses: Press[] = [
    { actionId: chargeActions.change, press: review.change },
    { actionId: chargeActions.more, press: showAllFields },
    { actionId: chargeActions.another, about: wholeValue, opensForm: true, press: openAgain },
    {
      actionId: chargeActions.link,
      about: wholeValue,
      opensForm: true,
      press: openLinkForm,
      permissions: ['link'],
    },
    {
      actionId: chargeActions.show,
      about: wholeValue,
      opensForm: true,
      press: views.openNamed,
      permissions: lookUpPermissions,
    },
    // May move money: a look-up that finds that the charge never arrived sends it again.
    {
      actionId: chargeActions.checkNow,
      about: wholeValue,
      press: checkNow,
      permissions: lookUpPermissions,
      effect: 'money',
    },
  ];

  /**
   * `/pay charge [amount] [e-mail]`: form, review of the exact terms, charge and outcome in one modal. The command
   * itself charges nothing, so it may be repeated. The reference is made from the modal's id, so the modal charges at
   * most once.
   */
  const chargeCommand: Command = defineCommand<Beginning>({
    verb: 'charge',
    usage: '[amount] [e-mail]',
    summary: 'Charge',
    examples: ['charge', 'charge 12,500.00', 'charge 12,500.00 ada@example.com'],
    permission: 'charge',
    menu: { actionId: 'menu.charge', text: 'Charge a card', opens: 'modal' },
    opensForm: true,
    shortcuts: [{ callbackId: 'charge', kind: 'global', name: 'Charge a saved card' }],
    effect: 'none',
    parse: parseBeginning,
    modals: review.modals,
    presses,
    suggestions: [
      {
        actionId: chargeActions.card,
        suggest: (typed, { userId: by }) =>
          suggestCards(needs.ledger, typed, (card) =>
            operations.holdOf({ card, by, currency: usualCurrency }),
          ),
      },
    ],
    home: async (caller) =>
      (await Promise.all([operations.limitsOf(caller.userId).then(homeLimits), homeRecent(caller)])).flat(),
    async run(beginning, conversation) {
      await beginCharge(beginning, conversation);
      return undefined;
    },
  });

  return {
    verbs: [
      chargeCommand,
      otpCommand(account, operations, views, needs.customerLink),
      doubtCommand(account, operations),
    ],
    /** The form, filled with these terms. */
    form: form.open,
    operations,
    find: operations.find,
    submitApproved: operations.submitApproved,
    twinsOf: operations.twinsOf,
    messages: chargeRenders(operations.find, account),
    cases: [{ prefix: chargePrefix, work: work.recover }],
    onPaymentEvent: work.onPaymentEvent,
    onCardSaved: work.onCardSaved,
    onGivenBack: work.onGivenBack,
    mayTry: cards.mayTry,
    open: () => charges.all(chargeLists.open),
    hasEnded: (reference: string) => hasEnded(charges, reference),
    tellsFailure: (reference: string) => tellsFailure(charges, reference),
    chargeOf: (reference: string) => chargeOf(charges, reference),
    story: async (reference: string) => {
      const record = await charges.read(reference);
      const posts = [messageKey('charge', reference)];
      return record && { charge: seenOf(record), entries: auditOfCharge(record.intent.history), posts };
    },
    background: runner.background.add,
    drained: runner.background.drained,
  };
}

/** What is typed after the verb. */
type Beginning = { amountMinor?: number; email?: string };

function parseBeginning(typed: readonly string[]): Parsed<Beginning> {
  const emails = typed.filter((word) => word.includes('@'));
  const amount = parseAmountAlone(
    typed.filter((word) => !word.includes('@')),
    { most: 'an amount and an e-mail', rest: 'The card and everything else are asked for in a form.' },
  );
  if (!amount.ok) return amount;
  const [email, ...others] = emails;
  if (email === undefined) return amount;
  const wrong = others.length > 0 ? 'Give one e-mail.' : emailFormProblem(email);
  return wrong === undefined ? parsed({ ...amount.value, email }) : problem(wrong);
}

/** The e-mail for a form, if this person reviewed it. A colleague has seen it only masked, so they must type it. */
function emailFor({ userId }: Caller, { by, terms }: Pick<ChargeSeen, 'by' | 'terms'>): string | undefined {
  return by === userId ? terms.customerEmail : undefined;
}

const recentCharges = 3;

/** The permissions with which people may see and look up a charge; `doubt` is for charges in doubt. */
const lookUpPermissions = ['charge', 'otp', 'doubt'];
