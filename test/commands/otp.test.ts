import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { StoreUnavailable } from '../../src/domain/store-unavailable.ts';
import { chargeActions } from '../../src/slack/charge/charge-actions.ts';
import { otpModalId } from '../../src/slack/charge/otp-modal.ts';
import type { Submission, ViewAnswer } from '../../src/slack/command.ts';
import type { Modal, SlackMessage } from '../../src/slack/message.ts';
import { findCanaries } from '../support/canaries.ts';
import { agent, chargeOf, colleague, createStage, nowMs, otpCharge, type Stage } from './charge-stage.ts';
import { carriedOn, inputs, modalOf, textOf, view } from './shown-modal.ts';

const otp = '48291375';

/** A charge of the agent's that waits for a code, and its modal as it stands open. */
async function waiting(): Promise<{ stage: Stage; modal: Modal }> {
  const stage = createStage();
  stage.desk.charges.set('pay-V1', otpCharge('V1'));
  await stage.type('otp pay-V1');
  stage.desk.calls.length = 0;
  return { stage, modal: stage.opened[0]! };
}

function typed(modal: Modal, code: string): Pick<Submission, 'viewId' | 'privateMetadata' | 'values'> {
  const [field = ''] = Object.keys(inputs(modal));
  return { viewId: 'V0OPEN1', privateMetadata: modal.private_metadata ?? '', values: { [field]: code } };
}

function enter(stage: Stage, modal: Modal, code: string, userId = agent): Promise<ViewAnswer> {
  return stage.submit(otpModalId, { ...typed(modal, code), userId });
}

describe('/pay otp', () => {
  it('says that nothing waits when nothing does', async () => {
    const stage = createStage();
    const message = (await stage.type('otp')) as SlackMessage;
    expect(message.text).toContain('No charge waits');
    expect(stage.opened).toEqual([]);
  });

  it('opens the only one that waits, and watches it', async () => {
    const stage = createStage();
    stage.desk.charges.set('pay-V1', otpCharge('V1'));
    stage.desk.charges.set('pay-V2', otpCharge('V2', { agent: colleague }));
    expect(await stage.type('otp')).toBeUndefined();
    expect(stage.opened[0]?.callback_id).toBe(otpModalId);
    expect(stage.desk.calls).toEqual(['waiting', 'open', `watch pay-V1 V0OPEN1 ${agent}`]);
  });

  it('lists several, each with its button', async () => {
    const stage = createStage();
    stage.desk.charges.set('pay-V1', otpCharge('V1'));
    stage.desk.charges.set('pay-V2', otpCharge('V2'));
    const text = textOf(await stage.type('otp'));
    expect(text).toContain('"value":"pay-V1"');
    expect(text).toContain('"value":"pay-V2"');
    expect(stage.opened).toEqual([]);
  });

  it('opens the one that is named whatever became of it, and watches it', async () => {
    const stage = createStage();
    stage.desk.charges.set('pay-V1', chargeOf('V1', { state: { kind: 'approved', concludedAt: nowMs } }));
    expect(await stage.type('otp pay-V1')).toBeUndefined();
    expect(textOf(stage.opened)).toContain('Paid (confirmed)');
    expect(stage.desk.calls.at(-1)).toBe(`watch pay-V1 V0OPEN1 ${agent}`);
  });

  it('says so when it knows no such charge', async () => {
    const stage = createStage();
    expect(textOf(await stage.type('otp pay-nobody'))).toContain('No such charge');
    expect(stage.opened).toEqual([]);
  });

  it('repeats nothing of a code that was typed behind the reference', async () => {
    const stage = createStage();
    const said = await stage.type(`otp pay-V1 ${otp}`);
    expect(said).toMatch(/asked for in a form/);
    expect(said).not.toContain(otp);
    expect(await stage.type(`otp ${'x'.repeat(51)}`)).toContain('at most 50');
  });

  it('repeats nothing of a code that was typed in the place of the reference', async () => {
    const stage = createStage();
    const said = await stage.type(`otp ${otp}`);
    expect(said).toMatch(/asked for in a form/);
    expect(said).not.toContain(otp);
  });
});

