import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { rightOtp } from '../../src/simulators/payments/bank.ts';
import { charges, referenceIn, shareDesk } from '../support/desk.ts';

const minuteMs = 60_000;
const at = shareDesk({
  clock: true,
  // A token's lock and similar times end by the clock, which runs ten times as fast as connections.
  env: { PAYMENTS_TIMEOUT_SECONDS: '5' },
  payments: { knownCards: true },
});

beforeAll(() => at().settled());
// Each story has its own day.
beforeEach(() => at().house.later(25 * 60 * minuteMs));

const bola = '1127';
let amount = 0;

/** A charge that waits for a code. */
async function waitsForCode(): Promise<string> {
  amount += 1;
  const reference = await charges(at(), 'agent', { card: bola, amount: `${amount}00.00` });
  await at().modalSays('agent', ['🔑 Needs a code', '3 of 3 tries left']);
  return reference;
}

async function enters(code: string): Promise<void> {
  await at().submits('agent', { 'Code from the bank': code });
}

const phone = (reference: string) =>
  at()
    .house.payments.state()
    .orders.find(({ orderReference }) => orderReference === reference);

describe('the bank’s code', () => {
  it('is typed into the window, and the charge is Paid (confirmed)', async () => {
    const desk = at();
    const reference = await waitsForCode();
    expect(desk.modal('agent')?.shown.text).toContain(
      'Type it while the customer is on the phone. Never ask for it in writing.',
    );
    await enters('123-456');
    await desk.modalSays('agent', ['✅ Paid (confirmed)', reference]);
    await desk.sees('onCall', ['✅ Paid (confirmed)', reference], 'payDesk');
  });

  it('is reported in the desk’s message before its thread, where no outdated note follows', async () => {
    const desk = at();
    const reference = await waitsForCode();
    await enters(rightOtp);
    await desk.modalSays('agent', ['✅ Paid (confirmed)', reference]);
    const post = await desk.reads('lead', ['✅ Paid (confirmed)', reference], 'payDesk');
    await desk.reads('lead', ['✅ Paid (confirmed)', 'Deliver once'], post);
    const { payDesk } = desk.house.workspace.ids.channels;
    let state = '';
    const told = desk.house.slackGate.passed.flatMap(({ path, request }) => {
      const said = new URLSearchParams(request.split('\n').at(-1));
      const isOfDesk = said.get('channel') === payDesk && (said.get('text') ?? '').includes(reference);
      if (!isOfDesk || !/chat\.(postMessage|update)$/.test(path)) return [];
      const [shown = ''] = (said.get('text') ?? '').split(' · ');
      if (said.has('thread_ts')) return [{ note: shown, above: state }];
      state = shown;
      return [];
    });
    expect(told.length).toBeGreaterThan(0);
    for (const { note, above } of told) expect(note).toBe(above);
  });

  it('that is wrong uses a try, and its field is then empty', async () => {
    const desk = at();
    await waitsForCode();
    await enters('999999');
    const again = await desk.modalSays('agent', ['Wrong code', 'Bank: “Invalid OTP”', '2 of 3 tries left']);
    expect(JSON.stringify(again)).not.toContain('999999');
    await enters(rightOtp);
    await desk.modalSays('agent', 'Paid (confirmed)');
  });

  it('that is not a code is refused at its field without using a try', async () => {
    const desk = at();
    const reference = await waitsForCode();
    await enters('12-34-<b>');
    const field = 'Code from the bank';
    expect(desk.modal('agent')?.problems[field]).toBe(
      'A code has 4 to 10 letters or digits. Type it as the bank sent it.',
    );
    await enters('12-3-');
    expect(desk.modal('agent')?.problems[field]).toBeDefined();
    expect(phone(reference)?.otp?.triesLeft).toBe(3);
  });

  it('that is wrong three times ends the charge without money, and the card is free', async () => {
    const desk = at();
    const reference = await waitsForCode();
    for (const left of ['2 of 3 tries left', '1 of 3 tries left']) {
      await enters('000000');
      await desk.modalSays('agent', left);
    }
    await enters('000000');
    const over = await desk.modalSays('agent', [
      '🚫 Code wrong three times',
      'No money moved',
      'check the customer’s phone',
    ]);
    expect(referenceIn(over.shown.text)).toBe(reference);
    await desk.presses('agent', 'Charge again');
    await desk.modalSays('agent', 'You review it before anything is charged');
    expect((await desk.submits('agent'))?.submit).toContain('Charge again NGN');
    await desk.submits('agent');
    await desk.modalSays('agent', '3 of 3 tries left');
  });

  it('is resent with Resend code, which gives no more time and no more tries', async () => {
    const desk = at();
    const reference = await waitsForCode();
    const { until } = phone(reference)?.otp ?? {};
    await desk.presses('agent', 'Resend code (no extra time)');
    await desk.modalSays('agent', 'Another code: on its way');
    expect(phone(reference)?.otp).toMatchObject({ resends: 1, triesLeft: 3, until });
    await desk.presses('agent', 'Resend code (no extra time)');
    await desk.modalSays('agent', 'Another code: on its way');
    expect(phone(reference)?.otp?.resends).toBe(1);
  });

  it('is not accepted after its 15 minutes: the charge is looked up, and Expired', async () => {
    const desk = at();
    const reference = await waitsForCode();
    desk.house.later(15 * minuteMs);
    // The bot may replace the window while the code is under way: Slack then can't show the first one's answer.
    await enters(rightOtp).catch((error: unknown) => {
      if (!String(error).includes('We had some trouble connecting')) throw error;
    });
    expect(desk.modal('agent')?.fields).toEqual([]);
    desk.house.later(2 * minuteMs);
    const expired = await desk.modalSays('agent', ['⌛ Expired', 'No money moved', reference]);
    expect(expired.shown.buttons).toEqual(['Charge again']);
    expect(desk.house.payments.stats().chargesByReference[reference]).toBeUndefined();
  });

  it('whose answer is lost is In doubt and never sent again: the look-up proves the payment', async () => {
    const desk = at();
    const reference = await waitsForCode();
    const answer = desk.house.paymentsGate.hold('/checkout-card-otp', 'after');
    await enters(rightOtp);
    await answer;
    desk.house.paymentsGate.cut();
    await desk.modalSays('agent', ['✅ Paid (confirmed)', reference]);
    expect(desk.house.payments.stats().chargesByReference[reference]).toBe(1);
  });
});

