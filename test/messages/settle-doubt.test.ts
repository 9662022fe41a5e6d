import { describe, expect, it } from 'vitest';
import {
  alertsHouse,
  type AlertsHouse,
  failed,
  linesOf,
  openAlertsWorld,
  type SlackCall,
  type SlackFault,
  slackFaults,
  startAlerts,
} from '../features/alerts-house.ts';

const { lost, unheard } = slackFaults;
const unreadable = slackFaults.refuses('missing_scope');

/** A Slack with faults: each call meets the next fault of its method, and succeeds once these are used up. */
function failing(
  { slack }: Pick<AlertsHouse, 'slack'>,
  faults: Partial<Record<SlackCall['method'], SlackFault[]>>,
) {
  slack.meets = ({ method }) => faults[method]?.shift();
}

function postsOf({ slack }: Pick<AlertsHouse, 'slack'>): SlackCall[] {
  return slack.calls.filter(({ method }) => method === 'post');
}

function textsOf(house: AlertsHouse): string[] {
  return house.parents().map((message) => linesOf(message));
}

describe('a post that may have arrived', () => {
  it('is repeated if the history does not show it', async () => {
    const house = alertsHouse();
    failing(house, { post: [lost] });
    await house.receive(failed);
    await house.drain(120_000);
    expect(postsOf(house)).toHaveLength(2);
    expect(textsOf(house)).toEqual([expect.not.stringContaining('May be a repeat')]);
  });

  it('is not repeated while the history does not answer for a moment', async () => {
    const house = alertsHouse();
    failing(house, { post: [unheard], history: [lost, lost, lost] });
    await house.receive(failed);
    await house.drain(120_000);
    expect(postsOf(house)).toHaveLength(1);
  });

  it.each([
    ['before its doubt was stored', false],
    ['after that', true],
  ])('is edited if the history shows it late, and a newer repeat was killed %s', async (_when, isStored) => {
    const world = openAlertsWorld();
    const house = startAlerts(world);
    world.slack.meets = ({ method }) => (method === 'post' ? unheard : undefined);
    const { messages } = world.slack;
    await house.receive(failed);
    await house.drain(0);
    // Its history does not show it yet.
    const [posted] = messages.splice(0);
    await house.alerts.move(failed.key, { kind: 'acknowledge', by: 'U0ADA00001' });
    const dead = Promise.withResolvers<void>();
    let hasLooked = false;
    const dying = startAlerts(world, async (name, effect) => {
      hasLooked ||= name === 'history';
      if (!hasLooked || name !== 'write message:alert') return await effect();
      if (isStored) await effect();
      dead.resolve();
      return await new Promise(() => undefined);
    });
    await Promise.race([dying.drain(60_000), dead.promise]);
    expect(hasLooked).toBe(true);
    if (posted) messages.push(posted);
    world.slack.meets = () => undefined;
    await house.drain(180_000);
    expect(house.parents().map(({ shown }) => shown.text)).toEqual([
      expect.stringMatching(/^👀 Acknowledged/u),
    ]);
  });

  it('still says that it may be a repeat, and keeps its thread’s order, if the history shows the repeat late', async () => {
    const house = alertsHouse();
    house.slack.meets = ({ method }) => (method === 'history' ? unreadable : unheard);
    await house.receive(failed);
    await house.drain(727_000);
    expect(house.parents()).toHaveLength(3);
    house.slack.meets = () => undefined;
    await house.alerts.move(failed.key, { kind: 'acknowledge', by: 'U0ADA00001' });
    await house.drain(23_000);
    await house.alerts.move(failed.key, { kind: 'close', by: 'U0ADA00001', reason: 'test' });
    // The second reply becomes due before the first.
    await house.drain(1_500_000);
    const repeat = house.parents().at(-1);
    expect(repeat && linesOf(repeat)).toMatch(/May be a repeat/);
    expect(house.notes(repeat?.ts ?? '').map(({ shown }) => shown.text)).toEqual([
      expect.stringMatching(/^👀/u),
      expect.stringMatching(/^☑️/u),
    ]);
  });

  it('keeps the order of a thread, even if the first reply is refused so long that others may pass it', async () => {
    const house = alertsHouse();
    await house.receive(failed);
    await house.drain(2_000);
    house.slack.meets = ({ method }) =>
      method === 'post' ? slackFaults.refuses('never_heard_of') : undefined;
    await house.alerts.move(failed.key, { kind: 'acknowledge', by: 'U0ADA00001' });
    await house.alerts.move(failed.key, { kind: 'assign', by: 'U0ADA00001', to: 'U0BOLA0001' });
    await house.alerts.move(failed.key, { kind: 'close', by: 'U0ADA00001', reason: 'test' });
    for (let quarter = 0; quarter < 20; quarter += 1) {
      house.clock.nowMs += 900_000;
      await house.drain(5_000);
    }
    house.slack.meets = () => undefined;
    await house.drain(1_800_000);
    const [parent] = house.parents();
    expect(house.notes(parent?.ts ?? '').map(({ shown }) => shown.text)).toEqual([
      expect.stringMatching(/^👀/u),
      expect.stringMatching(/^👤/u),
      expect.stringMatching(/^☑️/u),
    ]);
  });

  it('stays in doubt while Slack refuses later posts', async () => {
    const house = alertsHouse();
    failing(house, { post: [unheard, slackFaults.slow(5)], history: [unreadable, unreadable] });
    await house.receive(failed);
    await house.drain(120_000);
    expect(postsOf(house)).toHaveLength(3);
    expect(textsOf(house)).toEqual([
      expect.not.stringContaining('May be a repeat'),
      expect.stringContaining('May be a repeat'),
    ]);
  });

  it('waits for a silent history, counted from when it fell silent, however old the event is', async () => {
    const world = openAlertsWorld();
    const sent = Promise.withResolvers<void>();
    const dying = startAlerts(world, async (name, effect) => {
      const result = await effect();
      if (name === 'post') sent.resolve();
      return name === 'post' ? await new Promise(() => undefined) : result;
    });
    await dying.receive(failed);
    await Promise.race([dying.drain(0), sent.promise]);
    const house = startAlerts(world);
    failing(house, { history: [slackFaults.slow(20)] });
    world.clock.nowMs += 3_600_000;
    await house.drain(60_000);
    expect(postsOf(house)).toHaveLength(1);
  });

  it('is not searched for before Slack can have shown it', async () => {
    const house = alertsHouse();
    failing(house, { post: [lost] });
    await house.receive(failed);
    await house.drain(60_000);
    const [posted, looked] = house.slack.calls;
    expect(looked?.method).toBe('history');
    expect((looked?.atMs ?? 0) - (posted?.atMs ?? 0)).toBeGreaterThanOrEqual(15_000);
  });

  it('is not repeated in a stream while every answer is lost', async () => {
    const house = alertsHouse();
    house.slack.meets = ({ method }) => (method === 'history' ? unreadable : lost);
    await house.receive(failed);
    await house.drain(86_400_000 / 4);
    expect(postsOf(house).length).toBeGreaterThan(2);
    expect(postsOf(house).length).toBeLessThan(12);
  });
});
