import type { ProvenPayment } from '../../domain/alert-card.ts';
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Lookup } from '../../domain/alert.ts';
import type { AuditEntry } from '../../domain/audit-entry.ts';
import type { CheckoutOrder, CheckoutOrderAnswer } from '../../domain/charge-answer.ts';
import type { ExpectedCharge } from '../../domain/confirmation.ts';
import { formatMoney } from '../../domain/money.ts';
import { parseOrderReference, type OrderReference } from '../../domain/order-reference.ts';
import type { PaymentEvent } from '../../domain/payment-event.ts';
import {
  dueForLink,
  isFollowed,
  restOfLink,
  stepLink,
  type LinkEvent,
  type LinkRules,
  type OrderEnd,
  type PaymentLink,
  type LinkBeginning,
  type LinkRequest,
} from '../../domain/payment-link.ts';
import { StoreUnavailable } from '../../domain/store-unavailable.ts';
import { withoutUndefined } from '../../domain/without-undefined.ts';
import { newErrorId, tagLog, type Log } from '../../log.ts';
import { createCases, type Cases, type CasesDeps, type CaseStep, type Kept } from '../../records/cases.ts';
import type { Entry, Store } from '../../store/store.ts';
import { messageKey } from '../../messages/message-record.ts';
import { createMessages, type Messages } from '../../messages/messages.ts';
import { insist } from '../../records/insist.ts';
import { referenceOf } from '../../records/reference-of.ts';
import { linkCardKey, type LinkBodies } from './link-screens.ts';
import { cardFaceShape, moneyShape, referenceShape } from '../../records/shapes.ts';

