import { describe, expect, it } from 'vitest';
import { ServiceFailure } from '../../../src/domain/failure.ts';
import { createLog } from '../../../src/log.ts';
import { findViewProblems } from '../../../src/slack/assert-blocks.ts';
import type { ModalDefinition, Permit, ViewAnswer } from '../../../src/slack/command.ts';
import { routeSubmission } from '../../../src/slack/router/route-submission.ts';
import { createClients } from '../../../src/slack/workspace.ts';
import { auditLines, form, formVerb, page } from '../../support/form-verb.ts';
import { mockTheOutside } from '../../support/mocks.ts';
import { allowAll, slackApiUrl } from '../../support/running-bot.ts';
import { runningBots } from '../../support/running-bots.ts';
import { answerSlack, type ApiCall } from '../../support/slack-api.ts';
import { submitBody } from '../../support/slack-requests.ts';
import { createCommandSet } from '../../../src/commands/command-set.ts';

mockTheOutside();

const start = runningBots();

function viewOf(body: Record<string, unknown> | undefined): unknown {
  expect(body).toMatchObject({ response_action: 'update' });
  expect(findViewProblems(body?.['view'])).toEqual([]);
  return body?.['view'];
}

/** Work that the test ends. */
function held<T>() {
  return Promise.withResolvers<T>();
}

describe('a form whose answer takes too long', () => {
  it('is answered in time with what is not known, and shown when it comes', async () => {
    const work = held<ViewAnswer>();
    const carriedOn: string[] = [];
    const calls: ApiCall[] = [];
    const bot = await start({ more: [formVerb(() => work.promise)], submitMs: 20 });
    const shown = JSON.stringify(viewOf((await bot.submit(form)).body));
    expect(shown).toContain('No answer yet');
    expect(shown).toContain('don’t send it again');
    expect(shown).toContain('/pay doubt');
    expect(auditLines(bot)).toMatchObject([{ verb: 'refund', userId: 'U0AGENT', result: 'late' }]);

    answerSlack(calls, 'views.update');
    work.resolve({
      kind: 'update',
      modal: page('At last'),
      carryOn: async () => void carriedOn.push(`after ${calls.length} update`),
    });
    await bot.slack.drained();
    expect(calls).toEqual([expect.objectContaining({ view_id: 'V7', view: page('At last') })]);
    expect(carriedOn).toEqual(['after 1 update']);
    expect(bot.logged.join('')).toContain('A form was answered after its time');
  });

  it.each<[Partial<ModalDefinition>, string]>([
    [{ effect: 'money' }, '/pay doubt'],
    [{ effect: 'access' }, 'look whether it was changed'],
    [{ effect: 'none' }, 'nothing was charged or changed'],
    [{ effect: 'none', ifNoAnswer: 'Look at the alert.' }, 'Look at the alert.'],
  ])('with %j says where to look if none comes', async (about, said) => {
    const work = held<ViewAnswer>();
    const verb = formVerb(() => work.promise);
    const modals = (verb.modals ?? []).map((modal) => ({ ...modal, ...about }));
    const bot = await start({ more: [{ ...verb, modals }], submitMs: 20 });
    const shown = JSON.stringify(viewOf((await bot.submit(form)).body));
    expect(shown).toContain(said);
    expect(shown.includes('/pay doubt')).toBe(about.effect === 'money');
    answerSlack([], 'views.update');
    work.resolve({ kind: 'close' });
    await bot.slack.drained();
  });

  it('counts the time of the permission too', async () => {
    const permit = held<Permit>();
    const bot = await start({
      more: [formVerb(async () => ({ kind: 'update', modal: page('Next') }))],
      mayRun: () => permit.promise,
      submitMs: 20,
    });
    expect(JSON.stringify(viewOf((await bot.submit(form)).body))).toContain('No answer yet');
    const calls: ApiCall[] = [];
    answerSlack(calls, 'views.update');
    permit.resolve({ kind: 'allowed' });
    await bot.slack.drained();
    expect(calls).toHaveLength(1);
  });

  it.each<[ViewAnswer, string]>([
    [{ kind: 'errors', errors: { amount: 'An amount is digits.' } }, 'An amount is digits.'],
    [{ kind: 'close' }, 'done with this form'],
  ])('shows a late %j in words, the form being gone', async (late, said) => {
    const work = held<ViewAnswer>();
    const bot = await start({ more: [formVerb(() => work.promise)], submitMs: 20 });
    await bot.submit(form);
    const calls: ApiCall[] = [];
    answerSlack(calls, 'views.update');
    work.resolve(late);
    await bot.slack.drained();
    expect(JSON.stringify(calls)).toContain(said);
    expect(findViewProblems(calls[0]?.['view'])).toEqual([]);
  });

  it('shows a late failure, too', async () => {
    const work = held<ViewAnswer>();
    const bot = await start({ more: [formVerb(() => work.promise)], submitMs: 20 });
    await bot.submit(form);
    const calls: ApiCall[] = [];
    answerSlack(calls, 'views.update');
    work.reject(new ServiceFailure('server', 'details'));
    await bot.slack.drained();
    expect(JSON.stringify(calls)).toContain('reports a fault of its own');
  });

  it.each(['not_found', 'fatal_error'])('carries on when the modal cannot be updated: %s', async (error) => {
    const work = held<ViewAnswer>();
    let carriedOn = 0;
    const bot = await start({ more: [formVerb(() => work.promise)], submitMs: 20 });
    await bot.submit(form);
    answerSlack([], 'views.update', { ok: false, error });
    work.resolve({ kind: 'update', modal: page('x'), carryOn: async () => void (carriedOn += 1) });
    await bot.slack.drained();
    expect(carriedOn).toBe(1);
    const warned = bot.logged.some((line) => line.includes('"warn"'));
    expect(warned).toBe(error !== 'not_found');
  });
});

