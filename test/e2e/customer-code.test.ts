import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { rightOtp } from '../../src/simulators/payments/bank.ts';
import { charges, type Desk, inOneWindow, shareDesk } from '../support/desk.ts';

const publicUrl = 'https://pay.example.com';
const page = { PUBLIC_URL: publicUrl, MERCHANT_NAME: 'Lagos Store' };
const minuteMs = 60_000;
const bola = '1127';
const linkButton = 'Let the customer type it';
let amount = 0;

/** A charge that waits for a code. */
async function waitsForCode(desk: Desk): Promise<string> {
  amount += 1;
  const reference = await charges(desk, 'agent', { card: bola, amount: `${amount}00.00` });
  await desk.modalSays('agent', ['🔑 Needs a code', '3 of 3 tries left']);
  return reference;
}

/** Creates the link, from the window that shows it once. */
async function makesLink(desk: Desk): Promise<string> {
  await desk.presses('agent', linkButton);
  const { shown } = await desk.modalSays('agent', 'Send this to the customer');
  const [link = ''] = /https:\/\/pay\.example\.com\/c\/[\w-]{22}(?= )/.exec(shown.text) ?? [];
  expect(shown.text).toContain(
    `to Lagos Store, enter your bank’s code here: ${link} Tell the code to nobody.`,
  );
  return link;
}

/** The customer’s browser, over the bot’s real port. */
function browse(desk: Desk, link: string) {
  let at = new URL(link).pathname;
  const fetched = (init: RequestInit = {}) =>
    fetch(`${desk.bot.url()}${at}`, { redirect: 'manual', ...init });
  async function sees(): Promise<{ status: number; text: string }> {
    const answer = await fetched();
    return { status: answer.status, text: await answer.text() };
  }
  return {
    sees,
    async sends(form: Record<string, string>): Promise<{ status: number; text: string }> {
      const { text } = await sees();
      const hidden = [...text.matchAll(/name="(id|try)" value="([^"]+)"/g)].map(([, name, value]) => [
        name,
        value,
      ]);
      const body = new URLSearchParams({ ...Object.fromEntries(hidden), ...form });
      const answer = await fetched({ method: 'POST', body });
      const location = answer.headers.get('location');
      if (location !== null) at = new URL(location, `${publicUrl}${at}`).pathname;
      return { status: answer.status, text: await answer.text() };
    },
    until: (words: string) =>
      desk.house.until(`the page says ${words}`, async () => (await sees()).text.includes(words)),
  };
}

