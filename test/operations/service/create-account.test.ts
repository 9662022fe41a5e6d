import { describe, expect, it } from 'vitest';
import type { AccountAnswer, NewAccount, NewAccountAnswer } from '../../../src/domain/account.ts';
import { parseAccountFields } from '../../../src/domain/account-field.ts';
import { ServiceFailure } from '../../../src/domain/failure.ts';
import { StoreUnavailable } from '../../../src/domain/store-unavailable.ts';
import { createAccountDesk, type AccountDeskDeps } from '../../../src/operations/service/create-account.ts';
import { sealer } from '../house.ts';
import { memoryStore } from '../memory-store.ts';
import { onBothStores } from '../two-stores.ts';

const wanted: NewAccount = { accountName: 'Yaba Kiosk', bvn: '12345678901', pin: '4711', maiden: 'Okonkwo' };
const fields = parseAccountFields(['accountName', 'accountRef:20', 'bvn', 'pin', 'maiden*']) ?? [];
const lost: NewAccountAnswer = { kind: 'unknown', cause: new ServiceFailure('timeout', 'no answer') };
const by = 'U1';
const away = () => Promise.reject(new StoreUnavailable('away'));

function stage(answer: NewAccountAnswer, more: Partial<AccountDeskDeps> & { found?: AccountAnswer } = {}) {
  const asked: NewAccount[] = [];
  const lookedUp: unknown[] = [];
  const lines: unknown[] = [];
  const deps: AccountDeskDeps = {
    store: memoryStore({ nowMs: 1 }),
    sealer,
    async createAccount(fields) {
      asked.push(fields);
      return answer;
    },
    async findAccount(key) {
      lookedUp.push(key);
      return more.found ?? { kind: 'not_found' };
    },
    fields,
    log: (...line) => void lines.push(line),
    wait: async () => undefined,
    ...more,
  };
  return { asked, lookedUp, lines, deps, desk: createAccountDesk(deps) };
}

async function make(desk: ReturnType<typeof createAccountDesk>, viewId = 'V1', fields = wanted) {
  const beginning = await desk.begin({ viewId, wanted: fields, by });
  return { beginning, end: await beginning.carryOn() };
}

describe('a new account', () => {
  it('stays in doubt for who submits it twice while nobody knows', async () => {
    const { desk, deps } = stage(lost);
    await make(desk);
    expect((await make(desk)).end).toEqual({ kind: 'doubt', lookUp: 'not_found' });
    const beginning = await desk.begin({ viewId: 'V1', wanted, by });
    deps.store.read = away;
    expect(await beginning.carryOn()).toEqual({ kind: 'doubt', lookUp: 'not_found' });
  });

  it('is never asked for again after a lost answer, not even after a crash', async () => {
    const first = stage(lost);
    const beginning = await first.desk.begin({ viewId: 'V1', wanted, by });
    // Killed before it carries on: what is written down is all that is left.
    expect(beginning.kind).toBe('begun');
    const second = stage(lost, { store: first.deps.store });
    expect((await make(second.desk)).beginning.kind).toBe('known');
    expect([first.asked.length, second.asked.length]).toEqual([0, 0]);
  });

  it.each([
    ['not found', { kind: 'not_found' }, { kind: 'doubt', lookUp: 'not_found' }],
    ['found', { kind: 'found', account: { accountName: 'Yaba Kiosk' } }, { kind: 'created', by: 'look_up' }],
    [
      'found under another name',
      { kind: 'found', account: { accountName: 'X' } },
      { kind: 'doubt', lookUp: 'another' },
    ],
    ['refused', { kind: 'refused', message: undefined }, { kind: 'doubt', lookUp: 'failed' }],
    ['found with nothing told of it', { kind: 'found', account: {} }, { kind: 'doubt', lookUp: 'failed' }],
  ] as [string, AccountAnswer, object][])(
    'whose answer was lost is looked up: %s',
    async (_what, found, end) => {
      const { desk, asked, lookedUp } = stage(lost, { found });
      expect((await make(desk)).end).toMatchObject(end);
      expect(lookedUp).toEqual([{ by: 'accountRef', value: asked[0]?.['accountRef'] }]);
      expect(asked.length).toBe(1);
    },
  );

  it('stays in doubt when the look-up fails too, or none can be made', async () => {
    const failing = stage(lost, {
      findAccount: () => Promise.reject(new ServiceFailure('server', 'broken')),
    });
    expect((await make(failing.desk)).end).toEqual({ kind: 'doubt', lookUp: 'failed' });
    const without = stage(lost, { fields: fields.filter(({ name }) => name !== 'accountRef') });
    expect((await make(without.desk)).end).toEqual({ kind: 'doubt', lookUp: 'impossible' });
    expect(without.asked).toEqual([wanted]);
  });

  it('sends nothing while the store is away', async () => {
    const { desk, asked } = stage(lost, { store: { create: away, read: away, write: away } });
    await expect(make(desk)).rejects.toThrow(StoreUnavailable);
    expect(asked).toEqual([]);
  });

  it('keeps, notes and logs no secret field', async () => {
    const values: string[] = [];
    const store = memoryStore({ nowMs: 1 });
    const { desk, lines, asked } = stage(lost, {
      store,
      sealer: { ...sealer, seal: (context, plain) => (values.push(plain), sealer.seal(context, plain)) },
    });
    await make(desk);
    expect(asked[0]?.['bvn']).toBe('12345678901');
    expect(values.length).toBe(2);
    expect(JSON.stringify([values, lines])).not.toMatch(/12345678901|4711|Okonkwo/);
    expect(asked[0]).toMatchObject(wanted);
  });
});

onBothStores('a new account', (open) => {
  it('is asked for once by replicas that are given the same view at once', async () => {
    const { one, two, close } = await open();
    const desks = [one, two, one, two].map((store) =>
      stage({ kind: 'created', account: undefined }, { store }),
    );
    const ends = await Promise.all(desks.map(({ desk }) => make(desk)));
    expect(desks.flatMap(({ asked }) => asked).length).toBe(1);
    expect(ends.filter(({ beginning }) => beginning.kind === 'begun').length).toBe(1);
    await close();
  });
});
