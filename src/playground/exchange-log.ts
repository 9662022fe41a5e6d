import type { Exchange } from '../simulators/protocol.ts';

export type ExchangeLog = {
  /** What a simulator is given as `onExchange`: its own ids, begun and ended, become one line of the one log. */
  recorder: () => (exchange: Exchange) => void;
  /** The newest, oldest first, without their bodies. */
  list: () => Exchange[];
  /** One with its bodies, as long as it is kept. */
  find: (id: number) => Exchange | undefined;
};

/** One log of what several simulators report, in the order in which exchanges began; it keeps the newest. */
export function createExchangeLog(keep: number, changed: () => void): ExchangeLog {
  const exchanges = new Map<number, Exchange>();
  let lastId = 0;
  return {
    recorder() {
      const ids = new Map<number, number>();
      return function record(exchange) {
        const id = ids.get(exchange.id) ?? (lastId += 1);
        if (exchange.status === undefined) ids.set(exchange.id, id);
        else ids.delete(exchange.id);
        exchanges.set(id, { ...exchange, id });
        const oldest = exchanges.keys().next().value;
        if (exchanges.size > keep && oldest !== undefined) exchanges.delete(oldest);
        changed();
      };
    },
    list: () =>
      [...exchanges.values()]
        .map(({ request: _request, response: _response, ...line }) => line)
        .toSorted((a, b) => a.at - b.at || a.id - b.id),
    find: (id) => exchanges.get(id),
  };
}
