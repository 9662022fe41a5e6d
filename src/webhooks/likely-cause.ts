import { findFit, type SignatureFit } from './signature-fit.ts';
import { signatureProblem, verifySignature, type SignatureScheme } from './signature.ts';
import { nameOfSource } from './signature-template.ts';
import {
  readDelivery,
  readText,
  readTime,
  signedBytes,
  timeProblem,
  type SignedRequest,
} from './signed-delivery.ts';

export type SignatureSettings = { scheme: SignatureScheme | undefined; secrets: readonly string[] };

/** Why a delivery was refused, as far as it can be found out. Names settings, headers and fields, never a value of ours. */
export type LikelyCause =
  /** With these settings every delivery is refused. */
  | { kind: 'unusable_settings'; why: string }
  | { kind: 'no_header'; looked: readonly string[]; similar: readonly string[] }
  /** It would verify under other settings, or with the body as it may have been. */
  | { kind: 'other_settings'; fit: SignatureFit; secrets: number }
  | { kind: 'body_changed'; fit: SignatureFit; secrets: number }
  /** The signature holds; the time is what does not. `unit`: in which it would be a time of these years. */
  | { kind: 'untimely'; why: string; tolerance: number; unit?: 'iso' | 's' | 'ms' }
  /** What is to be signed is not there, or has no single reading. */
  | { kind: 'not_signable'; why: string }
  | { kind: 'no_signature'; why: string }
  /** `emptyFields`: signed as nothing, because the body does not have them. */
  | { kind: 'wrong_secret'; secrets: number; signs: 'body' | 'fields'; emptyFields: readonly string[] };

export type CauseOptions = {
  /** Bodies above this many bytes are not tried in other forms. */
  variedBytes?: number;
};

/** Undefined when the delivery verifies. Never throws. */
export function likelyCause(
  { scheme, secrets }: SignatureSettings,
  request: SignedRequest,
  nowMs: number,
  options: CauseOptions = {},
): LikelyCause | undefined {
  const verdict = verifySignature(scheme, secrets, request, nowMs);
  if (verdict.kind === 'valid') return undefined;
  const unusable = signatureProblem(scheme, secrets);
  if (!scheme || unusable !== undefined) return { kind: 'unusable_settings', why: unusable ?? verdict.why };
  const untimely = untimelyCause(scheme, secrets, request, nowMs);
  if (untimely) return untimely;
  const fit = findFit(scheme, secrets, request, options.variedBytes);
  if (fit && fit.changes.length + (fit.bodyChange === undefined ? 0 : 1) > 0) {
    const kind = fit.bodyChange === undefined ? 'other_settings' : 'body_changed';
    return { kind, fit, secrets: secrets.length };
  }
  return withoutFit(scheme, secrets, request);
}

function untimelyCause(
  scheme: SignatureScheme,
  secrets: readonly string[],
  request: SignedRequest,
  nowMs: number,
): LikelyCause | undefined {
  const { timestamp, ...timeless } = scheme;
  if (!timestamp || verifySignature(timeless, secrets, request, nowMs).kind === 'invalid') return undefined;
  const delivery = readDelivery(scheme, request);
  if (!delivery.ok) return undefined;
  const why = timeProblem(timestamp, delivery.value, nowMs) ?? 'the time does not hold';
  const written = readText(timestamp.source, delivery.value);
  const units = (['iso', 's', 'ms'] as const).filter((unit) => unit !== timestamp.unit);
  const isOdd = written.ok && !isOfTheseYears(readTime(timestamp.unit, written.value), nowMs);
  const unit = isOdd ? units.find((unit) => isOfTheseYears(readTime(unit, written.value), nowMs)) : undefined;
  return { kind: 'untimely', why, tolerance: timestamp.toleranceSeconds, ...(unit && { unit }) };
}

const yearMs = 365 * 86_400_000;

function isOfTheseYears(timeMs: number, nowMs: number): boolean {
  return Math.abs(timeMs - nowMs) < 15 * yearMs;
}

const signatureLike = /sign|hmac|digest|token|auth|hash/i;
const mostSimilar = 5;

function withoutFit(
  scheme: SignatureScheme,
  secrets: readonly string[],
  request: SignedRequest,
): LikelyCause {
  const names = Object.keys(request.headers);
  if (!scheme.headers.some((name) => names.includes(name))) {
    const similar = names.filter((name) => signatureLike.test(name)).slice(0, mostSimilar);
    return { kind: 'no_header', looked: scheme.headers, similar: similar.map(plainName) };
  }
  const delivery = readDelivery(scheme, request);
  if (!delivery.ok) return { kind: 'no_signature', why: delivery.problem };
  const signed = scheme.algorithm === 'none' ? undefined : signedBytes(scheme.template, delivery.value);
  if (signed && !signed.ok) return { kind: 'not_signable', why: signed.problem };
  const shape = shapeProblem(scheme, delivery.value.signatures);
  if (shape !== undefined) return { kind: 'no_signature', why: shape };
  const empty = scheme.template.filter((part) => {
    const text = part.kind === 'json' ? readText(part, delivery.value) : undefined;
    return text?.ok === true && text.value === '';
  });
  return {
    kind: 'wrong_secret',
    secrets: secrets.length,
    signs: scheme.template.some(({ kind }) => kind === 'body') ? 'body' : 'fields',
    emptyFields: empty.flatMap((part) => (part.kind === 'json' ? [nameOfSource(part)] : [])),
  };
}

