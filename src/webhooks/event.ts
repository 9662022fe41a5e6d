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

/** What the service's own names of events mean, in lower case. */
export type EventKinds = Readonly<Record<string, PaymentEventKind>>;

/** Where each part of an event may stand: JSON pointers, the first that holds something wins. */
export type EventPointers = Readonly<Record<keyof typeof defaultEventPointers, readonly string[]>>;

/**
 * The spec's paths, and for what the spec does not show a few places where senders commonly put it;
 * settings put their own in front.
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
 * What a validly signed body turned out to be. `fingerprint` tells a repeat of an event from one with the
 * same key that says another amount or outcome. What is `unknown` is to be kept and reported: it was signed, so it meant
 * something. `why`: it cannot be read. `orderOf`: the reference it names, signed or not, to keep its order by and for nothing else.
 */
export type ParsedEvent =
  | { kind: 'event'; event: PaymentEvent; fingerprint: string }
  | { kind: 'unknown'; eventKind: string; key: string; why?: string; orderOf?: string };

/**
 * Puts a person's pointers in front of the built-in ones: an object of field name to a pointer or a list
 * of them. Unknown fields and texts that are no pointer are problems.
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
 * Reads a signed body, loosely; never throws. Where the signature covers fields only, nothing else is
 * read, and neither is anything else part of the key: an unsigned reference could claim a real event's
 * place before it comes. The key is made of kind and order reference, else kind and transaction, else the
 * sender's event id, else the body; so a re-sent event with a new id is still the same one. An order's money may go back
 * in parts: then name, transaction and amount tell one event from the next. Of an unknown kind it is made of all that is
 * signed.
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
  const document = readJson(body);
  if (!document.ok) return unreadable(document.problem);
  const read = createReader(document.value.value, pointers, coverage);
  const eventKind = read.text('kind');
  if (eventKind === undefined) {
    return unreadable('no event kind stands where it is looked for, or it is not signed');
  }
  const kind = knownKind(eventKind, kinds);
  const signedBodyKey = () => (coverage.covers === 'body' ? bodyKey() : undefined);
  if (!kind) {
    // Not by its id: that may be of what several events are about, and all but the first would be lost.
    const key = signedBodyKey() ?? `fields/${hash(read.signedTexts())}`;
    const orderOf = read.text('orderReference') ?? read.hint('orderReference');
    return withoutUndefined({ kind: 'unknown' as const, eventKind: eventKind.slice(0, 64), key, orderOf });
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

/** An amount that cannot be read still differs from another one. */
function fingerprintOf(kind: PaymentEventKind, fields: EventFields, read: Reader): string {
  const amount = fields.amountMinor ?? read.text('amount');
  return hash(JSON.stringify([kind, amount ?? null, fields.currency ?? null, fields.reason ?? null]));
}

export type EventField = keyof EventPointers;

type Reader = ReturnType<typeof createReader>;

/** Finds each field at the first of its pointers that holds something; where fields alone are signed, at a signed one. */
export function createReader(document: unknown, pointers: EventPointers, coverage: Coverage) {
  const signed = coverage.covers === 'fields' ? new Set(coverage.pointers) : undefined;
  // Signing read these pointers to the letter. Reading them loosely could find what was signed as missing.
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
    value: (field: EventField): unknown => first(field, (value) => value ?? undefined),
    /** Text, or a number or boolean as text; the empty text, "null" and "N/A" are nothing. */
    text: (field: EventField): string | undefined => first(field, textOf),
    /** What stands there unsigned; undefined where the signature covers it. */
    hint(field: EventField): string | undefined {
      const unsigned = pointers[field].filter((pointer) => !isSigned(pointer));
      return unsigned.map((pointer) => textOf(valueAt(document, pointer))).find((text) => text !== undefined);
    },
    signedTexts: (): string =>
      JSON.stringify([...(signed ?? [])].map((pointer) => [pointer, textOf(at(document, pointer))])),
    /** Where it stands, for whoever asks why it was read or not. */
    place(field: EventField): { pointer: string; isSigned: boolean } | undefined {
      const there = pointers[field].filter(
        (pointer) => ![undefined, null, '', 'null'].includes(at(document, pointer) as null),
      );
      const pointer = there.find(isSigned) ?? there[0];
      return pointer === undefined ? undefined : { pointer, isSigned: isSigned(pointer) };
    },
  };
}

/** Numbers are texts already, as they were written. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'boolean') return String(value);
  return typeof value === 'string' && !saysNothing(value) && value !== 'null' ? value : undefined;
}

type EventFields = Loose<Omit<PaymentEvent, 'kind' | 'key'>>;

function readFields(kind: PaymentEventKind, read: Reader): EventFields {
  const currency = read.text('currency');
  const reason = read.text('reason');
  const isSavedCardCharge = savedCardCharge(read.text('isSavedCardCharge')?.toLowerCase());
  const told = read.value('savedCard');
  const savedCard = readSavedCard(told);
  const isSaving = isSavedCardCharge === false || (told !== undefined && isSavedCardCharge === undefined);
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
    // The spec promises a masked number; a whole one goes no further than here.
    cardPan: cardPan && holdsCardNumber(cardPan) ? cardPan.slice(-4) : cardPan,
    customerEmail: field('customerEmail'),
  });
}

function knownKind(text: string, kinds: EventKinds): PaymentEventKind | undefined {
  const kind = text.trim().toLowerCase();
  if (kind === 'payment_success' || kind === 'payment_failed') return kind;
  return Object.hasOwn(kinds, kind) ? kinds[kind] : undefined;
}

/**
 * A transaction id opens the OTP step, so it stands in a key as its hash alone; so does a reference that is
 * none, because outside text of any length and shape must not shape a key.
 */
function businessKey(kind: PaymentEventKind, fields: EventFields, name: string): string | undefined {
  const { orderReference, transactionId, amountMinor, currency } = fields;
  const isBack = kind === 'payment_given_back';
  const which = hash(JSON.stringify([name, transactionId ?? null, amountMinor ?? null, currency ?? null]));
  if (isBack && orderReference === undefined && transactionId !== undefined)
    return `${kind}/${which.slice(0, 16)}/transaction/${hash(transactionId)}`;
  if (orderReference !== undefined) {
    const reading = parseOrderReference(orderReference);
    const isPlain = reading.ok && reading.value === orderReference && orderReference.isWellFormed();
    const of = isPlain ? orderReference : hash(orderReference);
    if (isBack) return givenBackEventKey(which.slice(0, 16), of);
    return isPlain ? orderEventKey(kind, of) : `${kind}/order-hash/${of}`;
  }
  return transactionId === undefined ? undefined : `${kind}/transaction/${hash(transactionId)}`;
}

type Loose<T> = { [Key in keyof T]: T[Key] | undefined };

function hash(content: string | Buffer): string {
  return digestOf('sha256', content, 'hex').slice(0, 40);
}
