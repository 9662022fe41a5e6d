import { describe, expect, it } from 'vitest';
import { createChecks } from '../../src/app/health-checks.ts';
import type { ServiceFailure } from '../../src/domain/failure.ts';
import { StoreUnavailable } from '../../src/domain/store-unavailable.ts';
import { checkParts } from '../../src/http/health.ts';

const well = { health: () => ({ state: 'ok' as const }) };

function report(
  merchantBot: { failure?: ServiceFailure; problem?: string; isContended?: boolean },
  ping: () => Promise<void> = async () => undefined,
) {
  const parts = {
    kept: { refusal: () => undefined, store: { ping } },
    slack: { health: () => ({ status: 'up' }), repeats: () => ({ kind: 'unknown' }) },
    channels: well,
    merchantBots: [
      {
        place: { merchant: undefined },
        payments: {
          failure: () => merchantBot.failure,
          isContended: () => merchantBot.isContended === true,
        },
        webhooks: { problem: merchantBot.problem },
        outbox: well,
        undelivered: well,
      },
    ],
  };
  return checkParts(createChecks(parts as unknown as Parameters<typeof createChecks>[0]), () => undefined);
}

describe('what readiness says of the parts', () => {
  it.each([
    ["OOM command not allowed when used memory > 'maxmemory'.", 'Redis is out of memory'],
    ['MISCONF Redis is configured to save RDB snapshots', 'Redis cannot write to its disk'],
    ["READONLY You can't write against a read only replica.", 'REDIS_URL leads to a replica'],
    ['ERR Error running script: @user_script: 51: -READONLY You', 'REDIS_URL leads to a replica'],
    ['NOREPLICAS 0 of 1 replicas have the change.', 'too few replicas of Redis have the change'],
    ['database or disk is full', 'the disk of DATA_DIR is full'],
  ])('says why the store takes no writes: %s', async (message, detail) => {
    const ping = async () => {
      throw new StoreUnavailable('The store did not take the change.', new Error(message));
    };
    const parts = await report({}, ping);
    const store = { name: 'store', state: 'down', detail, fix: expect.any(String) };
    expect(parts).toContainEqual(store);
  });
});
