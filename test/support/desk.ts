import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { runCommandLine } from '../../src/cli/command-line.ts';
import type {
  ActResult,
  PageBlock,
  PageMessage,
  PageView,
  WorkspaceAction,
} from '../../src/simulators/protocol.ts';
import { people as cast } from '../../src/simulators/slack/directory.ts';
import { elementValues } from '../../src/simulators/slack/elements.ts';
import type { Bot } from './bot.ts';
import { findCanaries, type Canaries } from './canaries.ts';
import { openHouse, type House, type HouseOptions, type Person } from './house.ts';
import { type Element, type Placed, pressable } from './pressable.ts';
import { visibleText } from './visible-text.ts';

export type DeskOptions = HouseOptions & {
  /** Changes the policy file before the bot reads it. */
  policy?: (policy: string) => string;
};

/** Every channel of the workspace, also those without the bot. */
export type Where = keyof House['workspace']['ids']['channels'];

/** A command's exit code and output. */
export type CommandEnd = { code: number; stdout: string; stderr: string };

/** `text`: all readable text, one line per block, people as `<@id>`. `buttons` and `fields`: their labels. */
type Shown = { text: string; buttons: string[] };
export type Message = PageMessage & { shown: Shown };
export type Modal = PageView & { shown: Shown; fields: string[]; problems: Record<string, string> };

/** Input by field label: a text, the text of an option (for a searched list: the search), or a person. */
export type Filled = Record<string, string>;

/**
 * People at their screens in the strict workspace: they read texts, press buttons and fill fields by label. Stories use
 * no ids of blocks, actions or views.
 */
export type Desk = {
  house: House;
  bot: Bot;
  id: (person: Person) => string;
  /** Their name as others read it in Slack. */
  named: (person: Person) => string;
  /** Any other action of a person in Slack; fails the test if Slack refuses it. */
  does: (person: Person, action: WorkspaceAction) => Promise<ActResult>;
  /** Types a message or command, by default in #pay-desk. */
  types: (person: Person, text: string, where?: Where) => Promise<void>;
  /** The bot's messages that the person sees, everywhere or in that channel, oldest first. */
  messages: (person: Person, where?: Where) => Message[];
  /** Waits for such a message that contains all the words, and returns the newest. */
  sees: (person: Person, words: string | readonly string[], where?: Where) => Promise<Message>;
  /** The messages in the channel itself, without threads and ephemeral ones; or the replies below that message. */
  posts: (person: Person, where: Where | PageMessage) => Message[];
  /** Waits for such a message that contains all the words, and returns the newest. */
  reads: (person: Person, words: string | readonly string[], where: Where | PageMessage) => Promise<Message>;
  /** Types the text, by default in #pay-desk, and returns the bot's answer once it contains the words. */
  asks: (person: Person, text: string, words: string, where?: Where) => Promise<Message>;
  /** Does it, and returns the message that is new or changed by that, once it contains the words. */
  seesBy: (
    person: Person,
    words: string | readonly string[],
    doing: () => Promise<unknown>,
  ) => Promise<Message>;
  /** Types a command that opens a form, and returns the form. */
  opens: (person: Person, text: string, where?: Where) => Promise<Modal>;
  /** The modal on top. */
  modal: (person: Person) => Modal | undefined;
  /** Waits until the modal on top contains all the words, and returns it. */
  modalSays: (person: Person, words: string | readonly string[]) => Promise<Modal>;
  /** Fills in the modal on top; the values are sent with the next press or submit. */
  fills: (person: Person, filled: Filled) => Promise<void>;
  /** Fills in and submits the modal on top; once the bot has answered, returns the modal that is on top then. */
  submitsOnce: (person: Person, filled?: Filled) => Promise<Modal | undefined>;
  /** The same, and repeats it if the bot asks for that because Slack left out some fields. */
  submits: (person: Person, filled?: Filled) => Promise<Modal | undefined>;
  /**
   * Presses the button, or chooses the menu option, with this label: on that message as it was seen, or on the Home; else
   * in the modal on top, else on the newest message that has it.
   */
  presses: (person: Person, label: string, on?: Message | 'home') => Promise<void>;
  /** Types the text into the Home's field with this label, and presses Enter. */
  enters: (person: Person, label: string, text: string) => Promise<void>;
  /** Chooses the shortcut with that name, of a message if one is given. */
  shortcut: (person: Person, name: string, on?: PageMessage) => Promise<void>;
  /** Closes all of the person's modals. */
  closes: (person: Person) => Promise<void>;
  /** Opens the person's Home until it contains the words, and returns it. */
  home: (person: Person, words: string) => Promise<Shown>;
  /** Restarts the bot with these settings, or with another policy. */
  restarts: (more?: Record<string, string>, policy?: (policy: string) => string) => Promise<void>;
  /** Runs a command like `node src/main.ts`, with the bot's settings and `more`, in this process. */
  runs: (words: readonly string[], more?: Record<string, string>) => Promise<CommandEnd>;
  /** Waits until every event is sent and the bot has no work left; `soon`: none within seconds. */
  settled: (soon?: 'soon') => Promise<void>;
  /** How many calls the payments service got at paths with this end. */
  calls: (path: string) => number;
  /** Secrets that are in the log, the store, anything sent to Slack, or on a screen. */
  leaks: (canaries: Canaries) => Promise<string[]>;
  /** The same for values that may be shown, but neither logged nor stored as plain text. */
  kept: (canaries: Canaries) => Promise<string[]>;
};