describe('what carries on after the answer', () => {
  it('begins only when Slack has the answer, and is waited for', async () => {
    const work = held<void>();
    const begun = held<void>();
    let ended = false;
    const bot = await start({
      more: [
        formVerb(async () => ({
          kind: 'update',
          modal: page('Charging'),
          carryOn: async () => {
            begun.resolve();
            await work.promise;
            ended = true;
          },
        })),
      ],
    });
    // The answer is here while the work is held.
    expect(viewOf((await bot.submit(form)).body)).toEqual(page('Charging'));
    await begun.promise;
    const drained = bot.slack.drained().then(() => ended);
    expect(ended).toBe(false);
    work.resolve();
    expect(await drained).toBe(true);
  });

  it('tells the person directly when it breaks, with the id that is in the log', async () => {
    const calls: ApiCall[] = [];
    answerSlack(calls, 'chat.postMessage');
    const bot = await start({
      more: [
        formVerb(async () => ({
          kind: 'close',
          carryOn: () => Promise.reject(new Error('the pear is ripe')),
        })),
      ],
    });
    await bot.submit(form);
    await bot.slack.drained();
    const line = JSON.parse(bot.logged.find((each) => each.includes('A command failed')) ?? '{}');
    expect(calls).toEqual([expect.objectContaining({ channel: 'U0AGENT' })]);
    expect(JSON.stringify(calls)).toContain(line.errorId);
    expect(JSON.stringify(calls)).toContain('it may have moved');
    expect(JSON.stringify(calls)).not.toContain('pear');
  });

  it('goes on when Slack could not be told, its socket being closed, and is shown by the modal’s id', async () => {
    const calls: ApiCall[] = [];
    const logged: string[] = [];
    const log = createLog({
      level: 'debug',
      secrets: [],
      write: (line) => logged.push(line),
      now: () => new Date(0),
    });
    let carriedOn = 0;
    const verb = formVerb(async () => ({
      kind: 'update',
      modal: page('Charging'),
      carryOn: async () => void (carriedOn += 1),
    }));
    answerSlack(calls, 'views.update');
    const body = JSON.parse(new URLSearchParams(submitBody(form)).get('payload') ?? '');
    await routeSubmission(() => Promise.reject(new Error('the socket is closed')), body, {
      log,
      now: () => 0,
      mayRun: allowAll,
      client: createClients({ botToken: 'xoxb-1', slackApiUrl }, log).interactive,
      commands: createCommandSet([verb], allowAll, log),
      identity: () => undefined,
      submitMs: 1_000,
    });
    expect(calls).toEqual([expect.objectContaining({ view_id: 'V7', view: page('Charging') })]);
    expect(carriedOn).toBe(1);
    expect(logged.join('')).toContain('the socket is closed');
  });
});
