import type {
  ActionsBlock,
  Button,
  ConfirmationDialog,
  ContextBlock,
  DividerBlock,
  HeaderBlock,
  InputBlock,
  MrkdwnElement,
  Overflow,
  PlainTextElement,
  RichTextBlock,
  RichTextChannelMention,
  RichTextDate,
  RichTextText,
  RichTextUserMention,
  RichTextUsergroupMention,
} from '@slack/types';
import { isGeneratedReference } from '../../domain/order-reference.ts';
import { withoutUndefined } from '../../domain/json.ts';
import { limits } from './limits.ts';
import type { MessageBlock, Modal, ViewBlock } from './message.ts';
import { ownId } from '../own-account.ts';
import { cut, mrkdwnText, oneLine, utcTime, visible } from './text.ts';

/** Stands for empty text, which Slack refuses; outside text can be empty after cleaning. */
const dash = '–';

/** Text without formatting, emoji codes or links. Cut to `max`. */
export function plainText(text: string, max: number = limits.textObject): PlainTextElement {
  return { type: 'plain_text', text: cut(visible(text), max).trim() || dash, emoji: false };
}

/** Our own words in Slack's markup, never outside text. Turns no address or name into a link (`verbatim`). */
export function mrkdwn(text: string): MrkdwnElement {
  return { type: 'mrkdwn', text, verbatim: true };
}

/** For `mrkdwn`. Slack opens the message with its thread, in the reader's own workspace. */
export function messageLink({ channel, ts }: { channel: string; ts: string }, shown: string): string {
  const place = `${encodeURIComponent(channel)}/p${encodeURIComponent(ts.replace('.', ''))}`;
  return `<https://slack.com/archives/${place}|${shown}>`;
}

export function header(text: string): HeaderBlock {
  return { type: 'header', text: plainText(text, limits.headerText) };
}

export function divider(): DividerBlock {
  return { type: 'divider' };
}

/** The small grey line below a message. Elements after the tenth are left out. */
export function context(...elements: (PlainTextElement | MrkdwnElement)[]): ContextBlock {
  const short = elements.map((element) => ({ ...element, text: cut(element.text, limits.contextText) }));
  return { type: 'context', elements: short.slice(0, limits.contextElements) };
}

/** The blocks of the first `most` items; then how many are left, and `more` about them. */
export function listBlocks<Item>(
  items: readonly Item[],
  most: number,
  blocksOf: (item: Item) => readonly MessageBlock[],
  more = '',
): MessageBlock[] {
  const left = items.length - most;
  const rest = left > 0 ? [context(plainText(`… and ${left} more. ${more}`))] : [];
  return [...items.slice(0, most).flatMap(blocksOf), ...rest];
}

export function actions(...buttons: Button[]): ActionsBlock {
  return { type: 'actions', elements: buttons };
}

/** `actionId` must be unique within its `actions` block. */
export function button(parts: {
  actionId: string;
  text: string;
  value?: string;
  style?: 'primary' | 'danger';
  confirm?: ConfirmationDialog;
}): Button {
  const { actionId, text, ...rest } = parts;
  return { type: 'button', action_id: ownId(actionId), text: plainText(text, limits.buttonText), ...rest };
}

/** The action id of link buttons. Slack reports their press too, and the bot ignores it. */
export const linkActionId = 'link_open';

/** A link button; no button if the address is too long for Slack. `url` must be a checked web address. */
export function openButton(text: string, url: string): Button[] {
  return url.length > limits.url ? [] : [{ ...button({ actionId: linkActionId, text }), url }];
}

/** A menu of at most five choices; a button for a single choice; nothing without choices. */
export function overflow(actionId: string, choices: readonly Choice[]): (Button | Overflow)[] {
  const [only, ...others] = choices;
  if (!only) return [];
  if (others.length === 0) return [button({ actionId, ...only })];
  const options = choices.slice(0, limits.overflowOptions).map(optionOf);
  return [{ type: 'overflow', action_id: ownId(actionId), options }];
}

/** Slack asks before the press counts. `text` says what the press changes. */
export function confirmDialog(parts: {
  title: string;
  text: string;
  confirm: string;
  deny: string;
  style?: 'primary' | 'danger';
}): ConfirmationDialog {
  return {
    title: plainText(parts.title, limits.confirmTitle),
    text: plainText(parts.text, limits.confirmText),
    confirm: plainText(parts.confirm, limits.confirmButton),
    deny: plainText(parts.deny, limits.confirmButton),
    ...withoutUndefined({ style: parts.style }),
  };
}

/** Literal text in one style: never a mention, link or markup. */
export type TextRun = RichTextText;

/** Literal, unstyled text. */
export function words(text: string): TextRun {
  return { type: 'text', text: cut(visible(text), limits.textObject) };
}

export function bold(text: string): TextRun {
  return { ...words(text), style: { bold: true } };
}

export function code(text: string): TextRun {
  return { ...words(text), style: { code: true } };
}

