import { expect, it } from 'vitest';
import type { AlertRule, RoutePlan } from '../../../../src/domain/alert-route.ts';
import { mutedIn } from '../../../../src/features/alerts/summary/daily-summary.ts';

const nowMs = 1_000;

function rule(name: string, channels: readonly string[], mutedUntilMs?: number): AlertRule {
  const until = mutedUntilMs === undefined ? {} : { mutedUntilMs };
  return { name, match: { event: 'payment_failed' }, channels, goesOn: false, ...until };
}

it('names as a channel’s mutes the rules that name it and are silent now', () => {
  const plan: RoutePlan = {
    rules: [
      rule('here', ['C1', 'C2'], nowMs + 1),
      rule('elsewhere', ['C3'], nowMs + 1),
      rule('over', ['C1'], nowMs),
      rule('speaking', ['C1']),
    ],
    environment: 'live',
    account: 'main',
    failures: 'C1',
    successes: undefined,
  };
  expect(mutedIn(plan, 'C1', nowMs).map(({ name }) => name)).toEqual(['here']);
  expect(mutedIn(plan, 'C9', nowMs)).toEqual([]);
});
