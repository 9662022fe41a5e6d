import { type NotMade, type RejectionReason, ServiceFailure } from '../domain/failure.ts';
import type { JsonObject } from '../domain/json.ts';
import { asObjects, looseText, withoutSecrets } from './wire.ts';

/** No answer, or one that is not in the specification: the service may have acted or not. */
export type Unknown = { kind: 'unknown'; cause: ServiceFailure };

/** Refused by the service before it asked the bank. */
export type Rejected = { kind: 'rejected'; reason: RejectionReason; message: string | undefined };

/** The fields of an answer, read loosely: unreadable ones are undefined. `description` decides nothing. */
export type Reply = {
  httpStatus: number;
  isOk: boolean;
  code: string | undefined;
  data: JsonObject | undefined;
  /** The envelope's `status` is false, or its `data` is. */
  isDenied: boolean;
  status: boolean | undefined;
  otpRequired: boolean | undefined;
  transactionId: string | undefined;
  /** data.message, with secrets struck out. */
  message: string | undefined;
  /** Shown to people if data.message is empty. Secrets are struck out. */
  description: string | undefined;
};

type EffectCall<A> = {
  call: () => Promise<{ data?: unknown; error?: unknown; response: Response }>;
  /** Undefined for an answer that is not in the specification. */
  judge: (reply: Reply) => A | undefined;
  /** Struck out of the service's words. */
  secrets: readonly string[];
  /** Makes HTTP 404 and 422 `unknown`: neither says that no money moved. */
  movesMoney?: true;
};

/**
 * Makes one call that changes something at the service. Never throws. A call refused before the service acted is
 * `not_made`; every doubt, a bug of ours included, is `unknown`.
 *
 * Spec: Errors (HTTP status responses).
 */
export async function askForEffect<A>(effect: EffectCall<A>): Promise<A | NotMade | Unknown> {
  try {
    const { data, error, response } = await effect.call();
    const reply = readReply(response, data ?? error, effect.secrets);
    const { httpStatus } = reply;
    const isInvalid = httpStatus === 400 || ([404, 422].includes(httpStatus) && effect.movesMoney !== true);
    const notMade = isInvalid && !saysMade(reply);
    return effect.judge(reply) ?? (notMade ? notValid(reply) : notInTheSpecification(reply));
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

/** HTTP 400 says that nothing was done, but the body says that the bank was asked. */
function saysMade({ code, status, otpRequired }: Reply): boolean {
  return code === '00' || status === true || otpRequired === true;
}

function notValid({ message, description }: Reply): NotMade {
  return { kind: 'not_made', failure: 'invalid_request', message: message ?? description };
}

function notInTheSpecification(reply: Reply): Unknown {
  const { httpStatus, code, status, otpRequired } = reply;
  const said = reply.message ?? reply.description;
  const words = [
    `HTTP ${httpStatus}`,
    `code ${code === undefined ? 'missing' : code.replace(/[^\w-]/g, '').slice(0, 8)}`,
    `data.status ${status ?? 'missing'}`,
    `data.otpRequired ${otpRequired ?? 'missing'}`,
  ].join(', ');
  const message = `The specification does not have this answer: ${words}.`;
  return { kind: 'unknown', cause: new ServiceFailure('malformed', message, { httpStatus, said }) };
}

function readReply(response: Response, body: unknown, known: readonly string[]): Reply {
  const envelope = onlyObject(body);
  const data = onlyObject(envelope?.['data']);
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

/** An object, or the sole object of a list. Undefined for several: none of them is known to be the right one. */
function onlyObject(value: unknown): JsonObject | undefined {
  const objects = asObjects(value);
  return objects.length === 1 ? objects[0] : undefined;
}

/** true or "true", false or "false", in any case; undefined for anything else, lists included. */
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

/** The reason that the specification's table gives for these words; `other` for unknown words. */
export function rejectedFor(message: string | undefined): Rejected {
  return { kind: 'rejected', reason: reasonByWords.get(comparable(message ?? '')) ?? 'other', message };
}

/**
 * The rejection by code "400", unless `made` contradicts it. `made` may be missing: only a charge's rejection is shown
 * with its data.
 *
 * Spec: Errors (code values).
 */
export function rejectionByCode(
  { isOk, code, message, description }: Reply,
  made: boolean | undefined,
): Rejected | undefined {
  const isRejected = code === '400' && (made === false || (isOk && made === undefined));
  return isRejected ? rejectedFor(message ?? description) : undefined;
}

/**
 * The rejection for a used reference under HTTP 400, whose body is not shown. Other refusals there say that nothing was
 * done; this one says that the service has the reference.
 */
export function referenceTaken({ httpStatus, message, description }: Reply): Rejected | undefined {
  const rejected = rejectedFor(message ?? description);
  const isInvalid = httpStatus === 400 || httpStatus === 422;
  return isInvalid && rejected.reason === 'reference_exists' ? rejected : undefined;
}

/** Ignores apostrophes' forms, case and a full stop at the end, which gateways and editors change. */
function comparable(words: string): string {
  return words
    .trim()
    .replace(/[‘’ʼ´`]/g, "'")
    .replace(/\.$/, '')
    .toLowerCase();
}