describe('entering the code', () => {
  it('hands the code on once, shows that it is being checked, and sends it after the modal watches', async () => {
    const { stage, modal } = await waiting();
    const answer = await enter(stage, modal, '4829 1375');
    expect(stage.desk.codes).toEqual([otp]);
    expect(textOf(modalOf(answer))).toContain('pay-V1');
    expect(modalOf(answer).submit).toBeUndefined();
    expect(stage.desk.calls).toEqual(['code pay-V1']);
    await carriedOn(answer);
    expect(stage.desk.calls.slice(1)).toEqual([`watch pay-V1 V0OPEN1 ${agent}`, 'send code pay-V1']);
  });

  it('spends one try for a double submit', async () => {
    const { stage, modal } = await waiting();
    const answers = [await enter(stage, modal, otp), await enter(stage, modal, otp)];
    await Promise.all(answers.map(carriedOn));
    expect(stage.desk.codes).toEqual([otp]);
    expect(stage.desk.calls.filter((call) => call === 'send code pay-V1')).toHaveLength(1);
  });

  it('sends a counted try though the modal cannot watch', async () => {
    const { stage, modal } = await waiting();
    stage.desk.answers.watchThrows = new StoreUnavailable('away');
    await carriedOn(await enter(stage, modal, otp));
    expect(stage.desk.calls.at(-1)).toBe('send code pay-V1');
  });

  it.each(['', 'abcd', '12', '1'.repeat(15)])('refuses “%s” at its field and spends no try', async (code) => {
    const { stage, modal } = await waiting();
    const answer = await enter(stage, modal, code);
    expect(answer.kind).toBe('errors');
    expect(stage.desk.calls).toEqual([]);
  });

  it('shows who has it in hand to somebody else, with the way to take it over', async () => {
    const { stage, modal } = await waiting();
    const answer = await enter(stage, modal, otp, colleague);
    const shown = modalOf(answer);
    expect(inputs(shown)).toEqual({});
    expect(textOf(shown)).toContain(chargeActions.takeOver);
    expect(stage.desk.codes).toEqual([]);
    await carriedOn(answer);
    expect(stage.desk.calls.at(-1)).toBe(`watch pay-V1 V0OPEN1 ${colleague}`);
  });

  it('shows what became of a charge that wants no code any more', async () => {
    const { stage, modal } = await waiting();
    stage.desk.charges.set('pay-V1', chargeOf('V1', { state: { kind: 'expired', concludedAt: nowMs } }));
    const answer = await enter(stage, modal, otp);
    expect(textOf(modalOf(answer))).toContain('Expired');
    expect(stage.desk.codes).toEqual([]);
  });

  it('says in words when the charge is unknown, or the window none of ours', async () => {
    const { stage, modal } = await waiting();
    stage.desk.charges.clear();
    expect(textOf(modalOf(await enter(stage, modal, otp)))).toContain('No such charge');
    const foreign = await stage.submit(otpModalId, { values: { otp_code: otp } });
    expect(textOf(modalOf(foreign))).toContain('No such charge');
    expect(stage.desk.codes).toEqual([]);
  });

  it('counts a throw on the way as one that may have moved money', async () => {
    const { stage, modal } = await waiting();
    stage.desk.answers.carryOnThrows = new StoreUnavailable('in the middle');
    await expect(carriedOn(await enter(stage, modal, otp))).rejects.toThrow('in the middle');
    expect(stage.verb('otp').modals?.[0]?.effect).toBe('money');
  });

  it('leaves the code nowhere: no modal, message, metadata, thrown error or word to the desk but the one call', async () => {
    const { stage, modal } = await waiting();
    const thrown: unknown[] = [];
    await carriedOn(await enter(stage, modal, otp));
    await enter(stage, modal, otp);
    await enter(stage, modal, `${otp}x`);
    await enter(stage, modal, `${otp}${otp}`);
    stage.desk.charges.set('pay-V1', otpCharge('V1'));
    await enter(stage, modal, otp, colleague);
    stage.desk.charges.clear();
    await enter(stage, modal, otp);
    stage.desk.answers.away = true;
    await enter(stage, modal, otp).catch((error: unknown) => thrown.push(error));
    stage.outputs.push(await stage.type(`otp pay-V1 ${otp}`));
    expect(thrown).toHaveLength(1);
    expect(thrown[0]).toBeInstanceOf(StoreUnavailable);
    const places = {
      outputs: textOf(stage.outputs),
      errors: `${String(thrown[0])} ${(thrown[0] as Error).stack}`,
      calls: textOf(stage.desk.calls),
    };
    expect(findCanaries({ otp }, places)).toEqual([]);
  });

  it('is a modal Slack takes or an error at its field, whatever was typed and wherever the window came from', async () => {
    const digits = fc
      .oneof(fc.nat(99_999), fc.nat(2_000_000_000), fc.constant(99_999_999_999))
      .map((number) => `${number}`);
    const code = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 40 }),
      digits,
      digits.map((typed) => typed.split('').join(' -')),
    );
    const metadata = fc.oneof(
      { weight: 3, arbitrary: fc.constant(undefined) },
      fc.string({ maxLength: 20 }),
      fc.json({ maxDepth: 1 }),
    );
    let accepted = 0;
    await fc.assert(
      fc.asyncProperty(code, metadata, fc.boolean(), async (given, privateMetadata, isAway) => {
        const { stage, modal } = await waiting();
        stage.desk.answers.away = isAway;
        const submitted = typed(modal, given);
        const answering = stage.submit(otpModalId, {
          ...submitted,
          ...(privateMetadata === undefined ? {} : { privateMetadata }),
        });
        if (isAway) {
          const ended = await answering.catch((error: unknown) => error);
          return ended instanceof StoreUnavailable || 'kind' in (ended as ViewAnswer);
        }
        const answer = await answering;
        if (answer.kind !== 'errors') await carriedOn(answer);
        accepted += stage.desk.codes.length;
        return true;
      }),
      { numRuns: 200 },
    );
    expect(accepted).toBeGreaterThan(10);
  });
});

