import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PageBlock, PageView } from '../../src/simulators/protocol.ts';
import { people } from '../../src/simulators/slack/directory.ts';
import type { Workspace } from '../../src/simulators/slack/workspace.ts';

/** One screen: a message, a window, or the Home. */
export type Screen = {
  /** Unique: the surface and its first words. */
  name: string;
  blocks: readonly PageBlock[];
  /** A window's title, buttons and errors. */
  frame: { title?: string; submit?: string; close?: string; errors?: Readonly<Record<string, string>> };
  words: number;
  most: number;
};

/** Maximum words per screen, buttons included, in the usual case. */
const budgets = {
  alert: 40,
  look_up: 40,
  charge_form: 55,
  review: 40,
  code: 50,
  outcome: 45,
  approval: 45,
  approval_end: 25,
  digest: 50,
  help: 90,
  home: 120,
  /** Ten records of a customer, with their buttons. */
  found: 160,
  /** Text that an agent copies for a customer. */
  proof: 30,
  /** Answers to `@pay` other than look-ups. */
  mention: 25,
  /** A notice below a daily summary, in place of its file. */
  day_file: 25,
  /** Lists; they grow with their rows. */
  list: 120,
  /** Other forms. */
  form: 90,
  other: 60,
} as const;

/** The largest form of any story (several accounts, a sandbox, a repeat) may have a third more. */
export const fullest = 4 / 3;

type Kind = keyof typeof budgets;

/** Text that shows only after *more* was pressed counts as what is visible before. */
type Part = { [field: string]: unknown };

/**
 * A house's screens, and what people did there: typed words, and ids that were pressed, chosen, searched or submitted.
 */
export type Recorded = { screens: Screen[]; done: string[] };

/** The folder for the stories' screens in `npm run gallery`. */
export const galleryVariable = 'PAYOPS_GALLERY';

/** Records every screen that the bot shows; of those with the same name, the one with the most words. */
export function recordScreens(workspace: Workspace, folder: string): { end: () => void } {
  const known = new Map<string, Screen>();
  const seen = new WeakSet<readonly PageBlock[]>();
  const done = new Set<string>();
  function add(kind: Kind, name: string, blocks: readonly PageBlock[], frame: Screen['frame'] = {}): void {
    const words = countWords(blocks, frame);
    const before = known.get(name);
    if (before && before.words >= words) return;
    // A list has a budget per row.
    const most = kind === 'list' ? Math.max(budgets.list, wordsARow * linesIn(blocks)) : budgets[kind];
    const isMarked = /May be a repeat/.test(textsOf(blocks).join(' '));
    known.set(name, { name, blocks, frame, words, most: most + (isMarked ? wordsOfMark : 0) });
  }
  function isNew(blocks: readonly PageBlock[]): boolean {
    if (seen.has(blocks)) return false;
    seen.add(blocks);
    return true;
  }
  function addWindow(view: PageView): void {
    const hasErrors = Object.keys(view.errors).length > 0;
    if (!isNew(view.blocks) && !hasErrors) return;
    done.add(view.callbackId);
    const { submit, close, errors } = view;
    const name = [`window ${view.callbackId}`, view.title, hasErrors ? 'problems' : headOf(view.blocks)];
    const frame = { title: view.title, errors, ...(submit && { submit }), ...(close && { close }) };
    const kind = hasErrors ? 'form' : kindOfWindow(view);
    add(kind, name.filter((part) => part !== '').join(' › '), view.blocks, frame);
  }
  workspace.onChange(() => {
    for (const { channel, threadTs, metadata, blocks } of workspace.posts()) {
      if (blocks.length === 0 || !isNew(blocks)) continue;
      const where = channel.startsWith('D') ? 'direct' : threadTs === undefined ? 'channel' : 'thread';
      const event = metadata?.event_type ?? (where === 'direct' ? 'end' : 'shared');
      add(kindOfPost(event, blocks), `${where} ${event} › ${headOf(blocks)}`, blocks);
    }
    for (const { id } of people) {
      const { messages, views: open, home } = workspace.state(id);
      for (const { ephemeral, blocks } of Object.values(messages).flat()) {
        if (ephemeral && blocks.length > 0 && isNew(blocks))
          add(kindOfAnswer(blocks), `answer › ${headOf(blocks)}`, blocks);
      }
      for (const view of open) addWindow(view);
      if (home && isNew(home.blocks)) add('home', `home › ${homeHeads(home.blocks)}`, home.blocks);
    }
  });
  const act = workspace.act.bind(workspace);
  workspace.act = (person, action) => {
    if (action.kind === 'send_message') done.add(action.text.replace(/^\/pay /, '').split(' ')[0] ?? '');
    if (action.kind === 'block_action' || action.kind === 'suggest') done.add(action.actionId);
    if (action.kind === 'global_shortcut' || action.kind === 'message_shortcut') done.add(action.callbackId);
    return act(person, action);
  };
  return {
    end() {
      const recorded: Recorded = { screens: [...known.values()], done: [...done] };
      writeFileSync(join(folder, `${randomUUID()}.json`), JSON.stringify(recorded));
    },
  };
}

