import type { AlertRule, RoutePlan } from '../../src/domain/alert-route.ts';
import { place } from './slack.ts';
import { startMs } from './world.ts';

export const channels = ['C0ALERTS01', 'C0LARGE001', 'C0PAID0001'] as const;
const [alerts, large, paid] = channels;

export const onCall = { kind: 'group', id: 'S0ONCALL01' } as const;

/** The rules that a walk may have, and may change to. */
export const plans: readonly RoutePlan[] = [
  { ...place, rules: [], failures: alerts, successes: undefined },
  {
    ...place,
    rules: [
      rule('large', { event: 'payment_failed', amount: { fromMinor: 1_000_000 } }, [large], {
        goesOn: true,
        mention: onCall,
      }),
    ],
    failures: alerts,
    successes: paid,
  },
  {
    ...place,
    rules: [
      rule('dollars', { currency: 'USD' }, [large, paid]),
      rule('funds', { reasonPart: 'insufficient' }, [alerts], { goesOn: true, digestAfter: 2 }),
    ],
    failures: alerts,
    successes: undefined,
  },
  { ...place, rules: [], failures: large, successes: paid },
  {
    ...place,
    rules: [
      rule('quiet', { emailDomain: 'quiet.example' }, [large], { mutedUntilMs: startMs + 1_800_000 }),
      rule('shop', { emailDomain: 'shop.example' }, [alerts, large]),
    ],
    failures: alerts,
    successes: alerts,
  },
  {
    ...place,
    rules: [
      rule('later', { currency: 'NGN' }, [paid], { goesOn: true, mutedUntilMs: startMs + 2_700_000 }),
      // The clock of a walk begins at eight.
      rule('night', { amount: { fromMinor: 1_000_000 } }, [large, alerts], {
        mention: onCall,
        quietHours: { fromMinute: 8 * 60 + 30, toMinute: 10 * 60, timeZone: 'UTC' },
      }),
    ],
    failures: alerts,
    successes: undefined,
  },
];

function rule(
  name: string,
  match: AlertRule['match'],
  told: readonly string[],
  more: Partial<AlertRule> = {},
): AlertRule {
  return { name, match, channels: told, goesOn: false, ...more };
}
