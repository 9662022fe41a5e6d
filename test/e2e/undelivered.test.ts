import { describe, expect, test } from 'vitest';
import { metricsOf } from '../support/bot.ts';
import { shareDesk, type Desk } from '../support/desk.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

type Part = { name: string; state: string; detail?: string; fix?: string };

async function health({ bot }: Desk, name: string): Promise<Part | undefined> {
  const { parts } = (await (await fetch(`${bot.url()}/readyz`)).json()) as { parts: Part[] };
  return parts.find((one) => one.name === name);
}

function tries({ bot }: Desk): number {
  return bot.lines.filter((line) => line.includes('Slack refuses the post')).length;
}

async function metric({ bot }: Desk, line: string): Promise<boolean> {
  return (await metricsOf(bot)).includes(line);
}

describe('a channel that Slack refuses', () => {
  const at = shareDesk({ clock: true, workspace: { grantedOptionalScopes: 'all' } });
  const alertsOf = (references: readonly string[]) =>
    at()
      .posts('lead', 'payAlerts')
      .flatMap(({ text }) => references.filter((one) => text.includes(one)));
  const isRefused = (before = 0) => at().house.until('it is refused', () => tries(at()) > before);
  /**
   * Moves the clock until the messages are dead letters. Usually a retry some minutes after the jump finds them too
   * old. If the jump ended a try's lease instead, the refusal counts from after the jump, so a second day may be
   * needed.
   */
  async function isGivenUp(): Promise<void> {
    at().house.later(25 * hourMs);
    let looks = 0;
    await at().house.until('it is given up', async () => {
      looks += 1;
      if (looks % 100 === 0) at().house.later(looks === 300 ? 25 * hourMs : 10 * minuteMs);
      return (await health(at(), 'undelivered'))?.state === 'degraded';
    });
  }
  const references: string[] = [];

  test('causes one notice to the operators, with what to do, and is retried', async () => {
    const desk = at();
    const { workspace } = desk.house;
    expect(await health(desk, 'undelivered')).toEqual({ name: 'undelivered', state: 'ok' });
    workspace.setChannel(workspace.ids.channels.payAlerts, { archived: true });
    references.push(await desk.house.decline(), await desk.house.decline());
    await isRefused();
    desk.house.later(6 * minuteMs);
    const words = ['Slack won’t let the bot post in', 'is_archived', '/pay undelivered'];
    await desk.reads('lead', words, 'payOps');
    const tried = tries(desk);
    desk.house.later(hourMs);
    await desk.house.until('it is tried again', () => tries(desk) > tried);
    expect(desk.posts('lead', 'payOps')).toHaveLength(1);
    const now = await desk.asks('onCall', '/pay undelivered', 'Slack refuses messages now');
    expect(now.shown.text).toMatch(/Refused since .*is_archived[^]*Unarchive .*The next try is at /);
    await desk.asks('agent', '/pay undelivered', 'Not allowed');
  });

  test('for a day makes its messages dead letters: health, the metric and /pay undelivered show them', async () => {
    const desk = at();
    await isGivenUp();
    await desk.house.until('both are', () => metric(desk, 'payops_undelivered_messages{account="main"} 2'));
    expect(await health(desk, 'undelivered')).toMatchObject({
      detail: expect.stringContaining('is_archived'),
      fix: expect.stringContaining('rchive'),
    });
    await desk.asks('onCall', '/pay undelivered', '2 messages could not be delivered');
    // One a day on which a refusal began: the second message may be refused first on the next day.
    const [first, ...later] = desk.posts('lead', 'payOps').map(({ shown }) => shown.text);
    expect(first).toContain('Slack won’t let the bot post in');
    expect(later.filter((text) => !text.includes('Slack won’t let the bot post in'))).toEqual([]);
    expect(later.length).toBeLessThanOrEqual(1);
  });

  test('Deliver again delivers each message once, in the old order, after the channel is repaired', async () => {
    const desk = at();
    const { workspace } = desk.house;
    workspace.setChannel(workspace.ids.channels.payAlerts, { archived: false });
    await desk.presses('onCall', 'Deliver again');
    await desk.sees('onCall', '2 messages on the way again');
    await desk.settled('soon');
    expect(alertsOf(references)).toEqual(references);
    await desk.asks('onCall', '/pay undelivered', 'Everything was delivered');
    expect(await health(desk, 'undelivered')).toEqual({ name: 'undelivered', state: 'ok' });
    // A redelivered alert still works.
    const alert = await desk.reads('lead', references[0] ?? '', 'payAlerts');
    await desk.presses('lead', 'Acknowledge', alert);
    await desk.reads('lead', [references[0] ?? '', '👀 Acknowledged'], 'payAlerts');
    await desk.settled('soon');
  });

  test('npm run redrive has the running bot redeliver all, or those of one channel', async () => {
    const desk = at();
    const { workspace } = desk.house;
    const { payAlerts, payOps } = workspace.ids.channels;
    workspace.setFaults({ kind: 'refused', channel: payAlerts, error: 'channel_not_found' });
    const before = tries(desk);
    const reference = await desk.house.decline();
    await isRefused(before);
    await isGivenUp();
    workspace.setFaults();
    const other = await desk.runs(['redrive', '--channel', payOps]);
    expect(other.stdout).toBe(`Nothing is undelivered in ${payOps}. Without --channel this retries all.\n`);
    const { stdout, code } = await desk.runs(['redrive']);
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`^One message is on the way again.*\n  ${payAlerts}: 1$`, 'm'));
    await desk.reads('lead', reference, 'payAlerts');
    expect((await desk.runs(['redrive'])).stdout).toContain('Everything was delivered');
    await desk.settled('soon');
    expect(alertsOf([reference])).toEqual([reference]);
  });

  test('if the workspace forbids edits, a changed alert is reposted once, then its thread tells further changes', async () => {
    const desk = at();
    const { workspace } = desk.house;
    const reference = await desk.house.decline();
    const alert = await desk.reads('lead', [reference, 'Acknowledge'], 'payAlerts');
    workspace.setFaults({ kind: 'refused', method: 'chat.update', error: 'edit_window_closed' });
    await desk.presses('lead', 'Acknowledge', alert);
    const repost = await desk.reads('lead', [reference, 'Replaces'], 'payAlerts');
    await desk.settled('soon');
    await desk.presses('lead', 'Resolve…', repost);
    await desk.modalSays('lead', 'Resolve alert');
    await desk.submits('lead', { Reason: 'Paid in cash' });
    await desk.reads('lead', ['☑️ Resolved', 'Paid in cash'], repost);
    desk.house.later(25 * hourMs);
    await desk.settled('soon').catch(() => undefined);
    expect(alertsOf([reference])).toHaveLength(2);
    await desk.asks('onCall', '/pay undelivered', 'could not be delivered');
    workspace.setFaults();
  });

  test('after a lost answer the history is searched, and the alert is in the channel once', async () => {
    const desk = at();
    const { workspace } = desk.house;
    workspace.setFaults({ kind: 'answer_lost', method: 'chat.postMessage', times: 1 });
    const reference = await desk.house.decline();
    await desk.reads('lead', reference, 'payAlerts');
    await desk.house.until('the history was asked', () => workspace.stats().historyReads > 0);
    await desk.settled('soon');
    expect(alertsOf([reference])).toEqual([reference]);
    expect((await desk.reads('lead', reference, 'payAlerts')).shown.text).not.toContain('repeat');
  });
});

