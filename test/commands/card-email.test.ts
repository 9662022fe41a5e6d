import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { cardEmailCommand } from '../../src/commands/card-email.ts';
import type { EmailChange, EmailChangeAnswer } from '../../src/domain/charge-answer.ts';
import { ServiceFailure } from '../../src/domain/failure.ts';
import { createCardEmails } from '../../src/operations/card/change-card-email.ts';
import { findViewProblems } from '../../src/slack/assert-blocks.ts';
import { cardEmailActions } from '../../src/slack/card-email/card-email-actions.ts';
import { cardEmailFields as fields, cardEmailModalId } from '../../src/slack/card-email/form-modal.ts';
import { readBackModalId } from '../../src/slack/card-email/read-back-modal.ts';
import { chargeActions } from '../../src/slack/charge/charge-actions.ts';
import type { Pressed, ViewAnswer } from '../../src/slack/command.ts';
import type { Modal, SlackMessage } from '../../src/slack/message.ts';
import { createSealer } from '../../src/store/sealed.ts';
import { memoryStore } from '../operations/memory-store.ts';
import {
  adasCard,
  agent,
  cardWithoutEmail,
  chargeOf,
  createFakeDesk,
  nowMs,
  pastedToken,
  tokenKey,
} from './charge-stage.ts';
import { carriedOn, modalOf, textOf, untouched, view } from './shown-modal.ts';

const changed: EmailChangeAnswer = { kind: 'changed', card: undefined };
const filled = { [fields.card]: 'card1', [fields.next]: 'new@example.org' };
const pasted = {
  [fields.token]: pastedToken,
  [fields.current]: 'zoe@example.org',
  [fields.next]: 'zoe@new.example',
};

function stage(options: { answer?: EmailChangeAnswer; ledger?: boolean } = {}) {
  const store = memoryStore({ nowMs });
  const cards = [adasCard, cardWithoutEmail];
  const asked: EmailChange[] = [];
  const shown: { modal: Modal; message?: SlackMessage }[] = [];
  const opened: Modal[] = [];
  const updated: Modal[] = [];
  const replies: SlackMessage[] = [];
  const outputs: unknown[] = [];
  const desk = createFakeDesk();
  function check(modal: Modal): Modal {
    outputs.push(modal);
    expect(findViewProblems(modal)).toEqual([]);
    return modal;
  }
  const ledger = {
    search: async (typed: string) => cards.filter((card) => JSON.stringify(card.face).includes(typed)),
    find: async (id: string) => cards.find((card) => card.id === id),
    idOf: async (key: string) => cards.find((card) => card.tokenKey === key)?.id ?? 'nobody',
  };
  const command = cardEmailCommand({
    desk,
    environment: 'live',
    account: 'Main shop',
    now: () => nowMs,
    ledger: options.ledger === false ? undefined : ledger,
    cardEmails: createCardEmails({
      store,
      sealer: createSealer([{ id: 'k1', key: randomBytes(32) }]),
      async changeCardEmail(change) {
        asked.push(change);
        return options.answer ?? changed;
      },
      ledger: undefined,
      log: (...line) => void outputs.push(line),
      wait: async () => undefined,
    }),
    async showEnd(to, what) {
      expect(to).toEqual({ viewId: 'V1', userId: agent });
      check(what.modal);
      outputs.push(what.message);
      shown.push(what);
    },
  });
  async function submit(callbackId: string, values: Record<string, string>, privateMetadata = '') {
    const definition = command.modals?.find((modal) => modal.callbackId === callbackId);
    const answer = await definition!.submit({
      caller: { userId: agent },
      viewId: 'V1',
      privateMetadata,
      values,
    });
    if (answer.kind === 'update') check(answer.modal);
    return answer;
  }
  const read = async (values: Record<string, string> = filled) =>
    modalOf(await submit(cardEmailModalId, values));
  const agree = (modal: Modal): Promise<ViewAnswer> =>
    submit(readBackModalId, {}, modal.private_metadata ?? '');
  async function errors(values: Record<string, string>): Promise<Readonly<Record<string, string>>> {
    const answer = await submit(cardEmailModalId, values);
    return answer.kind === 'errors' ? answer.errors : {};
  }
  /** The whole dialogue; gives what is shown in the end. */
  async function change(values?: Record<string, string>): Promise<Modal> {
    await carriedOn(await agree(await read(values)));
    return shown.at(-1)!.modal;
  }
  async function press(actionId: string, parts: Partial<Pressed> = {}): Promise<void> {
    const found = command.presses?.find((candidate) => candidate.actionId === actionId);
    await found!.press({
      caller: { userId: agent },
      value: '',
      openModal: async (modal) => `V${opened.push(check(modal))}`,
      updateModal: async (modal) => void updated.push(check(modal)),
      reply: async (message) => void replies.push(message),
      ...parts,
    });
  }
  const seen = { asked, shown, opened, updated, replies, outputs };
  return { command, desk, ...seen, submit, read, agree, errors, change, press };
}

