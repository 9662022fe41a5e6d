import type { Exchange } from '../protocol.ts';

type ExchangeStart = Pick<Exchange, 'from' | 'to' | 'method' | 'path' | 'summary' | 'request'>;
export type ExchangeEnd = Pick<Exchange, 'status' | 'summary' | 'response'>;

/** Reports an exchange when it begins; the function it returns reports the same id again with its end. Nothing is made where nobody looks. */
export type RecordExchange = (start: () => ExchangeStart) => (end: () => ExchangeEnd) => void;

export function createExchangeRecorder(
  now: () => number,
  onExchange: ((exchange: Exchange) => void) | undefined,
): RecordExchange {
  let lastId = 0;
  return function record(start) {
    if (onExchange === undefined) return () => {};
    lastId += 1;
    const begun: Exchange = { id: lastId, at: now(), ...start() };
    const startedAt = performance.now();
    let ended = false;
    onExchange(begun);
    return function end(last) {
      if (ended) return;
      ended = true;
      onExchange({ ...begun, ...last(), durationMs: Math.round(performance.now() - startedAt) });
    };
  };
}

const masked = '••••••';
const longestText = 2_000;

const secretFields = new Set([
  'accesstoken',
  'refreshtoken',
  'clientsecret',
  'authorization',
  'otp',
  'tokenkey',
  'transactionid',
  'carddetails',
  'key',
  'secureauthenticationdata',
  'bvn',
  'pin',
]);

/** What of an exchange may be shown: pretty JSON of at most 2 kB, every secret struck out, whatever its depth. */
export function shownText(parts: {
  headers?: Record<string, string>;
  body: unknown;
  hideReference?: boolean;
}): string {
  const hidden = parts.hideReference ? new Set([...secretFields, 'orderreference']) : secretFields;
  const headers = Object.entries(parts.headers ?? {})
    .map(([name, value]) => `${name}: ${value}\n`)
    .join('');
  const body = parts.body === undefined ? '' : JSON.stringify(strikeOut(parts.body, hidden), undefined, 2);
  const text = headers + body;
  return text.length <= longestText ? text : `${text.slice(0, longestText - 1)}…`;
}

/** The path with its query, a token key in it struck out. */
export function shownPath(url: URL): string {
  const query = new URLSearchParams(url.search);
  for (const name of query.keys()) {
    if (secretFields.has(name.toLowerCase())) query.set(name, masked);
  }
  return url.pathname + (query.size === 0 ? '' : `?${decodeURIComponent(query.toString())}`);
}

export function shownAuthorization(value: string | undefined): Record<string, string> {
  return value === undefined ? {} : { Authorization: `Bearer ${masked}` };
}

function strikeOut(value: unknown, hidden: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) return value.map((item) => strikeOut(item, hidden));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      hidden.has(name.toLowerCase()) && inner !== null && inner !== '' ? masked : strikeOut(inner, hidden),
    ]),
  );
}
