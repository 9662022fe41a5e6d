import { describe, expect, it } from 'vitest';
import type { ChargeSeen } from '../../../src/domain/charge-seen.ts';
import { otpModalId } from '../../../src/slack/charge/otp-modal.ts';
import { chargeStateModal } from '../../../src/slack/charge/state-modal.ts';
import {
  agent,
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
import { buttons, page } from './shown.ts';

function shown(charge: ChargeSeen) {
  return chargeStateModal(charge, live, { nowMs, viewerId: agent });
}

function actionsOf(charge: ChargeSeen): string[] {
  return buttons(shown(charge)).map(({ actionId }) => actionId);
}

function words(charge: ChargeSeen): string {
  return page(shown(charge)).join('\n');
}

describe('chargeStateModal', () => {
  it('is the field for the code while one is wanted', () => {
    expect(shown(waiting()).callback_id).toBe(otpModalId);
    expect(shown(waiting(2, { state: { kind: 'otp_checking' } })).submit).toBeUndefined();
  });

  it('proves an approval by the three parts of the rule, with the values', () => {
    expect(page(shown(concluded('approved'))).slice(1, 6)).toEqual([
      '✅ Paid (confirmed) · NGN 12,500.00 · a***@example.com · pay-mfrggzdfmztwq2lknnwg23tpob',
      '✓ Status is SUCCESS',
      '✓ Reference is this charge’s, pay-mfrggzdfmztwq2lknnwg23tpob',
      '✓ Amount is this charge’s, NGN 12,500.00',
      'The look-up proves it. Give value once for this reference.',
    ]);
  });

  it('tells approved but unproven from doubt, and lets both be looked up now', () => {
    expect(page(shown(inDoubt({ heard: ['paid'] })))[1]).toMatch(/^🕓 Approved, confirming · /);
    expect(page(shown(inDoubt({ heard: ['declined'] })))[1]).toMatch(/^❔ In doubt, checking · /);
    expect(words(inDoubt())).toContain('Do not charge again');
    expect(actionsOf(inDoubt())).toEqual(['charge_check']);
    expect(actionsOf(inDoubt({ heard: ['paid'] }))).toEqual(['charge_check']);
  });

  it('offers nothing to press while the bank is asked, and after an approval', () => {
    expect(actionsOf(seen())).toEqual([]);
    expect(actionsOf(waiting(1, { state: { kind: 'otp_checking' } }))).toEqual([]);
    expect(actionsOf(concluded('approved'))).toEqual([]);
  });

  it('quotes the bank on a decline, and says when it gave no reason', () => {
    const lines = page(
      shown(concluded('declined', { bankWords: 'earlier words' }, { why: 'Insufficient Funds' })),
    );
    expect(lines.slice(2, 4)).toEqual(['The bank says:', '| Insufficient Funds']);
    expect(words(concluded('declined', {}, { why: '\u200B' }))).toContain('The bank gave no reason.');
  });

  it('says of each decline when the card may be tried again, in words of its own', () => {
    const all = verdicts.map((nextTry) => words(concluded('declined', { nextTry })));
    expect(new Set(all).size).toBe(verdicts.length);
    expect(
      words(concluded('declined', { nextTry: { kind: 'resting', nextTryFrom: nowMs, attemptsLeft: 1 } })),
    ).toContain('Card on hold until: 2026-09-14 13:37 UTC; 1 attempt left.');
  });

  it.each([
    [
      'Insufficient funds',
      'Next: Try again from 2026-09-15 13:37 UTC, or use another card. 2 attempts left.',
    ],
    ['Expired card', 'Next: Ask the customer for another card.'],
    ['Suspected fraud', 'Next: Don’t try again. The customer should ask their bank.'],
    ['Error 05', 'Card on hold until: 2026-09-15 13:37 UTC; 2 attempts left.'],
  ])('says for %j what helps, as the alert does', (bankWords, next) => {
    const nextTry = verdicts.find(({ kind }) => kind === 'resting')!;
    expect(page(shown(concluded('declined', { nextTry, bankWords })))).toContain(next);
  });

  it('offers another card where another card helps, and nothing where nobody should try again', () => {
    const nextTry = verdicts.find(({ kind }) => kind === 'allowed')!;
    const offered = ['Expired card', 'Suspected fraud'].map((bankWords) =>
      buttons(shown(concluded('declined', { nextTry, bankWords }))).map(({ text }) => text),
    );
    expect(offered).toEqual([['Choose another card'], []]);
  });

  it('offers a new charge after a decline only when the card may be charged, and the link only for 3-D Secure', () => {
    const offered = verdicts.map((nextTry) => [
      nextTry.kind,
      ...actionsOf(concluded('declined', { nextTry })),
    ]);
    expect(offered).toEqual([
      ['allowed', 'charge_another'],
      ['resting'],
      ['under_way'],
      ['stopped'],
      ['save_again', 'charge_link'],
    ]);
  });

  it('shows a payment link to copy once there is one', () => {
    const link = 'https://pay.example/c/1';
    expect(
      page(shown(concluded('declined', { nextTry: { kind: 'save_again' }, savingLink: link }))),
    ).toContain(link);
  });

  it('gives each rejection its own words and fix, with the service’s words quoted', () => {
    const all = reasons.map((reason) => words(concluded('rejected', {}, { reason })));
    expect(new Set(all).size).toBe(reasons.length);
    expect(words(concluded('rejected', {}, { reason: 'other', why: 'Odd request' }))).toContain(
      'The service’s own words:\n| Odd request',
    );
    expect(words(concluded('rejected', {}, { reason: 'email_mismatch' }))).toContain('/pay card-email');
    expect(words(concluded('rejected', {}, { reason: 'card_not_supported' }))).toContain(
      'ask the payments service to enable card payments',
    );
  });

  it('offers another try only where another try can help', () => {
    const helps = reasons.filter((reason) => actionsOf(concluded('rejected', {}, { reason })).length > 0);
    expect(helps).toEqual([
      'invalid_token',
      'email_mismatch',
      'email_invalid',
      'rate_limited',
      'invalid_request',
      'other',
    ]);
    const [button] = buttons(shown(concluded('rejected', {}, { reason: 'invalid_token' })));
    expect(button).toMatchObject({ text: 'Choose another card', actionId: 'charge_another' });
  });

  it('leads from a rejected e-mail, and from nothing else, to the change of the linked one', () => {
    const leads = reasons.filter((reason) =>
      actionsOf(concluded('rejected', {}, { reason })).includes('card_email_for'),
    );
    expect(leads).toEqual(['email_mismatch']);
  });

  it('lets what was never sent, what expired and wrong codes be charged again', () => {
    expect(actionsOf(concluded('abandoned'))).toEqual(['charge_another']);
    expect(actionsOf(concluded('expired'))).toEqual(['charge_another']);
    expect(actionsOf(concluded('wrong_codes'))).toEqual(['charge_another']);
    expect(words(concluded('expired'))).toContain('An answer was lost; the service shows no payment.');
  });

  it('says of three wrong codes that no money moved, and until when the bank may list it', () => {
    const otp = { until: nowMs + 13 * minuteMs, triesLeft: 0 };
    for (const charge of [inDoubt({ otp }), concluded('wrong_codes', { otp })]) {
      expect(page(shown(charge))[1]).toMatch(/^🚫 Code wrong three times · /);
      expect(words(charge)).not.toMatch(/money may have moved|Do not charge again/i);
    }
    expect(words(concluded('wrong_codes', { otp }))).toContain(
      'No money moved. The bank may list it as pending until 2026-09-14 13:50 UTC.',
    );
  });

  it('is a doubt after three codes of which one had no answer', () => {
    const otp = { until: nowMs + 13 * minuteMs, triesLeft: 0, answerLost: true };
    expect(page(shown(inDoubt({ otp })))[1]).toMatch(/^❔ In doubt, checking · /);
    expect(words(inDoubt({ otp }))).toContain('money may have moved');
  });

  it('has at most 45 words for doubt, wrong codes and an expired charge', () => {
    const otp = { until: nowMs + 13 * minuteMs, triesLeft: 0 };
    const charges = [inDoubt(), concluded('expired'), concluded('wrong_codes', { otp })];
    for (const charge of charges) {
      const said = words(charge)
        .split(/\s+/)
        .filter((part) => /[\p{L}\p{N}]/u.test(part));
      expect(said.length).toBeLessThanOrEqual(45);
    }
  });

  it('is loud about a review: what not to do, and why', () => {
    const review = words(concluded('review', {}, { why: 'Amount NGN 1.00 differs' }));
    expect(review).toContain('Why:\n| Amount NGN 1.00 differs');
    expect(review).toContain('Do not charge again, and give no value');
  });

  it('begins a correction with what no longer holds', () => {
    expect(page(shown(concluded('approved', { corrects: 'abandoned' })))[2]).toBe(
      'Correction: earlier you were told “Not sent”. That no longer holds.',
    );
    expect(words(concluded('declined', { corrects: 'declined' }))).not.toContain('Correction');
    expect(words(inDoubt({ corrects: 'declined' }))).not.toContain('Correction');
  });
});
