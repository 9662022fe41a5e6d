import type { Exchange } from '../protocol.ts';

export type ExchangeStart = Pick<Exchange, 'from' | 'to' | 'method' | 'path' | 'summary' | 'request'>;
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
