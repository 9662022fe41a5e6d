import { holdsCardNumber } from '../domain/card.ts';
import type { Exchange } from './protocol.ts';

type Begun = Pick<Exchange, 'from' | 'to' | 'method' | 'path' | 'summary'> & { request?: unknown };

/** Its end; `status` 0: no answer. `outcome` follows the summary. */
type Ended = { status: number; outcome: string; response?: unknown };

/** Both functions are called only while somebody watches. */
export type Recorder = (begin: () => Begun) => (end: () => Ended) => void;

const maxTextLength = 2_000;

/** Reports each exchange at its beginning and end, under one id that counts up from 1; secrets are struck out. */
export function createRecorder(
  now: () => number,
  onExchange: ((exchange: Exchange) => void) | undefined,
): Recorder {
  let lastId = 0;
  return function record(begin) {
    if (onExchange === undefined) return () => {};
    const { request, ...start } = begin();
    lastId += 1;
    const startedMs = performance.now();
    const summary = maskText(start.summary);
    const begun = { ...start, id: lastId, at: now(), path: maskText(start.path), summary };
    // A copy: `begun` gets no bodies, because spreading it below would format them.
    onExchange(withBodies({ ...begun }, { request }));
    return (end) => {
      const { response, outcome, status } = end();
      const durationMs = Math.round(performance.now() - startedMs);
      const over = { ...begun, status, durationMs, summary: summary + outcome };
      onExchange(withBodies(over, { request, response }));
    };
  };
}

/** Bodies are formatted only when somebody reads them; until then they don't change. */
function withBodies(exchange: Exchange, bodies: { request: unknown; response?: unknown }): Exchange {
  for (const [name, body] of Object.entries(bodies)) {
    if (body === undefined || body === '') continue;
    Object.defineProperty(exchange, name, { get: () => readable(body), enumerable: true });
  }
  return exchange;
}

/** Their values are never shown. */
const secretFields = new Set([
  'accesstoken',
  'refreshtoken',
  'clientsecret',
  'authorization',
  'otp',
  'token',
  'tokenkey',
  'transactionid',
  'bvn',
]);
/** Values of fields with such names are never shown: OTPs, card data, tokens. */
const secretName = /otp|token|(^|[_-])code($|[_-])|pan\b|cvv|card_?number|(^|[_-])pin($|[_-])|secret|passw/i;
const struckOut = '••••';

function readable(body: unknown): string {
  const text = maskText(typeof body === 'string' ? body : JSON.stringify(masked(body, false), null, 2));
  return text.length <= maxTextLength
    ? text
    : `${text.slice(0, maxTextLength - 40)}\n… (${text.length - maxTextLength + 40} characters more)`;
}

function masked(value: unknown, isSecret: boolean): unknown {
  if (Array.isArray(value)) return value.map((one: unknown) => masked(one, isSecret));
  if (typeof value !== 'object' || value === null) return value;
  const named = 'action_id' in value && typeof value.action_id === 'string' ? value.action_id : '';
  const isTyped = isSecret || secretName.test(named);
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]: [string, unknown]) => {
      const isHeld = isTyped && typeof inner === 'string' && /^(initial_)?value$/.test(name);
      const isHidden = (isHeld || secretFields.has(name.toLowerCase())) && inner !== null && inner !== '';
      return [name, isHidden ? struckOut : masked(inner, isTyped || secretName.test(name))];
    }),
  );
}

function maskText(text: string): string {
  return text
    .replace(/\d(?:[\s\p{Pd}\p{Cf}−_./]{0,3}\d){11,18}/gu, (digits) =>
      holdsCardNumber(digits) ? struckOut : digits,
    )
    .replace(/\b(xox[a-z]|xapp)-[\w-]+/g, `$1-${struckOut}`)
    .replace(/\/(commands|actions)\/(T\w+)\/\w+\/\w+/g, `/$1/$2/${struckOut}`)
    .replace(/(ticket|tokenKey)=[\w-]+/g, `$1=${struckOut}`);
}
