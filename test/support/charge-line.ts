import { randomInt } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'vitest';
import type { Bot } from './bot.ts';
import { openGate, type Gate } from './gate.ts';
import type { House } from './house.ts';
import { signSlack } from './slack-requests.ts';

/** The charge references that the payments service holds, newest first. */
export function chargeReferences({ payments }: House): string[] {
  return payments
    .state()
    .orders.map(({ orderReference }) => orderReference)
    .filter((reference) => reference.startsWith('pay-'));
}

export type NewCard = { tokenKey: string; customerEmail: string };

/** More saved cards that approve, each saved by a payment. The bot gets no event of them, so it has no alerts to post. */
export async function saveCards({ payments, webhookGate }: House, count: number): Promise<NewCard[]> {
  const before = new Set(payments.state().cards.map(({ tokenKey }) => tokenKey));
  const nobody = createServer((request, response) => {
    request.resume();
    response.end('ok');
  });
  await new Promise<void>((resolve) => nobody.listen(0, '127.0.0.1', resolve));
  payments.sendWebhooksTo(`http://127.0.0.1:${(nobody.address() as AddressInfo).port}`);
  const run = randomInt(1_000_000);
  for (let number = 1; number <= count; number += 1) {
    const orderReference = `SAVE-${run}-${number}`;
    const customerEmail = `customer.${run}.${number}@example.com`;
    await payments.act({ kind: 'create_order', amount: '50.00', customerEmail, orderReference });
    await payments.act({ kind: 'pay_order', orderReference, outcome: 'approved' });
  }
  await payments.settled();
  payments.sendWebhooksTo(`${webhookGate.url}/webhooks/payments`);
  nobody.close();
  nobody.closeAllConnections();
  return payments.state().cards.filter(({ tokenKey }) => !before.has(tokenKey));
}

/** Slack's connection to the bots, where every payload and acknowledgement can be read. */
export type SlackLine = {
  gate: Gate;
  /**
   * The payload that submits the modal which the bot's last acknowledgement put in place of that view, as Slack would
   * send it: to repeat it to several replicas, or to time it.
   */
  submission: (viewId: string) => string;
};

/** Puts itself between workspace and bot; all `bots` get each payload at once, as a redelivery. */
export async function openSlackLine(
  house: House,
  test: Pick<TestContext, 'onTestFinished'>,
  bots: () => readonly Bot[],
): Promise<SlackLine> {
  const gate = await openGate(() => bots().map((bot) => bot.url()));
  test.onTestFinished(() => gate.close());
  house.workspace.connect(`${gate.url}/slack/events`);
  return {
    gate,
    submission(viewId) {
      for (const { request, answer } of gate.passed.toReversed()) {
        if (!request.includes(viewId) || !answer.includes('"update"')) continue;
        const payload = payloadOf(request);
        if (payload?.type !== 'view_submission' || payload.view['id'] !== viewId) continue;
        const { view } = JSON.parse(answer) as { view: Record<string, unknown> };
        return formOf({ ...payload, view: { ...payload.view, ...view, state: { values: {} } } });
      }
      throw new Error(`No acknowledgement has put anything in the place of ${viewId}.`);
    },
  };
}

type Payload = { type: string; view: Record<string, unknown> };

function payloadOf(request: string): Payload | undefined {
  const text = new URLSearchParams(request.slice(request.indexOf('\n') + 1)).get('payload');
  return text === null ? undefined : (JSON.parse(text) as Payload);
}

function formOf(payload: unknown): string {
  return new URLSearchParams({ payload: JSON.stringify(payload) }).toString();
}

/** The bot's acknowledgement: status and body. */
export type Acked = { status: number; body: string };

let sent = 0;

/** Sends a signed payload to the bot, past the workspace, as Slack would for another press. */
export async function sendToBot(house: House, bot: Bot, form: string): Promise<Acked> {
  sent += 1;
  const again = formOf({ ...payloadOf(`\n${form}`), trigger_id: `1.2.${sent}` });
  const request = signSlack(again, { secret: house.workspace.credentials.signingSecret });
  const response = await fetch(`${bot.url()}/slack/events`, { method: 'POST', ...request });
  return { status: response.status, body: await response.text() };
}
