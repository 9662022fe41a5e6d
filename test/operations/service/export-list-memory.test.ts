import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { z } from 'zod';
import type { PageAnswer } from '../../../src/domain/service-page.ts';
import type { Terminal } from '../../../src/domain/terminal.ts';
import { createListExporter } from '../../../src/operations/service/export-list.ts';
import { terminalColumns } from '../../../src/operations/service/list-csv.ts';
import { createServiceList } from '../../../src/operations/service/service-list.ts';
import { openSqliteStore } from '../../../src/store/sqlite-store.ts';
import { sealer } from '../house.ts';

const count = 10_000;
const text = z.string().exactOptional();
const terminalShape = z.object({
  terminalId: text,
  terminalLabel: text,
  merchantName: text,
  serialNumber: text,
});

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

/** What is alive on the heap, in kilobytes. */
function liveKb(): number {
  collectGarbage();
  return Math.round(process.memoryUsage().heapUsed / 1_000);
}

it('exports 10,000 terminals with no more alive than their text, whatever of the list was read', async (test) => {
  const folder = mkdtempSync(join(tmpdir(), 'payops-export-'));
  const store = openSqliteStore({ path: join(folder, 'store.sqlite'), now: Date.now });
  test.onTestFinished(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  let calls = 0;
  const list = createServiceList<Terminal>({
    store,
    sealer,
    name: 'terminals',
    item: terminalShape,
    async readPage(cursor): Promise<PageAnswer<Terminal>> {
      calls += 1;
      const from = Number(cursor ?? 0);
      const items = Array.from({ length: 50 }, (_, index) => ({
        terminalId: String(20_700_000 + from + index),
        terminalLabel: `Lekki Kiosk ${from + index}`,
        merchantName: `Merchant ${from + index}`,
        serialNumber: `SN${from + index}`.padEnd(20, '0'),
      }));
      return { kind: 'page', items, ...(from + 50 < count ? { cursor: String(from + 50) } : {}) };
    },
    matches: () => true,
    now: Date.now,
  });
  const exportList = createListExporter<Terminal>({ store, name: 'terminals', list, now: Date.now });
  const of = await list.begin('U0AGENT');

  async function exported(): Promise<{ calls: number; csvKb: number; mostKb: number; leftKb: number }> {
    const callsBefore = calls;
    const before = liveKb();
    let most = 0;
    let csvKb = 0;
    await exportList({
      ...of,
      filter: '',
      columns: terminalColumns,
      progress: ({ pages }) => {
        if (pages % 40 === 0) most = Math.max(most, liveKb() - before);
      },
      async place(csv) {
        expect(csv.rows).toBe(count);
        csvKb = Math.round(csv.text.length / 1_000);
      },
    });
    return { calls: calls - callsBefore, csvKb, mostKb: most, leftKb: liveKb() - before };
  }

  await exported();
  const ofPagesRead = await exported();
  const fresh = await list.begin('U0AGENT');
  Object.assign(of, fresh);
  const ofPagesToRead = await exported();
  console.log(`${count} terminals exported`, { ofPagesToRead, ofPagesRead });
  expect([ofPagesRead.calls, ofPagesToRead.calls]).toEqual([0, count / 50 - 1]);
  for (const one of [ofPagesRead, ofPagesToRead]) {
    expect(one.mostKb).toBeLessThan(3 * one.csvKb);
    expect(one.leftKb).toBeLessThan(one.csvKb);
  }
});
