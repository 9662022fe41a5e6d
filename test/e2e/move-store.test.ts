import { expect, it } from 'vitest';
import { rightOtp } from '../../src/simulators/payments/bank.ts';
import { charges, sitAt } from '../support/desk.ts';
import { openHouse } from '../support/house.ts';
import { findProgram } from '../support/programs.ts';
import { redisOf } from '../support/redis-server.ts';

const missing = findProgram('redis-server') === undefined;
if (missing) console.warn('SKIPPED: moving a store to Redis, because redis-server is not installed.');

const [ada, bola] = ['4081', '1127'];
const patientSender = { retryDelaysMs: Array.from({ length: 400 }, () => 200), webhookTimeoutMs: 60_000 };
/** Blank means unset: the embedded store, with its own key file. */
const onFile = { REDIS_URL: '', SEALING_KEYS: '' };

/** A process, killed at work: a charge in doubt, one that waits for its code, alerts, a post under way. */
it.skipIf(missing)(
  'move-store moves the store of a bot that died at work, and the bot continues on Redis: nothing is lost or done twice',
  async (test) => {
    const redis = await redisOf(test);
    const house = await openHouse(test, {
      processes: true,
      redisUrl: redis.url,
      workspace: { grantedOptionalScopes: 'all' },
      payments: { knownCards: true, ...patientSender },
    });
    const bot = house.bot(onFile);
    await house.start(bot);
    await house.cardsKnown();
    const before = sitAt(house, bot);
    const inDoubt = await charges(before, 'agent', { card: ada, amount: '2,000.19' });
    await before.modalSays('agent', 'In doubt, checking');
    await before.closes('agent');
    const waiting = await charges(before, 'agent', { card: bola, amount: '1,500.00' });
    await before.modalSays('agent', '3 of 3 tries left');
    await before.closes('agent');
    const told = await house.decline();
    const alert = await before.reads('onCall', told, 'payAlerts');
    await before.presses('onCall', 'Acknowledge', alert);
    await before.reads('onCall', [told, 'Acknowledged'], 'payAlerts');
    const posted = house.slackGate.hold('/chat.postMessage', 'after');
    const onItsWay = await house.decline({ amount: '5100.00' });
    await posted;
    const queued = [];
    for (const amount of ['5200.00', '5300.00', '5400.00']) queued.push(await house.decline({ amount }));
    await house.payments.settled();

    const inUse = await before.runs(['move-store']);
    expect(inUse).toMatchObject({
      code: 6,
      stderr: expect.stringContaining('another process holds the store file'),
    });
    await bot.kill9();
    expect(await before.runs(['move-store'], { REDIS_URL: '' })).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('Set REDIS_URL'),
    });
    // An event sent meanwhile is retried until a bot accepts it.
    const meanwhile = await house.decline({ amount: '5500.00' });
    const moved = await before.runs(['move-store']);
    expect(moved).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/: \d+ records, \d+ of them work\./),
    });
    expect(moved.stdout).not.toContain('which is missing');
    const twice = await before.runs(['move-store']);
    expect(twice).toMatchObject({ code: 1, stderr: expect.stringContaining('were moved to Redis before') });
    const old = house.bot(onFile);
    await expect(old.start()).rejects.toThrow('moved to Redis');

    const next = house.bot(undefined, 'here');
    await house.start(next);
    const desk = sitAt(house, next);
    await house.payments.act({ kind: 'pay_order', orderReference: inDoubt, outcome: 'approved' });
    await desk.sees('agent', ['Paid (confirmed)', inDoubt], 'agentDm');
    await desk.opens('agent', `/pay otp ${waiting}`);
    await desk.submits('agent', { 'Code from the bank': rightOtp });
    await desk.modalSays('agent', ['Paid (confirmed)', waiting]);
    await desk.settled();
    const alerts = desk.posts('onCall', 'payAlerts');
    for (const reference of [told, onItsWay, ...queued, meanwhile])
      expect(alerts.filter(({ text }) => text.includes(reference))).toHaveLength(1);
    expect(alerts.find(({ text }) => text.includes(told))?.shown.text).toContain('Acknowledged');
    const { chargesByReference } = house.payments.stats();
    expect([chargesByReference[inDoubt], chargesByReference[waiting]]).toEqual([1, 1]);
    const trail = await desk.runs(['audit', 'verify']);
    expect(trail).toMatchObject({ code: 0, stdout: expect.stringContaining('The audit trail is whole') });
    const { stdout: entries } = await desk.runs(['audit', 'export']);
    expect(entries.split('\n').filter((line) => line.includes('"verb":"move-store"'))).toHaveLength(1);
  },
);