const people = ['agent', 'lead', 'onCall', 'outsider'] as const;

/**
 * The paths of Slack's calls with what one window shows once. On a busy machine a window that says to wait comes first,
 * and is updated.
 */
export const inOneWindow = [expect.stringMatching(/^\/api\/views\.(?:push|update)$/)];

/** A house with one bot for all tests of the calling group; every test begins without open modals. */
export function shareDesk(options: DeskOptions = {}): () => Desk {
  let desk: Desk | undefined;
  const finished: (() => unknown)[] = [];
  beforeAll(async () => {
    const shared = {
      onTestFinished: (end: () => unknown) => finished.push(end),
      onTestFailed: () => undefined,
    };
    desk = await openDesk(shared as never, options);
  });
  beforeEach(({ onTestFailed }) => {
    const from = desk?.bot.lines.length ?? 0;
    onTestFailed(() => console.error(desk?.bot.lines.slice(from).slice(-40).join('\n')));
  });
  afterEach(async () => {
    for (const person of people) await desk?.closes(person);
  });
  afterAll(async () => {
    await Promise.all(finished.map((end) => end()));
  });
  return () => {
    if (!desk) throw new Error('The desk is there from the first test on, not before.');
    return desk;
  };
}

/** The same for one test. */
export async function openDesk(
  test: Parameters<typeof openHouse>[0],
  { policy, ...options }: DeskOptions = {},
): Promise<Desk> {
  const house = await openHouse(test, options);
  if (policy) rewrite(house, policy);
  const bot = house.bot();
  await house.start(bot);
  if (options.payments?.knownCards) await house.cardsKnown();
  return sitAt(house, bot);
}

function rewrite({ policyFile }: House, change: (policy: string) => string): void {
  const before = readFileSync(policyFile, 'utf8');
  const after = change(before);
  if (after === before) throw new Error('The policy file is as it was before.');
  writeFileSync(policyFile, after);
}

