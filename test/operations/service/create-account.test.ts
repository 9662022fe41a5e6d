import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { assert, asyncProperty, boolean, constantFrom, record, type Arbitrary } from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AccountAnswer, NewAccount } from '../../../src/domain/account.ts';
import { parseAccountFields } from '../../../src/domain/account-field.ts';
import { ServiceFailure } from '../../../src/domain/failure.ts';
import { createBeginAccount, stepAccount } from '../../../src/operations/service/create-account.ts';
import { createSealer } from '../../../src/store/sealed.ts';
import { faults, faulty, turnsOf, type Fault } from '../faulty.ts';
import { memoryStore } from '../memory-store.ts';

const accountRef = 'PLAYGROUND-SUB-00099';
const wanted: NewAccount = { accountName: 'Yaba Kiosk', accountRef, bvn: '12345678901', maiden: 'Okonkwo' };
const fields = parseAccountFields(['accountName', 'accountRef:20', 'bvn', 'maiden*']) ?? [];
// The real one: the same text is never sealed alike, by which a process knows its own write.
const sealer = createSealer([{ id: 'k1', key: randomBytes(32) }]);
const lost = { kind: 'unknown', cause: new ServiceFailure('timeout', 'no answer') } as const;

/** What outlives a process. `mayBeMade`: a request has left, and the service has not said that it refused it. */
function openWorld() {
  const store = memoryStore({ nowMs: 1 });
  return { store, made: false, mayBeMade: false, lines: [] as unknown[], broken: [] as string[] };
}
type World = ReturnType<typeof openWorld>;

type Turn = {
  viewId: string;
  fault: Fault;
  answer: 'made' | 'made_and_lost' | 'lost' | 'refused';
  isLookedUp: boolean;
};

async function kept({ store }: World): Promise<string> {
  const key = `account-new:${accountRef}`;
  const entry = await store.read(key);
  return entry === undefined ? '' : sealer.open(key, entry.value);
}

/** A process that is given the form: what its person is told. */
async function submit(world: World, { viewId, fault, answer, isLookedUp }: Turn): Promise<string> {
  const { store, call, live } = faulty(world.store, fault);
  const promise = (words: string, isKept: boolean): unknown => isKept || world.broken.push(words);
  let isSent = false;
  const begin = createBeginAccount({
    store,
    sealer,
    createAccount: (given) =>
      call(async () => {
        promise('what was typed is sent, secrets too', isDeepStrictEqual(given, wanted));
        promise('that it is asked for is on record before', (await kept(world)).includes('"state":"asking"'));
        promise('it is asked for once, until it is surely not made', !world.mayBeMade);
        isSent = true;
        world.mayBeMade = answer !== 'refused';
        world.made = answer === 'made' || answer === 'made_and_lost';
        if (answer === 'refused') return { kind: 'not_made', failure: 'invalid_request', message: undefined };
        return answer === 'made' ? { kind: 'created', account: { accountRef } } : lost;
      }),
    findAccount: () =>
      call(() => {
        if (!isLookedUp) throw new ServiceFailure('server', 'broken');
        return world.made ? { kind: 'found', account: { accountRef } } : { kind: 'not_found' };
      }),
    fields,
    log: (...line) => void world.lines.push(line),
    wait: async () => undefined,
  });
  const told = await live(async () => (await (await begin({ viewId, wanted, by: viewId })).carryOn()).kind);
  promise('without its record nothing is sent', told !== 'store_away' || !isSent);
  promise('what is called created is there', told !== 'created' || world.made);
  promise('what is called not made was refused', told !== 'not_made' || answer === 'refused');
  return told;
}

const turn: Arbitrary<Turn> = record({
  viewId: constantFrom('V1', 'V2'),
  fault: faults,
  answer: constantFrom<Turn['answer'][]>('made', 'made_and_lost', 'lost', 'refused'),
  isLookedUp: boolean(),
});
const healthy: Turn = { viewId: 'V9', fault: { kind: 'none' }, answer: 'made', isLookedUp: true };

describe('a new account', () => {
  it('is asked for once whatever dies, is lost or is submitted twice, and what is told of it is so', async () => {
    const told = new Set<string>();
    await assert(
      asyncProperty(turnsOf(turn), async (turns) => {
        const world = openWorld();
        for (const atOnce of turns) {
          // oxlint-disable-next-line no-await-in-loop -- one after the other, or two at once
          for (const end of await Promise.all(atOnce.map((one) => submit(world, one)))) told.add(end);
        }
        const wasMade = world.made;
        const last = await submit(world, healthy);
        if (wasMade && last !== 'created') world.broken.push('who asks again is told what became of it');
        expect(world.broken).toEqual([]);
        expect(JSON.stringify([await kept(world), world.lines])).not.toMatch(/12345678901|Okonkwo/);
      }),
      { numRuns: 1_000 },
    );
    expect([...told].toSorted()).toEqual(['created', 'died', 'doubt', 'not_made', 'store_away']);
  });

  it.each<[string, AccountAnswer, object]>([
    ['not found', { kind: 'not_found' }, { kind: 'doubt', lookUp: 'not_found' }],
    ['found', { kind: 'found', account: { accountName: 'Yaba Kiosk' } }, { kind: 'created', by: 'look_up' }],
    [
      'of another name',
      { kind: 'found', account: { accountName: 'X' } },
      { kind: 'doubt', lookUp: 'another' },
    ],
    ['refused', { kind: 'refused', message: undefined }, { kind: 'doubt', lookUp: 'failed' }],
    ['found with nothing told of it', { kind: 'found', account: {} }, { kind: 'doubt', lookUp: 'failed' }],
  ])('whose answer was lost is looked up: %s', (_what, found, end) => {
    const asking = stepAccount(undefined, { kind: 'submitted', by: 'U1', wanted }).next;
    const doubt = stepAccount(asking, lost);
    expect(doubt.effect).toBe('look_up');
    expect(stepAccount(doubt.next, { kind: 'looked_up', found })).toMatchObject({ effect: 'tell', end });
  });
});
