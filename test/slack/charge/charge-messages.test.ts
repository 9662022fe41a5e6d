import { describe, expect, it } from 'vitest';
import type { ChargeSeen } from '../../../src/domain/charge-seen.ts';
import type { Told } from '../../../src/domain/charge-state.ts';
import { chargeDirectMessage } from '../../../src/slack/charge/charge-direct-message.ts';
import { chargeMessage } from '../../../src/slack/charge/charge-message.ts';
import { chargeNoteMessage } from '../../../src/slack/charge/charge-note-message.ts';
import type { SlackMessage } from '../../../src/slack/message.ts';
import {
  agent,
  colleague,
  concluded,
  inDoubt,
  live,
  minuteMs,
  nowMs,
  reasons,
  seen,
  verdicts,
  waiting,
} from './seen-charges.ts';
import { buttons, lines } from './shown.ts';

const about = { key: 'k', mayBeRepeat: false, isFirst: false };

function actionsOf(message: SlackMessage): string[] {
  return buttons(message).map(({ actionId }) => actionId);
}

function directActions(charge: ChargeSeen, what: Told): string[] {
  return actionsOf(chargeDirectMessage(what, charge, live, about));
}

function desk(charge: ChargeSeen): SlackMessage {
  return chargeMessage(charge, live, { key: 'k', mayBeRepeat: false, isFirst: false });
}

describe('chargeMessage', () => {
  it('shows state, amount, masked customer and reference, then who and what', () => {
    expect(lines(desk(waiting(2)))).toEqual([
      '🔑 Needs OTP · NGN 12,500.00 · a***@example.com · pay-mfrggzdfmztwq2lknnwg23tpob',
      'Card  Visa ·· 4242',
      'Customer id  CUST-7',
      'Reason  September rent',
      'Agent  @U0AGENT01',
      'Code  2 of 3 tries left · until 2026-09-14 13:50 UTC',
      '[Enter code]',
      'LIVE · Lagos ~ started <!date^1789392900^{date_short_pretty} {time}|2026-09-14 13:35 UTC>',
    ]);
    expect(desk(waiting()).metadata).toEqual({ event_type: 'payops_charge', event_payload: { key: 'k' } });
  });

  it('has the buttons of its state', () => {
    expect(actionsOf(desk(seen()))).toEqual([]);
    expect(actionsOf(desk(waiting()))).toEqual(['otp_enter']);
    expect(actionsOf(desk(inDoubt()))).toEqual(['charge_check']);
    expect(actionsOf(desk(concluded('review')))).toEqual(['charge_check']);
    for (const kind of ['approved', 'abandoned', 'expired'] as const)
      expect(actionsOf(desk(concluded(kind)))).toEqual([]);
    for (const reason of reasons) expect(actionsOf(desk(concluded('rejected', {}, { reason })))).toEqual([]);
    const declined = verdicts.map((nextTry) => actionsOf(desk(concluded('declined', { nextTry }))).join());
    expect(declined).toEqual(['', '', '', '', 'charge_link']);
  });

  it('loses its details once it is settled, and keeps who and when the next try may be', () => {
    const nextTry = { kind: 'resting', nextTryFrom: nowMs, attemptsLeft: 2 } as const;
    expect(lines(desk(concluded('declined', { nextTry, bankWords: 'No money' })))).toEqual([
      '❌ Declined by the bank · NGN 12,500.00 · a***@example.com · pay-mfrggzdfmztwq2lknnwg23tpob',
      'Agent  @U0AGENT01',
      'Card  on hold until 2026-09-14 13:37 UTC, 2 attempts left',
      'LIVE · Lagos ~ concluded <!date^1789392960^{date_short_pretty} {time}|2026-09-14 13:36 UTC>',
    ]);
    expect(lines(desk(concluded('review'))).join('\n')).toContain('Reason  September rent');
  });

  it.each([
    [concluded('approved'), 'Status is SUCCESS'],
    [concluded('declined', { bankWords: 'Insufficient Funds' }), 'Insufficient Funds'],
    [concluded('rejected', {}, { reason: 'invalid_token', why: 'Token unknown' }), 'Token unknown'],
    [concluded('abandoned'), 'it knows no such reference'],
    [concluded('expired'), 'the service shows no payment'],
    [concluded('wrong_codes'), 'check the customer’s phone'],
  ] as const)('says once it is settled why it ended so in the thread, and there alone', (charge, why) => {
    const what = charge.state.kind as Told;
    const note = chargeNoteMessage({ kind: 'told', what, at: nowMs }, charge, live, about);
    expect(lines(note).join('\n')).toContain(why);
    expect(lines(desk(charge)).join('\n')).not.toContain(why);
  });

  it('mentions nobody in the version that is posted as they click', () => {
    const about = { key: 'k', mayBeRepeat: false };
    for (const charge of [seen(), waiting(), inDoubt()]) {
      expect(JSON.stringify(chargeMessage(charge, live, { ...about, isFirst: true }))).not.toContain(agent);
      expect(JSON.stringify(chargeMessage(charge, live, { ...about, isFirst: false }))).toContain(agent);
    }
  });

  it('is the same message for every look-up that found nothing new', () => {
    const first = inDoubt({ dueAt: nowMs });
    const later = { ...first, at: nowMs + minuteMs, dueAt: nowMs + 9 * minuteMs };
    expect(desk(later)).toEqual(desk(first));
  });
});

