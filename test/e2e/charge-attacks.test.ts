import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { chargeFields, chargeModalId } from '../../src/features/charge/charge-form.ts';
import { chargeReviewModalId } from '../../src/features/charge/charge-review.ts';
import { chargeActions } from '../../src/features/charge/charge-modal.ts';
import { otpActions, otpModalId } from '../../src/features/charge/code-modal.ts';
import { teamId, userIds } from '../../src/simulators/slack/directory.ts';
import { openSlackLine, sendToBot, type SlackLine } from '../support/charge-line.ts';
import { charges, openDesk, reviews, shareDesk, type Desk } from '../support/desk.ts';
import { bySocket } from '../support/house.ts';
import { serveOnLoopback } from '../support/loopback.ts';
import { findProgram } from '../support/programs.ts';
import { redisOf } from '../support/redis-server.ts';

// Requests that Slack signed, with any ids, values and fields that an attacker likes: the bot must trust none of them.

const dayMs = 25 * 3_600_000;
const [ada, bola] = ['4081', '1127'];
const { agent, onCall, outsider } = userIds;
const fromElsewhere = { team: 'T0OTHER' };
/** Unlike any other number here. */
const code = '9245170368';
const at = shareDesk({
  clock: true,
  env: { PAYMENTS_TIMEOUT_SECONDS: '5', LOG_LEVEL: 'debug' },
  payments: { knownCards: true },
  // On-call may enter codes, and nothing more.
  policy: (policy) => policy.replace('may: [lookup, doubt]', 'may: [lookup, otp]'),
});

const closers: (() => unknown)[] = [];
/** Answers to the person who pressed, oldest first. */
const told: string[] = [];
let line: SlackLine;
let responseUrl: string;
let presses = 0;

async function hear(request: IncomingMessage, response: ServerResponse): Promise<void> {
  told.push((JSON.parse(await text(request)) as { text: string }).text);
  response.end('ok');
}

beforeAll(async () => {
  const { house, bot, settled } = at();
  const test = { onTestFinished: (close: () => unknown) => closers.push(close) };
  line = await openSlackLine(house, test as never, () => [bot]);
  const server = await serveOnLoopback((request, response) => void hear(request, response));
  closers.push(server.close);
  responseUrl = server.url;
  await settled();
});
afterAll(() => Promise.all(closers.map((close) => close())));
// Each story has its own day; and everybody's account is known.
beforeEach(async () => {
  at().house.later(dayMs);
  for (const person of ['agent', 'onCall', 'outsider'] as const)
    await at().asks(person, '/pay help', person === 'outsider' ? 'Not allowed' : 'What you can do');
});

type From = { user?: string; team?: string };

function payloadFrom({ user = agent, team = teamId }: From, payload: object): string {
  const whole = { user: { id: user, team_id: team }, team: { id: team }, ...payload };
  return new URLSearchParams({ payload: JSON.stringify(whole) }).toString();
}

async function sends(form: string): Promise<string> {
  const { status, body } = await sendToBot(at().house, at().bot, form);
  expect(status).toBe(200);
  return body;
}

/** Submits a form that the bot never opened; returns the answer. */
function submits(
  view: { id: string; callback_id: string; private_metadata: string },
  inputs: Record<string, string>,
  from: From = {},
): Promise<string> {
  const values = Object.entries(inputs).map(([id, value]) => [
    id,
    { it: { type: 'plain_text_input', value } },
  ]);
  const frame = { type: 'modal', team_id: teamId, hash: '1.h', title: { type: 'plain_text', text: 'Form' } };
  const blocks = Object.keys(inputs).map((block_id) => ({ type: 'input', block_id }));
  return sends(
    payloadFrom(from, {
      type: 'view_submission',
      trigger_id: '1.4.ghi',
      view: { ...frame, ...view, blocks, state: { values: Object.fromEntries(values) } },
      response_urls: [],
    }),
  );
}

function submitsCode(reference: string, field = 'otp_code_3', from: From = {}): Promise<string> {
  const id = at().modal('agent')?.id ?? '';
  const private_metadata = JSON.stringify({ reference, field });
  return submits({ id, callback_id: otpModalId, private_metadata }, { [field]: code }, from);
}

