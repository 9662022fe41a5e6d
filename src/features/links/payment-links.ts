import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Account } from '../../account.ts';
import type {
  AlertNews,
  AlertTaken,
  BotCharge,
  Lookup,
  OpenPayment,
  ProvenPayment,
} from '../../domain/alert.ts';
import { notAccepted, type ShownTerms } from '../../domain/charge.ts';
import type { CheckoutOrderAnswer } from '../../payments/orders.ts';
import type { ExpectedCharge } from '../../domain/transaction.ts';
import {
  chargeReferencePrefix,
  parseOrderReference,
  type OrderReference,
} from '../../domain/order-reference.ts';
import type { PaymentEvent } from '../../domain/payment-event.ts';
import { StoreUnavailable } from '../../domain/failure.ts';
import { withoutUndefined } from '../../domain/json.ts';
import { newErrorId, tagLog } from '../../log.ts';
import { messageKey } from '../../messages/message-record.ts';
import { createMessages, type Messages } from '../../messages/messages.ts';
import { createCases, type Cases, type StoredCase } from '../../records/cases.ts';
import { searchLists } from '../../records/found-by.ts';
import { ifReadable, openRecord } from '../../records/records.ts';
import { untilStored } from '../../records/retry.ts';
import { derivedReference } from '../../records/derived-reference.ts';
import type { Entry } from '../../store/store.ts';
import { failureWords } from '../../slack/words/error-message.ts';
import { alertTakenWords } from '../../slack/words/twins.ts';
import { createBackground } from '../../under-way.ts';
import {
  isFollowed,
  linkPrefix,
  openLinkOf,
  linkRules,
  linksOf,
  linksOfAlert,
  storedLink,
  type LinkEvent,
  type OrderEnd,
  type PaymentLink,
} from './link-case.ts';
import { linkMessageKey, type LinkBodies } from './link-screens.ts';
import { dayMs, hourMs } from '../../domain/span.ts';

export type LinkNeeds = {
  /** Look-up for background work: during an outage of the service most calls are skipped. */
  lookUp: (expected: ExpectedCharge) => Promise<Lookup>;
  /** Uncached look-up, for a person's request. */
  lookUpNow: (expected: ExpectedCharge) => Promise<Lookup>;
  /** Reports a proven payment to the alerts: its event may never come. */
  paid: (payment: ProvenPayment) => Promise<void>;
  /** The customer's one open alert of this amount; undefined: none, or several. Throws StoreUnavailable. */
  alertFor: (terms: PaymentLink['terms']) => Promise<string | undefined>;
  /** Why no new payment may begin from that alert now; undefined: one may. Throws StoreUnavailable. */
  alertTaken: (alert: string) => Promise<AlertTaken | undefined>;
  /** Whether a charge of the bot has this reference, or one that waits for approval. Throws StoreUnavailable. */
  isCharge: (reference: string) => Promise<boolean>;
};

/** `alert`: as in `PaymentLink`. */
type LinkRequest = Pick<PaymentLink, 'viewId' | 'terms' | 'by' | 'alert'> & {
  /** Other links of the alert that the person accepted. */
  despite?: readonly string[];
  /** Typed by the person; default: generated from the modal's id. */
  reference?: OrderReference;
  /** The channel for its message; absent: to the person alone. */
  channel?: string;
};

type LinkBeginning =
  /** `carryOn` requests the order, once, and resolves with the result. Throws StoreUnavailable. */
  | { kind: 'begun'; link: PaymentLink; carryOn: () => Promise<PaymentLink> }
  /** This modal was submitted before; no new request is made. */
  | { kind: 'known'; link: PaymentLink }
  /** A charge or another link has this reference. */
  | { kind: 'taken' };

const mostShown = 20;
/** Only these records of a customer are read. */
const newestOfCustomer = { max: 50, newestFirst: true };

/** Records are stored for so long after a link is no longer followed: its proof may be late. */
const settleMs = 7 * dayMs;

export type PaymentLinks = ReturnType<typeof createPaymentLinks>;