describe('chargeNoteMessage', () => {
  it('tells an outcome in full while the charge has it, with the bank’s words', () => {
    const declined = concluded('declined', { bankWords: 'Insufficient Funds' });
    const note = lines(
      chargeNoteMessage({ kind: 'told', what: 'declined', at: nowMs }, declined, live, about),
    );
    expect(note.slice(1, 3)).toEqual(['The bank says:', '| Insufficient Funds']);
  });

  it('tells one that is over by its word alone', () => {
    const note = lines(
      chargeNoteMessage({ kind: 'told', what: 'otp', at: nowMs }, concluded('approved'), live, about),
    );
    expect(note).toEqual([
      '🔑 Needs OTP · NGN 12,500.00 · a***@example.com · pay-mfrggzdfmztwq2lknnwg23tpob',
      'LIVE · Lagos ~ noted <!date^1789393020^{date_short_pretty} {time}|2026-09-14 13:37 UTC>',
    ]);
  });

  it('names the agent who lost it, not the one who has just clicked', () => {
    const note = { kind: 'handed_over', from: agent, to: colleague, at: nowMs } as const;
    const message = JSON.stringify(chargeNoteMessage(note, waiting(), live, about));
    expect(message).toContain(agent);
    expect(message).not.toContain(colleague);
    const resent = { kind: 'resent', by: colleague, answer: 'resent', at: nowMs } as const;
    expect(JSON.stringify(chargeNoteMessage(resent, waiting(), live, about))).not.toContain(colleague);
  });

  it('keeps where the bank sent the code out of the channel', () => {
    const note = { kind: 'told', what: 'otp', at: nowMs } as const;
    expect(JSON.stringify(chargeNoteMessage(note, waiting(), live, about))).not.toContain('0803');
  });

  it('has no buttons: those stand above', () => {
    const note = { kind: 'told', what: 'otp', at: nowMs } as const;
    expect(actionsOf(chargeNoteMessage(note, waiting(), live, about))).toEqual([]);
  });

  it('says when it may be a repeat, and only then', () => {
    const note = { kind: 'told', what: 'otp', at: nowMs } as const;
    const told = (mayBeRepeat: boolean) =>
      lines(chargeNoteMessage(note, waiting(), live, { key: 'k', mayBeRepeat })).join('\n');
    expect(told(true)).toContain('May be a repeat');
    expect(told(false)).not.toContain('May be a repeat');
  });
});

describe('chargeDirectMessage', () => {
  it('asks for the code with a button while one is wanted', () => {
    const message = chargeDirectMessage('otp', waiting(), live, about);
    expect(actionsOf(message)).toEqual(['otp_enter']);
    expect(lines(message).join('\n')).toContain('| Enter the code sent to 0803***7788');
  });

  it('names who has it in hand once it was handed over, and before that mentions nobody', () => {
    const handOvers = [{ at: nowMs, from: agent, to: colleague }];
    const handed = waiting(3, { agent: colleague, handOvers });
    expect(lines(chargeDirectMessage('otp', handed, live, about)).join('\n')).toContain(
      `Agent: @${colleague}`,
    );
    expect(JSON.stringify(chargeDirectMessage('otp', waiting(), live, about))).not.toContain('"user"');
  });

  it('says what the charge has become, without a button, once no code is wanted any more', () => {
    for (const charge of [inDoubt(), concluded('approved'), concluded('expired'), concluded('review')]) {
      const message = chargeDirectMessage('otp', charge, live, about);
      expect(actionsOf(message)).toEqual([]);
      expect(message.text).not.toContain('Needs OTP');
    }
  });

  it('brings what helps next, because the modal may be closed', () => {
    expect(directActions(concluded('declined', { nextTry: { kind: 'save_again' } }), 'declined')).toEqual([
      'charge_link',
    ]);
    expect(directActions(concluded('rejected', {}, { reason: 'invalid_token' }), 'rejected')).toEqual([
      'charge_another',
    ]);
    expect(directActions(concluded('review'), 'review')).toEqual(['charge_check']);
    expect(directActions(concluded('approved'), 'approved')).toEqual([]);
  });

  it('begins a correction with what no longer holds', () => {
    const message = chargeDirectMessage(
      'approved',
      concluded('approved', { corrects: 'declined' }),
      live,
      about,
    );
    expect(lines(message)[1]).toBe(
      'Correction: earlier you were told “Declined by the bank”. That no longer holds.',
    );
  });
});
