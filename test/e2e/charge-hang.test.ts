import { describe, expect, it, type TestContext } from 'vitest';
import type { Bot } from '../support/bot.ts';
import {
  ackAt,
  ackFigures,
  codeSubmission,
  chargeReferences,
  openSlackLine,
  saveCards,
  sendToBot,
  type Acked,
  type SlackLine,
} from '../support/charge-line.ts';
import { charges, reviews, sitAt, type Desk } from '../support/desk.ts';
import { bySocket, openHouse, type House, type HouseOptions } from '../support/house.ts';
import { visibleText } from '../support/visible-text.ts';

const submissions = 5;
/** Of the median, and of 99 in a hundred: the second for which a form's result is waited for, and as much as any answer takes. */
const quickMs = 1_000 + 100;
/** A machine on which a request for nothing takes longer has other things to do, and says little of the bot. */
const calmMs = 20;
/** Of a single one on a machine that does other things: Slack gives 3 s, and the service is waited for longer here. */
const worstAckMs = 2_500;

type Line = { house: House; bot: Bot; desk: Desk; line: SlackLine };

// They time signed requests, past the workspace.
describe.skipIf(bySocket).concurrent('while the payments service hangs', () => {
  it('acknowledges every agreed charge within the second it waits for the result, as being charged', async (test) => {
    const opened = await openLine(test);
    const { house } = opened;
    const forms = await readBacks(opened, submissions);
    await house.payments.act({ kind: 'set_weather', weather: 'hang' });
    const texts = await submitAll(opened, forms, 'charges');
    expect(texts.filter((text) => !text.includes('Charging …'))).toEqual([]);
  });

  it('acknowledges every code within that second, as being checked', async (test) => {
    const opened = await openLine(test);
    const { house, desk } = opened;
    const cards = await saveCards(house, submissions);
    for (const { tokenKey: token, customerEmail: email } of cards) {
      // By its amount, the bank asks for a code.
      // oxlint-disable-next-line no-await-in-loop -- a person has one dialogue in front of them
      await charges(desk, 'agent', { token, email, amount: '2,500.01' });
    }
    const waiting = () => house.payments.state().orders.filter(({ state }) => state === 'awaiting_otp');
    await house.until('the bank waits for every code', () => waiting().length === submissions);
    const forms: string[] = [];
    for (const { orderReference } of waiting()) {
      // oxlint-disable-next-line no-await-in-loop
      await desk.opens('agent', `/pay otp ${orderReference}`);
      // oxlint-disable-next-line no-await-in-loop
      await desk.modalSays('agent', 'Code from the bank');
      // oxlint-disable-next-line no-await-in-loop
      forms.push(await codeSubmission(desk, 'agent', '123456'));
    }
    await house.payments.act({ kind: 'set_weather', weather: 'hang' });
    const texts = await submitAll(opened, forms, 'codes');
    expect(texts.filter((text) => !text.includes('Checking the code …'))).toEqual([]);
  });
});

describe.skipIf(bySocket)('while Slack’s own API is away', () => {
  for (const weather of ['hang', 'down', 'rate_limited'] as const) {
    it(`takes and makes an agreed charge all the same, and tells it afterwards (${weather})`, async (test) => {
      const opened = await openLine(test, {
        clock: true,
        env: { PAYMENTS_TIMEOUT_SECONDS: '4', SLACK_TIMEOUT_SECONDS: '2' },
      });
      const { house, bot, desk } = opened;
      const [form = ''] = await readBacks(opened, 1);
      house.workspace.setFaults({ kind: weather });
      const ack = await sendToBot(house, bot, form);
      expect(ack.status).toBe(200);
      expect(textOf(ack)).toMatch(/Charging …|Approved, confirming/);
      expect(ack.ackMs).toBeLessThan(worstAckMs);
      await house.until('it is charged', () => chargeReferences(house).length > 0);
      const [reference = ''] = chargeReferences(house);
      expect(house.payments.stats().chargesByReference[reference]).toBe(1);
      const verdict = `message:charge_direct:told:approved:${reference}`;
      await house.until('the verdict is on record', async () => (await house.storeKeys(verdict)).length > 0);
      expect(house.posts('payDesk')).toEqual([]);
      expect(desk.modal('agent')?.shown.text).not.toContain('Paid');

      house.workspace.setFaults();
      const parents = () => house.posts('payDesk').filter(({ threadTs }) => threadTs === undefined);
      const isTold = () => parents().some(({ text }) => text.includes('Paid (confirmed)'));
      await house.until('the desk is told', isTold);
      await house.until('all is told', async () => (await house.workLeft()) === 0);
      expect(parents()).toHaveLength(1);
      // The modal could not be reached when it was over, so that the agent was told directly.
      expect(desk.messages('agent', 'agentDm').map(({ text }) => text)).toEqual([
        expect.stringContaining('Paid (confirmed)'),
      ]);
      expect(Object.values(house.payments.stats().chargesByReference).filter((times) => times > 1)).toEqual(
        [],
      );
    });
  }
});

async function openLine(test: TestContext, options: HouseOptions = {}): Promise<Line> {
  const house = await openHouse(test, {
    workspace: { grantedOptionalScopes: 'all' },
    env: { PAYMENTS_TIMEOUT_SECONDS: '4', WORK_LEASE_SECONDS: '20', STOP_SECONDS: '1' },
    ...options,
  });
  const bot = house.bot();
  await house.start(bot);
  const line = await openSlackLine(house, test, () => [bot]);
  return { house, bot, line, desk: sitAt(house, bot) };
}

/** As many dialogues as that, each up to its read-back; what submits them. */
async function readBacks({ house, desk, line }: Line, count: number): Promise<string[]> {
  const forms: string[] = [];
  for (const card of await saveCards(house, count)) {
    const form = { token: card.tokenKey, email: card.customerEmail, amount: '2,500.00' };
    // oxlint-disable-next-line no-await-in-loop -- a person has one dialogue in front of them
    const { id } = await reviews(desk, 'agent', form);
    forms.push(line.submission(id));
  }
  return forms;
}

/**
 * One after the other; what the acknowledgements show. Between them the bot is asked for nothing at all, so that
 * what a loaded machine makes of any request is not taken for what the bot makes of a submission; the figures
 * of both are printed.
 */
async function submitAll({ house, bot }: Line, forms: readonly string[], what: string): Promise<string[]> {
  const acks: Acked[] = [];
  const bare: Acked[] = [];
  for (const form of forms) {
    // oxlint-disable-next-line no-await-in-loop -- one person after the other
    acks.push(await sendToBot(house, bot, form));
    const startedAt = performance.now();
    // oxlint-disable-next-line no-await-in-loop
    const { status } = await fetch(`${bot.url()}/healthz`);
    bare.push({ status, body: '', ackMs: performance.now() - startedAt });
  }
  console.log(`${what} acknowledged in: ${ackFigures(acks)}; bare requests: ${ackFigures(bare)}`);
  expect(new Set(acks.map(({ status }) => status))).toEqual(new Set([200]));
  expect(ackAt(acks, 0.5)).toBeLessThan(quickMs + ackAt(bare, 0.5));
  expect(ackAt(acks, 0.99)).toBeLessThan(ackAt(bare, 0.99) < calmMs ? quickMs : worstAckMs);
  return acks.map(textOf);
}

function textOf({ body }: Acked): string {
  const { view } = JSON.parse(body) as { view: { blocks: unknown[] } };
  return visibleText(view.blocks);
}