/** A desk for an existing house and running bot. */
export function sitAt(house: House, bot: Bot): Desk {
  const { workspace } = house;
  const { users, channels } = workspace.ids;

  async function act(person: Person, action: Parameters<typeof workspace.act>[1]): Promise<ActResult> {
    const result = await workspace.act(users[person], action);
    if (!result.ok && result.problem !== unfilled) throw new Error(`${action.kind}: ${result.problem}`);
    return result;
  }
  async function types(person: Person, text: string, where: Where = 'payDesk'): Promise<void> {
    await act(person, { kind: 'send_message', channel: channels[where], text });
  }
  function messages(person: Person, where?: Where): Message[] {
    const seen = workspace.state(users[person]).messages;
    return (where === undefined ? Object.values(seen).flat() : (seen[channels[where]] ?? []))
      .filter(({ authorIsBot }) => authorIsBot)
      .toSorted((one, other) => Number(one.ts) - Number(other.ts))
      .map((message) => ({ ...message, shown: shownIn(message) }));
  }
  async function found<T>(what: string, find: () => T | undefined, instead: () => unknown): Promise<T> {
    await house
      .until(what, () => find() !== undefined, patienceMs)
      .catch((cause: unknown) => {
        throw new Error(`${what}. Instead: ${JSON.stringify(instead(), undefined, 1)}`, { cause });
      });
    const it = find();
    if (it === undefined) throw new Error(`${what}, and then no more.`);
    return it;
  }
  function posts(person: Person, where: Where | PageMessage): Message[] {
    const [channel, thread] = typeof where === 'string' ? [channels[where]] : [where.channel, where.ts];
    return messages(person).filter(
      (one) => one.channel === channel && one.threadTs === thread && !one.ephemeral,
    );
  }
  function sees(
    person: Person,
    words: string | readonly string[],
    where?: Where,
    after: ReadonlySet<string> = new Set(),
  ): Promise<Message> {
    return found(
      `the ${person} sees ${String(words)}`,
      () => messages(person, where).findLast(({ ts, shown }) => !after.has(ts) && holds(shown.text, words)),
      () =>
        messages(person, where)
          .map(({ shown }) => shown.text)
          .slice(-5),
    );
  }
  function modal(person: Person): Modal | undefined {
    const view = workspace.state(users[person]).views.at(-1);
    if (!view) return undefined;
    const inputs = view.blocks.filter(({ type }) => type === 'input');
    return {
      ...view,
      shown: shownIn({ text: view.title, blocks: view.blocks }),
      fields: inputs.map(labelOf),
      problems: Object.fromEntries(
        inputs.flatMap((block) => {
          const problem = view.errors[block.block_id ?? ''];
          return problem === undefined ? [] : [[labelOf(block), problem]];
        }),
      ),
    };
  }
  function onTop(person: Person): Modal {
    const top = modal(person);
    if (!top) throw new Error(`No modal is open in front of the ${person}.`);
    return top;
  }
  async function valueOf(
    person: Person,
    view: Modal,
    label: string,
    typed: string,
  ): Promise<Pick<Placed, 'blockId' | 'actionId'> & { state: object }> {
    const block = view.blocks.find((one) => one.type === 'input' && labelOf(one) === label);
    const element = block?.['element'] as Element | undefined;
    if (!block?.block_id || !element?.action_id)
      throw new Error(`No field “${label}” in: ${view.shown.text}`);
    const placed = { blockId: block.block_id, actionId: element.action_id };
    const { type } = element;
    if (type === 'users_select') return { ...placed, state: { type, selected_user: typed } };
    if (type === 'external_select') {
      const asked = await act(person, { kind: 'suggest', ...placed, text: typed, viewId: view.id });
      const [first] = asked.ok ? (asked.options ?? []) : [];
      if (!first) throw new Error(`“${label}” offers nothing for “${typed}”.`);
      return { ...placed, state: { type, selected_option: first } };
    }
    if (element.options) {
      const option = element.options.find(({ text }) => text.text === typed);
      if (!option && typed !== '') throw new Error(`“${label}” has no “${typed}”.`);
      return { ...placed, state: { type, selected_option: option } };
    }
    return { ...placed, state: { type, value: typed } };
  }

  /** Typed values, by modal. */
  const drafts = new Map<string, Record<string, Record<string, object>>>();

  const inside = async (): Promise<Record<'log' | 'store', string>> => ({
    log: bot.lines.join('\n'),
    store: await house.storeDump(),
  });

  const desk: Desk = {
    house,
    bot,
    id: (person) => users[person],
    named: (person) => cast.find(({ id }) => id === users[person])?.realName ?? '',
    does: act,
    types,
    messages,
    sees,
    posts,
    reads: (person, words, where) =>
      found(
        `the ${person} reads ${String(words)}`,
        () => posts(person, where).findLast(({ shown }) => holds(shown.text, words)),
        () => posts(person, where).map(({ shown }) => shown.text),
      ),
    async asks(person, text, words, where = 'payDesk') {
      const before = new Set(messages(person, where).map(({ ts }) => ts));
      await types(person, text, where);
      return await sees(person, words, where, before);
    },
    async seesBy(person, words, doing) {
      const before = new Set(messages(person).map((message) => JSON.stringify(message)));
      const changed = (): Message[] =>
        messages(person).filter((message) => !before.has(JSON.stringify(message)));
      await doing();
      return await found(
        `the ${person} sees ${String(words)}`,
        () => changed().findLast(({ shown }) => holds(shown.text, words)),
        () => changed().map(({ shown }) => shown.text),
      );
    },
    async opens(person, text, where) {
      const before = modal(person)?.id;
      await types(person, text, where);
      return await found(
        `${text} opens a form`,
        () => {
          const top = modal(person);
          return top === undefined || top.id === before || isPassing(top) ? undefined : top;
        },
        () => messages(person).at(-1)?.shown.text,
      );
    },
    modal,
    modalSays: (person, words) =>
      found(
        `the ${person}’s modal says ${String(words)}`,
        () => {
          const top = modal(person);
          return top && holds(top.shown.text, words) ? top : undefined;
        },
        () => modal(person)?.shown.text,
      ),
    async fills(person, filled) {
      const labels = Object.keys(filled);
      // While a code is checked the window has no field yet for another.
      const view = await found(
        `the ${person}’s window has ${String(labels)}`,
        () => (labels.every((label) => modal(person)?.fields.includes(label)) ? onTop(person) : undefined),
        () => modal(person)?.shown.text,
      );
      for (const [label, typed] of Object.entries(filled)) {
        const { blockId, actionId, state } = await valueOf(person, view, label, typed);
        drafts.set(view.id, { ...drafts.get(view.id), [blockId]: { [actionId]: state } });
      }
    },
    async submitsOnce(person, filled = {}) {
      // The charge form hides rarely used fields behind a button.
      const isShort = onTop(person).shown.buttons.includes('More fields');
      if (isShort && Object.keys(filled).some((label) => !onTop(person).fields.includes(label))) {
        await desk.presses(person, 'More fields');
        await found(
          'the form has all its fields',
          () => (modal(person)?.shown.buttons.includes('More fields') === false ? true : undefined),
          () => modal(person)?.shown.text,
        );
      }
      await desk.fills(person, filled);
      const { id: viewId } = onTop(person);
      await act(person, { kind: 'submit_view', viewId, values: drafts.get(viewId) ?? {} });
      await house.until('the form is answered', () => !isPassing(modal(person)), patienceMs);
      return modal(person);
    },
    async submits(person, filled) {
      let top = await desk.submitsOnce(person, filled);
      for (let time = 0; time < 3 && top !== undefined; time += 1) {
        const unsent = Object.entries(top.problems).filter(([, words]) =>
          words.startsWith('Slack sent this'),
        );
        if (unsent.length === 0) break;
        const labels = unsent.map(([label]) => label);
        // Types the values that were prefilled, too.
        drafts.set(top.id, { ...standingIn(top, labels), ...drafts.get(top.id) });
        top = await desk.submitsOnce(person);
      }
      return top;
    },
    async presses(person, label, on) {
      const has = ({ shown }: { shown: Shown }): boolean => shown.buttons.includes(label);
      const surface = await found(
        `a button “${label}” is in front of the ${person}`,
        () => {
          if (on === 'home') return workspace.state(users[person]).home;
          const top = modal(person);
          return on ?? (top && has(top) ? top : messages(person).findLast(has));
        },
        () => modal(person)?.shown.buttons,
      );
      const { blockId, actionId, element } = placedAt(surface.blocks, label);
      const container =
        'ts' in surface
          ? ({ type: 'message', channel: surface.channel, ts: surface.ts } as const)
          : ({ type: 'view', viewId: surface.id } as const);
      const outdated = on === undefined ? {} : ({ mayBeOutdated: true } as const);
      const values = 'ts' in surface ? {} : (drafts.get(surface.id) ?? {});
      const action = { kind: 'block_action', blockId, actionId, element, container } as const;
      await act(person, { ...action, values, ...outdated });
    },
    async enters(person, label, text) {
      const home = workspace.state(users[person]).home;
      const block = home?.blocks.find((one) => one.type === 'input' && labelOf(one) === label);
      const element = block?.['element'] as Element | undefined;
      if (!home || !block?.block_id || !element?.action_id)
        throw new Error(`The Home has no field “${label}”.`);
      const state = { type: element.type, value: text };
      await act(person, {
        kind: 'block_action',
        blockId: block.block_id,
        actionId: element.action_id,
        element: state,
        container: { type: 'view', viewId: home.id },
        values: { [block.block_id]: { [element.action_id]: state } },
      });
    },
    async closes(person) {
      for (let view = modal(person); view; view = modal(person)) {
        await act(person, { kind: 'close_view', viewId: view.id });
      }
    },
    async home(person, words) {
      await act(person, { kind: 'open_home' });
      return await found(
        `the ${person}’s Home says ${words}`,
        () => {
          const { home } = workspace.state(users[person]);
          const shown = home && shownIn({ text: home.title, blocks: home.blocks });
          return shown && holds(shown.text, words) ? shown : undefined;
        },
        () => workspace.state(users[person]).home?.blocks,
      );
    },
    async shortcut(person, name, on) {
      const { globalShortcuts, messageShortcuts } = workspace.state(users[person]);
      const one = (on ? messageShortcuts : globalShortcuts).find((each) => each.name === name);
      if (!one) throw new Error(`There is no shortcut “${name}”.`);
      const { callbackId } = one;
      await act(
        person,
        on
          ? { kind: 'message_shortcut', callbackId, channel: on.channel, ts: on.ts }
          : { kind: 'global_shortcut', callbackId },
      );
    },
    async restarts(more, policy) {
      await bot.stop();
      if (policy) rewrite(house, policy);
      await house.start(bot, more);
    },
    runs: (words, more = {}) => runHere(words, house.settings(more)),
    async settled(soon) {
      await house.payments.settled();
      const untilMs = () => (soon === undefined ? [] : [house.now() + soonMs]);
      await house.until('nothing is left to do', async () => (await house.workLeft(...untilMs())) === 0);
    },
    calls: (path) => house.paymentsGate.passed.filter((passed) => passed.path.endsWith(path)).length,
    async leaks(canaries) {
      const sent = house.slackGate.passed.map(({ request }) =>
        decodeURIComponent(request.replaceAll('+', ' ')),
      );
      const screens = JSON.stringify(people.map((person) => workspace.state(users[person])));
      return findCanaries(canaries, { ...(await inside()), 'sent to Slack': sent.join('\n'), screens });
    },
    kept: async (canaries) => findCanaries(canaries, await inside()),
  };
  return desk;
}

