import { setTimeout } from 'node:timers/promises';
import type { SavedCard } from '../../src/domain/saved-card.ts';
import { createCardLedger, type CardLedger, type LedgerCard } from '../../src/features/cards/card-ledger.ts';
import { openFingerprint } from '../../src/records/fingerprint.ts';
import type { Store } from '../../src/store/store.ts';
import { memoryStore } from '../../test/features/memory-store.ts';
import {
  check,
  clocked,
  counted,
  inParallel,
  median,
  roundsEndAt,
  timed,
  type Figure,
  type Size,
} from './figures.ts';
import { sealer } from './stage.ts';
import { counting, type Calls, type StoreKind } from './stores.ts';

const part = 'ledger';
const log = () => undefined;
/** As many as one answer to Slack's card field may hold. */
const mostOptions = 100;
const cardTypes = ['Visa', 'Mastercard', 'Verve', 'American Express'];
const names =
  'ada bola chidi dayo emeka femi gbenga hauwa ife jane kemi lola musa ngozi obi peju sade tunde uche zainab';
const firstNames = names.split(' ');

/** A filled ledger in memory, from which stores are filled: its own code has written every record of it. */
export type FilledLedger = { cards: number; records: readonly Made[]; cardsPerSecond: number };
type Made = Parameters<Store['create']>;

/** As many cards as there are, or as go into the time. */
export async function fillLedger(most: number, withinMs: number): Promise<FilledLedger> {
  const memory = memoryStore({ nowMs: Date.now() });
  const records: Made[] = [];
  const ledger = openLedger({
    ...memory,
    create(...made) {
      records.push(made);
      return memory.create(...made);
    },
  });
  const atOnce = 500;
  const startedAt = performance.now();
  let cards = 0;
  while (cards < most && performance.now() - startedAt < withinMs) {
    const batch = Array.from({ length: Math.min(atOnce, most - cards) }, (_, index) =>
      savedCard(cards + index),
    );
    // oxlint-disable-next-line no-await-in-loop -- some at once
    await Promise.all(batch.map((card) => ledger.remember(card)));
    cards += batch.length;
  }
  const cardsPerSecond = cards / ((performance.now() - startedAt) / 1_000);
  return { cards, records, cardsPerSecond };
}

function openLedger(store: Store): CardLedger {
  const fingerprint = openFingerprint({ store, sealer, log });
  const keepMs = 1_095 * 86_400_000;
  return createCardLedger({ store, sealer, fingerprint, keepMs, now: () => Date.now(), wait: setTimeout });
}

/** Every card has its address; ten thousand last fours, four types, twenty first names. */
function savedCard(index: number): SavedCard {
  const customerEmail = emailOf(index);
  const cardType = cardTypes[index % cardTypes.length] ?? 'Visa';
  const cardPan = `************${lastFourOf(index)}`;
  return { tokenKey: `token-${index}`, cardType, cardPan, customerEmail };
}

function emailOf(index: number): string {
  return `${firstNames[index % firstNames.length]}.${index}@example.com`;
}

function lastFourOf(index: number): string {
  return String(1_000 + ((index * 7) % 9_000));
}

type Filled = {
  size: number;
  ledger: CardLedger;
  calls: Calls;
  spent: Map<string, Spent>;
  rememberMs: number[];
};
type Spent = { ms: number[]; lists: number[] };

/** How long a search takes in ever larger ledgers, and one more card. */
export async function measureLedger(
  kind: StoreKind,
  ledgers: readonly FilledLedger[],
  size: Size,
): Promise<Figure[]> {
  const { quick } = size;
  const filled: Filled[] = [];
  const figures: Figure[] = [];
  for (const { cards, records } of ledgers) {
    // oxlint-disable-next-line no-await-in-loop -- one filling after the other
    const opened = await kind.open();
    // oxlint-disable-next-line no-await-in-loop
    const before = await opened.bytes();
    // oxlint-disable-next-line no-await-in-loop
    await inParallel(records.length, 500, async (index) => {
      const made = records[index] ?? ['', ''];
      check(await opened.store.create(...made), 'a record of the ledger was there already');
    });
    // oxlint-disable-next-line no-await-in-loop
    const each = ((await opened.bytes()) - before) / cards;
    const named = { part, store: kind.name, name: `${cards} cards: room for each, lists included` };
    figures.push(counted(named, 'bytes', each));
    const { store, calls } = counting(opened.store);
    filled.push({ size: cards, ledger: openLedger(store), calls, spent: new Map(), rememberMs: [] });
  }
  const rounds = quick ? 3 : 100;
  const endsAt = roundsEndAt(size, quick ? 2_000 : 8_000);
  for (let round = 0; round < rounds && (round < 3 || performance.now() < endsAt); round += 1) {
    // oxlint-disable-next-line no-await-in-loop -- they take turns
    for (const one of filled) await searchAll(one, round);
  }
  for (let round = 0; round < rounds && (round < 3 || performance.now() < size.endsAt); round += 1) {
    // oxlint-disable-next-line no-await-in-loop
    for (const one of filled) await rememberOne(one, round);
  }
  return [...figures, ...filled.flatMap((one) => figuresOf(kind, one, filled[0] ?? one))];
}

