import { createHash } from 'node:crypto';
import type { CheckoutOrder, CheckoutOrderAnswer } from '../../domain/charge-answer.ts';
import type { Lookup } from '../../domain/alert.ts';
import type { ExpectedCharge } from '../../domain/confirmation.ts';
import { parseOrderReference, type OrderReference } from '../../domain/order-reference.ts';
import type { PaymentEvent } from '../../domain/payment-event.ts';
import {
  dueForLink,
  type LinkEvent,
  type LinkTerms,
  type OrderEnd,
  type PaymentLink,
} from '../../domain/payment-link.ts';
import { withoutUndefined } from '../../domain/without-undefined.ts';
import { StoreUnavailable } from '../../domain/store-unavailable.ts';
import { newErrorId, type Log } from '../../log.ts';
import type { Entry, Store } from '../../store/store.ts';
import { keepProvenPayment } from '../alert/alert-recovery.ts';
import { insist } from '../work/insist.ts';
import { linkOrderKey, linksOf, openLinkRecord, type LinkRecord } from './link-record.ts';
import { createLinkStore, type LinkStore, type LinkStoreDeps } from './link-store.ts';
import { referenceOf } from '../work/reference-of.ts';
import { tellLink, type TellLinkDeps } from './tell-link.ts';

export type LinkRequest = {
  viewId: string;
  terms: LinkTerms;
  /** The person's own; the dialogue's when absent. */
  reference?: OrderReference;
  by: string;
  /** Where its card goes; to the person alone when absent. */
  channel?: string;
};

export type LinkBeginning =
  /** `carryOn` asks the service, once, and resolves with what became of it. Throws StoreUnavailable. */
  | { kind: 'begun'; link: PaymentLink; carryOn: () => Promise<PaymentLink> }
  /** Asked for before, in this dialogue; nothing is asked for again. */
  | { kind: 'known'; link: PaymentLink }
  /** Another link has this reference. */
  | { kind: 'taken' };

/** Links to the service's checkout page, each made of at most one order and followed until it is paid. */
export type PaymentLinks = {
  /** Written down before anything is sent. Throws StoreUnavailable, and then nothing was sent. */
  begin(request: LinkRequest): Promise<LinkBeginning>;
  find(reference: string): Promise<PaymentLink | undefined>;
  /** Those that are still followed, newest first. */
  openOf(userId: string): Promise<PaymentLink[]>;
  /** Looks whether it is paid, now. Undefined: there is no such link. */
  lookNow(reference: string): Promise<{ link: PaymentLink; lookup: Lookup } | undefined>;
  /** One more card, in that channel. False: the bot cannot post there, as far as Slack tells. */
  share(reference: string, channel: string): Promise<boolean>;
  /**
   * Called with every event before it is called received, however often it comes. On record when it resolves; the
   * look-up goes on by itself. Throws StoreUnavailable.
   */
  trigger(event: PaymentEvent): Promise<void>;
  /** For work of the prefix `linkPrefix`. */
  work(entry: Entry): Promise<void>;
};

export type PaymentLinksDeps = LinkStoreDeps &
  TellLinkDeps & {
    store: Pick<Store, 'list'>;
    createCheckoutOrder: (order: CheckoutOrder) => Promise<CheckoutOrderAnswer>;
    log: Log;
    /** False where Slack says that the bot cannot post; a post is what finds out the rest. */
    mayPost: (channel: string) => Promise<boolean>;
    /** Asks the service, but not again at once when it is away. */
    lookUp: (expected: ExpectedCharge) => Promise<Lookup>;
    /** For a person, who is not told of an outage that was a moment ago. */
    lookUpNow: (expected: ExpectedCharge) => Promise<Lookup>;
    /** Where the customer is sent after paying. */
    callbackUrl: string | undefined;
    wait: (ms: number) => Promise<unknown>;
  };

/** Of a person's open links so many are shown. */
const mostShown = 20;

/** Of a link whose time is over: the service may be away, and a payment take a day to be proven. */
const settleMs = 7 * 86_400_000;

type Linking = PaymentLinksDeps & { links: LinkStore };

export function createPaymentLinks(deps: PaymentLinksDeps): PaymentLinks {
  // What belongs to a link is made before the link is settled, and outlives it.
  const rememberMs = deps.rememberMs + deps.rules.followMs + settleMs;
  const linking: Linking = { ...deps, rememberMs, links: createLinkStore(deps) };
  const { links } = linking;
  return {
    async begin(request) {
      const reference = request.reference ?? referenceOf(request.viewId);
      const fresh = recordOf(request, reference, deps.now());
      const before = await links.begin(fresh);
      if (before) {
        const isSame = before.viewId === request.viewId;
        return isSame ? { kind: 'known', link: before.link } : { kind: 'taken' };
      }
      return { kind: 'begun', link: fresh.link, carryOn: () => askFirst(linking, fresh) };
    },
    find: async (reference) => (await links.read(reference))?.link,
    async openOf(userId) {
      const { entries } = await deps.store.list(linksOf(userId), { max: mostShown, newestFirst: true });
      return entries.map(({ key, value }) => openLinkRecord(deps.sealer, key, value).link);
    },
    async lookNow(reference) {
      const record = await links.read(reference);
      if (!record) return undefined;
      const lookup = await deps.lookUpNow(expectedOf(record.link));
      const after = await links.apply(reference, { kind: 'looked_up', lookup });
      return { link: (await conclude(linking, after ?? record)).link, lookup };
    },
    async share(reference, channel) {
      if (!(await deps.mayPost(channel))) return false;
      const record = await links.apply(reference, { kind: 'placed', place: channel });
      if (record) await conclude(linking, record);
      return record !== undefined;
    },
    trigger: (event) => trigger(linking, event),
    work: (entry) => work(linking, entry),
  };
}

