import { describe, expect, it } from 'vitest';
import { ServiceFailure } from '../../../src/domain/failure.ts';
import type { PageAnswer } from '../../../src/payments/pages.ts';
import { createServiceList, type ListRequest } from '../../../src/features/lists/service-list.ts';

type Item = { id: string };

/** A service whose cursor `c<n>` leads to page n. `answers` overrides pages by number. */
function open(count: number, answers: Record<number, Partial<PageAnswer<Item>> | Error> = {}) {
  const asked: (string | undefined)[] = [];
  const clock = { nowMs: 1_000 };
  async function readPage(cursor?: string): Promise<PageAnswer<Item>> {
    asked.push(cursor);
    const number = cursor === undefined ? 0 : Number(cursor.slice(1));
    const instead = answers[number];
    if (instead instanceof Error) throw instead;
    const items = Array.from({ length: Math.min(50, count - number * 50) }, (_, index) => ({
      id: `item-${number * 50 + index}`,
    }));
    const next = (number + 1) * 50 < count ? { cursor: `c${number + 1}` } : {};
    return { kind: 'page', items, ...next, ...instead };
  }
  const matches = ({ id }: Item, words: readonly string[]) => words.every((word) => id.includes(word));
  const list = createServiceList<Item>(readPage, matches, () => clock.nowMs);
  const show = (number: number, more: Partial<ListRequest> = {}) =>
    list({ filter: '', number, mostCalls: 50, ...more });
  return { asked, answers, clock, list, show };
}

describe('a list of the service', () => {
  it('shows the last page if a later one is requested', async () => {
    const { show, asked } = open(60);
    expect(await show(9)).toMatchObject({ number: 5, hasNext: false });
    expect(asked.length).toBe(2);
  });

  it.each([
    ['the same cursor again', { 1: { cursor: 'c1' } }, 2],
    ['a cursor of an earlier page', { 2: { cursor: 'c1' } }, 3],
    ['a cycle of many pages', { 17: { cursor: 'c4' } }, 18],
  ])('ends at %s', async (_what, answers, calls) => {
    const { show, asked } = open(1_000, answers);
    const reading = { end: 'repeated_cursor', pages: calls };
    expect(await show(0, { filter: 'item' })).toMatchObject({ reading, hasNext: true });
    expect(asked.length).toBe(calls);
  });

  it('reads on after an empty page that has a cursor', async () => {
    const { show } = open(120, { 1: { items: [] } });
    const reading = { pages: 3, end: 'last_page' };
    expect(await show(0, { filter: 'item' })).toMatchObject({ found: 70, reading });
  });

  it('throws if the first page fails, and on any bug', async () => {
    await expect(open(10, { 0: new ServiceFailure('server', 'broken') }).show(0)).rejects.toThrow(
      ServiceFailure,
    );
    await expect(open(100, { 1: new TypeError('bug') }).show(5)).rejects.toThrow(TypeError);
  });

  it('reports a refused cursor or a failure, and continues from there', async () => {
    const { show, answers, asked } = open(100, { 1: { kind: 'cursor_refused' } });
    expect(await show(5)).toMatchObject({ number: 4, stop: { kind: 'cursor_refused' } });
    answers[1] = new ServiceFailure('rate_limited', 'Later.');
    expect(await show(5)).toMatchObject({ number: 4, stop: { kind: 'failure' } });
    delete answers[1];
    expect(await show(5)).toMatchObject({ number: 5, hasNext: true });
    expect(asked).toEqual([undefined, 'c1', 'c1', 'c1']);
  });

  it('is read again after half an hour, or on reload', async () => {
    const { show, clock, asked } = open(100);
    await show(5);
    await show(5, { reload: true });
    clock.nowMs += 30 * 60_000;
    expect(await show(5)).toMatchObject({ number: 5, reading: { readAt: clock.nowMs } });
    expect(asked).toEqual([undefined, 'c1', undefined, 'c1', undefined, 'c1']);
  });

  it('reads a page once for two concurrent requests', async () => {
    const { show, asked } = open(100);
    await show(0);
    const both = await Promise.all([show(5), show(5, { filter: 'item' })]);
    expect(both).toMatchObject([{ number: 5 }, { found: 100 }]);
    expect(asked).toEqual([undefined, 'c1']);
  });
});
