import { expect, it } from 'vitest';
import { parseAccountFields } from '../../../src/config/payments-settings.ts';
import { ServiceFailure } from '../../../src/domain/failure.ts';
import {
  type AccountRequests,
  createAccountRequests,
  endOfLookUp,
  generateAccountRef,
} from '../../../src/features/new-account/create-account.ts';
import type { AccountAnswer, NewAccount, NewAccountAnswer } from '../../../src/payments/accounts.ts';
import { driveWorlds, type Driven, type Process, type World } from '../../records/two-processes.ts';
import { accountOf } from '../../support/account.ts';

const wanted = { accountName: 'Yaba Kiosk' };
const refused = { kind: 'refused', message: undefined } as const;
const found = (account: { accountName?: string }): AccountAnswer => ({ kind: 'found', account });

it.each<[string, AccountAnswer, object]>([
  ['not found', { kind: 'not_found' }, { kind: 'doubt', lookUp: 'not_found' }],
  ['found', found({ accountName: 'Yaba Kiosk' }), { kind: 'created' }],
  ['of another name', found({ accountName: 'X' }), { kind: 'doubt', lookUp: 'another' }],
  ['refused', refused, { kind: 'doubt', lookUp: 'failed' }],
  ['found without a name', found({}), { kind: 'doubt', lookUp: 'failed' }],
])('a new account whose answer was lost is looked up: %s', (_what, answer, end) => {
  expect(endOfLookUp({ wanted }, answer)).toMatchObject(end);
  expect(endOfLookUp({ wanted, settled: 'created' }, answer).kind).toBe('created');
});

it('generates references of exactly 20 characters, the same for the same view', () => {
  const byDefault = { shortest: 20, longest: 20 };
  const refs = Array.from({ length: 500 }, (_, index) => generateAccountRef(`V${index}`, byDefault));
  expect(refs.every((ref) => /^PAY[A-HJ-NP-Z2-9]{17}$/.test(ref))).toBe(true);
  expect(new Set(refs).size).toBe(500);
  expect(generateAccountRef('V1', byDefault)).toBe(refs[1]);
  expect(generateAccountRef('V1', { shortest: 6, longest: 12 })).toHaveLength(12);
  expect(generateAccountRef('V1', { shortest: 0, longest: 3_000 })).toHaveLength(20);
});

const accountRef = 'PLAYGROUND-SUB-00099';
const whole = { accountName: 'Yaba Kiosk', accountRef, bvn: '12345678901', maiden: 'Okonkwo' };
const fields = parseAccountFields(['accountName', 'accountRef:20', 'bvn', 'maiden*']) ?? [];
/**
 * A new account. The service is asked once per reference, no matter how many people ask the bot, and again only if the
 * account was certainly not made. The request is on record before it is sent. People are told the truth, and a later
 * request is told of an account that was made.
 */
function newAccount(world: World): Driven {
  const { store, sealer, random } = world;
  const service = { isMade: false, asked: 0, refused: 0 };
  const wrong = new Set<string>();
  const lines: unknown[] = [];
  const log = (...line: unknown[]): void => void lines.push(line);
  const all: AccountRequests[] = [];

  async function answer(given: NewAccount): Promise<NewAccountAnswer> {
    const key = `account-new:${accountRef}`;
    const entry = await store.read(key);
    const kept = entry ? sealer.open(key, entry.value) : '';
    if (kept === '' || kept.includes('"settled"'))
      wrong.add('the account is requested before the request is stored');
    if (/12345678901|Okonkwo/.test(kept)) wrong.add('a secret field is stored');
    if (given['maiden'] !== whole.maiden) wrong.add('a secret field is not sent');
    if (service.asked > service.refused) wrong.add('the account is requested again');
    service.asked += 1;
    service.isMade = random.chance(0.6);
    if (service.isMade) return { kind: 'created', account: { accountRef } };
    service.refused += 1;
    return { kind: 'not_made', failure: 'invalid_request', message: undefined };
  }
  async function ask({ begin }: AccountRequests, by: string): Promise<string> {
    const { kind } = await (await begin({ viewId: by, wanted: whole, by })).carryOn();
    if (kind === 'created' && !service.isMade) wrong.add('it is called created, and is not');
    if (kind === 'not_made' && service.refused === 0) wrong.add('it is called not made, and was not refused');
    return kind;
  }
  function open({ store: through, call, wait }: Pick<Process, 'store' | 'call' | 'wait'>): AccountRequests {
    const payments = {
      createAccount: (given: NewAccount) =>
        call<NewAccountAnswer>(
          () => answer(given),
          () => ({ kind: 'unknown', cause: new ServiceFailure('timeout', 'no answer') }),
        ),
      findAccount: () =>
        call<AccountAnswer>(
          () => (service.isMade ? { kind: 'found', account: { accountRef } } : { kind: 'not_found' }),
          () => ({ kind: 'refused', message: undefined }),
        ),
    };
    const settings = { accountNewFields: fields };
    return createAccountRequests(accountOf({ store: through, sealer, settings, payments, log, wait }));
  }
  return {
    start(process, index) {
      all[index] = open(process);
      return { prefix: 'none:', work: async () => undefined };
    },
    act(at, index) {
      const by = at.pick(['U0ADA00001', 'U0BOLA0001']);
      return () => ask(all[index] as AccountRequests, by);
    },
    async wrongs() {
      const { isMade } = service;
      const told = await ask(
        open({ ...world, call: async (run) => await run(), wait: async () => undefined }),
        'U0LATER001',
      );
      if (isMade && told !== 'created') wrong.add(`it is made, and called ${told}`);
      if (/12345678901|Okonkwo/.test(JSON.stringify(lines))) wrong.add('a secret field is logged');
      return [...wrong];
    },
  };
}

it('a new account breaks no rule through crashes, lost answers, repeats, suspended processes and clock changes', async () => {
  expect(await driveWorlds(newAccount)).toEqual([]);
});
