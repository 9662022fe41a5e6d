import { describe, expect, it } from 'vitest';
import { createChecks } from '../../src/app/health-checks.ts';
import { ServiceFailure } from '../../src/domain/failure.ts';
import { checkParts } from '../../src/http/health.ts';

const well = { health: () => ({ state: 'ok' as const }) };

function report(merchantBot: { failure?: ServiceFailure; problem?: string }) {
  const parts = {
    kept: { refusal: () => undefined, store: { ping: async () => undefined } },
    slack: { health: () => ({ status: 'up' }), repeats: () => ({ kind: 'unknown' }) },
    channels: well,
    merchantBots: [
      {
        place: { merchant: undefined },
        payments: { failure: () => merchantBot.failure },
        webhooks: { problem: merchantBot.problem },
        outbox: well,
        undelivered: well,
      },
    ],
  };
  return checkParts(createChecks(parts as unknown as Parameters<typeof createChecks>[0]), () => undefined);
}

describe('what readiness says of the parts', () => {
  it('says of the payments service what failed and what to check', async () => {
    const failure = new ServiceFailure(
      'unauthorized',
      'No token was given (HTTP 401): check PAYMENTS_CLIENT_ID.',
    );
    expect(await report({ failure })).toContainEqual({
      name: 'payments',
      state: 'degraded',
      detail: 'the last look-up failed: No token was given (HTTP 401): check PAYMENTS_CLIENT_ID.',
    });
  });

  it('says of webhooks that are all refused which settings end it', async () => {
    expect(await report({ problem: 'no signature scheme is configured' })).toContainEqual({
      name: 'webhooks',
      state: 'degraded',
      detail: 'every delivery is refused: no signature scheme is configured',
      fix: 'set WEBHOOK_SIGNATURE_PRESET and WEBHOOK_SECRETS',
    });
  });
});