/** Runs a command with only these settings, in the test's process. */
export async function runHere(
  words: readonly string[],
  variables: Readonly<Record<string, string>>,
  now: () => number = () => Date.now(),
): Promise<CommandEnd> {
  const written = { stdout: '', stderr: '' };
  const stream = (name: keyof typeof written) => ({
    isTTY: false,
    write(text: string, done?: () => void) {
      written[name] += text;
      done?.();
      return true;
    },
  });
  const streams = { stdout: stream('stdout'), stderr: stream('stderr') };
  const code = await runCommandLine({
    words,
    variables,
    ...streams,
    now,
  });
  return { code, ...written };
}

/** The workspace's message for an incomplete form; shown to the person, and no failure of the test. */
const unfilled = 'Some fields need your attention.';
const patienceMs = 60_000;

/** Shown until the form or its answer is ready; on a slow machine a person waits. */
function isPassing(modal: Modal | undefined): boolean {
  return modal?.title === 'One moment' || modal?.title === 'No answer yet';
}
/** Longer than the pause between two messages in a channel. */
const soonMs = 5_000;

function holds(text: string, words: string | readonly string[]): boolean {
  return [words].flat().every((one) => text.includes(one));
}

function labelOf(block: PageBlock): string {
  // People read the currency as part of the amount.
  return ((block['label'] as { text?: string } | undefined)?.text ?? '').replace(/ \([A-Z]{3}\)$/u, '');
}