describe('without the history scopes', () => {
  const at = shareDesk({ clock: true });

  test('an alert whose answer was lost is posted again, marked as a possible repeat', async () => {
    const desk = at();
    desk.house.workspace.setFaults({ kind: 'answer_lost', method: 'chat.postMessage', times: 1 });
    const reference = await desk.house.decline();
    await desk.reads('lead', [reference, 'May be a repeat'], 'payAlerts');
    await desk.settled('soon');
    expect(desk.posts('lead', 'payAlerts').filter(({ text }) => text.includes(reference))).toHaveLength(2);
  });
});

describe('if the bot may post without being a member, but not edit', () => {
  const at = shareDesk({
    clock: true,
    workspace: { grantedOptionalScopes: 'all', quirks: { editsNeedMembership: true } },
  });

  test('a refused edit delays no alert, the thread tells the change, and inviting the bot fixes it', async () => {
    const desk = at();
    const { workspace } = desk.house;
    const { payAlerts } = workspace.ids.channels;
    workspace.setChannel(payAlerts, { botIsMember: false });
    const reference = await desk.house.decline();
    const alert = await desk.reads('lead', [reference, 'Acknowledge'], 'payAlerts');
    await desk.presses('lead', 'Acknowledge', alert);
    await desk.house.until('the edit is refused', () => tries(desk) > 0);
    await desk.reads('lead', '👀 Acknowledged', alert);
    const before = desk.house.now();
    const next = await desk.house.decline();
    await desk.reads('lead', next, 'payAlerts');
    expect(desk.house.now() - before).toBeLessThan(minuteMs);
    desk.house.later(6 * minuteMs);
    await desk.reads('lead', ['not_in_channel', '/invite @pay', 'not edit what it posted'], 'payOps');
    const found = await desk.runs(['doctor']);
    expect(found.stdout).toMatch(
      new RegExp(
        `⚠️.*${payAlerts}.*not in it: Slack may refuse its edits[^]*Invite the bot: /invite @pay`,
        'u',
      ),
    );

    workspace.setChannel(payAlerts, { botIsMember: true });
    desk.house.later(10 * minuteMs);
    await desk.settled('soon');
    const edited = await desk.reads('lead', [reference, '👀 Acknowledged'], 'payAlerts');
    expect(edited.ts).toBe(alert.ts);
  });
});

describe('if Slack allows one history page of 15 messages a minute', () => {
  const at = shareDesk({
    clock: true,
    workspace: { grantedOptionalScopes: 'all', quirks: { isHistorySlow: true }, postBurst: Infinity },
  });

  test('an alert in doubt is found behind many later messages, is posted once, and delays nothing', async () => {
    const desk = at();
    const { workspace } = desk.house;
    workspace.setFaults({ kind: 'answer_lost', method: 'chat.postMessage', times: 1 });
    const reference = await desk.house.decline();
    await desk.reads('lead', reference, 'payAlerts');
    // Other messages in the channel push the alert to the third page of the history.
    const { payAlerts } = workspace.ids.channels;
    for (let number = 0; number < 32; number += 1)
      await workspace.act(workspace.ids.users.agent, {
        kind: 'send_message',
        channel: payAlerts,
        text: `talk ${number}`,
      });
    await desk.house.until('the history was asked', () => workspace.stats().historyReads > 0);
    const before = desk.house.now();
    const next = await desk.house.decline();
    await desk.reads('lead', next, 'payAlerts');
    const waitedMs = desk.house.now() - before;
    desk.house.later(3 * minuteMs);
    await desk.settled('soon');
    expect(waitedMs).toBeLessThan(20_000);
    expect(desk.posts('lead', 'payAlerts').filter(({ text }) => text.includes(reference))).toHaveLength(1);
    expect((await desk.reads('lead', reference, 'payAlerts')).shown.text).not.toContain('repeat');
  });
});
