import { hash as digestOf } from 'node:crypto';
import { holdsCardNumber, type SavedCard } from '../domain/card.ts';
import {
  givenBackEventKey,
  orderEventKey,
  unreadableKind,
  type PaymentEvent,
  type PaymentEventKind,
} from '../domain/payment-event.ts';
import { isJsonPointer, valueAt, valueAtLoosely, withoutUndefined } from '../domain/json.ts';
import { minorFromWire } from '../domain/money.ts';
import { saysNothing } from '../domain/outside-text.ts';
import { parseOrderReference } from '../domain/order-reference.ts';
import { parsed, problem, type Parsed } from '../domain/wording.ts';
import { readJson } from './json.ts';
import type { Coverage } from './signature-template.ts';

/** Maps the service's event names, in lower case, to what they mean. */
export type EventKinds = Readonly<Record<string, PaymentEventKind>>;

/** JSON pointers for each part of an event; the first one with a value wins. */
export type EventPointers = Readonly<Record<keyof typeof defaultEventPointers, readonly string[]>>;

/**
 * The specification's paths, and usual places for fields that it does not show. Pointers in the settings are tried
 * first.
 *
 * Spec: Events (known payload fields). Shown: the kinds' names, orderReference, orderId, customerId,
 * isTokenizedCardPayment and tokenizedCardData. Not shown: all the others.
 */
export const defaultEventPointers = {
  kind: ['/event_type', '/event', '/eventType', '/type'],
  eventId: ['/requestId', '/eventId', '/event_id', '/id'],
  orderReference: ['/data/order/orderReference'],
  orderId: ['/data/order/orderId'],
  transactionId: ['/data/transaction/transactionId', '/data/transaction/id', '/data/transactionId'],
  customerId: ['/data/order/customerId'],
  customerEmail: ['/data/order/customerEmail', '/data/customer/email'],
  amount: ['/data/order/amount', '/data/transaction/amount', '/data/amount'],
  currency: ['/data/order/currency', '/data/transaction/currency', '/data/currency'],
  reason: ['/data/transaction/gatewayMessage', '/data/message', '/data/reason'],
  isSavedCardCharge: ['/data/order/isTokenizedCardPayment'],
  savedCard: ['/tokenizedCardData', '/data/tokenizedCardData'],
} as const satisfies Record<string, readonly string[]>;

/**
 * The result of reading a signed body. `fingerprint`: differs for events with one key but another amount, currency or
 * reason. `unknown`: signed, but of an unknown kind or unreadable (`why`); store and report it. `reference`: its
 * reference, signed or not; use it only to keep deliveries in order.
 */
export type ParsedEvent =
  | { kind: 'event'; event: PaymentEvent; fingerprint: string }
  | { kind: 'unknown'; eventKind: string; key: string; why?: string; reference?: string };

/**
 * Puts the pointers of the settings (an object from field to a pointer or a list) before the built-in ones. Unknown
 * fields and invalid pointers are problems.
 */
export function readEventPointers(settings: Readonly<Record<string, unknown>>): Parsed<EventPointers> {
  const pointers: Record<string, readonly string[]> = { ...defaultEventPointers };
  for (const [field, given] of Object.entries(settings)) {
    const builtIn = Object.hasOwn(pointers, field) ? pointers[field] : undefined;
    if (!builtIn)
      return problem(`“${field}” is no field of an event: use ${Object.keys(pointers).join(', ')}.`);
    const added: unknown[] = Array.isArray(given) ? given : [given];
    const own = added.filter(
      (pointer) => typeof pointer === 'string' && pointer !== '' && isJsonPointer(pointer),
    );
    if (own.length !== added.length) {
      return problem(`“${field}” needs JSON pointers, like /data/order/amount.`);
    }
    pointers[field] = [...(own as string[]), ...builtIn];
  }
  return parsed(pointers as EventPointers);
}

/**
 * Reads a signed body, loosely; never throws. If the signature covers single fields, only they are read, also for the
 * key: with an unsigned reference a forged event could take a real event's key. The key is kind and order reference,
 * else kind and transaction, else the sender's event id, else the body; so an event re-sent with a new id has the same
 * key. A refund may be partial, so a refund's key also has event name, transaction and amount. An unknown kind's key is
 * everything signed.
 *
 * Spec: Events; Events, rule 1.
 */
