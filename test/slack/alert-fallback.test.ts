import { WebClient } from '@slack/web-api';
import { describe, expect, it } from 'vitest';
import { fitting } from '../../src/slack/alert-fallback.ts';
import { findViewProblems } from '../../src/slack/assert-blocks.ts';
import { alertBox, modal } from '../../src/slack/blocks.ts';
import { createOpenModal, updateModal } from '../../src/slack/modals.ts';
import { mockTheOutside } from '../support/mocks.ts';
import { answerSlack, type ApiCall } from '../support/slack-api.ts';

mockTheOutside();

const boxed = modal({ callbackId: 'c', title: 'Charge', blocks: [alertBox('warning', 'Real money moves.')] });
const log = () => undefined;

function slack(): WebClient {
  return new WebClient('xoxb-1', { slackApiUrl: 'https://slack.test/api/', retryConfig: { retries: 0 } });
}

function blockTypes(call: ApiCall | undefined): string[] {
  const view = call?.['view'] as { blocks: { type: string }[] } | undefined;
  return view?.blocks.map(({ type }) => type) ?? [];
}

describe('a workspace without alert boxes', () => {
  it('gets the same words as plain lines, at once and from then on', async () => {
    const client = slack();
    const calls: ApiCall[] = [];
    answerSlack(calls, 'views.open', { ok: false, error: 'invalid_arguments' });
    answerSlack(calls, 'views.open', { ok: true, view: { id: 'V1' } });
    const open = createOpenModal(client, { triggerId: 't', onTop: false });
    expect(await open(boxed)).toBe('V1');
    expect(calls.map(blockTypes)).toEqual([['alert'], ['rich_text']]);
    expect(JSON.stringify(calls[1])).toContain('Real money moves.');
    answerSlack(calls, 'views.update');
    expect(await updateModal(client, { viewId: 'V1', modal: boxed }, log)).toBe('shown');
    expect(blockTypes(calls[2])).toEqual(['rich_text']);
    expect(findViewProblems(fitting(client, boxed))).toEqual([]);
    expect(fitting(client, boxed).blocks[0]?.type).toBe('rich_text');
  });

  it('is not taken for one because Slack refuses something else, or refuses it again', async () => {
    const client = slack();
    const calls: ApiCall[] = [];
    const open = createOpenModal(client, { triggerId: 't', onTop: false });
    answerSlack(calls, 'views.open', { ok: false, error: 'expired_trigger_id' });
    await expect(open(boxed)).rejects.toMatchObject({ kind: 'too_late' });
    answerSlack(calls, 'views.open', { ok: false, error: 'invalid_arguments' });
    answerSlack(calls, 'views.open', { ok: false, error: 'invalid_arguments' });
    await expect(open(boxed)).rejects.toMatchObject({ kind: 'refused' });
    expect(calls).toHaveLength(3);
    expect(fitting(client, boxed)).toBe(boxed);
  });
});