describe('/pay card-email', () => {
  it('takes no words, and repeats none', () => {
    const { command } = stage();
    expect(command.prepare([]).ok).toBe(true);
    const prepared = command.prepare(['ada@example.com']);
    expect(JSON.stringify(prepared)).toContain('in a form');
    expect(JSON.stringify(prepared)).not.toContain('ada@');
  });

  it('is told to change access, and its form nothing', () => {
    const effects = stage().command.modals?.map(({ callbackId, effect }) => [callbackId, effect]);
    expect(effects).toEqual([
      [cardEmailModalId, 'none'],
      [readBackModalId, 'access'],
    ]);
  });

  it('offers the saved cards as the charge does, their e-mails masked', async () => {
    const [suggestion] = stage().command.suggestions ?? [];
    expect(suggestion?.actionId).toBe(fields.card);
    expect(await suggestion?.suggest('4242', { userId: agent })).toEqual([
      { text: 'Visa ·· 4242 · a***@example.com', value: 'card1' },
    ]);
  });
});

describe('the form of a card’s e-mail', () => {
  it('takes the card’s own e-mail as the current one, and reads both back whole', async () => {
    const { read } = stage();
    const text = textOf(await read());
    for (const part of ['Visa ·· 4242', 'ada@example.com', 'new@example.org']) expect(text).toContain(part);
  });

  it('lets a typed current e-mail stand against the remembered one, but not for its capitals', async () => {
    const { read, agree, asked } = stage();
    await carriedOn(await agree(await read({ ...filled, [fields.current]: 'later@example.com' })));
    await carriedOn(await agree(await read({ ...filled, [fields.current]: 'ADA@example.com' })));
    expect(asked.map(({ currentEmail }) => currentEmail)).toEqual(['later@example.com', 'ada@example.com']);
  });

  it.each<[string, Record<string, string>, string]>([
    ['a card that is gone', { ...filled, [fields.card]: 'gone' }, fields.card],
    ['a card without an e-mail when none is typed', { ...filled, [fields.card]: 'card2' }, fields.current],
    ['the e-mail the card has already', { ...filled, [fields.next]: 'ada@example.com' }, fields.next],
  ])('refuses %s at its field', async (_, values, field) => {
    const errors = await stage().errors(values);
    expect(Object.keys(errors)).toEqual([field]);
    expect(JSON.stringify(errors)).not.toContain('ada@example.com');
  });

  it('sends nothing before the read-back is agreed to', async () => {
    const { read, asked } = stage();
    await read();
    expect(asked).toEqual([]);
  });
});

describe('making the change', () => {
  it('shows that it goes on, asks the service, and shows what became of it', async () => {
    const { read, agree, asked, shown } = stage();
    const answer = await agree(await read());
    expect(textOf(modalOf(answer))).toContain('Changing the e-mail');
    expect(asked).toEqual([]);
    await carriedOn(answer);
    expect(asked).toEqual([{ tokenKey, currentEmail: 'ada@example.com', newEmail: 'new@example.org' }]);
    expect(textOf(shown[0]?.modal)).toContain('The old address no longer works');
    expect(textOf(shown[0]?.message)).not.toMatch(/ada@|new@/);
  });

  it('asks once for a double click', async () => {
    const { read, agree, asked } = stage();
    const terms = await read();
    const answers = await Promise.all([agree(terms), agree(terms)]);
    await Promise.all(answers.map(carriedOn));
    expect(asked).toHaveLength(1);
    for (const answer of answers) expect(textOf(modalOf(answer))).toContain('Changing the e-mail');
  });

  it.each(['', '{"draft":"other"}'])('changes nothing on terms that are gone (%j)', async (metadata) => {
    const { read, submit, asked } = stage();
    await read();
    const answer = await submit(readBackModalId, {}, metadata);
    expect(textOf(modalOf(answer))).toContain('cannot be agreed to any more');
    expect(asked).toEqual([]);
  });

  it('goes back to the form when the current e-mail is not the linked one, with the problem at its field', async () => {
    const form = await stage({ answer: { kind: 'not_linked', message: undefined } }).change();
    expect(form.callback_id).toBe(cardEmailModalId);
    expect(untouched(form)).toEqual({ ...filled, [fields.current]: 'ada@example.com' });
    const at = form.blocks.findIndex((block) => block.type === 'input' && block.block_id === fields.current);
    expect(textOf(form.blocks[at - 1])).toContain('not the e-mail linked to the card');
  });

  it('reads back and changes from that form, in the same dialogue', async () => {
    const { change, asked } = stage({ answer: { kind: 'not_linked', message: undefined } });
    const form = await change();
    await change({ ...untouched(form), [fields.current]: 'right@example.com' });
    await change({ ...untouched(form), [fields.current]: 'right@example.com' });
    expect(asked.map(({ currentEmail }) => currentEmail)).toEqual([
      'ada@example.com',
      'right@example.com',
      'right@example.com',
    ]);
  });
});

