import { randomInt } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'vitest';
import type { ActResult, PageBlock, PageMessage, PageView } from '../../src/simulators/protocol.ts';
import { commonPayload } from '../../src/simulators/slack/payloads.ts';
import { chargeActions } from '../../src/features/charge/charge-screens.ts';
import { chargeFields } from '../../src/features/charge/charge-forms.ts';
import type { Bot } from './bot.ts';
import { openGate, type Gate } from './gate.ts';
import type { House, Person } from './house.ts';
import { signSlack } from './slack-requests.ts';
import { visibleText } from './visible-text.ts';

/** What a person types into the form. `card` is typed into the list, and the first card offered is chosen. */
export type ChargeForm = {
  amount: string;
  token?: string;
  card?: string;
  email?: string;
  customerId?: string;
  reason?: string;
};

/** The modal in front of a person. `text` is all that can be read in it, buttons and field labels included. */
export type SeenModal = {
  id: string;
  title: string;
  text: string;
  submit: string | undefined;
  /** By block id. */
  errors: Record<string, string>;
  view: PageView;
};

export type ChargeDialogue = {
  /** The modal on top; undefined when none is open. */
  modalOf: (person: Person) => SeenModal | undefined;
  /** Resolves with the modal on top as soon as it shows the words. */
  modalSays: (person: Person, words: string, timeoutMs?: number) => Promise<SeenModal>;
  /** Types the command and resolves with the modal that it opens. */
  opens: (person: Person, command: string) => Promise<SeenModal>;
  /** `/pay charge`, the form filled and submitted: the read-back, or the form with its errors. */
  readBack: (person: Person, form: ChargeForm, command?: string) => Promise<SeenModal>;
  /** All of it up to the click on *Charge*; resolves with the acknowledged modal. */
  charge: (person: Person, form: ChargeForm, command?: string) => Promise<SeenModal>;
  /** Submits the modal on top with these texts in its inputs, by block id; `card` as in the form. */
  submit: (person: Person, texts?: Record<string, string>, card?: string) => Promise<SeenModal | undefined>;
  /** Types the code into the one field of the modal on top and submits it. */
  enterCode: (person: Person, code: string) => Promise<SeenModal | undefined>;
  /** Presses that button of the modal on top; `texts` stand in its inputs meanwhile. */
  press: (person: Person, actionId: string, texts?: Record<string, string>) => Promise<void>;
  /** Presses that button of the newest message that has it, in the desk's channel or in the person's own. */
  pressInMessage: (person: Person, actionId: string) => Promise<void>;
  close: (person: Person) => Promise<void>;
  /** What the bot wrote to the person alone, oldest first. */
  directOf: (person: Person) => PageMessage[];
  /** The charge references that the payments service holds, newest first. */
  references: () => string[];
};

