import { createHash } from 'node:crypto';
import type { Lookup, ProvenPayment } from '../../domain/alert.ts';
import type { CheckoutOrder, CheckoutOrderAnswer } from '../../domain/charge-answer.ts';
import type { ExpectedCharge } from '../../domain/confirmation.ts';
import { parseOrderReference, type OrderReference } from '../../domain/order-reference.ts';
import type { PaymentEvent } from '../../domain/payment-event.ts';
import { StoreUnavailable } from '../../domain/failure.ts';
import { withoutUndefined } from '../../domain/without-undefined.ts';
import { newErrorId, tagLog, type Log } from '../../log.ts';
import { messageKey } from '../../messages/message-record.ts';
import { createMessages, type Messages } from '../../messages/messages.ts';
import { createCases, type Cases, type CasesDeps, type Kept } from '../../records/cases.ts';
import { insist } from '../../records/insist.ts';
import { referenceOf } from '../../records/reference-of.ts';
import type { Entry, Store } from '../../store/store.ts';
import {
  linkRules,
  linksOf,
  type LinkEvent,
  type LinkRules,
  type OrderEnd,
  type PaymentLink,
} from './link-case.ts';
import { linkCardKey, type LinkBodies } from './link-screens.ts';

export type PaymentLinksDeps = CasesDeps & {
  store: Pick<Store, 'create' | 'read' | 'write' | 'list'>;
  rules: LinkRules;
  /** How long one piece of work may be held. */
  leaseMs: number;
  createCheckoutOrder: (order: CheckoutOrder) => Promise<CheckoutOrderAnswer>;
  log: Log;
  /** Asks the service, but not again at once when it is away. */
  lookUp: (expected: ExpectedCharge) => Promise<Lookup>;
  /** For a person, who is not told of an outage that was a moment ago. */
  lookUpNow: (expected: ExpectedCharge) => Promise<Lookup>;
  /** It is proven: the alerts hear of it as of a payment, whether its event comes or not. */
  paid: (payment: ProvenPayment) => Promise<void>;
  /** Where the customer is sent after paying. */
  callbackUrl: string | undefined;
  /** Work that nobody waits for; the process does, before it ends. */
  inBackground: (work: Promise<unknown>) => void;
};

export type LinkRequest = Pick<PaymentLink, 'viewId' | 'terms' | 'by'> & {
  /** The person's own; the dialogue's when absent. */
  reference?: OrderReference;
  /** Where its message goes; to the person alone when absent. */
  channel?: string;
};

type LinkBeginning =
  /** `carryOn` asks the service, once, and resolves with what became of it. Throws StoreUnavailable. */
  | { kind: 'begun'; link: PaymentLink; carryOn: () => Promise<PaymentLink> }
  /** Asked for before, in this dialogue; nothing is asked for again. */
  | { kind: 'known'; link: PaymentLink }
  /** Another link has this reference. */
  | { kind: 'taken' };

/** Of a person's open links so many are shown. */
const mostShown = 20;

/** Of a link whose time is over: the service may be away, and a payment take a day to be proven. */
const settleMs = 7 * 86_400_000;

type Linking = PaymentLinksDeps & { links: Cases<PaymentLink, LinkEvent>; messages: Messages<LinkBodies> };

export type PaymentLinks = ReturnType<typeof createPaymentLinks>;

/** Links to the service's checkout page, each made of at most one order and followed until it is paid. */
export function createPaymentLinks(deps: PaymentLinksDeps) {
  const { rules } = deps;
  // What belongs to a link is made before the link is settled, and outlives it.
  const outlive = { ...deps, rememberMs: deps.rememberMs + rules.followMs + settleMs };
  const links: Linking['links'] = createCases(outlive, linkRules(rules), {
    due: (link) => act(linking, link),
    tell: (link) => tell(linking, link),
  });
  const linking: Linking = { ...outlive, links, messages: createMessages(outlive) };

  /** Whoever did it is told by what this gives: everybody else, and the audit, need not be waited for. */
  function settled(kept: Kept<PaymentLink>, isTold?: 'told'): PaymentLink {
    deps.inBackground(links.settle(kept.state.reference, kept, isTold));
    return kept.state;
  }

  /** The form tells of a refusal by itself. */
  async function askFirst(link: PaymentLink): Promise<PaymentLink> {
    const { event } = await ask(linking, link, false);
    const kept = await insist(deps, () => links.apply(link.reference, event));
    if (!kept) throw new Error('a link that was asked for is not in the store');
    return settled(kept, kept.state.state.kind === 'refused' ? 'told' : undefined);
  }

  /** Looks whether it is paid, now. Undefined: there is no such link. */
  async function look(reference: string, lookUp: PaymentLinksDeps['lookUp']) {
    const before = await links.find(reference);
    if (!before) return undefined;
    const lookup = await lookUp(expectedOf(before));
    const kept = await links.apply(reference, { kind: 'looked_up', lookup });
    return { link: kept ? settled(kept) : before, lookup };
  }

  return {
    /** Written down before anything is sent. Throws StoreUnavailable, and then nothing was sent. */
    async begin(request: LinkRequest): Promise<LinkBeginning> {
      const { reference = referenceOf(request.viewId), channel = request.by, ...asked } = request;
      const link: PaymentLink = {
        ...asked,
        reference,
        place: channel,
        askedAtMs: deps.now(),
        state: { kind: 'asking' },
        misses: 0,
      };
      const begun = await links.begin(reference, link, {
        // What was not made gives way.
        givesWay: ({ state }) => state.kind === 'refused',
      });
      if (begun.kind === 'begun') return { kind: 'begun', link, carryOn: () => askFirst(link) };
      return begun.state.viewId === request.viewId ? { kind: 'known', link: begun.state } : { kind: 'taken' };
    },
    find: (reference: string) => links.find(reference),
    /** The same, with the key of the message that shows it. */
    async story(reference: string) {
      const link = await links.find(reference);
      return link && { link, posts: [linkCardKey(link)] };
    },
    /** Those that are still followed, newest first. */
    openOf: (userId: string) => links.list(linksOf(userId), { max: mostShown, newestFirst: true }),
    lookNow: (reference: string) => look(reference, deps.lookUpNow),
    /**
     * Called with every event before it is called received, however often it comes. On record when it resolves; the
     * look-up goes on by itself. Throws StoreUnavailable.
     */
    async trigger(event: PaymentEvent): Promise<void> {
      // A saved card is charged without a link.
      if (event.isSavedCardCharge === true) return;
      try {
        if (await hear(linking, event)) return;
      } catch (error) {
        if (error instanceof StoreUnavailable) throw error;
        // Sealed with a key that is not here: no reason to refuse the sender for ever.
        const about = { errorId: newErrorId(), eventKey: event.key };
        deps.log('error', 'an event’s link cannot be opened', about, error);
      }
      const { referenceHint = '' } = event;
      if (parseOrderReference(referenceHint).ok) deps.inBackground(look(referenceHint, deps.lookUp));
    },
    /** For work of the prefix `linkPrefix`. */
    work: async (entry: Entry): Promise<void> => void (await links.work(entry)),
  };
}