/** Presses a button of an ephemeral message. */
async function pressesForged(action_id: string, value: string, from: From = {}): Promise<void> {
  presses += 1;
  const container = { type: 'message', channel_id: 'C0DESK0001', message_ts: '1700000000.000100' };
  const button = { type: 'button', value, block_id: 'b', action_id };
  await sends(
    payloadFrom(from, {
      type: 'block_actions',
      trigger_id: '1.3.def',
      response_url: responseUrl,
      channel: { id: 'C0DESK0001', name: 'pay-desk' },
      container: { ...container, is_ephemeral: true },
      actions: [{ ...button, action_ts: `${1_900_000_000 + presses * 10}.0` }],
    }),
  );
}

/** The submission of the review on top, as Slack would send it, changed. */
function agreement(from: From = {}, change: object = {}): string {
  const form = line.submission(at().modal('agent')?.id ?? '');
  const payload = JSON.parse(new URLSearchParams(form).get('payload') ?? '') as { view: object };
  const { user: _user, team: _team, ...rest } = { ...payload, user: 0, team: 0 };
  return payloadFrom(from, { ...rest, view: { ...payload.view, ...change } });
}

async function waitsForCode(desk: Desk, amount: string): Promise<string> {
  const reference = await charges(desk, 'agent', { card: bola, amount });
  await desk.modalSays('agent', '3 of 3 tries left');
  return reference;
}

const codesSent = () => at().house.payments.stats().otpSubmissions;
const taken = () => Object.values(at().house.payments.stats().chargesByReference).length;
const asked = () => at().calls('/v1/checkout/tokenized-card-payment');

const oversize = {
  otp_code_3: '7'.repeat(3_000),
  [chargeFields.amount]: '9'.repeat(3_000),
  [chargeFields.token]: 'x'.repeat(3_000),
  [chargeFields.email]: `${'a'.repeat(2_900)}@b.c`,
  [chargeFields.customerId]: 'y'.repeat(3_000),
  [chargeFields.reason]: '<!channel> '.repeat(270),
};

/** Metadata that no modal of the bot ever had, and the longest that Slack carries. */
const forgedMetadata = [
  '',
  '{',
  '[]',
  'null',
  '{"draft":{}}',
  '{"draft":"draft","despite":7}',
  '{"reference":7,"field":"otp_code_3"}',
  '{"reference":"../../token:fresh:1","field":"otp_code_3"}',
  '{"reference":"__proto__","field":"otp_code_3"}',
  `{"reference":"${'x'.repeat(2_900)}","field":"otp_code_3"}`,
];
const noReferences = ['pay-other', '__proto__', '../../token:fresh:1', 'x'.repeat(1_900), '<!channel>'];

const { card: _typeahead, ...buttons } = { ...chargeActions, ...otpActions };
/** All buttons except those whose modal says which terms they are about. */
const { change: _change, more: _form, ...ofCharges } = buttons;

