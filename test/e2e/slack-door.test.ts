import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Desk, type DeskOptions, openDesk, shareDesk } from '../support/desk.ts';
import { type Gate, openGate } from '../support/gate.ts';
import { bySocket } from '../support/house.ts';
import { serveOnLoopback } from '../support/loopback.ts';
import { signSlack } from '../support/slack-requests.ts';
import { deployedBot, metricsOf } from '../support/bot.ts';

const singlePath = '/transactions/accounts/single';
const fromElsewhere = 'another workspace';
const at = shareDesk({ clock: true, env: { LOG_LEVEL: 'debug', PAYMENTS_TIMEOUT_SECONDS: '8' } });

/** A proxy between the workspace and the bot, which records Slack's requests. */
let slack: Gate;
beforeAll(async () => {
  slack = await openGate(() => [at().bot.url()]);
  at().house.workspace.connect(`${slack.url}/slack/events`);
});
afterAll(() => slack.close());

/** The body of Slack's last request. */
function lastSent(): string {
  const { request = '' } = slack.passed.at(-1) ?? {};
  return request.slice(request.indexOf('\n') + 1);
}

/** Sends the body to the bot, signed as Slack signs; `how` changes the signature or the path. */
async function sends(
  desk: Desk,
  body: string,
  how: { atMs?: number; secret?: string; path?: string } = {},
): Promise<{ status: number; text: string }> {
  const { signingSecret } = desk.house.workspace.credentials;
  const signed = signSlack(body, { secret: signingSecret, ...how });
  const response = await fetch(`${desk.bot.url()}${how.path ?? '/slack/events'}`, {
    method: 'POST',
    ...signed,
  });
  return { status: response.status, text: await response.text() };
}

/** The body, as if it came from another workspace. */
function fromOtherWorkspace(body: string): string {
  const payload = new URLSearchParams(body).get('payload');
  if (payload === null)
    return body
      .replace(/team_id=[^&]*/, 'team_id=T0OTHER')
      .replace(/trigger_id=[^&]*/, 'trigger_id=1.2.moved');
  const read = JSON.parse(payload) as { user: object; team: object };
  const other = {
    ...read,
    user: { ...read.user, team_id: 'T0OTHER' },
    team: { ...read.team, id: 'T0OTHER' },
  };
  return new URLSearchParams({ payload: JSON.stringify(other) }).toString();
}

async function refusals(desk: Desk): Promise<string> {
  const text = await metricsOf(desk.bot);
  return /payops_slack_refusals_total\{cause="mismatch"\} (\d+)/.exec(text)?.[1] ?? '';
}

/** Signed requests exist only in HTTP mode. */
describe.skipIf(bySocket)('a signing secret that is another app’s', () => {
  it('is counted, and reported to the operators once with its fix', async (test) => {
    const desk = await openDesk(test, { env: { SLACK_SIGNING_SECRET: 'cd'.repeat(16) } });
    for (let times = 0; times < 3; times += 1) await desk.types('agent', '/pay help');
    const told = await desk.reads('lead', 'The bot refuses what Slack sends', 'payOps');
    expect(told.shown.text).toContain('Set SLACK_SIGNING_SECRET to the Signing Secret of this Slack app');
    expect(Number(await refusals(desk))).toBeGreaterThanOrEqual(3);
    await desk.settled('soon');
    expect(desk.posts('lead', 'payOps').length).toBe(1);
  });

  it('is not suspected for a stranger’s forgery among Slack’s own requests', async (test) => {
    const desk = await openDesk(test);
    await desk.asks('agent', '/pay help', 'pay');
    expect((await sends(desk, 'command=%2Fpay&text=help', { secret: 'forged' })).status).toBe(401);
    expect(await refusals(desk)).toBe('1');
    await desk.settled('soon');
    expect(desk.posts('lead', 'payOps')).toEqual([]);
    const shown = await desk.asks('onCall', '/pay doctor', 'None has come yet');
    expect(shown.shown.text).not.toContain('signing secret');
  });
});

