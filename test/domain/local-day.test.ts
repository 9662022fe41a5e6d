import { describe, expect, it } from 'vitest';
import { dayNamed, localDays } from '../../src/domain/local-day.ts';

const at = (iso: string): number => Date.parse(iso);
const hourMs = 3_600_000;

describe('a local day', () => {
  it.each([
    ['UTC', '2026-11-21T00:00:00.000Z', '2026-11-21', '2026-11-22T00:00:00.000Z'],
    ['UTC', '2026-11-21T23:59:59.999Z', '2026-11-21', '2026-11-22T00:00:00.000Z'],
    ['Africa/Lagos', '2026-11-21T22:59:59.999Z', '2026-11-21', '2026-11-21T23:00:00.000Z'],
    ['Africa/Lagos', '2026-11-21T23:00:00.000Z', '2026-11-22', '2026-11-22T23:00:00.000Z'],
    ['Asia/Kathmandu', '2026-11-21T18:14:59.999Z', '2026-11-21', '2026-11-21T18:15:00.000Z'],
    ['Pacific/Kiritimati', '2026-12-31T12:00:00.000Z', '2027-01-01', '2027-01-01T10:00:00.000Z'],
    // Summer time begins: 23 hours; ends: 25.
    ['Europe/Berlin', '2026-03-28T23:00:00.000Z', '2026-03-29', '2026-03-29T22:00:00.000Z'],
    ['Europe/Berlin', '2026-10-24T22:00:00.000Z', '2026-10-25', '2026-10-25T23:00:00.000Z'],
    // The clocks change at midnight: the next day begins at 01:00, or this one has 23:00 twice.
    ['Africa/Cairo', '2026-04-23T12:00:00.000Z', '2026-04-23', '2026-04-23T22:00:00.000Z'],
    ['Africa/Cairo', '2026-10-29T20:30:00.000Z', '2026-10-29', '2026-10-29T22:00:00.000Z'],
    // Samoa skipped 30 December 2011.
    ['Pacific/Apia', '2011-12-30T09:00:00.000Z', '2011-12-29', '2011-12-30T10:00:00.000Z'],
    ['UTC', '2024-02-28T12:00:00.000Z', '2024-02-28', '2024-02-29T00:00:00.000Z'],
  ])('of %s at %s is %s and ends at %s', (timeZone, moment, date, ends) => {
    const day = localDays(timeZone)(at(moment));
    expect({ date: day.date, ends: new Date(day.endsAtMs).toISOString() }).toEqual({ date, ends });
  });

  it.each([
    'UTC',
    'Africa/Lagos',
    'Europe/Berlin',
    'Africa/Cairo',
    'Australia/Lord_Howe',
    'America/St_Johns',
  ])(
    'of %s follows the one before it without a gap, all through a year and asked in any order',
    (timeZone) => {
      const dayOf = localDays(timeZone);
      const dates: string[] = [];
      let day = dayOf(at('2026-01-01T12:00:00Z'));
      while (dates.length < 366) {
        dates.push(day.date);
        const first = dayOf(day.endsAtMs);
        expect(dayOf(day.endsAtMs - 1)).toEqual(day);
        const hours = (first.endsAtMs - day.endsAtMs) / hourMs;
        expect(hours).toBeGreaterThanOrEqual(23);
        expect(hours).toBeLessThanOrEqual(25);
        day = first;
      }
      expect(new Set(dates).size).toBe(366);
      expect(dates.toSorted()).toEqual(dates);
    },
  );
});

describe('a day by its date', () => {
  it.each([
    ['UTC', '2026-11-20', '2026-11-20T00:00:00.000Z', '2026-11-21T00:00:00.000Z'],
    ['Africa/Lagos', '2026-11-20', '2026-11-19T23:00:00.000Z', '2026-11-20T23:00:00.000Z'],
    ['Europe/Berlin', '2026-03-29', '2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z'],
    ['Africa/Cairo', '2026-10-29', '2026-10-28T21:00:00.000Z', '2026-10-29T22:00:00.000Z'],
  ])('in %s, %s goes from %s to %s', (timeZone, date, from, until) => {
    const { fromMs, untilMs } = dayNamed(timeZone, date) ?? { fromMs: 0, untilMs: 0 };
    expect([fromMs, untilMs].map((ms) => new Date(ms).toISOString())).toEqual([from, until]);
  });

  it.each(['2026-02-30', '2026-13-01', '2026-1-1', 'today', '', '9999-01-01'])(
    'does not exist: %s',
    (date) => {
      expect(dayNamed('UTC', date)).toBeUndefined();
    },
  );
});
