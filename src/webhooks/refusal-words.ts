import { nameOfSource, wordsOfTemplate } from './signature-template.ts';
import { readDelivery, timeOf, type SignatureScheme, type SignedRequest } from './signed-delivery.ts';

/** How deliveries must be signed, in the settings' words. */
function schemeWords({ algorithm, encoding, secretEncoding, template }: SignatureScheme): string {
  return algorithm === 'none'
    ? 'the header holds the secret itself; nothing is signed'
    : `HMAC ${algorithm} in ${encoding} over ${wordsOfTemplate(template)}; the secret is read as ${secretEncoding}`;
}

const signatureLike = /sign|hmac|digest|token|auth|hash/i;
const mostNames = 5;

/**
 * What operators read about a refused delivery: the reason, the header that was there, the expected scheme, and the age
 * of its time. No other value of a header or the body. Cheap, and never throws: anybody can send such deliveries.
 */
export function refusalWords(
  scheme: SignatureScheme | undefined,
  request: SignedRequest,
  why: string,
  nowMs: number,
): string {
  const reason = `${why.charAt(0).toUpperCase()}${why.slice(1)}.`;
  if (!scheme) return reason;
  const there = Object.keys(request.headers);
  const header = scheme.headers.find((name) => there.includes(name));
  // Header names are outside text: clean and cut them.
  const similar = there.filter((name) => signatureLike.test(name)).slice(0, mostNames);
  const names = similar.map((name) => name.replaceAll(/[^\w-]/g, '?').slice(0, 40)).join(', ');
  const seen = header ?? (names === '' ? 'none like a signature' : `none of ours; ${names}`);
  return `${reason} Header: ${seen}. Scheme: ${schemeWords(scheme)}. Time: ${timeWords(scheme, request, nowMs)}.`;
}

function timeWords(scheme: SignatureScheme, request: SignedRequest, nowMs: number): string {
  const { timestamp } = scheme;
  if (!timestamp) return 'not checked';
  const delivery = readDelivery(scheme, request);
  const timeMs = delivery.ok ? timeOf(timestamp, delivery.value) : Number.NaN;
  const place = nameOfSource(timestamp.source);
  if (Number.isNaN(timeMs)) return `${place} has none that is readable as ${timestamp.unit}`;
  const seconds = Math.round((nowMs - timeMs) / 1_000);
  const age = seconds < 0 ? `${-seconds} s ahead of us` : `${seconds} s old`;
  return `${place} says ${age}, ${timestamp.toleranceSeconds} s are allowed`;
}
