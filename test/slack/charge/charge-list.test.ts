import { describe, expect, it } from 'vitest';
import { doubtMessage, homeCharges, pendingCodesMessage } from '../../../src/slack/charge/charge-list.ts';
import { concluded, inDoubt, live, minuteMs, nowMs, seen, waiting } from './seen-charges.ts';
import { buttons, lines } from './shown.ts';

const twelve = Array.from({ length: 12 }, () => inDoubt());

describe('pendingCodesMessage', () => {
  it('lists each with what is left and its button', () => {
    const message = pendingCodesMessage([waiting(), waiting(1)], live, nowMs);
    expect(message.text).toBe('🔑 2 charges wait for a code from you');
    expect(lines(message)).toContain('1 of 3 tries left · until 2026-09-14 13:50 UTC (13 minutes left)');
    expect(buttons(message).map(({ actionId }) => actionId)).toEqual(['otp_enter', 'otp_enter']);
  });

  it('says that there is none, and what to do for a colleague’s', () => {
    const message = pendingCodesMessage([], live, nowMs);
    expect(message.text).toBe('No charge waits for a code from you');
    expect(lines(message).join('\n')).toContain('/pay otp <reference>');
  });
});

describe('doubtMessage', () => {
  it('says who, since when, what happens next and when', () => {
    expect(lines(doubtMessage({ charges: [inDoubt({ sends: 2 })], unread: [] }, live, nowMs))).toEqual([
      '❔ 1 charge without a known outcome',
      '❔ In doubt, checking · NGN 12,500.00 · a***@example.com · pay-mfrggzdfmztwq2lknnwg23tpob',
      'By: @U0AGENT01, since 2026-09-14 13:36 UTC, asked 2 times under the one reference',
      'Next: the bot checks by 2026-09-14 13:38 UTC. Do not charge again.',
      '[Check now]',
      'LIVE · Lagos ~ looked at <!date^1789393020^{date_short_pretty} {time}|2026-09-14 13:37 UTC>',
    ]);
  });

  it('never promises a time that is over', () => {
    const overdue = lines(
      doubtMessage({ charges: [inDoubt({ dueAt: nowMs - minuteMs })], unread: [] }, live, nowMs),
    );
    expect(overdue).toContain('Next: checking now. Do not charge again.');
  });

  it('says what a person must do about a review', () => {
    const shown = lines(doubtMessage({ charges: [concluded('review')], unread: [] }, live, nowMs)).join('\n');
    expect(shown).toContain('Do not charge again, and give no value');
    expect(shown).toContain('a person must look');
  });

  it('offers a look now only where one can be asked for', () => {
    const message = doubtMessage(
      { charges: [seen(), inDoubt(), concluded('review')], unread: [] },
      live,
      nowMs,
    );
    expect(buttons(message)).toHaveLength(2);
  });

  it('shows ten at most and says how many more', () => {
    const message = doubtMessage({ charges: twelve, unread: [] }, live, nowMs);
    expect(buttons(message)).toHaveLength(10);
    expect(message.text).toBe('❔ 12 charges without a known outcome');
    expect(lines(message).join('\n')).toContain('… and 2 more.');
  });

  it('says that there is none', () => {
    expect(doubtMessage({ charges: [], unread: [] }, live, nowMs).text).toBe('No charge is in doubt');
  });

  it('never says so while charges are there that cannot be opened', () => {
    const alone = doubtMessage({ charges: [], unread: ['pay-a', 'pay-b'] }, live, nowMs);
    expect(alone.text).toBe('❔ 2 charges cannot be opened');
    expect(lines(alone).join('\n')).toContain('pay-b');
    expect(lines(alone).join('\n')).toContain('do not charge them again');
    const beside = doubtMessage({ charges: [inDoubt()], unread: ['pay-a'] }, live, nowMs);
    expect(beside.text).toBe('❔ 1 charge without a known outcome');
    expect(lines(beside).join('\n')).toContain('Cannot be opened: pay-a');
  });
});

describe('homeCharges', () => {
  it('is nothing without charges', () => {
    expect(homeCharges('Yours', [], live, nowMs)).toEqual([]);
  });

  it('opens each charge, or its field for the code', () => {
    const blocks = homeCharges('Yours', [waiting(), inDoubt(), concluded('approved')], live, nowMs);
    expect(lines({ blocks })[0]).toBe('## Yours');
    expect(buttons({ blocks }).map(({ actionId }) => actionId)).toEqual([
      'otp_enter',
      'charge_show',
      'charge_check',
      'charge_show',
      'look_up_open',
    ]);
  });

  it('says when a declined card may be tried again', () => {
    const nextTry = { kind: 'resting', nextTryFrom: nowMs, attemptsLeft: 1 } as const;
    const blocks = homeCharges('Yours', [concluded('declined', { nextTry })], live, nowMs);
    expect(lines({ blocks })).toContain('Card: on hold until 2026-09-14 13:37 UTC, 1 attempt left');
  });

  it('shows ten at most', () => {
    const shown = lines({ blocks: homeCharges('Yours', twelve, live, nowMs) }).join('\n');
    expect(shown).toContain('… and 2 more.');
  });
});
