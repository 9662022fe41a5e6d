import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { openBackend } from '../support/backend.ts';
import { charges, type Desk, openDesk } from '../support/desk.ts';

const root = new URL('../..', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');

const metricName = /\b(?:payops|process|nodejs)_[a-z0-9_]+/g;

type Rule = { alert: string; expr: string; annotations: { summary: string; runbook_url: string } };

const rules = (parse(read('deploy/prometheus-rules.yml')) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  (group) => group.rules,
);
const dashboard = JSON.parse(read('deploy/grafana-dashboard.json')) as {
  panels: { id: number; targets?: { expr: string }[] }[];
};
const expressions = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

/** The text's samples: name with labels, and value. */
async function scrape(desk: Desk, url = desk.bot.url(), headers = {}): Promise<Map<string, number>> {
  const response = await fetch(`${url}/metrics`, { headers });
  const lines = (await response.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(lines.map((line) => [line.replace(/ [^ ]*$/, ''), Number(line.split(' ').at(-1))]));
}

function namesOf(samples: ReadonlyMap<string, number>): Set<string> {
  return new Set(Array.from(samples.keys(), (key) => key.replace(/\{.*$/s, '')));
}

describe('metrics', () => {
  it('count what happens in a story, under every name in the rules, the dashboard and the docs', async (test) => {
    const backend = await openBackend(() => undefined);
    test.onTestFinished(() => backend.close());
    const desk = await openDesk(test, {
      clock: true,
      workspace: { grantedOptionalScopes: 'all' },
      payments: { knownCards: true },
      env: { WEBHOOK_FORWARD_URL: backend.url },
    });
    const { house } = desk;
    await house.cardsKnown();
    await desk.asks('agent', '/pay ORDER-1001', 'Paid (confirmed)');
    await house.decline();
    await desk.settled();
    const charged = await charges(desk, 'agent', { amount: '5000.00', card: '4081' });
    await desk.modalSays('agent', ['Paid (confirmed)', charged]);
    expect(
      await house.sendEvent({ event: 'payment_failed' }, { 'x-payments-signature': 'ab'.repeat(64) }),
    ).toBe(401);
    expect(await house.sendEvent({ event: 'payment_failed' }, {})).toBe(401);
    await desk.settled('soon');
    await house.until('the desk is told', () => desk.posts('agent', 'payDesk').length > 0);
    const samples = await scrape(desk);
    const at = (name: string): number | undefined => samples.get(name);
    expect(at('payops_charges_total{account="main",outcome="approved"}')).toBe(1);
    expect(at('payops_charges_total{account="main",outcome="declined"}')).toBe(0);
    expect(at('payops_webhook_refusals_total{account="main",cause="mismatch"}')).toBe(1);
    expect(at('payops_webhook_refusals_total{account="main",cause="no_signature"}')).toBe(1);
    expect(at('payops_webhook_deliveries_total{account="main",result="bad_signature"}')).toBe(2);
    expect(at('payops_webhook_deliveries_total{account="main",result="new"}')).toBeGreaterThan(2);
    const service = 'payops_service_request_duration_seconds_count{account="main",operation=';
    expect(at(`${service}"GET /v1/transactions/accounts/single",result="ok"}`)).toBeGreaterThan(1);
    expect(at(`${service}"POST /v1/checkout/tokenized-card-payment",result="ok"}`)).toBe(1);
    expect(at(`${service}"POST /v1/auth/token/issue",result="ok"}`)).toBe(1);
    expect(at('payops_slack_request_duration_seconds_count{method="chat.postMessage",result="ok"}')).toBe(
      house.workspace.stats().posts,
    );
    expect(at('payops_slack_ack_duration_seconds_count')).toBeGreaterThan(2);
    expect(at('payops_store_request_duration_seconds_count{operation="create",result="ok"}')).toBeGreaterThan(
      2,
    );
    expect(at('payops_store_up')).toBe(1);
    expect(at('payops_charges_in_doubt{account="main"}')).toBe(0);
    expect(at('payops_work_due{lane="free"}')).toBe(0);

    const there = namesOf(samples);
    const named = [...rules.map(({ expr }) => expr), ...expressions].flatMap(
      (expr) => expr.match(metricName) ?? [],
    );
    expect(new Set(named).size).toBeGreaterThan(20);
    expect(named.filter((name) => !there.has(name))).toEqual([]);
    const page = read('docs/on-call.md');
    const bases = [...there]
      .filter((name) => name.startsWith('payops_'))
      .map((name) => name.replace(/_(?:bucket|sum|count)$/, ''));
    expect(bases.filter((name) => !page.includes(`\`${name}`))).toEqual([]);
  });

  it('show a charge in doubt and for how long, an open code, and a 429', async (test) => {
    const desk = await openDesk(test, { clock: true, payments: { knownCards: true } });
    const { house } = desk;
    await house.cardsKnown();
    await desk.settled();
    const seen = async (name: string): Promise<number | undefined> => (await scrape(desk)).get(name);
    house.payments.setFaults(
      { kind: 'answer_lost', operation: 'POST /v1/checkout/tokenized-card-payment' },
      { kind: 'down', operation: 'GET /v1/transactions/accounts/single' },
    );
    await charges(desk, 'agent', { amount: '5000.00', card: '4081' });
    const called = 'payops_service_request_duration_seconds_count{account="main",operation=';
    const lost = `${called}"POST /v1/checkout/tokenized-card-payment",result="network"}`;
    await house.until('its answer is lost', async () => (await seen(lost)) === 1);
    expect(await seen('payops_charges_in_doubt{account="main"}')).toBe(1);
    house.later(60_000);
    expect(await seen('payops_charges_in_doubt_oldest_seconds{account="main"}')).toBeGreaterThanOrEqual(60);
    house.payments.setFaults();
    await desk.closes('agent');
    await house.payments.act({ kind: 'set_next_charge', next: 'otp' });
    await charges(desk, 'lead', { amount: '2500.00', card: '1127' });
    await house.until(
      'it waits for its code',
      async () => (await seen('payops_charge_codes_open{account="main"}')) === 1,
    );
    house.workspace.setFaults({ kind: 'rate_limited', method: 'chat.postMessage', times: 1 });
    await house.decline();
    const limited =
      'payops_slack_request_duration_seconds_count{method="chat.postMessage",result="rate_limited"}';
    await house.until('a 429 is counted', async () => (await seen(limited)) === 1);
  });
});

async function status(url: string, headers = {}): Promise<number> {
  return (await fetch(url, { headers })).status;
}

describe('the rules', () => {
  const headings = new Set(
    Array.from(read('docs/on-call.md').matchAll(/^#+ (.+)$/gm), ([, heading = '']) => heading.toLowerCase()),
  );

  it.each(rules.map((rule) => [rule.alert, rule] as const))(
    '%s leads to its section of docs/on-call.md',
    (name, rule) => {
      expect(rule.annotations.runbook_url).toBe(
        `{{ with $externalLabels.payops_docs }}{{ . }}/{{ end }}docs/on-call.md#${name.toLowerCase()}`,
      );
      expect(headings).toContain(name.toLowerCase());
      expect(rule.annotations.summary).not.toBe('');
    },
  );
});

describe('METRICS_PORT and METRICS_TOKEN', () => {
  it('keep metrics and readiness off Slack’s port, and from strangers', async (test) => {
    const token = 'metrics-token-canary-40017';
    const desk = await openDesk(test, { env: { METRICS_PORT: '0', METRICS_TOKEN: token } });
    const listens = desk.bot.lines.find((line) => line.includes('"Payops listens"')) ?? '{}';
    const { metricsPort } = JSON.parse(listens) as { metricsPort: number };
    const apart = `http://127.0.0.1:${metricsPort}`;
    for (const path of ['/metrics', '/readyz']) {
      expect(await status(`${desk.bot.url()}${path}`)).toBe(404);
    }
    expect(await status(`${apart}/slack/events`)).toBe(404);
    expect(await status(`${apart}/metrics`)).toBe(401);
    expect(await status(`${apart}/metrics`, { authorization: `Bearer ${token}x` })).toBe(401);
    const ready = await fetch(`${apart}/readyz`);
    expect([ready.status, await ready.json()]).toEqual([200, { state: expect.any(String) }]);
    const own = { authorization: `Bearer ${token}` };
    expect((await scrape(desk, apart, own)).get('payops_store_up')).toBe(1);
    expect(await (await fetch(`${apart}/readyz`, { headers: own })).json()).toHaveProperty('parts');
    expect(await status(`${desk.bot.url()}/healthz`)).toBe(200);
    expect(desk.bot.lines.join('\n')).not.toContain(token);
  });
});

type Line = Partial<Record<'message' | 'requestId' | 'key' | 'operation' | 'result', string>>;

/** What an operator’s `grep` finds. */
function grep({ bot }: Desk, text: string): Line[] {
  return bot.lines.filter((line) => line.includes(text)).map((line) => JSON.parse(line) as Line);
}

function expectLines(lines: Line[], wanted: Line[]): void {
  expect(lines).toEqual(expect.arrayContaining(wanted.map((line) => expect.objectContaining(line))));
}

const lookUp = 'GET /v1/transactions/accounts/single';

it('one grep shows a reference’s whole path: from the delivery or the click to the call and the message', async (test) => {
  const desk = await openDesk(test, {
    clock: true,
    workspace: { grantedOptionalScopes: 'all' },
    payments: { knownCards: true },
  });
  await desk.house.cardsKnown();
  await desk.settled('soon');
  const failed = await desk.house.decline();
  await desk.reads('onCall', failed, 'payAlerts');
  await desk.settled('soon');
  const alerted = grep(desk, failed);
  expect(alerted.map(({ message, operation, result }) => [message, operation ?? result])).toEqual([
    ['Webhook kept', 'new'],
    ['Called the payments service', lookUp],
    ['posted', undefined],
  ]);
  expect(new Set(alerted.map(({ requestId }) => requestId)).size).toBe(1);

  const charged = await charges(desk, 'agent', { amount: '5000.00', card: '4081' });
  await desk.modalSays('agent', ['Paid (confirmed)', charged]);
  await desk.settled('soon');
  const [stored, ...later] = grep(desk, charged);
  expect(stored).toMatchObject({
    message: 'charge stored',
    requestId: expect.stringMatching(/^[0-9A-F]{8}$/),
  });
  const ofTheClick = later.filter(({ requestId }) => requestId === stored?.requestId);
  expectLines(ofTheClick, [
    { message: 'Called the payments service', operation: 'POST /v1/checkout/tokenized-card-payment' },
    { message: 'charge answered', result: 'approved' },
    { message: 'Asked and answered', result: 'answered' },
    { message: 'posted', key: `message:charge:${charged}` },
  ]);
  // By the click or by the event, whichever came first.
  expectLines(later, [
    { message: 'Called the payments service', operation: lookUp },
    { message: 'charge looked up', result: 'paid' },
  ]);
  const ofTheEvent = later.find(({ message }) => message === 'Webhook kept');
  expect(ofTheEvent?.requestId).not.toBe(stored?.requestId);
  expect(later.every(({ requestId }) => requestId !== undefined)).toBe(true);
});
