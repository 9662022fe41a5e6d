import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChargeSeen } from '../../../src/domain/charge-seen.ts';
import { otpModal, readOtpModal } from '../../../src/slack/charge/otp-modal.ts';
import { agent, colleague, live, minuteMs, nowMs, sandbox, waiting } from './seen-charges.ts';
import { buttons, inputIds, page } from './shown.ts';

function forAgent(charge: ChargeSeen, place = live) {
  return otpModal(charge, place, { nowMs, viewerId: agent });
}

function forColleague(charge: ChargeSeen, place = live) {
  return otpModal(charge, place, { nowMs, viewerId: colleague });
}

/** What is said of so much time. */
function left(ms: number): string | undefined {
  const lines = page(forAgent(waiting(3, { otp: { until: nowMs + ms, triesLeft: 3 } })));
  return lines[2]?.replace(/^.* \((.*)\)$/, '$1');
}

/** What the agent's modal gives when this is typed into it. */
function typed(code: string, charge = waiting()) {
  const view = forAgent(charge);
  const [field = ''] = inputIds(view);
  return {
    field,
    read: readOtpModal({ values: { [field]: code }, privateMetadata: view.private_metadata ?? '' }),
  };
}

describe('otpModal for the agent', () => {
  it('has the field, what is left, whose words the bank’s are, and Resend with what it does not give', () => {
    expect(page(forAgent(waiting(3)))).toEqual([
      '# Enter the code · LIVE',
      '🔑 Needs OTP · NGN 12,500.00 · a***@example.com · pay-mfrggzdfmztwq2lknnwg23tpob',
      '3 of 3 tries left · until 2026-09-14 13:50 UTC (13 minutes left)',
      'The bank says:',
      '| Enter the code sent to 0803***7788',
      '_ Code from the bank',
      'Only while you talk to the customer. Never ask for a code in a message.',
      '[Resend code (no extra time)]',
      'Card  Visa ·· 4242',
      'Customer id  CUST-7',
      'Reason  September rent',
      'LIVE: real money moves. Account: Lagos',
      '<Send code to the bank>',
    ]);
  });

  it('says first that a code was not accepted, in the bank’s words if it had any', () => {
    const refused = waiting(2, { bankWords: 'Incorrect OTP' });
    expect(page(forAgent(refused))[1]).toBe('⚠️ Wrong code. The bank says: “Incorrect OTP”. 2 tries left.');
    expect(page(forAgent(waiting(1, { bankWords: ' ' })))[1]).toBe('⚠️ Wrong code. 1 try left.');
    expect(page(forAgent(waiting(3))).join('\n')).not.toContain('not accepted');
  });

  it('says that no answer came to a code, and does not call it refused', () => {
    const otp = { until: nowMs + 600_000, triesLeft: 2, lastCode: 'unanswered' as const };
    const lines = page(forAgent(waiting(2, { otp })));
    expect(lines[1]).toContain('No answer came to the last code');
    expect(lines.join('\n')).not.toContain('not accepted');
  });

  it('has another field for each try, so that a refused code is not found in it again', () => {
    const ids = [3, 2, 1].map((tries) => inputIds(forAgent(waiting(tries)))[0]);
    expect(new Set(ids).size).toBe(3);
  });

  it('takes no code in the last seconds, without tries, or when nothing is known of the question', () => {
    const closing = waiting(2, { otp: { until: nowMs + 4_000, triesLeft: 2 } });
    const { otp: _otp, ...unknown } = waiting();
    for (const charge of [closing, waiting(0), unknown]) {
      const view = forAgent(charge);
      expect(inputIds(view)).toEqual([]);
      expect(view.submit).toBeUndefined();
      expect(buttons(view)).toEqual([]);
      expect(page(view).join('\n')).toContain('No code can be entered any more');
    }
  });

  it('offers no other code in the sandbox, which has none', () => {
    expect(buttons(forAgent(waiting(), sandbox))).toEqual([]);
    expect(page(forAgent(waiting(), sandbox)).join('\n')).toContain('The sandbox can’t send another code.');
  });

  it('says what the last wish for another code gave', () => {
    const at = nowMs - minuteMs;
    const asked = (answer?: 'resent' | 'refused' | 'not_made' | 'unknown' | 'too_late') =>
      page(forAgent(waiting(3, { resends: [{ at, by: agent, ...(answer && { answer }) }] }))).find((line) =>
        line.startsWith('Another code: '),
      );
    const all = [
      asked(),
      asked('resent'),
      asked('refused'),
      asked('not_made'),
      asked('unknown'),
      asked('too_late'),
    ];
    expect(all).not.toContain(undefined);
    expect(new Set(all).size).toBe(all.length);
  });

  it('tells the time left in whole minutes', () => {
    expect([left(90_000), left(120_000), left(30_000), left(-1)]).toEqual([
      '1 minute left',
      '2 minutes left',
      'less than a minute left',
      'time is up',
    ]);
  });
});

