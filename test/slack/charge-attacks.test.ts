import { describe, expect, it } from 'vitest';
import { StoreUnavailable } from '../../src/domain/failure.ts';
import { findViewProblems } from '../../src/simulators/slack/assert-blocks.ts';
import { chargeActions, otpActions, otpModalId } from '../../src/features/charge/charge-screens.ts';
import { chargeFields, chargeModalId } from '../../src/features/charge/charge-form.ts';
import { termsModalId } from '../../src/features/charge/charge-review.ts';
import type { MayRun } from '../../src/slack/command.ts';
import {
  ada,
  charge,
  notesIn,
  openWorld,
  reference,
  rightCode,
  startProcess,
  terms,
  viewId,
  type Plan,
} from '../features/charge-house.ts';
import { mockTheOutside } from '../support/mocks.ts';
import { runBot, type Acknowledged } from '../support/running-bot.ts';
import type { SentView, Submitted } from '../support/slack-requests.ts';

mockTheOutside();

const colleague = 'U0CODES001';
const outsider = 'U0NOBODY01';

/** An agent may all of it, a colleague enter codes, an outsider nothing. */
const mayRun: MayRun = async (permission, { userId }) =>
  userId === ada || (userId === colleague && permission === 'otp')
    ? { kind: 'allowed' }
    : { kind: 'refused', rule: `It needs the permission ${permission}`, whoCan: 'agents' };

/** The charging verbs behind real Bolt, on the real desk, with a bank in memory. */
async function openShop(plan: Plan) {
  const world = openWorld(plan);
  const process = startProcess(world);
  const bot = await runBot(process.charges.verbs, mayRun);

  /** Submits a form, and gives what is on the screen then. */
  async function submit(view: SentView, from: Partial<Submitted> = {}): Promise<string> {
    const answer = await bot.submit({ userId: ada, ...from, view });
    await process.drained();
    return shownBy(answer);
  }
  return { world, process, bot, submit };
}

function shownBy({ status, body }: Acknowledged): string {
  expect(status).toBe(200);
  if (body?.['response_action'] === 'update') expect(findViewProblems(body['view'])).toEqual([]);
  return JSON.stringify(body ?? {});
}

function otpForm(about: string = reference, field = 'otp_code_3'): SentView {
  const privateMetadata = JSON.stringify({ reference: about, field });
  return { id: viewId, callbackId: otpModalId, privateMetadata, inputs: { [field]: rightCode } };
}

function agreement(draft: string, id: string): SentView {
  return { id, callbackId: termsModalId, privateMetadata: JSON.stringify({ draft }) };
}

/** What no modal of ours ever held, and what the longest Slack carries. */
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

const oversize: SentView['inputs'] = {
  otp_code_3: '7'.repeat(3_000),
  [chargeFields.amount]: '9'.repeat(3_000),
  [chargeFields.token]: 'x'.repeat(3_000),
  [chargeFields.email]: `${'a'.repeat(2_900)}@b.c`,
  [chargeFields.customerId]: 'y'.repeat(3_000),
  [chargeFields.reason]: '<!channel> '.repeat(270),
};

const { card: _typeahead, ...buttons } = { ...chargeActions, ...otpActions };
/** All but those whose modal says which terms they are about. */
const { change, more: _form, ...ofCharges } = buttons;

describe('a code', () => {
  it('reaches the bank from nobody but the agent in charge, whatever form it is typed into', async () => {
    const { world, process, bot, submit } = await openShop('otp');
    await charge(process);
    expect(await submit(otpForm(), { userId: outsider })).toContain('Not allowed');
    expect(await submit(otpForm(), { teamId: 'T0OTHER' })).toContain('another workspace');
    const colleagues = await submit(otpForm(), { userId: colleague });
    expect(colleagues).toContain('Take over');
    expect(colleagues).not.toContain('"type":"input"');
    expect(world.bank.codes).toEqual([]);
    expect(await process.desk.find(reference)).toMatchObject({ agent: ada, otp: { triesLeft: 3 } });
    await submit(otpForm());
    expect(world.bank.codes).toEqual([rightCode]);
    expect(bot.logged.join()).not.toContain(rightCode);
  });

  it.each(['otp_code_2', 'otp_code_4', 'otp_code_', 'otp_code_NaN', 'otp_code_3.0e0x', 'code'])(
    'is not taken from a field that is not the open try’s: %s',
    async (field) => {
      const { world, process, submit } = await openShop('otp');
      await charge(process);
      await submit(otpForm(reference, field));
      expect(world.bank.codes).toEqual([]);
    },
  );

  it('goes nowhere for a charge that does not exist', async () => {
    const { world, process, submit } = await openShop('otp');
    await charge(process);
    const abouts = ['pay-other', '__proto__', '../../token:fresh:1', 'x'.repeat(2_900)];
    const shown = await Promise.all(abouts.map((about) => submit(otpForm(about))));
    for (const words of shown) expect(words).toContain('No such charge');
    expect(world.bank.codes).toEqual([]);
  });
});