/** Drives charges through the strict workspace as a person would: by what is on the screen and nothing else. */
export function openChargeDialogue(house: House): ChargeDialogue {
  const { workspace } = house;
  const { users, channels } = workspace.ids;

  async function act(person: Person, action: Parameters<typeof workspace.act>[1]): Promise<ActResult> {
    const result = await workspace.act(users[person], action);
    if (!result.ok && !isForAPerson(result.problem)) throw new Error(`${action.kind}: ${result.problem}`);
    return result;
  }
  function modalOf(person: Person): SeenModal | undefined {
    const view = workspace.state(users[person]).views.at(-1);
    return view && { ...view, submit: view.submit, text: visibleText(view.blocks), view };
  }
  function onTop(person: Person): SeenModal {
    const modal = modalOf(person);
    if (!modal) throw new Error(`No modal is open in front of the ${person}.`);
    return modal;
  }
  async function opens(person: Person, command: string): Promise<SeenModal> {
    const before = modalOf(person)?.id;
    await house.type(person, command);
    await house.until(`${command} opens a modal`, () => {
      const top = modalOf(person);
      return top !== undefined && top.id !== before && !top.text.includes('⏳ Loading');
    });
    return onTop(person);
  }
  /** What loads cannot be submitted yet. */
  async function loaded(person: Person): Promise<SeenModal> {
    await house.until(`the ${person}’s form is loaded`, () => modalOf(person)?.submit !== undefined);
    return onTop(person);
  }
  async function submit(
    person: Person,
    texts: Record<string, string> = {},
    more: Record<string, Record<string, unknown>> = {},
  ): Promise<SeenModal | undefined> {
    const { id, view } = await loaded(person);
    const values = { ...valuesOf(texts, view.blocks), ...more };
    await act(person, { kind: 'submit_view', viewId: id, values });
    return modalOf(person);
  }
  async function choose(person: Person, typed: string): Promise<Record<string, unknown>> {
    const { id: viewId, view } = onTop(person);
    const actionId = actionIdIn(view.blocks, chargeFields.card);
    const place = { blockId: chargeFields.card, actionId, viewId };
    const offered = await act(person, { kind: 'suggest', text: typed, ...place });
    const [first] = offered.ok ? (offered.options ?? []) : [];
    if (!first) throw new Error(`No card is offered for what was typed.`);
    return { [actionId]: { type: 'external_select', selected_option: first } };
  }
  async function press(
    person: Person,
    actionId: string,
    texts: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const { id: viewId, view } = onTop(person);
    const { blockId, element } = findButton(view.blocks, actionId);
    const container = { type: 'view', viewId } as const;
    const values = valuesOf(texts, view.blocks);
    await act(person, { kind: 'block_action', blockId, actionId, element, container, values });
  }
  async function readBack(person: Person, form: ChargeForm, command = '/pay charge'): Promise<SeenModal> {
    await opens(person, command);
    await loaded(person);
    const { card, ...typed } = form;
    if (['token', 'email', 'customerId'].some((name) => name in typed)) {
      const has = (id: string): boolean =>
        onTop(person).view.blocks.some(({ block_id: block }) => block === id);
      await press(person, chargeActions.more);
      await house.until('the form has all its fields', () => has(chargeFields.token));
    }
    const chosen = card === undefined ? {} : { [chargeFields.card]: await choose(person, card) };
    const names = Object.keys(typed) as (keyof typeof typed)[];
    const texts = Object.fromEntries(names.map((name) => [chargeFields[name], typed[name] ?? '']));
    await submit(person, texts, chosen);
    return onTop(person);
  }

  return {
    modalOf,
    opens,
    readBack,
    async submit(person, texts, card) {
      const chosen = card === undefined ? {} : { [chargeFields.card]: await choose(person, card) };
      return await submit(person, texts, chosen);
    },
    async modalSays(person, words, timeoutMs) {
      const says = (): boolean => `${modalOf(person)?.title}\n${modalOf(person)?.text}`.includes(words);
      await house.until(`the ${person}’s modal says “${words}”`, says, timeoutMs).catch((error: unknown) => {
        throw new Error(`It says: ${modalOf(person)?.text ?? 'nothing'}`, { cause: error });
      });
      return onTop(person);
    },
    async charge(person, form, command) {
      const read = await readBack(person, form, command);
      if (Object.keys(read.errors).length > 0 || read.submit === 'Review') {
        throw new Error(`Not reviewed: ${JSON.stringify(read.errors)} ${read.text}`);
      }
      // A review that says why the card can't be charged has nothing to submit, or asks first.
      const isAsked = read.submit?.startsWith('Charge again') === true || read.text.includes('Why now');
      if (read.submit === undefined || isAsked) return read;
      await submit(person);
      return onTop(person);
    },
    enterCode(person, code) {
      return submit(person, { [codeFieldOf(onTop(person))]: code });
    },
    press,
    async pressInMessage(person, actionId) {
      const { messages } = workspace.state(users[person]);
      const seen = [channels.payDesk, channels[`${person}Dm`]].flatMap((channel) => messages[channel] ?? []);
      const message = seen.findLast(({ blocks }) => hasButton(blocks, actionId));
      if (!message) throw new Error(`No message has the button ${actionId}.`);
      const { blockId, element } = findButton(message.blocks, actionId);
      const container = { type: 'message', channel: message.channel, ts: message.ts } as const;
      await act(person, { kind: 'block_action', blockId, actionId, element, container, values: {} });
    },
    async close(person) {
      await act(person, { kind: 'close_view', viewId: onTop(person).id });
    },
    directOf: (person) =>
      (workspace.state(users[person]).messages[channels[`${person}Dm`]] ?? []).filter(
        ({ authorIsBot }) => authorIsBot,
      ),
    references: () =>
      house.payments
        .state()
        .orders.map(({ orderReference }) => orderReference)
        .filter((reference) => reference.startsWith('pay-')),
  };
}