describe('/pay otp', () => {
  it('opens the window again after it was closed, and after the bot restarted', async () => {
    const desk = at();
    const reference = await waitsForCode();
    await desk.closes('agent');
    await desk.sees('agent', ['🔑 Needs a code', reference], 'agentDm');
    await desk.restarts();
    const opened = await desk.opens('agent', '/pay otp');
    expect(opened.shown.text).toContain(reference);
    await enters(rightOtp);
    await desk.modalSays('agent', 'Paid (confirmed)');
  });

  it('lists charges that wait, each with its button; so does the Home', async () => {
    const desk = at();
    const first = await waitsForCode();
    await desk.closes('agent');
    // The story's clock stands still between two ticks, and charges of the same moment have no order.
    desk.house.later(minuteMs);
    const second = await waitsForCode();
    await desk.closes('agent');
    const menu = await desk.asks('agent', '/pay', 'wait for a code');
    const list = await desk.seesBy('agent', '🔑 2 charges wait for a code from you', () =>
      desk.presses('agent', 'Enter a code', menu),
    );
    expect(list.shown.text).toContain(first);
    expect(list.shown.buttons).toEqual(['Enter code', 'Enter code']);
    expect((await desk.home('agent', 'Waiting for a code')).text).toContain(second);
    await desk.presses('agent', 'Enter code', 'home');
    await desk.modalSays('agent', '3 of 3 tries left');
    const others = await desk.asks('lead', '/pay otp', 'No charge waits for a code from you');
    expect(others.shown.text).toMatch(new RegExp(`Of colleagues[^]*${first}[^]*${second}`));
    await desk.presses('lead', 'Take over', others);
    await desk.modalSays('lead', ['Code from the bank', first]);
  });

  it('takes no code and no unknown reference, and repeats neither', async () => {
    const desk = at();
    const code = await desk.asks('agent', '/pay otp 246810', 'A charge’s reference begins with pay-');
    expect(code.shown.text).not.toContain('246810');
    await desk.asks('agent', '/pay otp pay-mfrggzdfmztwq2lknnwg23tpob', 'No such charge here');
    await desk.asks('onCall', '/pay otp', 'Not allowed: /pay otp');
  });
});

describe('the hand-over of a charge', () => {
  it('is the colleague’s press: from then on they enter the code, and everybody sees it', async () => {
    const desk = at();
    const reference = await waitsForCode();
    const post = await desk.reads('lead', ['🔑 Needs a code', reference], 'payDesk');
    await desk.presses('lead', 'Enter code', post);
    const theirs = await desk.modalSays('lead', [
      `Only <@${desk.id('agent')}> can enter the code`,
      reference,
    ]);
    expect(theirs.fields).toEqual([]);
    await desk.presses('lead', 'Take over');
    await desk.modalSays('lead', 'Code from the bank');
    const mine = await desk.modalSays('agent', `Only <@${desk.id('lead')}> can enter the code`);
    expect(mine.submit).toBeUndefined();
    await desk.reads('onCall', ['🔑 Needs a code', reference, `Agent ${desk.named('lead')}`], 'payDesk');
    await desk.reads('onCall', ['🤝 Taken over', `<@${desk.id('agent')}>`], post);
    await desk.submits('lead', { 'Code from the bank': rightOtp });
    await desk.modalSays('lead', ['✅ Paid (confirmed)', reference]);
    await desk.modalSays('agent', ['✅ Paid (confirmed)', reference]);
  });

  it('needs the permission: without it the button does nothing', async () => {
    const desk = at();
    const reference = await waitsForCode();
    const post = await desk.reads('onCall', ['🔑 Needs a code', reference], 'payDesk');
    await desk.seesBy('onCall', 'Not allowed', () => desk.presses('onCall', 'Enter code', post));
    expect(desk.modal('onCall')).toBeUndefined();
  });
});