it.each(['Payment exceeded the time allowed', 'TOO MANY OTP ATTEMPTS', 'The session timed out'])(
  'counts no tries as left where the bank says: %s',
  (bankWords) => {
    const otp = { until: nowMs + 600_000, triesLeft: 2, lastCode: 'refused' as const };
    const told = page(forAgent(waiting(2, { otp, bankWords }))).join('\n');
    expect(told).toContain(bankWords);
    expect(told).not.toMatch(/tr(?:y|ies) left|of 3/);
  },
);

describe('otpModal for anybody else', () => {
  it('has no field, and says who has it in hand since when', () => {
    const handed = waiting(3, { agent, handOvers: [{ at: nowMs - minuteMs, from: colleague, to: agent }] });
    const view = forColleague(handed);
    expect(inputIds(view)).toEqual([]);
    expect(view.submit).toBeUndefined();
    expect(page(view)).toContain('Agent: @U0AGENT01, since 2026-09-14 13:36 UTC');
  });

  it('offers to take it over, and asks once more with amount and customer', () => {
    const view = forColleague(waiting());
    expect(buttons(view)).toEqual([
      { text: 'Take over', actionId: 'otp_take_over', value: waiting().reference, confirm: true },
    ]);
    expect(JSON.stringify(view)).toContain('the code of NGN 12,500.00, a***@example.com');
  });
});

describe('readOtpModal', () => {
  it('reads the code without blanks and hyphens', () => {
    for (const code of ['123456', ' 123 456 ', '123-456', '12–34‑56', '１２３４５６']) {
      expect(typed(code).read).toEqual({
        kind: 'read',
        reference: waiting().reference,
        code: '123456',
        triesLeft: 3,
      });
    }
    expect(typed('012345', waiting(1)).read).toMatchObject({ code: '012345', triesLeft: 1 });
  });

  it('refuses letters, too few and too many digits, and nothing, at the field', () => {
    const problems = ['12a456', '123', '12345678901', ' - '].map((code) => {
      const { field, read } = typed(code);
      return read.kind === 'errors' ? read.errors[field] : undefined;
    });
    expect(problems).toEqual([
      'A code is digits only. Type it as the customer reads it out.',
      'A code has 4 to 10 digits. Check it with the customer.',
      'A code has 4 to 10 digits. Check it with the customer.',
      'Type the code that the bank sent to the customer.',
    ]);
  });

  it('never repeats what was typed', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 30 }), (rest) => {
        const { read } = typed(`7391x${rest}`);
        expect(read.kind).toBe('errors');
        expect(JSON.stringify(read)).not.toContain('7391');
      }),
    );
  });

  it('says of a modal that is not ours that it is not', () => {
    for (const privateMetadata of ['', '{', '[]', '{}', '{"reference":""}', '{"reference":1,"field":"x"}']) {
      expect(readOtpModal({ values: { otp_code: '123456' }, privateMetadata })).toEqual({ kind: 'not_ours' });
    }
  });
});
