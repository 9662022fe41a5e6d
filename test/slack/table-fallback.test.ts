import { WebClient } from '@slack/web-api';
import { describe, expect, it } from 'vitest';
import { findBlockProblems } from '../../src/slack/assert-blocks.ts';
import { headline, table } from '../../src/slack/blocks.ts';
import type { SlackMessage } from '../../src/slack/message.ts';
import { createReply, type Reply } from '../../src/slack/reply.ts';
import { mockTheOutside } from '../support/mocks.ts';
import { answerSlack, type ApiCall } from '../support/slack-api.ts';

mockTheOutside();

const refused = { ok: false, error: 'invalid_blocks' };

function stage() {
  const client = new WebClient('xoxb-1', {
    slackApiUrl: 'https://slack.test/api/',
    retryConfig: { retries: 0 },
  });
  const logged: unknown[] = [];
  const caller = { userId: 'U1', channelId: 'C1' };
  const reply: Reply = createReply(
    { caller, respond: undefined, replaces: 'nothing' },
    client,
    (...line) => void logged.push(line),
  );
  return { reply, logged };
}

function message(): SlackMessage {
  const { text, block } = headline('Terminals 1–2', []);
  return {
    text,
    blocks: [
      block,
      table(
        ['Terminal', 'Label'],
        [
          ['1', 'Till'],
          ['2', 'Bar'],
        ],
      ).block,
    ],
  };
}

function blocksOf(call: ApiCall | undefined): { type: string }[] {
  return (call?.['blocks'] ?? []) as { type: string }[];
}

describe('a workspace without tables', () => {
  it('gets the same rows as aligned text, and from then on at once', async () => {
    const { reply, logged } = stage();
    const calls: ApiCall[] = [];
    answerSlack(calls, 'chat.postEphemeral', refused);
    answerSlack(calls, 'chat.postEphemeral');
    await reply(message());
    expect(calls.map((call) => blocksOf(call).map(({ type }) => type))).toEqual([
      ['rich_text', 'table'],
      ['rich_text', 'rich_text'],
    ]);
    expect(JSON.stringify(blocksOf(calls[1]))).toMatch(/Terminal {2}Label.*1 {9}Till/);
    expect(findBlockProblems('message', blocksOf(calls[1]))).toEqual([]);
    answerSlack(calls, 'chat.postEphemeral');
    await reply(message());
    expect(blocksOf(calls[2]).map(({ type }) => type)).toEqual(['rich_text', 'rich_text']);
    expect(logged).toEqual([]);
  });

  it('gets the words alone when it refuses those too, and is asked with a table again', async () => {
    const { reply } = stage();
    const calls: ApiCall[] = [];
    for (let count = 0; count < 2; count += 1) answerSlack(calls, 'chat.postEphemeral', refused);
    answerSlack(calls, 'chat.postEphemeral');
    await reply(message());
    expect(calls[2]).toMatchObject({ text: 'Terminals 1–2' });
    expect(calls[2]).not.toHaveProperty('blocks');
    answerSlack(calls, 'chat.postEphemeral');
    await reply(message());
    expect(blocksOf(calls[3]).map(({ type }) => type)).toContain('table');
  });
});