export type NewCard = { tokenKey: string; customerEmail: string };

/**
 * So many more saved cards that approve, each saved by a payment of its own as a customer would. No bot is told
 * of them, so that none has alerts to post.
 */
export async function saveCards({ payments, webhookGate }: House, count: number): Promise<NewCard[]> {
  const before = new Set(payments.state().cards.map(({ tokenKey }) => tokenKey));
  const nobody = createServer((request, response) => {
    request.resume();
    response.end('ok');
  });
  await new Promise<void>((resolve) => nobody.listen(0, '127.0.0.1', resolve));
  payments.sendWebhooksTo(`http://127.0.0.1:${(nobody.address() as AddressInfo).port}`);
  const run = randomInt(1_000_000);
  for (let number = 1; number <= count; number += 1) {
    const orderReference = `SAVE-${run}-${number}`;
    const customerEmail = `customer.${run}.${number}@example.com`;
    // oxlint-disable-next-line no-await-in-loop -- the order must be there to be paid
    await payments.act({ kind: 'create_order', amount: '50.00', customerEmail, orderReference });
    // oxlint-disable-next-line no-await-in-loop
    await payments.act({ kind: 'pay_order', orderReference, outcome: 'approved' });
  }
  await payments.settled();
  payments.sendWebhooksTo(`${webhookGate.url}/webhooks/payments`);
  nobody.close();
  nobody.closeAllConnections();
  return payments.state().cards.filter(({ tokenKey }) => !before.has(tokenKey));
}

/** Slack's side of the line to the bots, on which every payload and every acknowledgement can be read whole. */
export type SlackLine = {
  gate: Gate;
  /**
   * The payload that submits the modal which the bot's last acknowledgement put in the place of that view: as
   * Slack would send it once more, on its way to several replicas or with a stopwatch.
   */
  submission: (viewId: string) => string;
};

/** Puts itself between the workspace and the bot; `bots` get each payload all at once, as redelivered. */
export async function openSlackLine(
  house: House,
  test: Pick<TestContext, 'onTestFinished'>,
  bots: () => readonly Bot[],
): Promise<SlackLine> {
  const gate = await openGate(() => bots().map((bot) => bot.url()));
  test.onTestFinished(() => gate.close());
  house.workspace.connect(`${gate.url}/slack/events`);
  return {
    gate,
    submission(viewId) {
      for (const { request, answer } of gate.passed.toReversed()) {
        if (!request.includes(viewId) || !answer.includes('"update"')) continue;
        const payload = payloadOf(request);
        if (payload?.type !== 'view_submission' || payload.view['id'] !== viewId) continue;
        const { view } = JSON.parse(answer) as { view: Record<string, unknown> };
        return formOf({ ...payload, view: { ...payload.view, ...view, state: { values: {} } } });
      }
      throw new Error(`No acknowledgement has put anything in the place of ${viewId}.`);
    },
  };
}

/** "median 4.2 ms, p99 9.1 ms, worst 12.0 ms (100)". */
export function ackFigures(acks: readonly Acked[]): string {
  const figure = (quantile: number): string => `${ackAt(acks, quantile).toFixed(1)} ms`;
  return `median ${figure(0.5)}, p99 ${figure(0.99)}, worst ${figure(1)} (${acks.length})`;
}

/** How long the sender waited, at that quantile. */
export function ackAt(acks: readonly Acked[], quantile: number): number {
  const sorted = acks.map(({ ackMs }) => ackMs).toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * quantile) - 1)] ?? Infinity;
}