/** The repeat mark depends on which answers Slack loses. */
const wordsOfMark = 10;
const mostLines = 4;
const wordsARow = 15;

const outcomes =
  /Declined|In doubt|Expired|Paid|Charging|Approved, confirming|Code wrong|Not charged|Not sent|Needs review|Checking/;

function kindOfPost(event: string, blocks: readonly PageBlock[]): Kind {
  switch (event) {
    case 'payops_alert':
    case 'payops_alert_direct':
    case 'payops_alert_note':
      return 'alert';
    case 'payops_storm':
      return 'digest';
    case 'payops_charge':
    case 'payops_charge_direct':
    case 'payops_charge_note':
      return 'outcome';
    case 'payops_approval':
      return /Needs approval|# of # approved/.test(headOf(blocks)) ? 'approval' : 'approval_end';
    case 'payops_approval_note':
      return 'approval_end';
    case 'payops_daily_summary':
      return 'list';
    case 'payops_no_day_file':
      return 'day_file';
    case 'shared':
      return 'look_up';
    default:
      return 'other';
  }
}

function kindOfWindow({ callbackId, title, blocks }: PageView): Kind {
  if (callbackId === 'charge') return 'charge_form';
  if (callbackId === 'charge_terms') return 'review';
  if (callbackId === 'otp' || /^[^ ]* ?Needs a code/.test(headOf(blocks))) return 'code';
  if (callbackId.startsWith('charge_')) return 'outcome';
  if (callbackId === 'approval_request')
    return /Needs approval|# of # approved/.test(headOf(blocks)) ? 'approval' : 'approval_end';
  if (callbackId === 'storm_list') return 'list';
  if (callbackId === 'lookup_answer') return 'look_up';
  if (title === 'Proof of payment') return 'proof';
  if (blocks.some(({ type }) => type === 'input')) return 'form';
  return outcomes.test(headOf(blocks)) ? 'outcome' : 'other';
}

function kindOfAnswer(blocks: readonly PageBlock[]): Kind {
  const head = headOf(blocks);
  if (/What you can do/.test(head)) return 'help';
  if (/^🔎 .*records?\b/i.test(head)) return 'found';
  if (/^(No reference|Which reference|Type \/pay|Refunds are made)|opens by its button/.test(head))
    return 'mention';
  if (/oldest first/i.test(textsOf(blocks).join(' ')) || / warning| parts not checked/.test(head))
    return 'list';
  if (/Paid|Not confirmed|Not found|Declined|Not paid|Not checked/.test(head)) return 'look_up';
  if (
    /lready approved|Approved, starting|of \d approved|lready refused|ithdrawn|You asked for this/.test(head)
  )
    return 'approval_end';
  const rows = blocks.filter(({ type }) => type === 'actions').length > 2;
  return rows ||
    JSON.stringify(blocks).includes('rich_text_preformatted') ||
    /gets alerts|charges? in doubt|# (accounts|terminals)|Accounts #|Terminals #|CSV|waits for your decision/.test(
      head,
    )
    ? 'list'
    : 'other';
}