export function parseEvent(
  body: Buffer,
  pointers: EventPointers,
  coverage: Coverage,
  kinds: EventKinds = {},
): ParsedEvent {
  const bodyKey = () => `body/${hash(body)}`;
  const unreadable = (why: string): ParsedEvent => ({
    kind: 'unknown',
    eventKind: unreadableKind,
    why,
    key: bodyKey(),
  });
  const document = readSignedJson(body, coverage);
  if (!document.ok) return unreadable(document.problem);
  const read = createReader(document.value.value, pointers, coverage);
  const eventKind = read.text('kind');
  if (eventKind === undefined) {
    return unreadable('no event kind stands where it is looked for, or it is not signed');
  }
  const kind = knownKind(eventKind, kinds);
  const signedBodyKey = () => (coverage.covers === 'body' ? bodyKey() : undefined);
  if (!kind) {
    // Don't use its id as the key: several events may share one, and all but the first would be dropped as repeats.
    const key = signedBodyKey() ?? `fields/${hash(read.signedTexts())}`;
    const reference = read.text('orderReference') ?? read.hint('orderReference');
    return withoutUndefined({ kind: 'unknown' as const, eventKind: eventKind.slice(0, 64), key, reference });
  }
  const fields = readFields(kind, read);
  if (fields.orderReference === undefined && coverage.covers === 'fields') fields.signedAtMs = coverage.atMs;
  const eventId = read.text('eventId');
  const idKey = eventId === undefined ? undefined : `id/${hash(eventId)}`;
  const key = businessKey(kind, fields, eventKind) ?? idKey ?? signedBodyKey();
  if (key === undefined) return unreadable('nothing that is signed tells this event from another');
  const fingerprint = fingerprintOf(kind, fields, read);
  return { kind: 'event', event: withoutUndefined({ kind, key, ...fields }), fingerprint };
}

/** Strict where single fields are signed, whose texts must be exact; else loose, so that a broken character loses no alert. */
export function readSignedJson(body: Buffer, { covers }: Coverage): ReturnType<typeof readJson> {
  return readJson(body, covers === 'body' ? 'loose' : 'strict');
}

/** An unreadable amount counts as its text, so that two different ones differ. */
function fingerprintOf(kind: PaymentEventKind, fields: EventFields, read: Reader): string {
  const amount = fields.amountMinor ?? read.text('amount');
  return hash(JSON.stringify([kind, amount ?? null, fields.currency ?? null, fields.reason ?? null]));
}

export type EventField = keyof EventPointers;

type Reader = ReturnType<typeof createReader>;

/** Finds each field at its first pointer with a value; if only fields are signed, at a signed pointer. */
export function createReader(document: unknown, pointers: EventPointers, coverage: Coverage) {
  const signed = coverage.covers === 'fields' ? new Set(coverage.pointers) : undefined;
  // The signature check read these pointers strictly. A loose read could find a value where none was signed.
  const at = signed ? valueAt : valueAtLoosely;
  const isSigned = (pointer: string): boolean => !signed || signed.has(pointer);
  function first<T>(field: EventField, read: (value: unknown) => T | undefined): T | undefined {
    for (const pointer of pointers[field]) {
      const found = isSigned(pointer) ? read(at(document, pointer)) : undefined;
      if (found !== undefined) return found;
    }
    return undefined;
  }
  return {
    first,
    /** Text, number or boolean as text; undefined for empty text, "null" and "N/A". */
    text: (field: EventField): string | undefined => first(field, textOf),
    /** The unsigned value; undefined if the signature covers it. */
    hint(field: EventField): string | undefined {
      const unsigned = pointers[field].filter((pointer) => !isSigned(pointer));
      return unsigned.map((pointer) => textOf(valueAt(document, pointer))).find((text) => text !== undefined);
    },
    signedTexts: (): string =>
      JSON.stringify([...(signed ?? [])].map((pointer) => [pointer, textOf(at(document, pointer))])),
    /** Where the field was found, for `explainDelivery`. */
    place(field: EventField): { pointer: string; isSigned: boolean } | undefined {
      const there = pointers[field].filter(
        (pointer) => ![undefined, null, '', 'null'].includes(at(document, pointer) as null),
      );
      const pointer = there.find(isSigned) ?? there[0];
      return pointer === undefined ? undefined : { pointer, isSigned: isSigned(pointer) };
    },
  };
}

