import { describe, expect, it } from 'vitest';
import { alertsCommand, type AlertsDeps } from '../../src/commands/alerts.ts';
import type { AlertRule, RoutePlan } from '../../src/domain/alert-route.ts';
import { nothingRehearsed, type Rehearsal } from '../../src/domain/rehearsal.ts';
import { StoreUnavailable } from '../../src/domain/store-unavailable.ts';
import { testAlertActionId } from '../../src/slack/alert/routes-message.ts';
import { mockTheOutside } from '../support/mocks.ts';
import type { BotOptions, RunningBot } from '../support/running-bot.ts';
import { runningBots } from '../support/running-bots.ts';

mockTheOutside();

const run = runningBots();

const nowMs = Date.UTC(2026, 10, 21);
/** The channel that the requests of these tests come from. */
const here = 'C0SUPPORT';
const muted: AlertRule = {
  name: 'no-funds',
  match: { event: 'payment_failed', reasonPart: 'funds' },
  channels: [here],
  mutedUntilMs: Date.UTC(2026, 11, 1),
  goesOn: false,
};
const plan: RoutePlan = {
  rules: [muted],
  environment: 'live',
  account: 'main account',
  failures: 'C0ALERTS01',
  successes: undefined,
};

function stage(more: Partial<AlertsDeps> = {}) {
  const sent: [string, string][] = [];
  const verb = alertsCommand({
    routes: plan,
    usesOf: () => [],
    alertsOf: () => Promise.resolve([]),
    rehearse: () => Promise.resolve(nothingRehearsed),
    storms: { channel: () => Promise.resolve({ singles: [] }), threshold: 20, windowMs: 300_000 },
    async sendTestAlert(channel, askedBy) {
      sent.push([channel, askedBy]);
    },
    now: () => nowMs,
    ...more,
  });
  async function start(options: BotOptions = {}): Promise<RunningBot> {
    const bot = await run({ more: [verb], ...options });
    return bot;
  }
  return { verb, sent, start };
}

const press = { actionId: testAlertActionId, value: here };

function awayStore(): Promise<never> {
  return Promise.reject(new StoreUnavailable('away'));
}

describe('/pay alerts', () => {
  it('answers the caller alone with what this very channel gets, mutes and their end', async () => {
    const bot = await stage().start();
    await bot.type('alerts');
    expect(bot.told).toEqual([expect.objectContaining({ response_type: 'ephemeral' })]);
    expect(bot.toldText()).toContain('no-funds');
    expect(bot.toldText()).toContain('2026-12-01 00:00 UTC');
    expect(bot.toldText()).toContain('Send a test alert');
    expect(bot.toldText()).toContain('No storm now.');
    expect(bot.toldText()).toContain('Past 20 failed charges in 5 min');
  });

  it('says so in a channel that gets none', async () => {
    const rules = [{ ...muted, channels: ['C0GENERAL1'] }];
    const bot = await stage({ routes: { ...plan, rules } }).start();
    await bot.type('alerts');
    expect(bot.toldText()).toContain('This channel gets no alerts');
    expect(bot.toldText()).not.toContain('Send a test alert');
  });

  it('says of each rule what it would have posted lately', async () => {
    const rehearsal: Rehearsal = {
      events: 900,
      sinceMs: nowMs - 6 * 86_400_000,
      lines: [{ channel: here, rule: 'no-funds', posts: 41, worstHour: 9, inDigests: 0 }],
      unsure: 0,
    };
    const bot = await stage({ rehearse: () => Promise.resolve(rehearsal) }).start();
    await bot.type('alerts');
    expect(bot.toldText()).toContain('In the last 7 days this would have posted 41, worst hour 9.');
  });

  it('says what it knows at once when the rehearsal takes long, and the rest afterwards', async () => {
    const { promise, resolve } = Promise.withResolvers<Rehearsal>();
    const bot = await stage({ rehearse: () => promise }).start({ patienceMs: 1 });
    const typed = bot.type('alerts');
    await expect.poll(() => bot.toldText()).toContain('Working out what this would have posted');
    expect(bot.toldText()).toContain('no-funds');
    resolve({ events: 1, sinceMs: nowMs, lines: [], unsure: 1 });
    await typed;
    await expect.poll(() => bot.toldText()).toContain('this would have posted nothing');
  });

  it('says what the settings say though the store is away', async () => {
    const bot = await stage({ rehearse: awayStore }).start();
    await bot.type('alerts');
    expect(bot.toldText()).toContain('no-funds');
    expect(bot.toldText()).toContain('cannot be said');
  });

  it('takes no words', () => {
    expect(stage().verb.prepare(['C0ALERTS01'])).toMatchObject({ ok: false });
  });

  it('stands in the App Home with every mute', async () => {
    const { verb } = stage();
    expect(JSON.stringify(await verb.home?.({ userId: 'U0AGENT' }))).toContain('no-funds');
    const none = stage({ routes: { ...plan, rules: [] } });
    expect(await none.verb.home?.({ userId: 'U0AGENT' })).toEqual([]);
  });

  it('shows and sends nothing to whom the permission alerts is not given', async () => {
    const asked: string[] = [];
    const { sent, start } = stage();
    const bot = await start({
      async mayRun(permission) {
        asked.push(permission);
        return { kind: 'refused', rule: 'It needs the permission “alerts”', whoCan: 'People in on-call' };
      },
    });
    await bot.type('alerts');
    await bot.press(press);
    expect(new Set(asked)).toEqual(new Set(['alerts']));
    expect(sent).toEqual([]);
    expect(bot.toldText()).not.toContain('no-funds');
    expect(bot.toldText()).toContain('People in on-call');
  });
});

describe('Send a test alert', () => {
  it('sends one to this channel, in the name of who asked, and says that it is on its way', async () => {
    const { sent, start } = stage();
    const bot = await start();
    await bot.press(press);
    expect(sent).toEqual([[here, 'U0AGENT']]);
    expect(bot.toldText()).toContain('A test alert is on its way');
  });

  it('sends one for a double click, and another one for another click', async () => {
    const keys = new Set<string>();
    const { sent, start } = stage();
    const bot = await start({
      async claimOnce(key) {
        if (keys.has(key)) return false;
        keys.add(key);
        return true;
      },
    });
    await Promise.all([
      bot.press({ ...press, actionTs: '1700000001.900000' }),
      bot.press({ ...press, actionTs: '1700000002.100000' }),
      bot.press({ ...press, actionTs: '1700000002.100000' }),
    ]);
    expect(sent).toHaveLength(1);
    await bot.press({ ...press, actionTs: '1700000009.000000' });
    expect(sent).toHaveLength(2);
  });

  it('sends none to a channel that gets no alerts any more', async () => {
    const { sent, start } = stage();
    const bot = await start();
    await bot.press({ ...press, value: 'C0GENERAL1' });
    expect(sent).toEqual([]);
    expect(bot.toldText()).toContain('This channel gets no alerts');
  });

  it('tells the person when the store is away', async () => {
    const { start } = stage({ sendTestAlert: () => Promise.reject(new StoreUnavailable('away')) });
    const bot = await start();
    await bot.press(press);
    expect(bot.told).toHaveLength(1);
    expect(bot.toldText()).not.toContain('on its way');
  });
});
