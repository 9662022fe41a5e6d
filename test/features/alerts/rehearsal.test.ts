import { expect, it } from 'vitest';
import { rehearse } from '../../../src/cli/rehearse.ts';
import type { RoutePlan } from '../../../src/domain/alert.ts';
import type { PaymentEvent } from '../../../src/domain/payment-event.ts';
import type { LoggedEvent } from '../../../src/features/alerts/event-log.ts';

it('a rehearsal counts the events that lack a rule’s field because they weren’t looked up', async () => {
  const hourMs = 3_600_000;
  const failure: PaymentEvent = { kind: 'payment_failed', key: 'k', reason: 'Insufficient funds' };
  const rules = [{ name: 'r', match: { currency: 'NGN' }, channels: ['C'], continues: false }];
  const shownAccount = { environment: 'live', account: 'main' } as const;
  const plan: RoutePlan = { ...shownAccount, rules, failures: 'CALERTS', successes: undefined };
  const silent = { event: failure, receivedAtMs: 1 };
  const known: LoggedEvent = { event: { ...failure, currency: 'NGN' }, receivedAtMs: 1 };
  async function* since() {
    yield [silent, { ...silent, lookup: 'unchecked' }, { ...silent, lookup: 'not_found' }] as const;
    yield [known, known];
    yield [{ ...known, receivedAtMs: hourMs }];
  }
  const { counts, ...others } = await rehearse({ since }, plan, 2 * hourMs);
  expect(others).toEqual({ events: 6, unsure: 2, sinceMs: 1 });
  expect([...counts]).toEqual([
    ['CALERTS ', { alerts: 3, worstHour: 3 }],
    ['C r', { alerts: 3, worstHour: 2 }],
  ]);
});