/** The payload with which a person submits the modal they see, which the bot opened or updated through Slack's API. */
async function submissionOf(
  house: House,
  person: Person,
  modal: SeenModal,
  texts: Record<string, string> = {},
): Promise<string> {
  const { workspace, slackGate } = house;
  const seen = JSON.stringify(modal.view.blocks);
  const shown = (): View | undefined =>
    slackGate.passed
      .filter(({ path, answer }) => path.startsWith('/api/views.') && answer.includes(modal.id))
      .map(({ answer }) => (JSON.parse(answer) as { view?: View }).view)
      .findLast((view) => JSON.stringify(view?.['blocks']) === seen);
  // On the screen a moment before its answer has passed the gate.
  await house.until(`${modal.id} was shown`, () => shown() !== undefined);
  const { user } = workspace.state(workspace.ids.users[person]);
  return formOf({
    type: 'view_submission',
    ...commonPayload(user),
    trigger_id: 'unused',
    view: { ...shown(), state: { values: valuesOf(texts, modal.view.blocks) } },
    response_urls: [],
  });
}

/** The same with this code in its one field. */
export function codeSubmission(
  house: House,
  person: Person,
  modal: SeenModal,
  code: string,
): Promise<string> {
  return submissionOf(house, person, modal, { [codeFieldOf(modal)]: code });
}

function codeFieldOf({ view, text }: SeenModal): string {
  const input = view.blocks.find(({ type }) => type === 'input');
  if (!input?.block_id) throw new Error(`There is no field for a code: ${text}`);
  return input.block_id;
}

type View = Record<string, unknown>;
type Payload = { type: string; view: View };

function payloadOf(request: string): Payload | undefined {
  const text = new URLSearchParams(request.slice(request.indexOf('\n') + 1)).get('payload');
  return text === null ? undefined : (JSON.parse(text) as Payload);
}

function formOf(payload: unknown): string {
  return new URLSearchParams({ payload: JSON.stringify(payload) }).toString();
}

/** How a bot took a payload: the acknowledgement's status and body, and how long the sender waited for it. */
export type Acked = { status: number; body: string; ackMs: number };

/** Sends it as Slack would, signed, past the workspace. */
export async function sendToBot(house: House, bot: Bot, form: string): Promise<Acked> {
  const request = signSlack(form, { secret: house.workspace.credentials.signingSecret });
  const startedAt = performance.now();
  const response = await fetch(`${bot.url()}/slack/events`, { method: 'POST', ...request });
  const body = await response.text();
  return { status: response.status, body, ackMs: performance.now() - startedAt };
}

/** What the workspace says to a person at a form that is not filled in well: shown to them, and no failure of the test. */
function isForAPerson(problem: string): boolean {
  return problem === 'Some fields need your attention.';
}

/** An input's block id is its element's too, behind which a further merchant account's name may stand. */
function valuesOf(
  texts: Record<string, string>,
  blocks: readonly PageBlock[],
): Record<string, Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(texts).map(([id, value]) => [
      id,
      { [actionIdIn(blocks, id)]: { type: 'plain_text_input', value } },
    ]),
  );
}

function actionIdIn(blocks: readonly PageBlock[], blockId: string): string {
  const element = blocks.find((block) => block.block_id === blockId)?.['element'];
  const { action_id: actionId } = (element ?? {}) as { action_id?: string };
  return actionId ?? blockId;
}

type Found = { blockId: string; element: { type: string; [field: string]: unknown } };

export function findButton(blocks: readonly PageBlock[], actionId: string): Found {
  for (const block of blocks) {
    const elements = (block['elements'] ?? []) as Found['element'][];
    const element = elements.find((one) => one['action_id'] === actionId);
    if (element) return { blockId: block.block_id ?? '', element };
  }
  throw new Error(`There is no button ${actionId}: ${visibleText(blocks)}`);
}

export function hasButton(blocks: readonly PageBlock[], actionId: string): boolean {
  return blocks.some((block) =>
    ((block['elements'] ?? []) as Found['element'][]).some((one) => one['action_id'] === actionId),
  );
}