describe('the customer types the code', () => {
  const at = shareDesk({
    clock: true,
    env: { PAYMENTS_TIMEOUT_SECONDS: '5', LOG_LEVEL: 'debug', ...page },
    payments: { knownCards: true },
  });
  beforeAll(() => at().settled());
  beforeEach(() => at().house.later(25 * 60 * minuteMs));

  it('by a link that the agent sends, first a wrong one, and the charge is Paid (confirmed)', async () => {
    const desk = at();
    const reference = await waitsForCode(desk);
    const link = await makesLink(desk);
    await desk.reads('onCall', [reference, 'Link made for the customer', '3 of 3 tries left'], 'payDesk');
    await desk.closes('agent');
    const held = await desk.opens('agent', `/pay otp ${reference}`);
    expect([held.fields, held.shown.buttons]).toEqual([[], ['Take it back', 'New link']]);
    const customer = browse(desk, link);
    const first = await customer.sees();
    for (const words of ['Lagos Store', `${amount}00.00`, '1127', '3 tries left'])
      expect(first.text).toContain(words);
    expect(first.text).not.toContain(reference);
    expect((await customer.sends({ do: 'send', code: '55500-01234' })).status).toBe(303);
    await customer.until('That code was wrong');
    await desk.reads('onCall', [reference, 'Wrong code · 2 of 3 tries left'], 'payDesk');
    await customer.sends({ do: 'send', code: rightOtp });
    await customer.until('The payment is confirmed');
    await desk.modalSays('agent', ['✅ Paid (confirmed)', reference]);
    await desk.reads('onCall', ['✅ Paid (confirmed)', reference], 'payDesk');
    expect((await browse(desk, link).sees()).status).toBe(404);
    const story = await desk.asks('lead', `/pay story ${reference}`, 'The customer');
    expect(story.shown.text).toContain('made a link for the customer to type the code');
    expect(story.shown.text).toContain('The customer entered a code');
    await desk.settled();
    const secrets = { link: link.slice(-22), code: '5550001234' };
    expect(await desk.kept(secrets)).toEqual([]);
    const shownTo = (secret: string) =>
      desk.house.slackGate.passed.filter(({ request }) => decodeURIComponent(request).includes(secret));
    expect(shownTo(secrets.link).map(({ path }) => path)).toEqual(inOneWindow);
    expect(shownTo(secrets.code)).toEqual([]);
  });

  it('until the agent takes it back: the link is dead, and the agent has the field', async () => {
    const desk = at();
    await waitsForCode(desk);
    const customer = browse(desk, await makesLink(desk));
    await desk.closes('agent');
    await desk.opens('agent', '/pay otp');
    await desk.presses('agent', 'Take it back');
    await desk.modalSays('agent', 'Code from the bank');
    expect(await customer.sees()).toMatchObject({ status: 404 });
    await desk.submits('agent', { 'Code from the bank': rightOtp });
    await desk.modalSays('agent', 'Paid (confirmed)');
  });

  it('or says that they did not ask for it: the link ends, and agent, desk and operators are told', async () => {
    const desk = at();
    const reference = await waitsForCode(desk);
    const link = await makesLink(desk);
    const customer = browse(desk, link);
    await customer.sends({ do: 'not_mine' });
    expect((await customer.sees()).text).toContain('Thank you for telling us');
    expect(await browse(desk, link).sees()).toMatchObject({ status: 404 });
    const said = '“I did not ask for this”';
    await desk.sees('agent', [said, reference], 'agentDm');
    await desk.reads('onCall', [said, reference, 'Agent'], 'payDesk');
    await desk.reads('onCall', [said, reference], 'payOps');
    await desk.asks('lead', `/pay story ${reference}`, 'said: I did not ask for this');
  });

  it('after a colleague took the charge over: every screen says who can type it, and whose try was wrong', async () => {
    const desk = at();
    const reference = await waitsForCode(desk);
    await desk.submits('agent', { 'Code from the bank': '0000' });
    await desk.modalSays('agent', 'Wrong code');
    const link = await makesLink(desk);
    await desk.reads('onCall', [reference, 'Link made for the customer', '2 of 3 tries left'], 'payDesk');
    await desk.closes('agent');
    expect((await browse(desk, link).sees()).text).not.toContain('That code was wrong');
    const menu = await desk.asks('agent', '/pay', 'a code');
    expect(menu.shown.text).not.toContain('a code from you');
    const other = await desk.opens('lead', `/pay otp ${reference}`);
    expect(other.shown.text).toContain('Only the customer can type it now');
    await desk.presses('lead', 'Take over');
    const buttons = () => desk.modal('lead')?.shown.buttons.join();
    await desk.house.until('the lead may end the link', () => buttons() === 'Take it back,New link');
    expect(desk.modal('lead')?.fields).toEqual([]);
    await browse(desk, link).sends({ do: 'send', code: '0000' });
    await desk.reads('onCall', [reference, 'Wrong code · 1 of 3 tries left'], 'payDesk');
    await desk.presses('lead', 'Take it back');
    await desk.modalSays('lead', 'Code from the bank');
    await desk.submits('lead', { 'Code from the bank': rightOtp });
    await desk.modalSays('lead', 'Paid (confirmed)');
  });

  it('exclusively with OTP_ENTRY=customer: no agent has a field, and an agent’s submission is not sent', async () => {
    const desk = at();
    await desk.restarts({ OTP_ENTRY: 'both' });
    const reference = await waitsForCode(desk);
    const codes = () => desk.calls('/checkout-card-otp');
    const before = codes();
    // The window was opened while agents could type.
    await desk.restarts({ OTP_ENTRY: 'customer' });
    await desk.submits('agent', { 'Code from the bank': rightOtp });
    expect(codes()).toBe(before);
    await desk.closes('agent');
    const opened = await desk.opens('agent', `/pay otp ${reference}`);
    expect([opened.fields, opened.submit, opened.shown.buttons]).toEqual([[], undefined, [linkButton]]);
    const home = await desk.home('agent', 'Waiting for a code');
    expect(home.buttons).not.toContain('Enter code');
    const customer = browse(desk, await makesLink(desk));
    await customer.sends({ do: 'send', code: rightOtp });
    await desk.reads('onCall', ['✅ Paid (confirmed)', reference], 'payDesk');
    await desk.restarts({ OTP_ENTRY: 'agent' });
    await waitsForCode(desk);
    expect(desk.modal('agent')?.shown.buttons).not.toContain(linkButton);
    const told = await desk.runs(['doctor'], { PUBLIC_URL: '' });
    expect(told.stdout).toContain(`there is no “${linkButton}” without PUBLIC_URL`);
    expect(await customer.sees()).toMatchObject({ status: 404 });
  });
});
