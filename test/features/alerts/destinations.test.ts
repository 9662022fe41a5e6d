import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  destinationsOf,
  fits,
  isQuiet,
  quietEnd,
  needsLookUp,
  routeAt,
  routesOf,
  withLookUp,
} from '../../../src/features/alerts/route-event.ts';
import type { AlertRule, RoutePlan } from '../../../src/domain/alert.ts';
import { confirm } from '../../../src/domain/transaction.ts';
import type { OrderReference } from '../../../src/domain/order-reference.ts';
import type { PaymentEvent } from '../../../src/domain/payment-event.ts';
import { withoutUndefined } from '../../../src/domain/json.ts';
import { countOf } from '../../support/counts.ts';
import { events, maybe, naiveChannels, places, rules } from './naive-routes.ts';

const runs = countOf({ full: 3_000, share: 600 });
const failure: PaymentEvent = { kind: 'payment_failed', key: 'k', currency: 'NGN', amountMinor: 10_000_000 };

function rule(parts: Partial<AlertRule>): AlertRule {
  return { name: 'r', match: {}, channels: ['CRULE'], continues: false, ...parts };
}

function plan(...rules: AlertRule[]): RoutePlan {
  return { rules, environment: 'live', account: 'main', failures: 'CALERTS', successes: undefined };
}

describe('destinationsOf', () => {
  it('gives the same channels as a naive implementation', () => {
    fc.assert(
      fc.property(
        rules,
        events,
        fc.constantFrom(...places),
        maybe(['CDONE', 'C0']),
        (rules, event, account, successes) => {
          const plan = { rules, ...account, failures: 'CALERTS', successes };
          const told = destinationsOf(plan, event).map(({ channel }) => channel);
          expect(told).toEqual(naiveChannels(plan, event));
        },
      ),
      { numRuns: runs },
    );
  });

  it('names a channel once, with the first rule that has it', () => {
    const told = destinationsOf(
      plan(rule({ name: 'a', continues: true }), rule({ name: 'b', channels: ['CRULE', 'CB'] })),
      failure,
    );
    expect(told.map(({ channel, rule }) => [channel, rule?.name])).toEqual([
      ['CRULE', 'a'],
      ['CB', 'b'],
    ]);
  });

  it('still names a channel by a later rule if a mute of one rule keeps the event from it', () => {
    const both = plan(rule({ name: 'a', continues: true }), rule({ name: 'b' }));
    const told = destinationsOf(both, failure, (to) => to.rule?.name !== 'a');
    expect(told.map(({ channel, rule }) => [channel, rule?.name])).toEqual([['CRULE', 'b']]);
  });
});

describe('routesOf', () => {
  const [channel, other] = ['CRULE', 'COTHER'];
  const mute = { id: 'V1', channel, match: {}, why: '', by: 'U1', fromMs: 10, untilMs: 20, isOver: false };
  const both = plan(rule({ name: 'a', channels: [channel, other] }));

  it.each([
    ['received before it began', {}, { receivedAtMs: 9, nowMs: 15 }, false],
    ['received meanwhile', {}, { receivedAtMs: 10, nowMs: 19 }, true],
    ['routed after its end', {}, { receivedAtMs: 15, nowMs: 20 }, false],
    ['of another rule', { rule: 'b' }, { receivedAtMs: 15, nowMs: 15 }, false],
    ['of another reason', { match: { reasonPart: 'funds' } }, { receivedAtMs: 15, nowMs: 15 }, false],
  ])('applies a mute correctly to an event %s', (_what, of, times, isKept) => {
    const { routed, keptBy } = routesOf([{ ...mute, ...of }], { event: failure, plan: both, ...times });
    expect(routed.map((to) => to.channel)).toEqual(isKept ? [other] : [channel, other]);
    expect(keptBy).toEqual(isKept ? ['V1'] : undefined);
  });
});

describe('needsLookUp', () => {
  it('is false only if no look-up can change the event’s channels', () => {
    let open = 0;
    fc.assert(
      fc.property(rules, events, events, (rules, event, other) => {
        const plan: RoutePlan = {
          rules,
          environment: 'live',
          account: 'main',
          failures: 'CALERTS',
          successes: 'CDONE',
        };
        if (needsLookUp(plan, event)) {
          open += 1;
          return;
        }
        const { currency, amountMinor, customerEmail, reason } = other;
        const told = { ...withoutUndefined({ currency, amountMinor, customerEmail, reason }), ...event };
        expect(destinationsOf(plan, told)).toEqual(destinationsOf(plan, event));
      }),
      { numRuns: runs },
    );
    expect(open).toBeGreaterThan(runs / 60);
    expect(open).toBeLessThan((runs * 2) / 3);
  });
});

describe('a rule’s reason', () => {
  const shownAccount = { environment: 'live', account: 'Main shop' } as const;
  const failed = { kind: 'payment_failed', key: 'k' } as const;

  it.each([
    'INSUFFICIENT  FUNDS',
    'Declined: insufficient\n funds',
    'insufficient\u00a0funds',
    'Insuffi\u200bcient funds',
  ])('matches in any case and with any spaces: %j', (reason) =>
    expect(fits({ reasonPart: 'insufficient funds' }, { ...failed, reason }, shownAccount)).toBe(true),
  );
});