/** A header's name is the sender's own text. */
function plainName(name: string): string {
  return name.replaceAll(/[^\w-]/g, '?').slice(0, 40);
}

const hexLengths = { sha256: 64, sha512: 128, none: 0 } as const;

/** Why no digest of ours could ever be written like that; undefined when one could. */
function shapeProblem(scheme: SignatureScheme, signatures: readonly string[]): string | undefined {
  if (scheme.algorithm === 'none') return undefined;
  const bytes = hexLengths[scheme.algorithm] / 2;
  const isFit = signatures.some((text) => {
    if (scheme.encoding === 'hex') return new RegExp(`^[\\da-f]{${2 * bytes}}$`, 'i').test(text);
    return /^[A-Za-z\d+/]+={0,2}$/.test(text) && Buffer.from(text, 'base64').length === bytes;
  });
  if (isFit) return undefined;
  const wanted = scheme.encoding === 'hex' ? `${2 * bytes} hexadecimal digits` : `${bytes} bytes in base64`;
  const lengths = signatures.map((text) => text.length).join(', ');
  return `a ${scheme.algorithm} signature is ${wanted}, and what stands there (${lengths} characters) is not`;
}

/** The cause in words, with what to do about it. One to three sentences. */
export function causeWords(cause: LikelyCause): string {
  switch (cause.kind) {
    case 'unusable_settings':
      return `With these WEBHOOK_ settings every delivery is refused: ${cause.why}.`;
    case 'no_header':
      return noHeaderWords(cause);
    case 'other_settings':
      return `${settingWords(cause.fit)} ${secretWords(cause.fit.secret, cause.secrets)} then fits.`;
    case 'body_changed':
      return bodyWords(cause);
    case 'untimely':
      return untimelyWords(cause);
    case 'not_signable':
      return `What is to be signed cannot be put together: ${cause.why}. Check WEBHOOK_SIGNED_TEMPLATE against what the sender signs.`;
    case 'no_signature':
      return `No signature could be read: ${cause.why}. Check WEBHOOK_SIGNATURE_PLACE, WEBHOOK_SIGNATURE_ALGORITHM and WEBHOOK_SIGNATURE_ENCODING.`;
    case 'wrong_secret':
      return wrongSecretWords(cause);
  }
}

function noHeaderWords({ looked, similar }: Extract<LikelyCause, { kind: 'no_header' }>): string {
  const missing = `It has no header ${looked.join(' or ')}.`;
  if (similar.length === 0) {
    return `${missing} No other header looks like a signature either: it may not come from the payments service, or something on the way drops the header.`;
  }
  return `${missing} ${similar.join(', ')} may carry the signature (WEBHOOK_SIGNATURE_HEADER), but no secret of ours made what stands there.`;
}

function settingWords({ changes }: SignatureFit): string {
  const words = changes.map(({ words }) => words).join('; ');
  const settable = changes.filter(({ value }) => value !== undefined);
  const rest = changes.length - settable.length;
  const fix =
    settable.length === 0
      ? ''
      : ` Set ${settable.map(({ setting, value }) => `${setting}=${value}`).join(', ')}.`;
  const beyond = rest === 0 || changes.some(({ setting }) => setting === 'WEBHOOK_SECRETS');
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.${fix}${beyond ? '' : ' No setting can say that: ask the sender for another way.'}`;
}

function secretWords(secret: number, secrets: number): string {
  return secrets === 1 ? 'The secret' : `Secret ${secret + 1} of ${secrets}`;
}

function bodyWords({ fit, secrets }: Extract<LikelyCause, { kind: 'body_changed' }>): string {
  const also = fit.changes.length === 0 ? '' : ` Besides: ${settingWords(fit)}`;
  return `The body was ${fit.bodyChange ?? 'changed'} after it was signed: ${secretWords(fit.secret, secrets).toLowerCase()} fits the body as it was before. A proxy, a framework or the capture itself did that; the bytes must come as they were sent.${also}`;
}

function untimelyWords({ why, tolerance, unit }: Extract<LikelyCause, { kind: 'untimely' }>): string {
  const holds = 'The signature holds, and only its time does not';
  if (unit !== undefined) {
    return `${holds}: it is written as ${unit}. Set WEBHOOK_TIMESTAMP_UNIT=${unit}.`;
  }
  return `${holds}: ${why} (tolerance ${tolerance} s). It came late or was sent again, or a clock is wrong. A sender that repeats deliveries with their first signature needs WEBHOOK_TIMESTAMP_SOURCE=none.`;
}

function wrongSecretWords(cause: Extract<LikelyCause, { kind: 'wrong_secret' }>): string {
  const { secrets, signs, emptyFields } = cause;
  const none = secrets === 1 ? 'The secret did not make' : `None of the ${secrets} secrets made`;
  const tried = `${none} this signature, in whatever way it is read`;
  const missing =
    emptyFields.length === 0
      ? ''
      : ` The body has no ${emptyFields.join(', ')}, so that was signed as nothing: check whether the sender signs it.`;
  const other =
    signs === 'body' ? 'the body was changed in a way that was not tried' : 'other fields are signed';
  return `${tried}: WEBHOOK_SECRETS is most likely not what the sender signs with, or ${other}.${missing}`;
}