// Signed requests exist only in HTTP mode.
describe.skipIf(bySocket)('forged', () => {
  it('a code reaches the bank only from the agent in charge, from its own field, and for its own charge', async () => {
    const desk = at();
    const reference = await waitsForCode(desk, '100.00');
    const before = codesSent();
    expect(await submitsCode(reference, 'otp_code_3', { user: outsider })).toContain('Not allowed');
    expect(await submitsCode(reference, 'otp_code_3', fromElsewhere)).toContain('another workspace');
    const colleagues = await submitsCode(reference, 'otp_code_3', { user: onCall });
    expect(colleagues).toContain('Take over');
    expect(colleagues).not.toContain('"type":"input"');
    for (const field of ['otp_code_2', 'otp_code_4', 'otp_code_', 'otp_code_NaN', 'otp_code_3.0e0x', 'code'])
      await submitsCode(reference, field);
    const abouts = await Promise.all(noReferences.map((about) => submitsCode(about)));
    for (const words of abouts) expect(words).toContain('No such charge');
    expect(codesSent()).toBe(before);
    await submitsCode(reference);
    await desk.modalSays('agent', '2 of 3 tries left');
    expect(codesSent()).toBe(before + 1);
    expect(desk.bot.lines.join('\n')).not.toContain(code);
  });

  it('a submitted review charges only the terms of its own dialogue, only with the permission, and once', async () => {
    const desk = at();
    await reviews(desk, 'agent', { card: ada, amount: '700.00' });
    const before = [taken(), asked()];
    expect(await sends(agreement({}, { id: 'V0OTHER' }))).toContain('review has expired');
    const private_metadata = JSON.stringify({ draft: 'another' });
    expect(await sends(agreement({}, { private_metadata }))).toContain('review has expired');
    for (const user of [outsider, onCall]) expect(await sends(agreement({ user }))).toContain('Not allowed');
    expect(await sends(agreement(fromElsewhere))).toContain('another workspace');
    expect([taken(), asked()]).toEqual(before);
    const form = agreement();
    await Promise.all([1, 2, 3].map(() => sends(form)));
    for (const user of [agent, onCall, outsider, agent]) await sends(agreement({ user }));
    await desk.modalSays('agent', 'Paid (confirmed)');
    expect([taken(), asked()]).toEqual(before.map((count) => count + 1));
  });

  it.each([otpModalId, chargeReviewModalId, chargeModalId, 'charge_state', 'constructor', ''])(
    'a form of the id “%s”, with what is none of ours or too long, ends in words and moves nothing',
    async (callback_id) => {
      const { bot } = at();
      const [before, from] = [[taken(), codesSent()], bot.lines.length];
      const shown = await Promise.all(
        forgedMetadata.map((private_metadata) =>
          submits({ id: 'V0BAD', callback_id, private_metadata }, oversize),
        ),
      );
      for (const words of shown) expect(words).not.toContain('Something went wrong');
      expect([taken(), codesSent()]).toEqual(before);
      expect(bot.lines.slice(from).filter((one) => one.includes('"level":"error"'))).toEqual([]);
    },
  );

  it('a button does nothing without the permission, from another workspace, or with a forged value', async () => {
    const desk = at();
    const reference = await waitsForCode(desk, '101.00');
    for (const field of ['__proto__', 'constructor'])
      expect(await submitsCode(reference, field)).not.toContain('Something went wrong');
    await desk.settled('soon');
    const shown = () => JSON.stringify(desk.posts('lead', 'payDesk'));
    const records = () => desk.house.storeKeys('charge:');
    const [before, kept, calls] = [shown(), await records(), asked()];
    for (const [action, answer] of [
      ...Object.values(buttons).flatMap((one) => [
        [() => pressesForged(one, reference, { user: outsider }), 'Not allowed'] as const,
        [() => pressesForged(one, reference, fromElsewhere), 'another workspace'] as const,
      ]),
      ...[chargeActions.link, chargeActions.another].map(
        (one) => [() => pressesForged(one, reference, { user: onCall }), 'Not allowed'] as const,
      ),
      ...Object.values(ofCharges).flatMap((one) =>
        noReferences.map((value) => [() => pressesForged(one, value), 'No such charge'] as const),
      ),
    ]) {
      const from = told.length;
      await action();
      await desk.house.until('it is answered', () => told.length > from);
      expect(told.slice(from)).toEqual([expect.stringContaining(answer)]);
    }
    expect(told.join('\n')).not.toContain('<!channel>');
    expect([shown(), await records(), asked()]).toEqual([before, kept, calls]);
  });
});

it.skipIf(findProgram('redis-server') === undefined)(
  'a charge agreed to while the store is away is told as one that was not sent, and charges nothing',
  async (test) => {
    const redis = await redisOf(test);
    const desk = await openDesk(test, { redisUrl: redis.url, payments: { knownCards: true } });
    const { stats } = desk.house.payments;
    await reviews(desk, 'agent', { card: ada, amount: '702.00' });
    await redis.kill9();
    await desk.submits('agent');
    const { shown } = await desk.modalSays('agent', ['storage does not answer', 'none was moved']);
    expect(shown.text).not.toMatch(/In doubt|it may have moved/);
    expect(stats().chargesByReference).toEqual({});
  },
);