/** One part of a line of rich text. */
export type Run =
  | TextRun
  | RichTextUserMention
  | RichTextUsergroupMention
  | RichTextChannelMention
  | RichTextDate;

/** A line of rich text; inserted values stay literal. */
export function rich(texts: TemplateStringsArray, ...parts: readonly (string | number | Run)[]): Run[] {
  const runs = texts.flatMap((text, index) => [text, parts[index] ?? '']);
  return runs.filter((run) => run !== '').map((run) => (typeof run === 'object' ? run : words(`${run}`)));
}

/** The line for a terminal: people, groups and channels by id, moments in UTC. */
export function plainLine(line: readonly Run[]): string {
  return line.map(plainRun).join('');
}

function plainRun(run: Run): string {
  switch (run.type) {
    case 'text':
      return run.text;
    case 'date':
      return run.fallback ?? '';
    case 'user':
      return run.user_id;
    case 'usergroup':
      return run.usergroup_id;
    case 'channel':
      return run.channel_id;
  }
}

/** A mention of a person, by Slack user id. In channels `withNames` writes the name, unless the message is to notify them. */
export function person(userId: string): RichTextUserMention {
  return { type: 'user', user_id: userId };
}

/** A channel, by id; people who may not see it read that it is private. */
export function channelName(channelId: string): RichTextChannelMention {
  return { type: 'channel', channel_id: channelId };
}

/** Whether a destination id is a person's; otherwise it is a channel's. */
export function isPerson(id: string): boolean {
  return /^[UW]/.test(id);
}

/** A person or a channel; only people who may see it read its name. */
export function personOrChannel(id: string): RichTextUserMention | RichTextChannelMention {
  return isPerson(id) ? person(id) : channelName(id);
}

/** A mention of a user group, by Slack id. Notifies all its members. */
export function userGroup(groupId: string): RichTextUsergroupMention {
  return { type: 'usergroup', usergroup_id: groupId };
}

/** The latest date that Slack takes. */
const latestSeconds = 9_999_999_999;

/** A moment in each reader's local time; `msUtc` is UTC ms. */
export function moment(msUtc: number, format = '{date_short_pretty} {time}'): RichTextDate | TextRun {
  const timestamp = Math.floor(msUtc / 1000);
  if (timestamp > latestSeconds) return words(utcTime(msUtc));
  return { type: 'date', timestamp, format, fallback: utcTime(msUtc) };
}

function filled(text: string): TextRun {
  return words(visible(text).trim() || dash);
}

/** Lines of text runs. The block for outside text, which can't notify, link or format here. */
export function richText(...lines: readonly (readonly Run[])[]): RichTextBlock {
  const elements = lines.flatMap((line, index) => (index === 0 ? line : [words('\n'), ...line]));
  const pieces = elements.filter((piece) => piece.type !== 'text' || piece.text !== '');
  return {
    type: 'rich_text',
    elements: [{ type: 'rich_text_section', elements: pieces.length > 0 ? pieces : [words(dash)] }],
  };
}

/** Quoted outside text, below a line that names its author. */
export function quotation(whose: string, text: string): RichTextBlock {
  return {
    type: 'rich_text',
    elements: [
      { type: 'rich_text_section', elements: [filled(whose)] },
      { type: 'rich_text_quote', elements: [filled(text)] },
    ],
  };
}

const lineBreaks = /[\n\v\f\r\u0085\u2028\u2029]+/g;

/** Lines to copy. A line break within a line becomes a space. */
export function codeLines(lines: readonly string[]): RichTextBlock {
  return {
    type: 'rich_text',
    elements: [
      {
        type: 'rich_text_preformatted',
        elements: (lines.length === 0 ? [dash] : lines).map((line, index) =>
          words(`${index === 0 ? '' : '\n'}${visible(line).replace(lineBreaks, ' ') || ' '}`),
        ),
      },
    ],
  };
}

/** The most that a person takes in at a glance. */
const mostFields = 6;

/**
 * "**Label** value", one line each, at most six. Missing values are left out; without any there is no block. Rich text,
 * because a section's `fields` would format a customer's `*` and `_`.
 */
export function fields(values: Record<string, string | readonly Run[] | undefined>): RichTextBlock[] {
  const lines = Object.entries(values)
    .filter(
      (entry): entry is [string, string | readonly Run[]] => entry[1] !== undefined && entry[1].length > 0,
    )
    .slice(0, mostFields)
    .map(([label, value]): Run[] =>
      typeof value === 'string' ? [bold(label), words(`  ${value}`)] : [bold(label), words('  '), ...value],
    );
  return lines.length === 0 ? [] : [richText(...lines)];
}

/**
 * A message's first line: the state in bold, then the details, which are cleaned outside text. A reference made by the bot
 * is too long for this line, so it gets a line of its own, in code. `text` is the whole line for notifications and screen
 * readers. `channel`: a channel id, shown right after the state.
 */