/** `readJson` has turned numbers into their original texts. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'boolean') return String(value);
  return typeof value === 'string' && !saysNothing(value) && value !== 'null' ? value : undefined;
}

type EventFields = Loose<Omit<PaymentEvent, 'kind' | 'key'>>;

function readFields(kind: PaymentEventKind, read: Reader): EventFields {
  const currency = read.text('currency');
  const reason = read.text('reason');
  const isSavedCardCharge = savedCardCharge(read.text('isSavedCardCharge')?.toLowerCase());
  const sentCard = read.first('savedCard', (value) => value ?? undefined);
  // An empty card may stand at the first place, and the token at another.
  const savedCard = read.first('savedCard', readSavedCard);
  const isSaving = isSavedCardCharge === false || (sentCard !== undefined && isSavedCardCharge === undefined);
  const lacksToken = kind === 'payment_success' && isSaving && !savedCard;
  return {
    orderReference: read.text('orderReference'),
    referenceHint: read.text('orderReference') === undefined ? read.hint('orderReference') : undefined,
    signedAtMs: undefined,
    orderId: read.text('orderId'),
    transactionId: read.text('transactionId'),
    customerId: read.text('customerId'),
    customerEmail: read.text('customerEmail'),
    amountMinor: minorFromWire(read.text('amount')),
    currency: currency && /^[A-Za-z]{3}$/.test(currency) ? currency.toUpperCase() : undefined,
    reason: reason && holdsCardNumber(reason) ? undefined : reason,
    isSavedCardCharge,
    savedCard,
    cardSaved: lacksToken ? { kind: 'no_token' } : undefined,
  };
}

function savedCardCharge(text: string | undefined): boolean | undefined {
  return text === 'true' ? true : text === 'false' ? false : undefined;
}

function readSavedCard(value: unknown): SavedCard | undefined {
  function field(name: string): string | undefined {
    return textOf(valueAtLoosely(value, `/${name}`));
  }
  const tokenKey = field('tokenKey');
  if (tokenKey === undefined) return undefined;
  const cardPan = field('cardPan');
  return withoutUndefined({
    tokenKey,
    cardType: field('cardType'),
    tokenExpiryDate: field('tokenExpiryDate'),
    // The specification promises a masked number. If it is a whole one, keep only its last four digits.
    cardPan: cardPan && holdsCardNumber(cardPan) ? cardPan.slice(-4) : cardPan,
    customerEmail: field('customerEmail'),
  });
}

/** What an event's name means; undefined: unknown to the bot. */
export function knownKind(text: string, kinds: EventKinds): PaymentEventKind | undefined {
  const kind = text.trim().toLowerCase();
  if (kind === 'payment_success' || kind === 'payment_failed') return kind;
  return Object.hasOwn(kinds, kind) ? kinds[kind] : undefined;
}

/**
 * The key by order reference or transaction id; undefined: the event has neither. Only the hash of a transaction id,
 * because that id lets anybody submit an OTP. Only the hash of a malformed reference: outside text must not shape a
 * key.
 */
function businessKey(kind: PaymentEventKind, fields: EventFields, name: string): string | undefined {
  const { orderReference, transactionId, amountMinor, currency } = fields;
  const isRefund = kind === 'payment_given_back';
  const part = JSON.stringify([name, transactionId ?? null, amountMinor ?? null, currency ?? null]);
  const refund = isRefund ? hash(part).slice(0, 16) : '';
  // A reference with a broken character may look like another order's.
  if (orderReference === undefined || orderReference.includes('\uFFFD')) {
    if (transactionId === undefined) return undefined;
    return `${kind}/${isRefund ? `${refund}/` : ''}transaction/${hash(transactionId)}`;
  }
  const reading = parseOrderReference(orderReference);
  const isPlain = reading.ok && reading.value === orderReference && orderReference.isWellFormed();
  const order = isPlain ? orderReference : hash(orderReference);
  if (isRefund) return givenBackEventKey(refund, order);
  return isPlain ? orderEventKey(kind, order) : `${kind}/order-hash/${order}`;
}

type Loose<T> = { [Key in keyof T]: T[Key] | undefined };

function hash(content: string | Buffer): string {
  return digestOf('sha256', content, 'hex').slice(0, 40);
}