describe('the buttons of a code', () => {
  it('Enter code opens the charge and watches it', async () => {
    const { stage } = await waiting();
    await stage.press(chargeActions.enterCode, { value: 'pay-V1' });
    expect(stage.opened.at(-1)?.callback_id).toBe(otpModalId);
    expect(stage.desk.calls).toEqual(['find pay-V1', 'open', `watch pay-V1 V0OPEN2 ${agent}`]);
  });

  it('Resend code shows that it was asked for, asks, and shows what came of it', async () => {
    const { stage, modal } = await waiting();
    await stage.press(chargeActions.resend, { value: 'pay-V1', view: view(modal, 'V0OPEN1') });
    const doings = stage.desk.calls.filter((call) => /^(resend|ask|update)/.test(call));
    expect(doings).toEqual(['resend pay-V1', 'update', 'ask for code pay-V1', 'update']);
    expect(textOf(stage.updated[0])).not.toBe(textOf(stage.updated[1]));
  });

  it('is asked for by direct message once its modal is closed, and only then', async () => {
    const { stage, modal } = await waiting();
    expect(modal.notify_on_close).toBe(true);
    await stage.close('otp', modal.private_metadata ?? '');
    await stage.close('otp', 'not ours');
    expect(stage.desk.calls.filter((call) => call.startsWith('remind'))).toEqual([`remind pay-V1 ${agent}`]);
  });

  it('Resend code says how long to wait when it was asked for a moment ago', async () => {
    const { stage, modal } = await waiting();
    stage.desk.answers.resentAt = nowMs - 18_500;
    await stage.press(chargeActions.resend, { value: 'pay-V1', view: view(modal, 'V0OPEN1') });
    expect(textOf(stage.updated)).toContain('ask again in 12 seconds');
    expect(inputs(stage.updated[0]!)).toEqual(inputs(modal));
    stage.desk.answers.resentAt = nowMs - 29_900;
    await stage.press(chargeActions.resend, { value: 'pay-V1', view: view(modal, 'V0OPEN1') });
    expect(textOf(stage.updated[1])).toContain('ask again in 1 second.');
    await stage.press(chargeActions.resend, { value: 'pay-V1' });
    expect(stage.replies).toHaveLength(1);
  });

  it('Resend code asks for nothing that is not the person’s or not open, and shows how it stands', async () => {
    const { stage, modal } = await waiting();
    const pressed = { value: 'pay-V1', view: view(modal, 'V0OPEN1') };
    await stage.press(chargeActions.resend, { ...pressed, userId: colleague });
    expect(inputs(stage.updated[0]!)).toEqual({});
    stage.desk.charges.set('pay-V1', chargeOf('V1', { state: { kind: 'expired', concludedAt: nowMs } }));
    await stage.press(chargeActions.resend, pressed);
    expect(textOf(stage.updated[1])).toContain('Expired');
    expect(stage.desk.calls).not.toContain('ask for code pay-V1');
  });

  it('Take over gives the field at once to the one who took it, and takes it from the other', async () => {
    const { stage } = await waiting();
    const mine = view(stage.opened[0]!, 'V0OPEN1');
    await stage.press(chargeActions.takeOver, { value: 'pay-V1', view: mine, userId: colleague });
    const taken = stage.updated[0]!;
    expect(Object.keys(inputs(taken))).toHaveLength(1);
    expect(stage.desk.calls).toContain(`watch pay-V1 V0OPEN1 ${colleague}`);
    expect((await enter(stage, taken, otp, agent)).kind).toBe('update');
    expect(stage.desk.codes).toEqual([]);
    await enter(stage, taken, otp, colleague);
    expect(stage.desk.codes).toEqual([otp]);
  });

  it.each([chargeActions.enterCode, chargeActions.resend, chargeActions.takeOver])(
    '%s: says when there is no such charge',
    async (actionId) => {
      const { stage, modal } = await waiting();
      await stage.press(actionId, { value: 'pay-nobody', view: view(modal) });
      await stage.press(actionId, { value: 'pay-nobody' });
      expect(textOf(stage.updated)).toContain('No such charge');
      expect(textOf(stage.replies)).toContain('pay-nobody');
    },
  );
});

describe('the App Home of /pay otp', () => {
  it('holds what waits for this person, and nothing when nothing does', async () => {
    const { stage } = await waiting();
    const home = stage.verb('otp').home!;
    expect(textOf(await home({ userId: agent }))).toContain('Waiting for a code');
    expect(await home({ userId: colleague })).toEqual([]);
  });
});