/** The first words, without numbers and quoted text. */
function headOf(blocks: readonly PageBlock[]): string {
  const text = textsOf(blocks.slice(0, 1)).join(' ').split('\n')[0] ?? '';
  const [state = ''] = text.split(' · ');
  return state
    .replaceAll(/\p{Lu}{3} [\d,.]+|“[^”]*”|pay-\w+|[\w.]+@[\w.]+|\d[\d,.]*|[A-Z]{2,}-[\w-]+/gu, '#')
    .trim()
    .slice(0, 70);
}

function linesIn(blocks: readonly PageBlock[]): number {
  return textsOf(blocks).join('\n').split('\n').length;
}

function homeHeads(blocks: readonly PageBlock[]): string {
  const heads = blocks.filter(({ type }) => type === 'header').flatMap((block) => textsOf([block]));
  return heads.length === 0 ? headOf(blocks.slice(-2)) : heads.join(', ');
}

/** Counts words with a letter or a digit. */
export function countWords(
  blocks: readonly PageBlock[],
  { title, submit, close, errors = {} }: Screen['frame'] = {},
): number {
  return (
    [title ?? '', ...textsOf(blocks), ...Object.values(errors), submit ?? '', close ?? '']
      .join(' ')
      // A name that is not known yet counts as a name.
      .replaceAll('a colleague', 'Ada')
      .split(/\s+/)
      .filter((word) => /[\p{L}\p{N}]/u.test(word)).length
  );
}

/** Visible parts of a block that are no text fields. */
const drawn: Readonly<Record<string, (part: Part) => string[]>> = {
  user: ({ user_id: id }) => [people.find((one) => one.id === id)?.realName ?? '@someone'],
  usergroup: () => ['@group'],
  channel: () => ['#channel'],
  date: ({ format }) => [format === '{time}' ? '14:05' : moment],
  rich_text_section: ({ elements }) => [textsOf(elements).join('')],
  rich_text_quote: ({ elements }) => [textsOf(elements).join('')],
  // A table's rows are the requested content, and don't count.
  rich_text_preformatted({ elements }) {
    const lines = textsOf(elements).join('').split('\n');
    return lines.length > mostLines ? [] : lines;
  },
  static_select: chosen,
  external_select: chosen,
  users_select: chosen,
  plain_text_input: ({ initial_value: typed, placeholder }) =>
    typeof typed === 'string' ? [typed] : textsOf(placeholder),
  overflow: () => [],
  input: ({ label, element, hint }) => [label, element, hint].flatMap(textsOf),
  mrkdwn: ({ text }) => [
    String(text)
      .replaceAll(/<!date[^>]*>/g, moment)
      .replaceAll(/<[^|>]*\|([^>]*)>/g, '$1')
      .replaceAll(/<[#@][^>]*>/g, '#channel'),
  ],
};

/** As Slack shows it. */
const moment = 'Nov 23 14:05';

function chosen({ initial_option: option, placeholder }: Part): string[] {
  return textsOf(option ?? placeholder);
}

/** All visible text, in order. */
export function textsOf(part: unknown): string[] {
  if (Array.isArray(part)) return part.flatMap(textsOf);
  if (typeof part !== 'object' || part === null) return [];
  const { type, text, elements, options, ...rest } = part as Part;
  const draw = drawn[String(type)];
  if (draw) return draw({ ...rest, text, elements });
  if (typeof text === 'string') return [text];
  return [text, elements, options].flatMap(textsOf);
}
