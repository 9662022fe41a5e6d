import { describe, expect, it } from 'vitest';
import type { Desk, Message, Where } from '../support/desk.ts';
import { openDesk, shareDesk } from '../support/desk.ts';
import { bySocket, type Person } from '../support/house.ts';
import { signSlack } from '../support/slack-requests.ts';

const pan = '4111 1111 1111 1111';
const granted = { grantedOptionalScopes: 'all' } as const;
// Without the slow history: at 15 messages a minute no long thread can be read.
const at = shareDesk({ workspace: { ...granted, quirks: { isHistorySlow: false } }, clock: true });

/** The person writes into the channel or the thread. Returns the message's ts. */
async function writes(
  desk: Desk,
  person: Person,
  text: string,
  { where = 'payDesk', threadTs }: { where?: Where; threadTs?: string } = {},
): Promise<string> {
  const channel = desk.house.workspace.ids.channels[where];
  const thread = threadTs === undefined ? {} : { threadTs };
  await desk.does(person, { kind: 'send_message', channel, text, ...thread });
  const all = desk.house.workspace.state(desk.id(person)).messages[channel] ?? [];
  return all.findLast(({ authorIsBot }) => !authorIsBot)?.ts ?? '';
}

const told = (desk: Desk, person: Person): Message[] =>
  desk.messages(person, 'payDesk').filter(({ ephemeral }) => ephemeral);

/** The person writes, and gets the bot's answer with these words. */
async function asks(
  desk: Desk,
  person: Person,
  text: string,
  { words, ...place }: { words: string; where?: Where; threadTs?: string },
): Promise<Message> {
  return await desk.seesBy(person, words, () => writes(desk, person, text, place));
}