/** The prefilled values of those fields, as if typed. */
function standingIn(view: Modal, labels: readonly string[]): Record<string, Record<string, object>> {
  const inputs = view.blocks.filter((block) => block.type === 'input' && labels.includes(labelOf(block)));
  return Object.fromEntries(
    inputs.flatMap((block) => {
      const element = block['element'] as Element;
      const { value, initial } = elementValues[element.type] ?? { value: '', initial: '' };
      const standing = element[initial];
      if (standing === undefined) return [];
      return [[block.block_id, { [element.action_id ?? '']: { type: element.type, [value]: standing } }]];
    }),
  ) as Record<string, Record<string, object>>;
}

function placedAt(blocks: readonly PageBlock[], label: string): Placed {
  const placed = pressable(blocks).find((one) => one.label === label);
  if (!placed) throw new Error(`There is no “${label}” in: ${visibleText(blocks)}`);
  return placed;
}

function shownIn({ text, blocks }: { text: string; blocks: PageBlock[] }): Shown {
  return { text: `${text}\n${visibleText(blocks)}`, buttons: pressable(blocks).map(({ label }) => label) };
}

/** Input for the form of `/pay charge`; `card` searches for a saved one. */
export type Typed = {
  amount: string;
  card?: string;
  token?: string;
  email?: string;
  customerId?: string;
  reason?: string;
};

