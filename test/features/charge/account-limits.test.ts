import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Account } from '../../../src/account.ts';
import { permissionChecksFor, merchantScopes } from '../../../src/merchants.ts';
import type { Storage } from '../../../src/store/storage.ts';
import { limitRules } from '../../../src/config/policy-rules.ts';
import { openLimits } from '../../../src/features/charge/charge-limits.ts';
import { readConfig } from '../../../src/config/read-config.ts';
import type { HeldRoles } from '../../../src/slack/people/role.ts';
import { storedCharge } from '../../../src/features/charge/charge-record.ts';
import { createRecords } from '../../../src/records/records.ts';
import { createStoreMark } from '../../../src/store/store-mark.ts';
import { createSealer } from '../../../src/store/sealed.ts';
import { openModelStore } from '../../store/model-store.ts';

const folder = mkdtempSync(join(tmpdir(), 'payops-limits-app-'));
afterAll(() => rmSync(folder, { recursive: true }));
const ids = ['8b0e2f74-16c9-4d3a-b5a7-90c4d1e26f38', '1c6f6a0e-5d0b-4c3e-9d55-0a7c1f0b7e21'];
const noon = Date.parse('2026-11-21T12:00:00Z');
const now = (): number => noon;

/** The limits of each account over one store, for a person with these roles for each permission. */
function open(roles: string, heldRoles: Record<string, HeldRoles>) {
  const path = join(folder, 'payops.yml');
  const accounts = ['main', 'lagos'].map(
    (name, index) => `  - { name: ${name}, account_id: ${ids[index]}, environment: live }\n`,
  );
  writeFileSync(path, `channels: { alerts: C0ALERTS01 }\naccounts:\n${accounts.join('')}roles:\n${roles}`);
  const result = readConfig({
    SLACK_BOT_TOKEN: 'xoxb-token',
    SLACK_SIGNING_SECRET: 'ca4a2700ca4a2700ca4a2700ca4a2700',
    PAYMENTS_BASE_URL: 'https://payments.test',
    PAYMENTS_STATIC_TOKEN__MAIN: 'static',
    PAYMENTS_STATIC_TOKEN__LAGOS: 'static',
    PAYOPS_FILE: path,
  });
  if (result.kind === 'refused') throw new Error(result.problems.join('\n'));
  const store = openModelStore(now);
  const sealer = createSealer([{ id: 'k', key: Buffer.alloc(32, 1) }]);
  const storage: Storage = {
    store,
    sealer,
    keyIds: [],
    redis: undefined,
    mark: createStoreMark({ store, sealer }),
    checked: () => Promise.resolve(),
    refusal: () => undefined,
    close: () => Promise.resolve(),
  };
  const runtime = { config: result.config, log: () => undefined, now };
  const unknown: HeldRoles = { kind: 'unknown' };
  const shared = (permission: string): Promise<HeldRoles> =>
    Promise.resolve(heldRoles[permission] ?? unknown);
  const limits = merchantScopes(runtime, storage).map((scope) => {
    const nobody = { mayRun: () => Promise.reject(new Error()), holdersOf: () => Promise.resolve([]) };
    const { rolesOf } = permissionChecksFor(scope.merchant, { ...nobody, rolesOf: shared });
    const records = { ...scope.storage, wait: () => Promise.resolve() };
    const rules = {
      limits: limitRules(scope.runtime.config.policy, scope.merchant?.name),
      approvals: [],
    } as Partial<Account['rules']> as Account['rules'];
    const people = { rolesOf } as Account['people'];
    const account = { ...records, rules, people, now } as unknown as Account;
    return openLimits(account, createRecords(records, storedCharge));
  });
  return { main: limits[0]!, lagos: limits[1]! };
}

const has = (role: string): HeldRoles => ({ kind: 'known', roles: [role] });
const everywhere = { 'charge@main': has('agent'), 'charge@lagos': has('agent') };

function chargeOf(reference: string, minor: number, by = 'U0AGENT01') {
  return { reference, by, card: 'card', money: { minor, currency: 'NGN' }, atMs: noon };
}

describe('limits of a bot with several accounts', () => {
  it('count separately for each account', async () => {
    const { main, lagos } = open(
      '  agent: { users: [U0AGENT01], may: [charge], limits: { NGN: { per_agent_per_day: 100 } } }\n',
      everywhere,
    );
    expect(await main.claim(chargeOf('a', 10_000))).toBeUndefined();
    expect(await main.claim(chargeOf('b', 1))).toMatchObject({ kind: 'over' });
    expect(await lagos.claim(chargeOf('c', 10_000))).toBeUndefined();
  });

  it('are those of the roles that are for that account', async () => {
    const { main, lagos } = open(
      `
  agent: { users: [U0AGENT01], may: [charge], accounts: [main], limits: { NGN: { per_charge: 1.00 } } }
  chief: { users: [U0AGENT01], may: ['*'], accounts: [lagos] }
`,
      { 'charge@main': has('agent'), 'charge@lagos': has('chief') },
    );
    expect(await main.claim(chargeOf('a', 101))).toMatchObject({
      limit: 'per_charge',
      whoCan: [],
    });
    expect(await lagos.claim(chargeOf('b', 101))).toBeUndefined();
    expect(await lagos.of('U0AGENT01')).toEqual({ kind: 'none' });
  });
});