/** Links to the service's checkout page, each with at most one order, followed until paid. */
export function createPaymentLinks(account: Account, needs: LinkNeeds) {
  const { lookUp, lookUpNow, paid, alertFor } = needs;
  const { settings, payments, store, leaseMs, log, now } = account;
  const background = createBackground(log, 'a payment link');
  // The lease outlasts a call and its retry.
  const rules = { retryMs: leaseMs, followMs: settings.linkFollowHours * hourMs };
  // Messages and order ids are stored earlier than the link's last state, and must outlive it.
  const rememberMs = account.rememberMs + rules.followMs + settleMs;
  const linkAccount = { ...account, rememberMs, audit: account.audit.write };
  const messages: Messages<LinkBodies> = createMessages(linkAccount);
  const links: Cases<PaymentLink, LinkEvent> = createCases(linkAccount, linkRules(rules, account), {
    due,
    tell,
  });

  /** A due link's work: request the order again if its answer is unknown, else look up. */
  async function due(link: PaymentLink): Promise<{ event: LinkEvent; isOnce?: boolean } | undefined> {
    const { reference, state } = link;
    if (state.kind === 'asking') {
      log('info', 'a payment link is asked for again', { orderReference: reference });
      return await requestOrder(link, true);
    }
    if (state.kind !== 'open' && state.kind !== 'confirming' && state.kind !== 'review') return undefined;
    return { event: { kind: 'looked_up', lookup: await lookUp(expectedOf(link)) } };
  }

  /**
   * `isRepeat`: an earlier request has an unknown result. `isOnce`: the service returns an order's link only in its
   * first answer, so storing that answer is retried.
   */
  async function requestOrder(link: PaymentLink, isRepeat: boolean) {
    const why = await alertRefuses(link);
    const end: OrderEnd =
      why === undefined ? await createOrder(link) : { kind: 'refused', why, isByAlert: true };
    if (end.kind === 'created') {
      const key = linkOrderKey(end.orderId);
      await untilStored(account, () => store.create(key, link.reference, { ttlMs: rememberMs }));
    }
    const { terms } = link;
    return { event: { kind: 'answered', end, terms, isRepeat } as const, isOnce: true };
  }

  /**
   * Why the link's alert allows no order now; undefined: it does. A link is stored before this check, and a charge claims
   * the alert before its own check: if both begin together, at least one sees the other.
   */
  async function alertRefuses({ alert, reference, despite }: PaymentLink): Promise<string | undefined> {
    if (alert === undefined) return undefined;
    const taken = await needs.alertTaken(alert);
    if (taken) return alertTakenWords(taken);
    const open = notAccepted(await openForAlert(alert), despite);
    const other = open.find((link) => link.reference !== reference);
    return other && `Another payment link for this was begun meanwhile: ${other.reference}.`;
  }

  /** The alert's links that may bring money, newest first. */
  async function openForAlert(alert: string): Promise<OpenPayment[]> {
    const listed = await links.list(linksOfAlert(alert), { max: mostShown, newestFirst: true });
    return listed.flatMap(openLinkOf);
  }

  /**
   * One call for a checkout order. `why`: words for people. An order charges nobody, so a repeat is harmless; but the
   * service doesn't return the link of an existing order again.
   *
   * Spec: create a checkout order; Errors (An order already exists with this order reference).
   */
  async function createOrder({ reference, terms, by }: PaymentLink): Promise<OrderEnd> {
    tagLog({ orderReference: reference });
    const order = { ...terms, reference, callbackUrl: settings.linkCallbackUrl };
    const answer = await payments.createCheckoutOrder(order);
    log('info', 'checkout order answered', { orderReference: reference, userId: by, result: answer.kind });
    return orderEndOf(answer);
  }

  /**
   * Stores or updates the link's message, and one note per outcome. Reports a payment to the alerts: its event may be
   * lost.
   */
  async function tell(link: PaymentLink): Promise<void> {
    const { reference, terms, state, place: channel } = link;
    // The modal shows this state; the message is posted once the answer is there.
    if (state.kind === 'asking') return;
    if (state.kind === 'paid') {
      const { customerEmail, customerId } = terms;
      await paid({ reference, money: state.money, atMs: state.atMs, customerEmail, customerId });
    }
    await messages.postOrRefresh(linkMessageKey(link), { channel, body: { reference } });
    if (state.kind !== 'paid' && state.kind !== 'review' && state.kind !== 'given_back') return;
    const note = { channel, body: { reference, what: state.kind }, isNote: true } as const;
    await messages.post(messageKey('link_note', `${state.kind}:${reference}`), note);
  }

  /** Returns the link. Writes its message and audit entries in the background; with `told` only the entries. */
  function settled(stored: StoredCase<PaymentLink>, isTold?: 'told'): PaymentLink {
    background.add(links.settle(stored.state.reference, stored, isTold));
    return stored.state;
  }

  /** The first request, while the person waits. A refusal needs no message: the modal shows it. */
  async function requestFirst(link: PaymentLink): Promise<PaymentLink> {
    const { event } = await requestOrder(link, false);
    const stored = await untilStored(account, () => links.apply(link.reference, event));
    if (!stored) throw new Error('a link that was requested is not in the store');
    return settled(stored, stored.state.state.kind === 'refused' ? 'told' : undefined);
  }

  /** Looks up with the given function whether the link is paid. Undefined: there is no such link. */
  async function look(reference: string, lookUpWith: LinkNeeds['lookUp']) {
    const before = await links.find(reference);
    if (!before) return undefined;
    const lookup = await lookUpWith(expectedOf(before));
    const stored = await links.apply(reference, { kind: 'looked_up', lookup });
    return { link: stored ? settled(stored) : before, lookup };
  }

  /**
   * Applies an event to its link, found by the signed order reference or by the service's order id. False: no such
   * link. The event's unsigned reference finds no link here: somebody who replays the event can change that reference.
   */
  async function applyEvent(event: PaymentEvent): Promise<boolean> {
    const { orderId, orderReference = '' } = event;
    const linkEvent = linkEventOf(event);
    const reference = parseOrderReference(orderReference);
    if (reference.ok && (await links.applyAndWake(reference.value, linkEvent))) return true;
    const entry = orderId === undefined ? undefined : await store.read(linkOrderKey(orderId));
    return entry !== undefined && (await links.applyAndWake(entry.value, linkEvent)) !== undefined;
  }

  return {
    /** Stores the request before anything is sent. Throws StoreUnavailable; then nothing was sent. */
    async begin(request: LinkRequest): Promise<LinkBeginning> {
      const { channel = request.by, despite, ...asked } = request;
      const reference = request.reference ?? derivedReference(request.viewId);
      // If a charge has this reference, the payment of an order with it would prove that charge, too.
      if (request.reference !== undefined && (await needs.isCharge(reference))) return { kind: 'taken' };
      const alert = request.alert ?? (await alertFor(request.terms));
      const link: PaymentLink = {
        ...asked,
        ...withoutUndefined({ alert, despite: despite && [...despite] }),
        reference,
        place: channel,
        askedAtMs: now(),
        state: { kind: 'asking' },
        misses: 0,
      };
      const begun = await links.begin(reference, link, {
        // A refused link frees its reference.
        mayReplace: (before) => before.state.kind === 'refused',
      });
      if (begun.kind === 'begun') return { kind: 'begun', link, carryOn: () => requestFirst(link) };
      return begun.state.viewId === request.viewId ? { kind: 'known', link: begun.state } : { kind: 'taken' };
    },
    find: (reference: string) => links.find(reference),
    /** Who asked for the link with this reference, and its alert; undefined: no such link, or its reference was typed. */
    async chargeOf(reference: string): Promise<BotCharge | undefined> {
      // Outside text of any length must not shape a key.
      if (!reference.startsWith(chargeReferencePrefix) || !parseOrderReference(reference).ok)
        return undefined;
      const link = await links.find(reference);
      return link && withoutUndefined({ agent: link.by, alert: link.alert });
    },
    /** For `/pay story`; `posts`: keys of its messages. */
    async story(reference: string) {
      const link = await links.find(reference);
      return link && { link, posts: [linkMessageKey(link)] };
    },
    /** The person's followed links, newest first. */
    openByAgent: (userId: string) => links.list(linksOf(userId), { max: mostShown, newestFirst: true }),
    openForAlert,
    openForCustomer: (terms: LinkedTerms) => openForCustomer(account, terms),
    lookNow: (reference: string) => look(reference, lookUpNow),
    /**
     * Called before a webhook is acknowledged. Must be idempotent. Resolves once stored; the look-up runs in the
     * background. Throws StoreUnavailable.
     */
    async onPaymentEvent(event: PaymentEvent): Promise<void> {
      // Saved-card charges have no link; `onGivenBack` handles money given back, with its look-up.
      if (event.isSavedCardCharge === true || event.kind === 'payment_given_back') return;
      try {
        if (await applyEvent(event)) return;
      } catch (error) {
        if (error instanceof StoreUnavailable) throw error;
        // The link's sealing key is missing. Don't throw: the sender would repeat the event for ever.
        const about = { errorId: newErrorId(), eventKey: event.key };
        log('error', 'an event’s link cannot be opened', about, error);
      }
      // An unsigned reference only starts a look-up.
      const { referenceHint = '' } = event;
      if (parseOrderReference(referenceHint).ok) background.add(look(referenceHint, lookUp));
    },
    /** Says in the link's message what else ended its alert. Does nothing if there is no such link. */
    async onAlertEnded(reference: string, news: AlertNews): Promise<void> {
      if (parseOrderReference(reference).ok)
        await links.applyAndWake(reference, { kind: 'alert_ended', news });
    },
    /**
     * Applies a look-up that found the payment given back. False: it found something else, or no link with this
     * reference is given back now. Throws StoreUnavailable.
     */
    async onGivenBack(reference: string, lookup: Lookup): Promise<boolean> {
      if (lookup.kind !== 'given_back') return false;
      const stored = await links.apply(reference, { kind: 'looked_up', lookup });
      const link = stored ? settled(stored) : await links.find(reference);
      return link?.state.kind === 'given_back';
    },
    cases: [{ prefix: linkPrefix, work: (entry: Entry) => links.work(entry) }],
    drained: background.drained,
  };
}