type Search = { name: string; typed: string; finds: (found: readonly LedgerCard[]) => boolean };

/** A round's searches, each with what a look through all cards would say. */
function searchesOf(size: number, round: number): Search[] {
  const index = (round * 7_919) % size;
  const type = cardTypes[index % cardTypes.length] ?? 'Visa';
  const sameFour = everyCard(size).filter((card) => lastFourOf(card) === lastFourOf(index));
  const sameBoth = sameFour.filter((card) => card % cardTypes.length === index % cardTypes.length);
  const [word] = type.toLowerCase().split(' ');
  return [
    {
      name: 'nothing typed',
      typed: '',
      finds: (found) => found.length === Math.min(size, mostOptions),
    },
    {
      name: 'a type',
      typed: type,
      finds: (found) => found.length > 0 && found.every(({ face }) => face.cardType === type),
    },
    { name: 'four digits', typed: lastFourOf(index), finds: (found) => isExactly(found, sameFour) },
    {
      name: 'type and digits',
      typed: `${word} ${lastFourOf(index)}`,
      finds: (found) => isExactly(found, sameBoth),
    },
    { name: 'an address', typed: emailOf(index), finds: (found) => isExactly(found, [index]) },
    { name: 'what nothing fits', typed: 'nobody@example.org', finds: (found) => found.length === 0 },
  ];
}

function everyCard(size: number): number[] {
  return Array.from({ length: size }, (_, index) => index);
}

function isExactly(found: readonly LedgerCard[], wanted: readonly number[]): boolean {
  const emails = new Set(found.map(({ customerEmail }) => customerEmail));
  return found.length === wanted.length && wanted.every((index) => emails.has(emailOf(index)));
}

async function searchAll(filled: Filled, round: number): Promise<void> {
  const { size, ledger, calls, spent } = filled;
  for (const { name, typed, finds } of searchesOf(size, round)) {
    const before = calls.list;
    // oxlint-disable-next-line no-await-in-loop -- one search after the other
    const [found, ms] = await clocked(() => ledger.search(typed, mostOptions));
    check(finds(found), `a search for ${name} found ${found.length} cards that are not those that fit`);
    const { ms: all, lists } = spent.get(name) ?? { ms: [], lists: [] };
    spent.set(name, { ms: [...all, ms], lists: [...lists, calls.list - before] });
  }
}

/** After all searches: its card is the newest of every list it comes into. */
async function rememberOne({ ledger, rememberMs }: Filled, round: number): Promise<void> {
  const customerEmail = `new-${round}@example.net`;
  const card = { ...savedCard(round), tokenKey: `new-${round}`, customerEmail };
  const [, ms] = await clocked(() => ledger.remember(card));
  rememberMs.push(ms);
  const found = await ledger.search(customerEmail, mostOptions);
  check(found.length === 1, 'a card just remembered is not found');
}

function figuresOf(kind: StoreKind, { size, spent, rememberMs }: Filled, smallest: Filled): Figure[] {
  const about = { part, store: kind.name };
  const to = `with ${smallest.size}`;
  const searches = [...spent].flatMap(([name, { ms, lists }]) => {
    const floor = { ms: median(smallest.spent.get(name)?.ms ?? ms), to };
    const label = `${size} cards: ${name} (${median(lists)} lists)`;
    return timed({ ...about, name: label }, ms, floor);
  });
  const remember = { ...about, name: `${size} cards: remember one more` };
  return [...searches, timed(remember, rememberMs, { ms: median(smallest.rememberMs), to })];
}