/** Signed requests exist only in HTTP mode. */
describe.skipIf(bySocket)('what comes from Slack', () => {
  it('is accepted only with Slack’s signature of the last five minutes, and runs nothing else', async () => {
    const desk = at();
    await desk.asks('agent', '/pay ORDER-1001', 'Paid (confirmed)');
    const body = lastSent().replace(/trigger_id=[^&]*/, 'trigger_id=1.2.new');
    const calls = desk.calls(singlePath);
    expect(await sends(desk, body, { secret: 'not-the-secret' })).toMatchObject({ status: 401 });
    expect(await sends(desk, body, { atMs: Date.now() - 6 * 60_000 })).toMatchObject({ status: 401 });
    expect((await sends(desk, `${body}&x=${'x'.repeat(1_100_000)}`)).status).toBeGreaterThanOrEqual(400);
    expect(await sends(desk, body, { path: '/slack/elsewhere' })).toMatchObject({ status: 404 });
    expect(desk.calls(singlePath)).toBe(calls);
    await desk.seesBy('agent', 'Paid (confirmed)', () => sends(desk, body));
    expect(desk.calls(singlePath)).toBe(calls + 1);
  });

  it('runs once, however often Slack delivers it; a double click is one press', async () => {
    const desk = at();
    const answer = await desk.asks('agent', '/pay ORDER-1001', 'Paid (confirmed)');
    const calls = desk.calls(singlePath);
    await Promise.all([0, 1].map(() => desk.presses('agent', 'Share to channel', answer)));
    await desk.reads('lead', ['ORDER-1001', 'Shared by'], 'payDesk');
    expect(await sends(desk, lastSent())).toMatchObject({ status: 200 });
    await desk.settled();
    expect(desk.posts('lead', 'payDesk')).toHaveLength(1);
    // One look-up, for one share.
    expect(desk.calls(singlePath)).toBe(calls + 1);
  });

  it('is refused from another workspace, for each kind of request, with an audit entry', async () => {
    const desk = at();
    const answer = await desk.asks('agent', '/pay ORDER-1002', 'Not confirmed');
    const calls = desk.calls(singlePath);
    expect((await sends(desk, fromOtherWorkspace(lastSent()))).text).toContain(fromElsewhere);
    expect(desk.calls(singlePath)).toBe(calls);
    await desk.presses('agent', 'Look up', answer);
    await desk.house.until('it was pressed', () => desk.calls(singlePath) === calls + 1);
    await desk.seesBy('agent', fromElsewhere, () => sends(desk, fromOtherWorkspace(lastSent())));

    await desk.opens('agent', '/pay charge 1.00');
    await expect(desk.submits('agent', { 'Saved card': 'nothing' })).rejects.toThrow('offers nothing');
    expect(await sends(desk, fromOtherWorkspace(lastSent()))).toEqual({
      status: 200,
      text: '{"options":[]}',
    });
    await desk.submits('agent', { 'Or the card’s token key': 'tok-x', 'Customer’s e-mail': 'a@example.com' });
    const form = await sends(desk, fromOtherWorkspace(lastSent()));
    expect(form.text).toContain(fromElsewhere);
    const refused = async (): Promise<string[]> => {
      const { stdout } = await desk.runs(['audit', 'export']);
      const lines = stdout.split('\n').filter((line) => line.includes(fromElsewhere));
      return lines.map((line) => (JSON.parse(line) as { what: string }).what);
    };
    // The audit is written in the background.
    await desk.house.until('all is on record', async () => (await refused()).length === 3);
    expect(await refused()).toEqual(['command', 'press', 'form']);
  });

  it('takes a button with a value that the bot never gave as void, and never shows the value', async () => {
    const desk = at();
    const listed = await desk.asks('agent', '/pay terminals lekki', 'match');
    await desk.presses('agent', 'CSV', listed);
    const payload = JSON.parse(new URLSearchParams(lastSent()).get('payload') ?? '') as {
      actions: { value: string }[];
    };
    const forged = (value: string, actionTs: string): string => {
      const actions = payload.actions.map((action) => ({ ...action, value, action_ts: actionTs }));
      return new URLSearchParams({ payload: JSON.stringify({ ...payload, actions }) }).toString();
    };
    const values = [
      '',
      'x',
      '{}',
      '{"list":7}',
      '["../x"]',
      '{"list":"none","filter":"4111 1111 1111 1111","number":0}',
    ];
    for (const [index, value] of values.entries()) {
      expect(await sends(desk, forged(value, `${1_900_000_000 + index * 10}.0`))).toMatchObject({
        status: 200,
      });
    }
    await desk.asks('agent', '/pay NOPE-1', 'Not found');
    expect(JSON.stringify(desk.messages('agent'))).not.toMatch(/4111 1111|\.\.\/x/);
    expect(desk.bot.lines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  });

  it('is acknowledged before the service has answered; a slow request shows progress, then its answer', async () => {
    const desk = at();
    const asked = desk.house.paymentsGate.hold(singlePath, 'before');
    await desk.types('agent', '/pay ORDER-1004');
    const held = await asked;
    const waiting = await desk.sees('agent', ['Looking up … · ORDER-1004', 'has not answered yet']);
    await desk.seesBy('agent', 'Paid (confirmed)', async () => held.release());
    expect(desk.messages('agent').filter(({ ts }) => ts === waiting.ts)).toHaveLength(1);
  });

  it('is answered only at Slack’s address, without following redirects', async (test) => {
    const desk = at();
    const reached: string[] = [];
    const elsewhere = await serveOnLoopback((request, response) => {
      reached.push(request.url ?? '');
      if (request.url === '/answer') response.writeHead(307, { location: '/elsewhere' });
      response.end();
    });
    test.onTestFinished(() => elsewhere.close());
    await desk.asks('agent', '/pay ORDER-1004', 'ORDER-1004');
    const { request = '' } = slack.passed.findLast((one) => one.request.includes('ORDER-1004')) ?? {};
    const typed = new URLSearchParams(request.slice(request.indexOf('\n') + 1));
    typed.set('trigger_id', '1.2.elsewhere');
    typed.set('response_url', `${elsewhere.url}/answer`);
    // A fast answer is sent with the acknowledgement.
    const asked = desk.house.paymentsGate.hold(singlePath, 'before');
    expect(await sends(desk, typed.toString())).toMatchObject({ status: 200 });
    (await asked).release();
    await desk.house.until('the answer was sent', () => reached.includes('/answer'));
    await desk.settled('soon');
    expect(new Set(reached)).toEqual(new Set(['/answer']));
  });

  it('is answered by message if Slack takes no answer any more, and a late form says so', async () => {
    const desk = at();
    const asked = desk.house.paymentsGate.hold(singlePath, 'before');
    await desk.types('agent', '/pay ORDER-1005');
    const held = await asked;
    // A response_url is valid for half an hour, an account for ten minutes.
    desk.house.later(31 * 60_000);
    await desk.seesBy('agent', ['Paid (confirmed)', 'ORDER-1005'], async () => held.release());

    await desk.opens('agent', '/pay link 10.00');
    desk.house.later(11 * 60_000);
    const who = desk.house.slackGate.hold('/api/users.info', 'before');
    await desk.submits('agent', { 'Customer’s e-mail': 'late@example.com' });
    expect(desk.modal('agent')?.shown.text).not.toContain('The service’s order id');
    (await who).release();
    await desk.modalSays('agent', 'The service’s order id');
  });

  it('says so if Slack’s time to open a form is over', async () => {
    const desk = at();
    const opening = desk.house.slackGate.hold('/api/views.open', 'before');
    await desk.seesBy('agent', 'The form did not open in time', async () => {
      await desk.types('agent', '/pay charge');
      const held = await opening;
      desk.house.later(120_000);
      held.release();
    });
    expect(desk.modal('agent')).toBeUndefined();
  });

  it('checks the permission again when a form or button from before is used', async (test) => {
    const desk = await openDesk(test);
    const listed = await desk.asks('agent', '/pay terminals', 'Terminals 1–10');
    await desk.opens('agent', '/pay link 10.00');
    await desk.restarts({}, (policy) => policy.replace(' link,', '').replace(' terminals,', ''));
    await desk.submits('agent', { 'Customer’s e-mail': 'zoe@example.com' });
    await desk.modalSays('agent', 'Not allowed');
    await desk.closes('agent');
    await desk.seesBy('agent', 'Not allowed', () => desk.presses('agent', 'Next', listed));
    expect(
      desk.house.payments.state().orders.some(({ customerEmail }) => customerEmail === 'zoe@example.com'),
    ).toBe(false);
  });
});

const socket: DeskOptions = {
  env: { SLACK_MODE: 'socket', SLACK_APP_TOKEN: 'xapp-playground-app-token', SLACK_SIGNING_SECRET: '' },
};

describe('Socket Mode', () => {
  it('does the same work without a public address for Slack', async (test) => {
    // As deployed, where Bolt's parts for Socket Mode are loaded late.
    const desk = await openDesk(test, { ...socket, program: deployedBot });
    const { house } = desk;
    house.workspace.connect(undefined);
    await house.until('it is connected', () => house.workspace.openSockets() === 2);
    const paid = await desk.asks('agent', '/pay lookup ORDER-1001 12,500.00', 'Paid (confirmed)');
    await desk.presses('agent', 'Share to channel', paid);
    await desk.reads('lead', ['Paid (confirmed)', 'Shared by'], 'payDesk');
    await desk.asks('outsider', '/pay lookup ORDER-1001', 'Not allowed');
    await desk.opens('agent', '/pay link 10.00');
    const wrong = await desk.submits('agent', { 'Customer’s e-mail': 'nobody' });
    expect(wrong?.problems['Customer’s e-mail']).toContain('isn’t an e-mail address');
    await desk.submits('agent', { 'Customer’s e-mail': 'zoe@example.com' });
    await desk.modalSays('agent', 'The service’s order id');
    await desk.closes('agent');
    await desk.home('agent', 'Your open payment links');
    await desk.shortcut('agent', 'Charge a saved card');
    await desk.modalSays('agent', 'You review it before anything is charged.');
    const reference = await house.decline();
    await desk.reads('onCall', reference, 'payAlerts');
    const route = await fetch(`${desk.bot.url()}/slack/events`, { method: 'POST', body: 'payload={}' });
    expect(route.status).toBe(404);
    expect(desk.bot.lines.join('\n')).not.toContain('xapp-');
  });

  it('reconnects when Slack asks for a new connection, cuts it, or was away', async (test) => {
    const desk = await openDesk(test, socket);
    const { workspace, until } = desk.house;
    workspace.connect(undefined);
    await until('it is connected', () => workspace.openSockets() === 2);
    workspace.sockets.disconnect('warning');
    workspace.sockets.disconnect();
    const opened = () => workspace.stats().calls['apps.connections.open'];
    await until('it is connected again', () => opened() === 4 && workspace.openSockets() === 2);
    await desk.asks('agent', '/pay ORDER-1001', 'Paid (confirmed)');
    workspace.setFaults({ kind: 'down' });
    await until('the connection is gone', () => workspace.openSockets() === 0);
    await until('it says so', async () => (await state(desk.bot.url())) === 'degraded');
    workspace.setFaults();
    await until('it is connected again', () => workspace.openSockets() === 2);
    await desk.asks('agent', '/pay ORDER-1001', 'Paid (confirmed)');
    await until('it is well', async () => (await state(desk.bot.url())) === 'ok');
  });
});

describe('Socket Mode’s two connections', () => {
  const connected = shareDesk(socket);
  const sockets = () => connected().house.workspace.sockets;
  const both = (): Promise<void> =>
    connected().house.until('both are connected', () => connected().house.workspace.openSockets() === 2);
  const readyz = (): Promise<string> => ready(connected().bot.url());
  const patience = { timeout: 20_000 };
  beforeAll(async () => {
    connected().house.workspace.connect(undefined);
    await both();
  });
  afterEach(both);

  it('are renewed in turn: while one is away, the other takes requests', async () => {
    const desk = connected();
    const held = desk.house.slackGate.hold('/api/apps.connections.open', 'before');
    sockets().disconnect('refresh_requested', 'oldest');
    const opening = await held;
    for (let time = 0; time < 3; time += 1) await desk.asks('agent', '/pay ORDER-1001', 'Paid (confirmed)');
    expect(await ready(desk.bot.url())).toContain('"state":"ok"');
    opening.release();
  });

  it('answer their requests before Slack’s renewal closes them, even if Slack renews both at once', async () => {
    const desk = connected();
    const asked = desk.house.paymentsGate.hold(singlePath, 'before');
    const answered = desk.types('agent', '/pay ORDER-1004');
    const held = await asked;
    sockets().disconnect();
    await answered;
    expect(
      desk
        .messages('agent')
        .map(({ shown }) => shown.text)
        .join('\n'),
    ).not.toContain('dispatch_failed');
    await desk.seesBy('agent', 'Paid (confirmed)', async () => held.release());
  });

  it('report when presses go to dead connections of other processes, until Slack forgets those', async () => {
    sockets().setGhosts(5);
    sockets().disconnect('refresh_requested', 'oldest');
    // 8, if the simulated Slack still uses the old connection during the renewal.
    await expect
      .poll(readyz, patience)
      .toMatch(/"degraded".*Slack counts [78] Socket Mode connections, and the bot has 2/);
    sockets().setGhosts(0);
    sockets().disconnect('refresh_requested', 'oldest');
    await expect.poll(readyz, patience).toMatch(/^{"state":"ok"/);
  });

  it('report that other programs have all ten connections, or that Socket Mode is off, and reconnect afterwards', async () => {
    sockets().setGhosts(9);
    sockets().disconnect('refresh_requested', 'oldest');
    await expect
      .poll(readyz, patience)
      .toMatch(/"degraded".*All the Socket Mode connections that Slack allows are taken/);
    sockets().setGhosts(0);
    await expect.poll(readyz, patience).toMatch(/^{"state":"ok"/);
    sockets().turn('off');
    await expect.poll(readyz, patience).toMatch(/"degraded".*Socket Mode is turned off/);
    sockets().turn('on');
    await expect.poll(readyz, patience).toMatch(/^{"state":"ok"/);
  });
});

async function ready(url: string): Promise<string> {
  return await (await fetch(`${url}/readyz`)).text();
}

async function state(url: string): Promise<unknown> {
  return (JSON.parse(await ready(url)) as { state: unknown }).state;
}
