import { readFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import {
  asRequest,
  createLog,
  fewLinesOf,
  logFieldNames,
  newErrorId,
  onceATurn,
  tagLog,
} from '../src/log.ts';

describe('createLog', () => {
  it('drops fields that are not listed, also if an object is passed along', () => {
    const lines: string[] = [];
    const write = (line: string) => void lines.push(line);
    const log = createLog({ level: 'info', secrets: [], write, now: () => new Date(0) });
    const draft = { orderReference: 'pay-1', tokenKey: 'tok-1', customerEmail: 'jane@example.com' };
    log('info', 'charged', draft);
    expect(JSON.parse(lines.join(''))).toEqual({
      time: '1970-01-01T00:00:00.000Z',
      level: 'info',
      message: 'charged',
      orderReference: 'pay-1',
    });
  });

  it('strikes secrets out of every line, also escaped as in JSON, and leaves short words alone', () => {
    const lines: string[] = [];
    const log = createLog({
      level: 'info',
      secrets: ['se"cret-word', 'plain-secret', 'abc'],
      write: (line) => lines.push(line),
      now: () => new Date(0),
    });
    log('info', 'abc: plain-secret and se"cret-word, plain-secret again; Bearer a.b-c_d=', {
      key: 'plain-secret',
    });
    expect(JSON.parse(lines.join(''))).toEqual({
      time: '1970-01-01T00:00:00.000Z',
      level: 'info',
      message: 'abc: [secret] and [secret], [secret] again; Bearer [secret]',
      key: '[secret]',
    });
  });

  it('masks references, kinds and keys that look like an e-mail address, a card number or a token', () => {
    const lines: string[] = [];
    const write = (line: string) => void lines.push(line);
    const log = createLog({ level: 'info', secrets: [], write, now: () => new Date(0) });
    log('info', 'kept', { orderReference: 'jane@example.com', eventKind: 'paid by 4111 1111 1111 1111' });
    log('info', 'kept', {
      orderReference: 'eyJhbGciOiJ.eyJzdWIiOiIx.c2lnbmF0dXJl',
      eventKind: 'charge.failed',
    });
    const key = 'message:alert:payment_failed/order/jane@example.com';
    log('info', 'kept', { key, eventKey: 'payment_failed/order/4111 1111 1111 1111' });
    log('info', 'kept', { key: 'charge:ORDER-1', eventKey: 'payment_failed/order/ORDER-1' });
    expect(lines.slice(2).map((line) => JSON.parse(line))).toMatchObject([
      {
        key: 'message:alert:payment_failed/order/j***@example.com',
        eventKey: 'payment_failed/order/[withheld: it looks like a card number]',
      },
      { key: 'charge:ORDER-1', eventKey: 'payment_failed/order/ORDER-1' },
    ]);
    expect(lines.slice(0, 2).map((line) => JSON.parse(line))).toMatchObject([
      { orderReference: 'j***@example.com', eventKind: '[withheld: it looks like a card number]' },
      { orderReference: '[secret]', eventKind: 'charge.failed' },
    ]);
  });
});

describe('fewLinesOf', () => {
  it('writes ten lines a minute and says how many it left out', () => {
    vi.useFakeTimers();
    try {
      const lines: unknown[] = [];
      const few = fewLinesOf((_level, message, fields) => lines.push([message, fields?.leftOut]));
      for (let count = 0; count < 25; count += 1) few('warn', 'refused');
      expect(lines).toEqual(Array.from({ length: 10 }, () => ['refused', undefined]));
      vi.advanceTimersByTime(60_000);
      expect(lines.slice(10)).toEqual([['More requests were refused in the last minute', 15]]);
      few('warn', 'refused');
      vi.advanceTimersByTime(60_000);
      expect(lines.slice(11)).toEqual([['refused', undefined]]);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('asRequest', () => {
  it('puts the request’s id and tags on every line of its work, and keeps two requests apart', async () => {
    const lines: Record<string, unknown>[] = [];
    const log = createLog({
      level: 'info',
      secrets: [],
      write: (line) => lines.push(JSON.parse(line)),
      now: () => new Date(0),
    });
    async function work(orderReference: string): Promise<string> {
      tagLog({ orderReference });
      await new Promise((resolve) => setImmediate(resolve));
      asRequest(() => log('info', orderReference, { orderReference: undefined }));
      return newErrorId();
    }
    const ids = await Promise.all(['pay-1', 'pay-2'].map((reference) => asRequest(() => work(reference))));
    expect(new Set(ids).size).toBe(2);
    expect(
      lines.map(({ message, orderReference, requestId }) => [message, orderReference, requestId]),
    ).toEqual([
      ['pay-1', 'pay-1', ids[0]],
      ['pay-2', 'pay-2', ids[1]],
    ]);
  });
});

it('docs/on-call.md explains every field', () => {
  const page = readFileSync(new URL('../docs/on-call.md', import.meta.url), 'utf8');
  expect([...logFieldNames].filter((field) => !page.includes(`\`${field}\``))).toEqual([]);
});

describe('onceATurn', () => {
  it('writes the lines of a turn at once and in order; flush writes what waits, once', async () => {
    const written: string[] = [];
    const { write, flush } = onceATurn((lines) => written.push(lines));
    write('one\n');
    write('two\n');
    expect(written).toEqual([]);
    await nextTurn();
    expect(written).toEqual(['one\ntwo\n']);
    write('three\n');
    flush();
    await nextTurn();
    expect(written).toEqual(['one\ntwo\n', 'three\n']);
  });
});
