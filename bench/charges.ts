/**
 * `npm run bench:charges -- --out charges.json`: what the charge machine, the recovery worker and the lists around
 * them cost, on SQLite and on a Redis of its own, in under three minutes. Every answer is checked and nothing is
 * asserted about speed: it fails only when an answer is wrong. `--quick` checks the answers alone, in seconds.
 * Only the ratios, each to something of the same run, carry over to another machine.
 */
import { writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { counted, table, WrongAnswer, type Figure, type Size } from './charges/figures.ts';
import { fillLedger, measureLedger } from './charges/ledger.ts';
import { measureLists } from './charges/lists.ts';
import { measureMachine } from './charges/machine.ts';
import { measureRecovery } from './charges/recovery.ts';
import { redisKind, sqliteKind, type StoreKind } from './charges/stores.ts';
import { measureSubmit } from './charges/submit.ts';

const options = { out: { type: 'string' }, quick: { type: 'boolean', default: false } } as const;
const { values } = parseArgs({ options });
const startedAt = performance.now();
const size: Size = { quick: values.quick, endsAt: startedAt + 150_000 };

try {
  const figures = await measureAll();
  const seconds = (performance.now() - startedAt) / 1_000;
  const machine = { node: process.version, cores: availableParallelism(), load: loadavg()[0] };
  if (values.out !== undefined) {
    writeFileSync(
      values.out,
      `${JSON.stringify({ quick: size.quick, machine, seconds, figures }, undefined, 2)}\n`,
    );
  }
  console.log(table(figures));
  console.log(`${seconds.toFixed(0)} s on ${machine.cores} cores, load ${machine.load?.toFixed(1)}.`);
  if (size.quick) console.log('Quick: too short to say anything about speed.');
  console.log('Every answer was right.');
} catch (error) {
  if (!(error instanceof WrongAnswer)) throw error;
  console.error(`Wrong answer: ${error.message}.`);
  process.exitCode = 1;
}

async function measureAll(): Promise<Figure[]> {
  const figures = measureMachine(size);
  progress('the machine is measured');
  const [fewer, more] = size.quick ? [50, 300] : [1_000, 100_000];
  const ledgers = [await fillLedger(fewer, Infinity), await fillLedger(more, 50_000)];
  for (const { cards, cardsPerSecond } of ledgers) {
    const named = { part: 'ledger', store: 'memory', name: `${cards} cards: remembered, 500 at once` };
    figures.push(counted(named, 'per s', cardsPerSecond));
  }
  progress('the ledgers are filled in memory');
  const redis = await redisKind();
  if (!redis) console.warn('SKIPPED: everything on Redis, because redis-server is not installed.');
  const kinds: StoreKind[] = redis ? [sqliteKind(), redis] : [sqliteKind()];
  try {
    for (const kind of kinds) {
      // oxlint-disable no-await-in-loop -- one part after the other, so that none slows another down
      figures.push(...(await measureRecovery(kind, size)));
      progress(`${kind.name}: recovery`);
      figures.push(...(await measureSubmit(kind, size)));
      progress(`${kind.name}: submit`);
      figures.push(...(await measureLists(kind, size)));
      progress(`${kind.name}: lists`);
      figures.push(...(await measureLedger(kind, ledgers, size)));
      progress(`${kind.name}: ledger`);
      // oxlint-enable no-await-in-loop
    }
  } finally {
    await Promise.all(kinds.map((kind) => kind.close()));
  }
  return figures;
}

function progress(what: string): void {
  console.error(`${((performance.now() - startedAt) / 1_000).toFixed(0).padStart(4)} s  ${what}`);
}