describe('an agreement', () => {
  it('charges nothing but the terms of its own dialogue, for nobody who may not charge', async () => {
    const { world, process, submit } = await openShop('approved');
    const draft = await process.desk.keepDraft('V0OTHER', terms);
    expect(await submit(agreement(draft, viewId))).toContain('review has expired');
    expect(await submit(agreement('another', 'V0OTHER'))).toContain('review has expired');
    for (const userId of [outsider, colleague]) {
      // oxlint-disable-next-line no-await-in-loop
      expect(await submit(agreement(draft, 'V0OTHER'), { userId })).toContain('Not allowed');
    }
    expect(await submit(agreement(draft, 'V0OTHER'), { teamId: 'T0OTHER' })).toContain('another workspace');
    expect(world.bank.posts).toEqual([]);
    await submit(agreement(draft, 'V0OTHER'));
    expect(world.bank.posts).toHaveLength(1);
  });

  it('is made once, though its form is sent again and again, and by others', async () => {
    const { world, process, submit } = await openShop('approved');
    const draft = await process.desk.keepDraft(viewId, terms);
    await Promise.all([1, 2, 3].map(() => submit(agreement(draft, viewId), { userId: ada })));
    for (const userId of [ada, ada, colleague, outsider, ada]) {
      // oxlint-disable-next-line no-await-in-loop
      await submit(agreement(draft, viewId), { userId });
    }
    expect(world.bank.posts).toEqual([reference]);
    expect(await process.desk.find(reference)).toMatchObject({ by: ada, agent: ada });
  });

  it('while the store is away is told as one that is not known, not as a failure, and charges nothing', async () => {
    const { world, process, bot, submit } = await openShop('approved');
    const draft = await process.desk.keepDraft(viewId, terms);
    const whole = { ...process.store };
    process.store.read = () => Promise.reject(new StoreUnavailable('away'));
    const shown = await submit(agreement(draft, viewId));
    expect(shown).toContain('In doubt');
    expect(shown).toContain('do not charge again');
    expect(shown).toContain(reference);
    expect(shown).not.toContain('Something went wrong');
    expect(shown).not.toContain('it may have moved');
    expect(world.bank.posts).toEqual([]);
    expect(bot.told).toEqual([]);
    Object.assign(process.store, whole);
    await submit(agreement(draft, viewId));
    expect(world.bank.posts).toEqual([reference]);
  });
});

describe('a form that is none of ours, or too long', () => {
  it.each([otpModalId, termsModalId, chargeModalId, 'charge_state', 'constructor', ''])(
    'of the id “%s” ends in words, and moves nothing',
    async (callbackId) => {
      const { world, process, bot, submit } = await openShop('otp');
      await charge(process);
      const shown = await Promise.all(
        forgedMetadata.map((privateMetadata) =>
          submit({ id: 'V0BAD', callbackId, privateMetadata, inputs: oversize }),
        ),
      );
      for (const words of shown) expect(words).not.toContain('Something went wrong');
      expect(world.bank.posts).toEqual([reference]);
      expect(world.bank.codes).toEqual([]);
      expect(bot.logged.filter((line) => line.includes('"error"'))).toEqual([]);
    },
  );

  it('is no bug of the bot’s when it names a field that every object has', async () => {
    const { process, submit } = await openShop('otp');
    await charge(process);
    for (const field of ['__proto__', 'constructor']) {
      // oxlint-disable-next-line no-await-in-loop
      expect(await submit({ ...otpForm(reference, field), inputs: oversize })).not.toContain(
        'Something went wrong',
      );
    }
  });
});

describe('a button', () => {
  it('does nothing for who may not, and for nobody of another workspace', async () => {
    const { world, process, bot } = await openShop('otp');
    await charge(process);
    const before = await process.desk.find(reference);
    const presses = Object.values(buttons).flatMap((actionId) => [
      { actionId, userId: outsider },
      { actionId, userId: ada, teamId: 'T0OTHER' },
    ]);
    await Promise.all(presses.map((pressed) => bot.press({ ...pressed, value: reference })));
    expect(bot.told).toHaveLength(presses.length);
    for (const { text } of bot.told) expect(text).toMatch(/Not allowed|another workspace/);
    expect(await process.desk.find(reference)).toEqual(before);
    expect(await notesIn(world)).toHaveLength(1);
  });

  it('of charging does nothing for who may enter codes alone', async () => {
    const { process, bot } = await openShop('declined');
    await charge(process);
    const actions = [chargeActions.link, chargeActions.another];
    const press = { value: reference, userId: colleague };
    await Promise.all(actions.map((actionId) => bot.press({ actionId, ...press })));
    expect(bot.told.map(({ text }) => text.includes('Not allowed'))).toEqual([true, true]);
  });

  it('with a value that is none of ours says so, and makes nothing of it', async () => {
    const { world, process, bot } = await openShop('otp');
    await charge(process);
    const values = ['pay-other', '__proto__', '../../token:fresh:1', 'x'.repeat(2_000), '<!channel>'];
    const presses = Object.values(ofCharges).flatMap((actionId) =>
      values.map((value) => ({ actionId, value, userId: ada })),
    );
    await Promise.all(presses.map((pressed) => bot.press(pressed)));
    await bot.press({ actionId: change, value: reference, userId: ada });
    expect(bot.told).toHaveLength(presses.length);
    for (const { text } of bot.told) {
      expect(text).toContain('No such charge');
      expect(text).not.toContain('<!channel>');
    }
    expect(world.store.keys().filter((key) => key.startsWith('charge:'))).toEqual([`charge:${reference}`]);
  });
});
