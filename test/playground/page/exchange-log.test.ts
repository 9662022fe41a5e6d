import { describe, expect, it } from 'vitest';
import { createExchangeLog } from '../../../src/playground/exchange-log.ts';
import type { Exchange } from '../../../src/simulators/protocol.ts';

function exchange(id: number, at: number, more: Partial<Exchange> = {}): Exchange {
  return { id, at, from: 'bot', to: 'slack', method: 'GET', path: '/', summary: `${id}`, ...more };
}

describe('the log of exchanges', () => {
  it('gives each of two simulators’ exchanges an id of its own, and a begun one its end', () => {
    const log = createExchangeLog(10, () => {});
    const [slack, payments] = [log.recorder(), log.recorder()];
    slack(exchange(1, 10, { status: 200 }));
    payments(exchange(1, 20));
    payments(exchange(1, 20, { status: 500, response: 'body' }));
    expect(log.list().map(({ id, status }) => [id, status])).toEqual([
      [1, 200],
      [2, 500],
    ]);
    expect(log.list()[1]).not.toHaveProperty('response');
    expect(log.find(2)?.response).toBe('body');
  });

  it('lists by when an exchange began and keeps only the newest', () => {
    const log = createExchangeLog(2, () => {});
    const record = log.recorder();
    for (const [id, at] of [
      [1, 10],
      [2, 30],
      [3, 20],
    ] as const)
      record(exchange(id, at, { status: 200 }));
    expect(log.list().map(({ summary }) => summary)).toEqual(['3', '2']);
    expect(log.find(1)).toBeUndefined();
  });
});