/** What is due of a link: the order that no answer is known of, or a look whether it is paid. */
async function act(
  linking: Linking,
  link: PaymentLink,
): Promise<{ event: LinkEvent; isOnce?: boolean } | undefined> {
  if (link.state.kind === 'asking') {
    linking.log('info', 'a payment link is asked for again', { orderReference: link.reference });
    return await ask(linking, link, true);
  }
  if (link.state.kind !== 'open' && link.state.kind !== 'confirming') return undefined;
  return { event: { kind: 'looked_up', lookup: await linking.lookUp(expectedOf(link)) } };
}

/** A link is told by one answer and never again. `isRepeat`: it was asked for before, and what became of that is not known. */
async function ask(linking: Linking, link: PaymentLink, isRepeat: boolean) {
  const end = await askForOrder(linking, link);
  if (end.kind === 'created') {
    const key = linkOrderKey(end.orderId);
    await insist(linking, () => linking.store.create(key, link.reference, { ttlMs: linking.rememberMs }));
  }
  return { event: { kind: 'answered', end, isRepeat } as const, isOnce: true };
}

/**
 * Asks for a checkout order, once, and says what came of it in words for a person where it has none. An order
 * charges nobody, so asking again under its reference is harmless; it is there then, and its link is not told again.
 *
 * Spec: create a checkout order; Errors (An order already exists with this order reference).
 */
async function askForOrder(
  { createCheckoutOrder, callbackUrl, log }: Linking,
  { reference, terms, by }: PaymentLink,
): Promise<OrderEnd> {
  tagLog({ orderReference: reference });
  const answer = await createCheckoutOrder({ ...terms, reference, callbackUrl });
  log('info', 'checkout order answered', { orderReference: reference, userId: by, result: answer.kind });
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

const takenWords =
  'The service has an order with this reference already. Choose another reference, or leave it empty.';

function notMadeWords(answer: Extract<CheckoutOrderAnswer, { kind: 'not_made' }>): string {
  return answer.failure === 'invalid_request'
    ? (answer.message ?? 'The payments service found the order invalid.')
    : 'The payments service did not take the order. Try again in a few minutes.';
}

/**
 * Its message is stored once, or catches up; a note once for each outcome. The alerts hear of a payment as of a charge
 * that is proven: its event may be lost.
 */
async function tell(linking: Linking, link: PaymentLink): Promise<void> {
  const { messages } = linking;
  const { reference, terms, state, place: channel } = link;
  // The form says so; a message comes with the answer.
  if (state.kind === 'asking') return;
  if (state.kind === 'paid') {
    const { customerEmail, customerId } = terms;
    const proven = { reference, money: state.money, atMs: state.atMs, customerEmail, customerId };
    await linking.paid(proven);
  }
  await messages.keep(linkCardKey(link), { kind: 'link', channel, body: { reference } });
  if (state.kind !== 'paid' && state.kind !== 'review') return;
  const note = { kind: 'link_note', channel, body: { reference, what: state.kind } } as const;
  await messages.post(messageKey('link_note', `${state.kind}:${reference}`), note);
}

/**
 * By the merchant's reference, or by the service's order id where the event has that alone; false: of no link. A
 * reference that is not signed is looked up, and no more: whoever sends an event once more can write any there.
 */
async function hear({ links, store }: Linking, event: PaymentEvent): Promise<boolean> {
  const { orderId, orderReference = '' } = event;
  const said = saidBy(event);
  const reference = parseOrderReference(orderReference);
  if (reference.ok && (await links.hear(reference.value, said))) return true;
  const other = orderId === undefined ? undefined : (await store.read(linkOrderKey(orderId)))?.value;
  return other !== undefined && (await links.hear(other, said)) !== undefined;
}

function saidBy({ kind, cardSaved, reason }: PaymentEvent): LinkEvent {
  return kind === 'payment_success'
    ? withoutUndefined({ kind, cardSaved })
    : withoutUndefined({ kind, why: reason });
}

function expectedOf({ reference, terms: { money } }: PaymentLink): ExpectedCharge {
  return { reference, amount: { ...money, source: 'link' } };
}

/** By the service's own id of the order, which an event may have instead; outside text, so as a hash. */
function linkOrderKey(orderId: string): string {
  return `link-order:${createHash('sha256').update(orderId).digest('hex').slice(0, 40)}`;
}