function recordOf(
  { viewId, terms, by, channel }: LinkRequest,
  reference: OrderReference,
  nowMs: number,
): LinkRecord {
  const link: PaymentLink = {
    reference,
    terms,
    by,
    askedAtMs: nowMs,
    state: { kind: 'asking' },
    misses: 0,
    places: [channel ?? by],
  };
  return { link, viewId, turn: 0, told: 0 };
}

/** What became of it is told by whoever waits for this; of a link that is made, by its card too. */
async function askFirst(linking: Linking, { link }: LinkRecord): Promise<PaymentLink> {
  const record = await keepAnswer(linking, link, { end: await ask(linking, link), isRepeat: false });
  const isToldByForm = record.link.state.kind === 'refused';
  return (await (isToldByForm ? linking.links.rest(record) : conclude(linking, record))).link;
}

/**
 * Asks for a checkout order, once, and says what came of it in words for a person where it has none. An order
 * charges nobody, so asking again under its reference is harmless; it then `exists`, and its link is not told again.
 *
 * Spec: create a checkout order; Errors (An order already exists with this order reference).
 */
async function ask(
  { createCheckoutOrder, callbackUrl, log }: Linking,
  { reference, terms, by }: PaymentLink,
): Promise<OrderEnd> {
  const answer = await createCheckoutOrder({ ...terms, reference, callbackUrl });
  log('info', 'checkout order answered', { orderReference: reference, userId: by, result: answer.kind });
  switch (answer.kind) {
    case 'created':
      return answer;
    case 'rejected':
      if (answer.reason === 'reference_exists') return { kind: 'exists' };
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
  return answer.failure === 'invalid_request'
    ? (answer.message ?? 'The payments service found the order invalid.')
    : 'The payments service did not take the order. Try again in a few minutes.';
}

/** A link is told by one answer and never again. Throws StoreUnavailable when the store stays away. */
function keepAnswer(
  linking: Linking,
  { reference }: PaymentLink,
  answer: { end: OrderEnd; isRepeat: boolean },
): Promise<LinkRecord> {
  const { links, store, rememberMs } = linking;
  const { end } = answer;
  return insist(linking, async () => {
    if (end.kind === 'created') {
      await store.create(linkOrderKey(hash(end.orderId)), reference, { ttlMs: rememberMs });
    }
    const record = await links.apply(reference, { kind: 'answered', ...answer });
    if (!record) throw new Error('a link that was asked for is not in the store');
    return record;
  });
}

/** Tells what is new of it and lets it rest until it is due. */
async function conclude(linking: Linking, record: LinkRecord): Promise<LinkRecord> {
  const { link, told, turn } = record;
  if (told < turn) {
    await tellAlerts(linking, link);
    await tellLink(linking, link);
  }
  return await linking.links.rest(record);
}

/** As of a charge that is proven: its event may be lost. */
async function tellAlerts(linking: Linking, { reference, terms, state }: PaymentLink): Promise<void> {
  if (state.kind !== 'paid') return;
  const { money, atMs } = state;
  const { customerEmail, customerId } = terms;
  await keepProvenPayment(linking, { reference, money, atMs, customerEmail, customerId });
}

async function trigger(linking: Linking, event: PaymentEvent): Promise<void> {
  // A saved card is charged without a link.
  if (event.isSavedCardCharge === true) return;
  const { wake, log } = linking;
  try {
    if (await note(linking, event)) wake();
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error;
    // Sealed with a key that is not here: no reason to refuse the sender for ever.
    log('error', 'an event’s link cannot be opened', { errorId: newErrorId(), eventKey: event.key }, error);
  }
}

/**
 * By the merchant's reference, or by the service's order id where the event has that alone. A reference that is not
 * signed is looked up, and no more: whoever sends an event once more can write any there.
 */
async function note(linking: Linking, event: PaymentEvent): Promise<LinkRecord | undefined> {
  const { links } = linking;
  const { orderId, orderReference = '', referenceHint = '' } = event;
  const said = saidBy(event);
  const reference = parseOrderReference(orderReference);
  const record = reference.ok ? await links.apply(reference.value, said) : undefined;
  if (record) return record;
  const other = orderId === undefined ? undefined : await referenceOfOrder(linking, orderId);
  if (other !== undefined) return await links.apply(other, said);
  const hint = parseOrderReference(referenceHint);
  return hint.ok ? await links.apply(hint.value, { kind: 'hinted' }) : undefined;
}

function saidBy({ kind, cardSaved, reason }: PaymentEvent): LinkEvent {
  return kind === 'payment_success'
    ? withoutUndefined({ kind, cardSaved })
    : withoutUndefined({ kind, why: reason });
}

async function referenceOfOrder({ store }: Linking, orderId: string): Promise<string | undefined> {
  return (await store.read(linkOrderKey(hash(orderId))))?.value;
}

async function work(linking: Linking, entry: Entry): Promise<void> {
  const { links, sealer, log, now, rules } = linking;
  let record = openLinkRecord(sealer, entry.key, entry.value);
  // First what may change it: a card that is edited twice in a row is read twice.
  const { link } = record;
  const due = dueForLink(link, now(), rules);
  if (due === 'ask') {
    log('info', 'a payment link is asked for again', { orderReference: link.reference });
    record = await keepAnswer(linking, link, { end: await ask(linking, link), isRepeat: true });
  } else if (due === 'look_up') {
    const lookup = await linking.lookUp(expectedOf(link));
    record = (await links.apply(link.reference, { kind: 'looked_up', lookup })) ?? record;
  }
  await conclude(linking, record);
}

function expectedOf({ reference, terms: { money } }: PaymentLink): ExpectedCharge {
  return { reference, amount: { ...money, source: 'link' } };
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 40);
}