/** Fills in and submits `/pay charge`; returns the review, or the form with its problems. */
export async function reviews(
  desk: Desk,
  person: Person,
  typed: Typed,
  command = '/pay charge',
): Promise<Modal> {
  await desk.opens(person, command);
  const labels = {
    amount: 'Amount',
    card: 'Saved card',
    token: 'Or the card’s token key',
    email: 'Customer’s e-mail',
    customerId: 'Customer id',
    reason: 'Reason',
  };
  const names = Object.keys(typed) as (keyof Typed)[];
  const filled = Object.fromEntries(names.map((name) => [labels[name], typed[name] ?? '']));
  const shown = await desk.submits(person, filled);
  if (!shown) throw new Error('The form was closed.');
  return shown;
}

/** The same, and presses *Charge* or *Ask for approval*; returns the charge's reference. */
export async function charges(desk: Desk, person: Person, typed: Typed): Promise<string> {
  const review = await reviews(desk, person, typed);
  if (review.submit === undefined || review.submit === 'Review') throw new Error(review.shown.text);
  const after = await desk.submits(person);
  return referenceIn(after?.shown.text ?? '');
}

/** Makes a payment link, and closes its window; returns its reference. */
export async function makesLink(desk: Desk, person: Person, amount: string, filled: Filled): Promise<string> {
  await desk.opens(person, `/pay link ${amount}`);
  await desk.submits(person, filled);
  const { shown } = await desk.modalSays(person, 'The service’s order id');
  await desk.closes(person);
  return filled['Our reference'] ?? referenceIn(shown.text);
}

export function referenceIn(text: string): string {
  return /pay-[a-z2-7]{26}/.exec(text)?.[0] ?? '';
}