export type PaymentLinksDeps = CasesDeps & {
  store: Pick<Store, 'create' | 'read' | 'write' | 'list'>;
  rules: LinkRules;
  /** How long one piece of work may be held. */
  leaseMs: number;
  createCheckoutOrder: (order: CheckoutOrder) => Promise<CheckoutOrderAnswer>;
  log: Log;
  /** False where Slack says that the bot cannot post; a post is what finds out the rest. */
  mayPost: (channel: string) => Promise<boolean>;
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

/** Of a person's open links so many are shown. */
const mostShown = 20;

/** Of a link whose time is over: the service may be away, and a payment take a day to be proven. */
const settleMs = 7 * 86_400_000;

export const linkPrefix = 'link:';

/** A link, and the dialogue that asked for it: submitted twice, it asks once. */
type LinkCase = { link: PaymentLink; viewId: string };

const check = z.object({
  part: z.enum(['status', 'reference', 'amount']),
  holds: z.boolean(),
  statement: z.string(),
  how: z.string().exactOptional(),
});
const linkCase: z.ZodType<LinkCase> = z.object({
  viewId: z.string(),
  link: z.object({
    reference: referenceShape,
    terms: z.object({
      money: moneyShape,
      customerEmail: z.string(),
      customerId: z.string().exactOptional(),
      savesCard: z.boolean(),
    }),
    by: z.string(),
    askedAtMs: z.number(),
    state: z.discriminatedUnion('kind', [
      z.object({ kind: z.enum(['asking', 'lost', 'unanswered', 'open']) }),
      z.object({ kind: z.literal('refused'), why: z.string() }),
      z.object({ kind: z.literal('confirming'), sinceMs: z.number(), looks: z.int() }),
      z.object({ kind: z.literal('paid'), money: moneyShape, atMs: z.number() }),
      z.object({ kind: z.enum(['review', 'aged']), atMs: z.number() }),
    ]),
    misses: z.int(),
    order: z.object({ orderId: z.string(), checkoutLink: z.string() }).exactOptional(),
    hintedAtMs: z.number().exactOptional(),
    failure: z.object({ atMs: z.number(), why: z.string().exactOptional() }).exactOptional(),
    cardSaved: z
      .discriminatedUnion('kind', [
        z.object({
          kind: z.enum(['kept', 'not_kept']),
          face: cardFaceShape,
        }),
        z.object({ kind: z.literal('no_token') }),
      ])
      .exactOptional(),
    evidence: z.object({ status: check, reference: check, amount: check }).exactOptional(),
    places: z.array(z.string()),
  }),
});

/** The list of a person's links that are still followed. */
function linksOf(userId: string): string {
  return `links-of:${userId}`;
}

type Linking = PaymentLinksDeps & { links: Cases<LinkCase, LinkEvent>; messages: Messages<LinkBodies> };

export type PaymentLinks = ReturnType<typeof createPaymentLinks>;

/** Links to the service's checkout page, each made of at most one order and followed until it is paid. */
export function createPaymentLinks(deps: PaymentLinksDeps) {
  const { rules } = deps;
  // What belongs to a link is made before the link is settled, and outlives it.
  const outlive = { ...deps, rememberMs: deps.rememberMs + rules.followMs + settleMs };
  const links: Linking['links'] = createCases<LinkCase, LinkEvent>(
    outlive,
    {
      prefix: linkPrefix,
      schema: linkCase,
      lists: ({ link }) => (isFollowed(link) ? { [linksOf(link.by)]: link.askedAtMs } : {}),
      step(before, event, nowMs) {
        const link = stepLink(before.link, event, nowMs, rules);
        return link && { ...before, link };
      },
      restMs: ({ link }, nowMs) => restOfLink(link, nowMs, rules),
      history: (step) => [auditOf(step)],
    },
    { due: ({ link }, nowMs) => act(linking, link, nowMs), tell: ({ link }) => tell(linking, link) },
  );
  const linking: Linking = { ...outlive, links, messages: createMessages(outlive) };

  /** Whoever did it is told by what this gives: everybody else, and the audit, need not be waited for. */
  function settled(reference: string, kept: Kept<LinkCase>, isTold?: 'told'): PaymentLink {
    deps.inBackground(links.settle(reference, kept, isTold));
    return kept.state.link;
  }

  /** The form tells of a refusal by itself. */
  async function askFirst(link: PaymentLink): Promise<PaymentLink> {
    const { event } = await ask(linking, link, false);
    const kept = await insist(deps, () => links.apply(link.reference, event));
    if (!kept) throw new Error('a link that was asked for is not in the store');
    return settled(link.reference, kept, kept.state.link.state.kind === 'refused' ? 'told' : undefined);
  }

  return {
    /** Written down before anything is sent. Throws StoreUnavailable, and then nothing was sent. */
    async begin(request: LinkRequest): Promise<LinkBeginning> {
      const reference = request.reference ?? referenceOf(request.viewId);
      const fresh = caseOf(request, reference, deps.now());
      const begun = await links.begin(reference, fresh, {
        // What was not made gives way.
        givesWay: ({ link }) => link.state.kind === 'refused',
      });
      if (begun.kind === 'begun') {
        return { kind: 'begun', link: fresh.link, carryOn: () => askFirst(fresh.link) };
      }
      const { viewId, link } = begun.state;
      return viewId === request.viewId ? { kind: 'known', link } : { kind: 'taken' };
    },
    find: async (reference: string) => (await links.find(reference))?.link,
    /** The same, with the keys of the messages that show it. */
    async story(reference: string) {
      const link = (await links.find(reference))?.link;
      return link && { link, posts: link.places.map((place) => linkCardKey(reference, place)) };
    },
    /** Those that are still followed, newest first. */
    async openOf(userId: string) {
      const open = await links.list(linksOf(userId), { max: mostShown, newestFirst: true });
      return open.map(({ link }) => link);
    },
    /** Looks whether it is paid, now. Undefined: there is no such link. */
    async lookNow(reference: string): Promise<{ link: PaymentLink; lookup: Lookup } | undefined> {
      const before = await links.find(reference);
      if (!before) return undefined;
      const lookup = await deps.lookUpNow(expectedOf(before.link));
      const kept = await links.apply(reference, { kind: 'looked_up', lookup });
      return { link: kept ? settled(reference, kept) : before.link, lookup };
    },
    /** One more message of it, in that channel. False: the bot cannot post there, as far as Slack tells. */
    async share(reference: string, channel: string): Promise<boolean> {
      if (!(await deps.mayPost(channel))) return false;
      const kept = await links.apply(reference, { kind: 'placed', place: channel });
      if (kept) settled(reference, kept);
      return kept !== undefined;
    },
    /**
     * Called with every event before it is called received, however often it comes. On record when it resolves; the
     * look-up goes on by itself. Throws StoreUnavailable.
     */
    trigger: (event: PaymentEvent) => trigger(linking, event),
    /** For work of the prefix `linkPrefix`. */
    work: async (entry: Entry): Promise<void> => void (await links.work(entry)),
  };
}

function caseOf(
  { viewId, terms, by, channel }: LinkRequest,
  reference: OrderReference,
  nowMs: number,
): LinkCase {
  const link: PaymentLink = {
    reference,
    terms,
    by,
    askedAtMs: nowMs,
    state: { kind: 'asking' },
    misses: 0,
    places: [channel ?? by],
  };
  return { link, viewId };
}

/** What is due of a link: the order that no answer is known of, or a look whether it is paid. */
async function act(
  linking: Linking,
  link: PaymentLink,
  nowMs: number,
): Promise<{ event: LinkEvent; isOnce?: boolean } | undefined> {
  switch (dueForLink(link, nowMs, linking.rules)) {
    case 'ask':
      linking.log('info', 'a payment link is asked for again', { orderReference: link.reference });
      return await ask(linking, link, true);
    case 'look_up':
      return { event: { kind: 'looked_up', lookup: await linking.lookUp(expectedOf(link)) } };
    case undefined:
      return undefined;
  }
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
 * charges nobody, so asking again under its reference is harmless; it then `exists`, and its link is not told again.
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

/**
 * Each card is stored once for each place, or catches up; a note once for each outcome. The alerts hear of a payment as
 * of a charge that is proven: its event may be lost.
 */
async function tell(linking: Linking, link: PaymentLink): Promise<void> {
  const { messages } = linking;
  const { reference, terms, state, places } = link;
  // The form says so; a card comes with the answer.
  if (state.kind === 'asking') return;
  if (state.kind === 'paid') {
    const { customerEmail, customerId } = terms;
    const proven = { reference, money: state.money, atMs: state.atMs, customerEmail, customerId };
    await linking.paid(proven);
  }
  const body = { reference };
  await Promise.all(
    places.map((channel) => messages.keep(linkCardKey(reference, channel), { kind: 'link', channel, body })),
  );
  const [channel] = places;
  if (channel === undefined || (state.kind !== 'paid' && state.kind !== 'review')) return;
  const note = { kind: 'link_note', channel, body: { reference, what: state.kind } } as const;
  await messages.post(messageKey('link_note', `${state.kind}:${reference}`), note);
}

async function trigger(linking: Linking, event: PaymentEvent): Promise<void> {
  // A saved card is charged without a link.
  if (event.isSavedCardCharge === true) return;
  const { log } = linking;
  try {
    await hear(linking, event);
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
async function hear({ links, store }: Linking, event: PaymentEvent): Promise<void> {
  const { orderId, orderReference = '', referenceHint = '' } = event;
  const said = saidBy(event);
  const reference = parseOrderReference(orderReference);
  if (reference.ok && (await links.hear(reference.value, said))) return;
  const other = orderId === undefined ? undefined : (await store.read(linkOrderKey(orderId)))?.value;
  if (other !== undefined) return void (await links.hear(other, said));
  const hint = parseOrderReference(referenceHint);
  if (hint.ok) await links.hear(hint.value, { kind: 'hinted' });
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

/** What the audit says of a link that a person asked for. */
function auditOfNewLink({ reference, by, askedAtMs, terms, state }: PaymentLink): AuditEntry {
  return {
    id: `link:${reference}:${askedAtMs}`,
    atMs: askedAtMs,
    who: by,
    what: 'step',
    reference,
    after: `link_${state.kind}`,
    result: 'link_asked',
    reason: formatMoney(terms.money),
  };
}

/** Its turn makes the id, so that the same step is the same entry. */
function auditOf({ before, event, after, turn, atMs }: CaseStep<LinkCase, LinkEvent>): AuditEntry {
  const { reference, askedAtMs, state } = after.link;
  if (!before || !event) return auditOfNewLink(after.link);
  const was = before.link.state.kind;
  return {
    id: `link:${reference}:${askedAtMs}:${turn}`,
    atMs,
    reference,
    who: event.kind === 'placed' ? 'payops' : 'payments',
    what: event.kind === 'placed' ? 'step' : 'answer',
    ...(was === state.kind ? {} : { before: `link_${was}`, after: `link_${state.kind}` }),
    ...auditedOf(event),
  };
}

function auditedOf(event: LinkEvent): Pick<AuditEntry, 'result' | 'reason' | 'where'> {
  switch (event.kind) {
    case 'answered': {
      const { end } = event;
      return { result: `link_${end.kind}`, ...('why' in end ? { reason: end.why } : {}) };
    }
    case 'payment_success':
      return { result: 'event_payment_success' };
    case 'payment_failed':
      return { result: 'event_payment_failed', ...(event.why === undefined ? {} : { reason: event.why }) };
    case 'hinted':
      return { result: 'event_unsigned_reference' };
    case 'looked_up':
      return { result: `link_looked_up_${event.lookup.kind}` };
    case 'placed':
      return { result: 'link_placed', where: event.place };
  }
}