describe('@pay in a thread', () => {
  it('answers the mention’s reference in the thread, to its author alone until they share the answer', async () => {
    const desk = at();
    const threadTs = await writes(desk, 'agent', 'Is the order of Ada paid?');
    const answer = await asks(desk, 'agent', '@pay is ORDER-1001 paid?', {
      words: '✅ Paid (confirmed)',
      threadTs,
    });
    expect(answer).toMatchObject({ ephemeral: true, threadTs });
    expect(answer.shown.buttons).toEqual(['Share here', 'Look up', 'Copy proof']);
    expect(desk.messages('lead', 'payDesk').filter(({ threadTs: of }) => of === threadTs)).toEqual([]);
    desk.house.workspace.setFaults({
      kind: 'refused',
      error: 'thread_locked',
      method: 'chat.postMessage',
      times: 1,
    });
    const locked = await desk.seesBy('agent', 'this thread takes no replies', () =>
      desk.presses('agent', 'Share here', answer),
    );
    expect(locked).toMatchObject({ ephemeral: true, threadTs });
    desk.house.later(3_000);
    await desk.presses('agent', 'Share here', answer);
    const shared = await desk.sees('lead', ['Paid (confirmed)', 'Shared by'], 'payDesk');
    expect(shared).toMatchObject({ threadTs, ephemeral: false });
    const entry = await desk.runs(['audit', 'export']);
    expect(entry.stdout).toMatch(/command.*lookup.*ORDER-1001/);
  });

  it('takes the newest reference of a thread of 200 messages if the mention names none', async () => {
    const desk = at();
    const threadTs = await writes(desk, 'agent', 'ORDER-1002 first');
    for (let count = 0; count < 200; count += 1)
      await writes(desk, 'lead', `still waiting ${count}`, { threadTs });
    await writes(desk, 'lead', 'The customer now asks about ORDER-1001.', { threadTs });
    await writes(desk, 'agent', 'Let me see.', { threadTs });
    const answer = await asks(desk, 'agent', '@pay', { words: 'ORDER-1001', threadTs });
    expect(answer).toMatchObject({ ephemeral: true, threadTs });
    expect(answer.text).toBe('✅ Paid (confirmed) · NGN 12,500.00 · a***@example.com · ORDER-1001');
    const pages = desk.house.slackGate.passed.filter(({ path }) => path.includes('conversations.replies'));
    expect(pages.length).toBeLessThanOrEqual(2);

    const several = await writes(desk, 'lead', 'ORDER-1001 or ORDER-1002?', { threadTs });
    expect(several).not.toBe('');
    const which = await asks(desk, 'agent', '@pay', { words: 'Which reference?', threadTs });
    expect(which.shown.buttons).toEqual(['Look up ORDER-1001', 'Look up ORDER-1002']);
    await desk.presses('agent', 'Look up ORDER-1002', which);
    const chosen = await desk.sees('agent', ['Not confirmed', 'ORDER-1002'], 'payDesk');
    expect(chosen).toMatchObject({ ephemeral: true, threadTs });

    // Such a number gets no button, because it may be a mistyped card number.
    const numbers = await asks(desk, 'agent', '@pay 9999000011112222 or 9999000011113333', {
      words: 'Which reference?',
      threadTs,
    });
    expect(numbers.shown.text).toContain('Name it: @pay <reference>');
  });

  it('tells how to go on if no reference is named, in the channel and in a thread', async () => {
    const desk = at();
    const alone = await asks(desk, 'agent', '@pay', { words: 'No reference in your message' });
    expect(alone.threadTs).toBeUndefined();
    const threadTs = await writes(desk, 'agent', 'Good morning');
    await asks(desk, 'agent', '@pay', { words: 'No reference found in this thread', threadTs });
  });

  it('answers a command’s name with its button, refuses a person without a role, and never repeats a card number', async () => {
    const desk = at();
    const threadTs = await writes(desk, 'agent', 'They want to pay now.');
    const verb = await asks(desk, 'agent', '@pay charge 5000', {
      words: '/pay charge opens by its button',
      threadTs,
    });
    expect(verb).toMatchObject({ ephemeral: true, threadTs });
    await desk.presses('agent', 'Charge a card', verb);
    await desk.modalSays('agent', 'Amount');
    await desk.closes('agent');
    await asks(desk, 'onCall', '@pay story ORDER-1001', {
      words: 'Type /pay story in the channel',
      threadTs,
    });
    await asks(desk, 'onCall', '@pay charge 5000', { words: 'Not allowed', threadTs });
    await asks(desk, 'agent', '@pay refund ORDER-1001', { words: 'dashboard, not here', threadTs });
    await asks(desk, 'outsider', '@pay ORDER-1001', { words: 'Not allowed', threadTs });
    const card = await asks(desk, 'agent', `@pay is ${pan} paid?`, { words: 'card number', threadTs });
    expect(card.shown.text).not.toContain('1111');
    expect(await desk.kept({ pan, plain: pan.replaceAll(' ', '') })).toEqual([]);
  });

  it.skipIf(bySocket)('answers a message once, even if redelivered, edited or sent twice', async () => {
    const desk = at();
    const threadTs = await writes(desk, 'agent', 'A thread');
    await asks(desk, 'agent', '@pay ORDER-1001', { words: 'Paid (confirmed)', threadTs });
    const answers = told(desk, 'agent').length;
    const { ids, credentials } = desk.house.workspace;
    const sent = desk.house.workspace.state(desk.id('agent')).messages[ids.channels.payDesk] ?? [];
    const ts = sent.findLast(({ authorIsBot }) => !authorIsBot)?.ts ?? '';
    const message = { type: 'app_mention', user: desk.id('agent'), text: '<@U0PAYBOT01> ORDER-1002', ts };
    async function brings(event: object): Promise<number> {
      const whole = {
        ...message,
        channel: ids.channels.payDesk,
        thread_ts: threadTs,
        event_ts: ts,
        ...event,
      };
      const body = JSON.stringify({
        type: 'event_callback',
        team_id: 'T0PAYTEAM1',
        event_id: 'Ev1',
        event: whole,
      });
      const signed = signSlack(body, {
        contentType: 'application/json',
        secret: credentials.signingSecret,
        atMs: Date.now(),
      });
      return (await fetch(`${desk.bot.url()}/slack/events`, { method: 'POST', ...signed })).status;
    }
    expect(await brings({})).toBe(200);
    expect(await brings({ edited: { user: desk.id('agent'), ts: '1.0' } })).toBe(200);
    // An app that mentions the bot gets no answer: it might answer in turn.
    expect(await brings({ ts: '1795000000.000100', bot_id: 'B0OTHER001' })).toBe(200);
    await asks(desk, 'lead', '@pay ORDER-1003', { words: 'Not confirmed', threadTs });
    expect(told(desk, 'agent')).toHaveLength(answers);
  });

  it('takes no old reference for the newest if Slack shows only the beginning of a thread', async (test) => {
    const desk = await openDesk(test, {
      workspace: { ...granted, quirks: { isHistorySlow: true } },
    });
    const threadTs = await writes(desk, 'agent', 'ORDER-1002 first');
    for (let count = 0; count < 20; count += 1)
      await writes(desk, 'lead', `still waiting ${count}`, { threadTs });
    await writes(desk, 'lead', 'The customer now asks about ORDER-1001.', { threadTs });
    const answer = await asks(desk, 'agent', '@pay', { words: 'the bot can’t read this thread', threadTs });
    expect(answer).toMatchObject({ ephemeral: true, threadTs });
  });

  it('says that it can’t read a thread without the scope; hears no mention outside its channels', async (test) => {
    const unread = await openDesk(test, { workspace: { grantedOptionalScopes: ['app_mentions:read'] } });
    const threadTs = await writes(unread, 'agent', 'About ORDER-1001');
    await asks(unread, 'agent', '@pay', { words: 'the bot can’t read this thread', threadTs });
    await asks(unread, 'agent', '@pay ORDER-1001', { words: 'Paid (confirmed)', threadTs });
    await writes(unread, 'onCall', '@pay ORDER-1001', { where: 'privateRoom' });
    await asks(unread, 'agent', '@pay ORDER-1001', { words: 'Paid (confirmed)', threadTs });
    expect(unread.messages('onCall', 'privateRoom')).toEqual([]);
    const room = { where: 'privateRoom' } as const;
    await writes(unread, 'onCall', '/invite @pay', room);
    const inRoom = { ...room, threadTs: await writes(unread, 'onCall', 'Between us', room) };
    await writes(unread, 'onCall', '@pay ORDER-1001', inRoom);
    const own = await unread.sees('onCall', 'Paid (confirmed)', 'privateRoom');
    expect(own).toMatchObject({ ephemeral: true, threadTs: inRoom.threadTs });
    await writes(unread, 'onCall', '@pay', inRoom);
    await unread.sees('onCall', 'the bot can’t read this thread', 'privateRoom');
    expect(unread.messages('agent', 'privateRoom').filter(({ ephemeral }) => ephemeral)).toEqual([]);

    const deaf = await openDesk(test, { workspace: { grantedOptionalScopes: [] } });
    const found = await deaf.runs(['doctor']);
    expect(found.stdout).toContain('app_mentions:read (@pay is not heard in threads)');
  });
});
