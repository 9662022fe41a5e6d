import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AlertRule, RoutePlan } from '../../../src/domain/alert-route.ts';
import type { LoggedEvent } from '../../../src/features/alerts/event-log.ts';
import { rehearse, type Rehearsal } from '../../../src/features/alerts/rehearsal.ts';
import type { PaymentEvent } from '../../../src/domain/payment-event.ts';
import { events, naiveChannels, places, rules } from './naive-routes.ts';

const failure: PaymentEvent = { kind: 'payment_failed', key: 'k', reason: 'Insufficient funds' };

function rehearsed(plan: RoutePlan, hours: readonly (readonly LoggedEvent[])[]): Promise<Rehearsal> {
  async function* between() {
    for (const events of hours) yield { events };
  }
  return rehearse({ between }, plan, 1_000);
}

function planOf(rules: AlertRule[]): RoutePlan {
  return { rules, environment: 'live', account: 'main', failures: 'CALERTS', successes: undefined };
}

describe('a rehearsal', () => {
  it('counts for every channel what a naive reading of the rules tells there, were nothing muted', async () => {
    await fc.assert(
      fc.asyncProperty(
        rules,
        fc.array(fc.array(events, { maxLength: 10 }), { maxLength: 5 }),
        fc.constantFrom(...places),
        async (rules, hours, place) => {
          const plan = { ...planOf(rules), ...place, successes: 'CDONE' };
          const rehearsal = await rehearsed(
            plan,
            hours.map((hour) => hour.map((event) => ({ event, receivedAtMs: 1_000, lookup: 'not_found' }))),
          );
          const unmuted = { ...plan, rules: rules.map(({ mutedUntilMs: _muted, ...rule }) => rule) };
          for (const channel of ['C0', 'C1', 'C2', 'C3', 'CALERTS', 'CDONE']) {
            const inHours = hours.map(
              (hour) => hour.filter((event) => naiveChannels(unmuted, event, 1_000).includes(channel)).length,
            );
            const lines = rehearsal.lines.filter((line) => line.channel === channel);
            const alerts = lines.reduce((sum, line) => sum + line.alerts, 0);
            expect(alerts).toBe(inHours.reduce((sum, count) => sum + count, 0));
            const worst = lines.map(({ worstHour }) => worstHour);
            expect(Math.max(0, ...worst)).toBeLessThanOrEqual(Math.max(0, ...inHours));
          }
          expect(rehearsal.events).toBe(hours.flat().length);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it('says of how many events nobody asked the service what a rule wants to know', async () => {
    const plan = planOf([{ name: 'r', match: { currency: 'NGN' }, channels: ['C'], goesOn: false }]);
    const silent = { event: failure, receivedAtMs: 1 };
    const logged: LoggedEvent[] = [
      silent,
      { ...silent, lookup: 'unchecked' },
      { ...silent, lookup: 'not_found' },
      { event: { ...failure, currency: 'NGN' }, receivedAtMs: 1 },
    ];
    expect(await rehearsed(plan, [logged])).toMatchObject({ events: 4, unsure: 2 });
  });
});