describe('withLookUp', () => {
  const event: PaymentEvent = { kind: 'payment_failed', key: 'k', orderReference: 'SUB-1', currency: 'NGN' };
  const reference = 'SUB-1' as OrderReference;
  const transaction = {
    status: 'FAILED',
    orderReference: 'SUB-1',
    amountMinor: 500,
    currency: 'NGN',
    customerEmail: 'ada@example.com',
    gatewayMessage: 'Insufficient funds',
  };

  const { currency: _silent, ...silent } = event;
  const untaken = { amountMinor: 0, orderAmountMinor: 700, orderCurrency: 'NGN' };
  const rest = { customerEmail: 'ada@example.com', reason: 'Insufficient funds' };
  it.each<[string, PaymentEvent, object, object]>([
    ['adds fields that the event lacks', event, {}, { amountMinor: 500 }],
    [
      'replaces no field of the event',
      { ...event, reason: 'Lost' },
      {},
      { amountMinor: 500, reason: 'Lost' },
    ],
    [
      'takes the amount that a failed charge should have taken',
      silent,
      untaken,
      { amountMinor: 700, currency: 'NGN' },
    ],
    [
      'takes the amount that a payment took',
      { ...silent, kind: 'payment_success' },
      untaken,
      { amountMinor: 0, currency: 'NGN' },
    ],
    ['adds no amount of another currency', { ...event, currency: 'USD' }, {}, {}],
    [
      'writes the record’s currency in capitals',
      silent,
      { currency: 'ngn' },
      { amountMinor: 500, currency: 'NGN' },
    ],
  ])('%s', (_what, told, record, found) => {
    const lookup = confirm({ reference }, { ...transaction, ...record });
    expect(withLookUp(told, lookup)).toEqual({ ...rest, ...told, ...found });
  });

  it('adds nothing from another order’s record, or without one', () => {
    const other = { ...transaction, orderReference: 'SUB-2' };
    expect(withLookUp(event, confirm({ reference }, other))).toEqual(event);
    expect(withLookUp(event, { kind: 'not_found' })).toEqual(event);
    expect(withLookUp(event, { kind: 'unchecked', failure: 'timeout' })).toEqual(event);
  });
});

describe('quiet hours', () => {
  const night = { fromMinute: 22 * 60, toMinute: 6 * 60, timeZone: 'Africa/Lagos' };
  // Lagos is an hour ahead of UTC the whole year.
  it.each([
    ['2026-11-21T20:59Z', false],
    ['2026-11-21T21:00Z', true],
    ['2026-11-22T00:00Z', true],
    ['2026-11-22T04:59Z', true],
    ['2026-11-22T05:00Z', false],
  ])('may span midnight: at %s it is quiet: %s', (time, holds) => {
    expect(isQuiet(night, Date.parse(time))).toBe(holds);
  });

  it.each([
    // London: clocks go forward on 29 March 2026 at 01:00 UTC and back on 25 October at 01:00 UTC.
    ['2026-03-28T06:30Z', true],
    ['2026-03-29T06:30Z', false],
    ['2026-10-24T06:30Z', false],
    ['2026-10-25T06:30Z', true],
    // 01:30 does not exist on that day.
    ['2026-03-29T01:00Z', true],
  ])('follow summer time: at %s it is quiet: %s', (time, holds) => {
    const long = { fromMinute: 22 * 60, toMinute: 7 * 60, timeZone: 'Europe/London' };
    expect(isQuiet(long, Date.parse(time))).toBe(holds);
  });

  it.each([
    ['2026-11-21T20:59:30Z', '2026-11-21T20:59:30Z'],
    ['2026-11-21T21:00:30Z', '2026-11-22T05:00:00Z'],
    ['2026-11-22T04:59:59Z', '2026-11-22T05:00:00Z'],
    ['2026-11-22T05:00:00Z', '2026-11-22T05:00:00Z'],
  ])('are over for %s at %s', (time, end) => {
    expect(quietEnd(night, Date.parse(time))).toBe(Date.parse(end));
  });

  it('remove only the mention', () => {
    const rule: AlertRule = {
      name: 'big-ones',
      match: {},
      channels: ['C'],
      continues: false,
      severity: 'high',
      mention: { kind: 'group', id: 'S1' },
      quietHours: night,
    };
    const called = { rule: 'big-ones', severity: 'high', mention: { kind: 'group', id: 'S1' } };
    const { mention: _, ...calm } = called;
    expect(routeAt(rule, Date.parse('2026-11-21T12:00Z'), true)).toEqual(called);
    expect(routeAt(rule, Date.parse('2026-11-21T23:00Z'), true)).toEqual(calm);
    // A message that replaces a deleted one mentions nobody either.
    expect(routeAt(rule, Date.parse('2026-11-21T12:00Z'), false)).toEqual(calm);
  });
});