describe('Correct and try again', () => {
  it('is the form as it was, from the read-back and from doubt', async () => {
    const timeout = new ServiceFailure('timeout', 'no answer');
    const doubt = stage({ answer: { kind: 'unknown', cause: timeout } });
    for (const modal of [await doubt.read(), await doubt.change()]) {
      // oxlint-disable-next-line no-await-in-loop
      await doubt.press(cardEmailActions.again, { view: view(modal) });
    }
    const expected = { ...filled, [fields.current]: 'ada@example.com' };
    expect(doubt.updated.map(untouched)).toEqual([expected, expected]);
  });

  it('leaves out a card the service does not know', async () => {
    const { change, press, updated } = stage({ answer: { kind: 'no_such_card' } });
    await press(cardEmailActions.again, { view: view(await change()), value: 'no_such_card' });
    expect(Object.keys(untouched(updated[0]!))).toEqual([fields.current, fields.next]);
  });

  it.each([true, false])('never puts a pasted token back (ledger: %s)', async (ledger) => {
    const { change, press, updated, outputs } = stage({
      ledger,
      answer: { kind: 'not_linked', message: undefined },
    });
    expect(textOf(await change(pasted))).toContain('Paste the token key again');
    await press(cardEmailActions.again, { view: view(outputs.find(isReadBack) as Modal) });
    expect(textOf(updated[0])).toContain('Paste the token key again');
    expect(textOf(outputs)).not.toContain(pastedToken);
  });

  it('says so when what was read back is gone', async () => {
    const { read, press, updated } = stage();
    await press(cardEmailActions.again, { view: view(await read(), 'V2') });
    expect(textOf(updated[0])).toContain('cannot be agreed to any more');
  });
});

function isReadBack(output: unknown): boolean {
  return typeof output === 'object' && (output as Modal).callback_id === readBackModalId;
}

describe('Change the linked e-mail', () => {
  const rejected = { state: { kind: 'rejected', concludedAt: nowMs, reason: 'email_mismatch' } } as const;

  async function openedFor(customerEmail: string, card: string) {
    const { desk, press, opened } = stage();
    const charge = chargeOf('9', { ...rejected, card });
    const terms = { ...charge.terms, customerEmail };
    desk.charges.set(charge.reference, { ...charge, terms });
    await press(chargeActions.changeEmail, { value: charge.reference });
    return opened[0]!;
  }

  it('opens the form with the charge’s card and the e-mail it was tried with as the new one', async () => {
    const form = await openedFor('ada@new.example', 'card1');
    expect(untouched(form)).toEqual({ [fields.card]: 'card1', [fields.next]: 'ada@new.example' });
  });

  it('asks for the linked e-mail when the remembered one is what was refused', async () => {
    const form = await openedFor('ada@example.com', 'card1');
    expect(untouched(form)).toEqual({ [fields.card]: 'card1' });
    expect(textOf(form)).toContain('not linked with the e-mail the bot knows');
  });

  it('asks for the token of a card the bot does not know', async () => {
    const form = await openedFor('zoe@example.org', 'unknown-card');
    expect(untouched(form)).toEqual({ [fields.next]: 'zoe@example.org' });
    expect(textOf(form)).toContain('Paste the token key again');
  });

  it('says so when there is no such charge', async () => {
    const { press, replies, opened } = stage();
    await press(chargeActions.changeEmail, { value: 'pay-none' });
    expect([replies.length, opened.length]).toEqual([1, 0]);
  });
});

it('shows a token key to nobody, in any dialogue', async () => {
  for (const values of [filled, pasted]) {
    const one = stage();
    // oxlint-disable-next-line no-await-in-loop
    await one.change(values);
    expect(textOf(one.outputs)).not.toMatch(new RegExp(`${tokenKey}|${pastedToken}`));
  }
});