type LinkedTerms = Pick<ShownTerms, 'customerEmail' | 'money'>;

/**
 * The customer's links of this amount that are followed or were paid lately, for any alert; newest first. Throws
 * StoreUnavailable.
 */
async function openForCustomer(
  account: Pick<Account, 'store' | 'sealer' | 'settings' | 'fingerprint' | 'log' | 'now'>,
  { customerEmail, money }: LinkedTerms,
): Promise<OpenPayment[]> {
  const { store, sealer, settings, now } = account;
  const [list] = await searchLists(account, { customerEmail });
  const { entries } = list === undefined ? { entries: [] } : await store.list(list, newestOfCustomer);
  const recentMs = settings.chargeTwinMinutes * 60_000;
  return entries
    .filter(({ key }) => key.startsWith(linkPrefix))
    .flatMap((entry) => ifReadable(() => openRecord(sealer, storedLink, entry).state) ?? [])
    .filter((link) => isDeepStrictEqual(link.terms.money, money))
    .filter((link) => isFollowed(link) || (link.state.kind === 'paid' && now() - link.state.atMs < recentMs))
    .flatMap(openLinkOf);
}

const takenWords =
  'The service has an order with this reference already. Choose another reference, or leave it empty.';

function orderEndOf(answer: CheckoutOrderAnswer): OrderEnd {
  switch (answer.kind) {
    case 'created':
      return answer;
    case 'rejected':
      if (answer.reason === 'reference_exists') return { kind: 'refused', why: takenWords };
      return { kind: 'refused', why: answer.message ?? 'The payments service rejected the order.' };
    case 'not_made':
      return { kind: 'refused', why: notMadeWords(answer) };
    case 'unknown':
      return {
        kind: 'unknown',
        why: 'The payments service has not answered. Nothing was charged; try again in a minute.',
      };
  }
}

function notMadeWords(answer: Extract<CheckoutOrderAnswer, { kind: 'not_made' }>): string {
  if (answer.failure === 'invalid_request') {
    return answer.message ?? 'The payments service found the order invalid.';
  }
  const { what, next } = failureWords[answer.failure];
  return `${what}: ${next}`;
}

function linkEventOf({ kind, cardSaved, reason }: PaymentEvent): LinkEvent {
  return kind === 'payment_success'
    ? withoutUndefined({ kind, cardSaved })
    : withoutUndefined({ kind: 'payment_failed' as const, why: reason });
}

function expectedOf({ reference, terms: { money } }: PaymentLink): ExpectedCharge {
  return { reference, amount: { ...money, source: 'link' } };
}

/** For events that have only the service's order id. Hashed: outside text must not shape a key. */
function linkOrderKey(orderId: string): string {
  return `link-order:${hash('sha256', orderId).slice(0, 40)}`;
}