export function headline(
  state: string,
  details: readonly string[],
  channel?: string,
): { text: string; block: RichTextBlock } {
  const said = details.filter((detail) => detail !== '');
  const references = said.filter(isGeneratedReference);
  const first = [
    bold(oneLine(state)),
    ...(channel === undefined ? [] : [words(' '), channelName(channel)]),
    words(dotted(said.filter((part) => !references.includes(part)))),
  ];
  return {
    text:
      channel === undefined
        ? cleanLine(`${state}${dotted(said)}`)
        : `${cleanLine(state)} <#${channel}> ${cleanLine(dotted(said))}`.trim(),
    block: richText(first, ...references.map((reference) => [code(reference)])),
  };
}

function cleanLine(part: string): string {
  return mrkdwnText(part, limits.sectionText);
}

function dotted(parts: readonly string[]): string {
  return parts.map((part) => ` · ${part}`).join('');
}

/** A text field of a modal. `id` is its block_id and its action_id. */
export function textInput(parts: {
  id: string;
  label: string;
  hint?: string;
  placeholder?: string;
  initial?: string;
  minLength?: number;
  maxLength?: number;
  optional?: boolean;
  focus?: boolean;
  /** Enter in this field reaches the press with the field's id. */
  onEnter?: boolean;
}): InputBlock {
  const { initial, placeholder, onEnter } = parts;
  const longest = Math.min(parts.maxLength ?? limits.inputLength, limits.inputLength);
  const element = withoutUndefined({
    type: 'plain_text_input' as const,
    action_id: parts.id,
    max_length: longest,
    min_length: parts.minLength,
    initial_value: initial === undefined ? undefined : firstOf(visible(initial), longest),
    placeholder: placeholder === undefined ? undefined : plainText(placeholder, limits.placeholder),
    focus_on_load: parts.focus || undefined,
    dispatch_action_config: onEnter ? { trigger_actions_on: ['on_enter_pressed' as const] } : undefined,
  });
  return inputBlock(parts, element);
}

/** At most `max` UTF-16 units, never half a surrogate pair. No ellipsis, because the person submits this text. */
function firstOf(text: string, max: number): string {
  return text.slice(0, max).replace(/[\uD800-\uDBFF]$/, '');
}

export type Choice = { text: string; value: string };

/** A menu of a modal with at most a hundred choices; use an external select for more. */
export function select(parts: {
  id: string;
  label: string;
  hint?: string;
  choices: readonly Choice[];
  initial?: string;
}): InputBlock {
  const options = parts.choices.slice(0, limits.options).map(optionOf);
  const initial_option = options.find((option) => option.value === parts.initial);
  const type = 'static_select' as const;
  return inputBlock(parts, withoutUndefined({ type, action_id: parts.id, options, initial_option }));
}

/** A menu that asks the bot for choices as the person types, and when it opens. */
export function externalSelect(parts: {
  id: string;
  label: string;
  hint?: string;
  placeholder?: string;
  initial?: Choice;
  optional?: boolean;
}): InputBlock {
  const { initial, placeholder } = parts;
  const element = withoutUndefined({
    type: 'external_select' as const,
    action_id: ownId(parts.id),
    min_query_length: 0,
    placeholder: placeholder === undefined ? undefined : plainText(placeholder, limits.placeholder),
    initial_option: initial && optionOf(initial),
  });
  return inputBlock(parts, element);
}

function optionOf({ text, value }: Choice) {
  return { text: plainText(text, limits.optionText), value };
}

function inputBlock(
  parts: { id: string; label: string; hint?: string; optional?: boolean; onEnter?: boolean },
  element: InputBlock['element'],
): InputBlock {
  const { id: block_id, label, hint, optional, onEnter } = parts;
  return withoutUndefined({
    type: 'input' as const,
    block_id,
    label: plainText(label, limits.inputLabel),
    element,
    hint: hint === undefined ? undefined : plainText(hint, limits.inputHint),
    optional: optional || undefined,
    dispatch_action: onEnter || undefined,
  });
}

/** A line that people must not miss, for a modal. */
export function noticeLine(level: 'info' | 'warning', text: string): RichTextBlock {
  return richText([bold(level === 'info' ? 'ℹ️ ' : '⚠️ '), words(cut(visible(text), limits.sectionText))]);
}

/** A modal. `privateMetadata` travels through Slack: no secrets. */
export function modal(parts: {
  callbackId: string;
  title: string;
  blocks: ViewBlock[];
  submit?: string;
  close?: string;
  privateMetadata?: string;
}): Modal {
  const { submit } = parts;
  return withoutUndefined({
    type: 'modal' as const,
    callback_id: ownId(parts.callbackId),
    title: plainText(parts.title, limits.viewTitle),
    blocks: parts.blocks,
    close: plainText(parts.close ?? 'Close', limits.viewButton),
    submit: submit === undefined ? undefined : plainText(submit, limits.viewButton),
    private_metadata: parts.privateMetadata,
  });
}
