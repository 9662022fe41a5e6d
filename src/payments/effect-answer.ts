import { type NotMade, type RejectionReason, ServiceFailure } from '../domain/failure.ts';
import type { JsonObject } from '../domain/json.ts';
import { asObjects, looseText, withoutSecrets } from './wire.ts';

/** No answer, an unreadable one, or one the specification does not have: it may have happened or not. */
export type Unknown = { kind: 'unknown'; cause: ServiceFailure };

/** Refused by the service before anything was sent to the bank, in the service's own words. */
export type Rejected = { kind: 'rejected'; reason: RejectionReason; message: string | undefined };

/** What an answer told, read loosely: whatever could not be read is undefined. `description` decides nothing. */
export type Told = {
  httpStatus: number;
  isOk: boolean;
  code: string | undefined;
  data: JsonObject | undefined;
  /** The envelope itself says false: as its own status, or in the place of data. */
  isDenied: boolean;
  status: boolean | undefined;
  otpRequired: boolean | undefined;
  transactionId: string | undefined;
  /** data.message, with secrets struck out. */
  message: string | undefined;
  /** Words for a person where data.message has none. Secrets are struck out. */
  description: string | undefined;
};

type Effect<A> = {
  call: () => Promise<{ data?: unknown; error?: unknown; response: Response }>;
  /** Undefined for what the specification does not have. */
  judge: (told: Told) => A | undefined;
  /** Struck out of the service's words, should it repeat them. */
  secrets: readonly string[];
  /** HTTP 422 says nothing certain of it: the specification shows none, and money may have moved. */
  movesMoney?: true;
};

/**
 * Makes one call that changes something at the service. Never throws: a call that was refused before it was
 * acted on is `not_made`, and every doubt, a bug of our own included, is `unknown`.
 *
 * Spec: Errors (HTTP status responses).
 */
export async function askForEffect<A>(effect: Effect<A>): Promise<A | NotMade | Unknown> {
  try {
    const { data, error, response } = await effect.call();
    const told = readTold(response, data ?? error, effect.secrets);
    const isInvalid = told.httpStatus === 400 || (told.httpStatus === 422 && effect.movesMoney !== true);
    const notMade = isInvalid && !saysMade(told);
    return effect.judge(told) ?? (notMade ? notValid(told) : notInTheSpecification(told));
  } catch (error) {
    return answerOfThrow(error);
  }
}

function answerOfThrow(error: unknown): NotMade | Unknown {
  if (!(error instanceof ServiceFailure)) {
    const message = 'The call was broken off by an error that is not the payments service’s.';
    return { kind: 'unknown', cause: new ServiceFailure('malformed', message, { cause: error }) };
  }
  const { kind: failure } = error;
  const refused = failure === 'unauthorized' || failure === 'forbidden' || failure === 'rate_limited';
  return refused ? { kind: 'not_made', failure, cause: error } : { kind: 'unknown', cause: error };
}

/** An answer that the body failed validation and also that the bank was asked contradicts itself. */
function saysMade({ code, status, otpRequired }: Told): boolean {
  return code === '00' || status === true || otpRequired === true;
}

function notValid({ message, description }: Told): NotMade {
  return { kind: 'not_made', failure: 'invalid_request', message: message ?? description };
}

function notInTheSpecification(told: Told): Unknown {
  const { httpStatus, code, status, otpRequired } = told;
  const said = told.message ?? told.description;
  const words = [
    `HTTP ${httpStatus}`,
    `code ${code === undefined ? 'missing' : code.replace(/[^\w-]/g, '').slice(0, 8)}`,
    `data.status ${status ?? 'missing'}`,
    `data.otpRequired ${otpRequired ?? 'missing'}`,
  ].join(', ');
  const message = `The specification does not have this answer: ${words}.`;
  return { kind: 'unknown', cause: new ServiceFailure('malformed', message, { httpStatus, said }) };
}

function readTold(response: Response, body: unknown, known: readonly string[]): Told {
  const envelope = only(body);
  const data = only(envelope?.['data']);
  const transactionId = looseText.parse(data?.['transactionId']);
  const secrets = [...known, transactionId ?? ''];
  const words = (value: unknown): string | undefined => withoutSecrets(looseText.parse(value), secrets);
  return {
    httpStatus: response.status,
    isOk: response.ok,
    code: words(envelope?.['code']),
    data,
    isDenied: [envelope?.['status'], envelope?.['data']].some((value) => readBoolean(value) === false),
    status: readBoolean(data?.['status']),
    otpRequired: readBoolean(data?.['otpRequired']),
    transactionId,
    message: words(data?.['message']),
    description: words(envelope?.['description']),
  };
}

/** An object, or the one object of a list; of several nobody could say which is meant. */
function only(value: unknown): JsonObject | undefined {
  const objects = asObjects(value);
  return objects.length === 1 ? objects[0] : undefined;
}

/** true and "true", false and "false", whatever the case; undefined for all else, a list holding one included. */
export function readBoolean(value: unknown): boolean | undefined {
  const word = looseText.parse(value)?.trim().toLowerCase();
  if (word === 'true') return true;
  return word === 'false' ? false : undefined;
}

const rejections: Readonly<Record<string, RejectionReason>> = {
  'Invalid card token': 'invalid_token',
  "Email address doesn't match token key": 'email_mismatch',
  'An order already exists with this order reference': 'reference_exists',
  'Card payment is not supported for this order. Please use a different payment method.':
    'card_not_supported',
  'Customer email is invalid': 'email_invalid',
};

const reasonByWords = new Map(
  Object.entries(rejections).map(([message, reason]) => [comparable(message), reason]),
);

/** Rejected for the reason the specification's table gives to these words; `other` for words it does not have. */
export function rejectedFor(message: string | undefined): Rejected {
  return { kind: 'rejected', reason: reasonByWords.get(comparable(message ?? '')) ?? 'other', message };
}

/** The words without what a gateway or an editor may change on the way: apostrophes, case, a full stop at the end. */
function comparable(words: string): string {
  return words
    .trim()
    .replace(/[‘’ʼ´`]/g, "'")
    .replace(/\.$/, '')
    .toLowerCase();
}
