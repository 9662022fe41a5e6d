import { setTimeout as sleep } from 'node:timers/promises';
import type { ViewResponseAction, ViewSubmitAction } from '@slack/bolt';
import { expect, it } from 'vitest';
import { parsed } from '../../../src/domain/wording.ts';
import { createCommandSet } from '../../../src/features/help/command-set.ts';
import { defineCommand, type Submission, type ViewAnswer } from '../../../src/slack/command.ts';
import { modal, richText, words as say } from '../../../src/slack/kit/blocks.ts';
import type { Modal } from '../../../src/slack/kit/message.ts';
import { updateModal } from '../../../src/slack/kit/modals.ts';
import { answerForm } from '../../../src/slack/router/form.ts';
import { createClients } from '../../../src/slack/workspace.ts';
import { oneAccount } from '../../support/permission-stage.ts';

const log = (): void => undefined;

function saying(words: string): Modal {
  return modal({ callbackId: 'pay', title: 'Charge', blocks: [richText([say(words)])] });
}

type Told = { by: 'acknowledgement' | 'update'; words: string };

function toldBy(by: Told['by'], view: unknown): Told {
  const [words = 'another'] = /asked for|on its way|paid|No answer yet/.exec(JSON.stringify(view)) ?? [];
  return { by, words };
}

/** What the person is shown, in order. `submit`: ms until the form's answer; `work`: ms of `carryOn` before each update. */
async function submits(
  ms: { submit: number; work: number; first?: string },
  acknowledge: () => void = () => undefined,
): Promise<Told[]> {
  const told: Told[] = [];
  const { interactive: client } = createClients({ botToken: 'x', slackApiUrl: 'http://127.0.0.1:9/' }, log);
  client.views.update = async ({ view }) => {
    told.push(toldBy('update', view));
    return { ok: true };
  };
  async function submit({ viewId }: Submission): Promise<ViewAnswer> {
    await sleep(ms.submit);
    return {
      kind: 'update',
      modal: saying('asked for'),
      async carryOn() {
        await sleep(ms.work);
        await updateModal(client, { viewId, modal: saying(ms.first ?? 'on its way') }, log);
        await sleep(ms.work);
        await updateModal(client, { viewId, modal: saying('paid') }, log);
      },
    };
  }
  const part = { callbackId: 'pay', submit };
  const command = defineCommand({
    verb: 'charge',
    usage: '',
    summary: 'Charge',
    examples: [],
    permission: 'charge',
    effect: 'money',
    parse: () => parsed(undefined),
    run: async () => undefined,
  });
  const account = { merchant: undefined, mayRun: async () => ({ kind: 'allowed' }) as const };
  const view = {
    id: 'V1',
    private_metadata: '',
    title: { text: 'Charge' },
    blocks: [],
    state: { values: {} },
  };
  await answerForm(
    async (answer?: ViewResponseAction) => {
      acknowledge();
      told.push(toldBy('acknowledgement', answer));
    },
    { account, command, part, caller: { userId: 'U1' }, body: { view } as unknown as ViewSubmitAction },
    {
      client,
      log,
      now: Date.now,
      commands: createCommandSet([oneAccount([command], account.mayRun)], log),
      identity: () => undefined,
      claimOnce: async () => true,
      ackMs: 400,
      suggestMs: 400,
      patienceMs: 400,
      openMs: 400,
      submitMs: 400,
      resultMs: 300,
    },
  );
  return told;
}

it('shows a quick result in the acknowledgement, and every result by update too', async () => {
  expect(await submits({ submit: 0, work: 20 })).toEqual([
    { by: 'acknowledgement', words: 'on its way' },
    { by: 'update', words: 'on its way' },
    { by: 'update', words: 'paid' },
  ]);
});

it('does not acknowledge early for an update equal to the answer, only for a newer one', async () => {
  expect(await submits({ submit: 0, work: 20, first: 'asked for' })).toEqual([
    { by: 'acknowledgement', words: 'paid' },
    { by: 'update', words: 'paid' },
  ]);
});

it('acknowledges in time with the form’s answer if the result is late, and shows the result by update', async () => {
  expect(await submits({ submit: 250, work: 500 })).toEqual([
    { by: 'acknowledgement', words: 'asked for' },
    { by: 'update', words: 'on its way' },
    { by: 'update', words: 'paid' },
  ]);
});

it('finishes the work if Slack no longer takes the acknowledgement', async () => {
  const told = await submits({ submit: 0, work: 20 }, () => {
    throw new Error('Slack waits for no answer any more');
  });
  expect(told.at(-1)).toEqual({ by: 'update', words: 'paid' });
});
