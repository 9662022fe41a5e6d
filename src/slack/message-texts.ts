import { isJsonObject } from '../domain/json-pointer.ts';
import { plainId } from '../domain/merchant.ts';
import { lookUpActionId, lookUpWords } from './words/evidence.ts';

/** What nobody's message holds; a hostile one may. */
const mostTexts = 300;
const deepest = 12;

/**
 * Everything that can be read in a message that Slack sent along, a text for each block and field: its own words,
 * blocks, attachments. What a button of ours looks up stands there in quotes. People, channels, dates and addresses
 * behind links are left out. Never throws, whatever the payload holds.
 */
export function messageTexts(message: unknown): string[] {
  if (!isJsonObject(message)) return [];
  const texts = [
    ...blocksOf(message),
    ...listOf(message['attachments']).flatMap(attachmentTexts),
    ...(typeof message['text'] === 'string' ? [unmarked(message['text'])] : []),
  ];
  return [...new Set(texts.map((text) => text.trim()).filter((text) => text !== ''))].slice(0, mostTexts);
}

function attachmentTexts(attachment: unknown): string[] {
  if (!isJsonObject(attachment)) return [];
  const own = ['pretext', 'title', 'text', 'fallback', 'footer'].map((name) => attachment[name]);
  const fields = listOf(attachment['fields']).flatMap((field) =>
    isJsonObject(field) ? [`${asText(field['title'])}: ${asText(field['value'])}`] : [],
  );
  return [...blocksOf(attachment), ...own.map(asText), ...fields].map(unmarked);
}

function blocksOf(part: Readonly<Record<string, unknown>>): string[] {
  return listOf(part['blocks']).flatMap((block) => {
    const words = textIn(block, 0);
    return isJsonObject(block) && block['type'] === 'actions' ? lookedUpBy(block) : [words];
  });
}

/** A line of rich text is joined without gaps: a word half in bold is still one word. */
function textIn(part: unknown, depth: number, gap = '\n'): string {
  if (depth > deepest) return '';
  if (Array.isArray(part)) return part.map((one) => textIn(one, depth + 1, gap)).join(gap);
  if (!isJsonObject(part)) return '';
  const { type, text } = part;
  // A person, a channel, an emoji, a moment: none is part of a word beside it.
  if (typeof type === 'string' && silent.has(type)) return ' ';
  if (typeof text === 'string') return type === 'mrkdwn' ? unmarked(text) : quotedCode(part, text);
  const inner = typeof type === 'string' && type.startsWith('rich_text_') ? '' : gap;
  return ['text', 'fields', 'elements', 'title', 'rows']
    .map((name) => textIn(part[name], depth + 1, inner))
    .filter((inside) => inside !== '')
    .join('\n');
}

const silent = new Set([
  'user',
  'usergroup',
  'channel',
  'emoji',
  'date',
  'broadcast',
  'team',
  'image',
  'button',
]);

/** Set in code, it is meant to the letter. */
function quotedCode({ style }: Readonly<Record<string, unknown>>, text: string): string {
  return isJsonObject(style) && style['code'] === true ? ` \`${text}\` ` : text;
}

function lookedUpBy(block: Readonly<Record<string, unknown>>): string[] {
  return listOf(block['elements']).flatMap((element) => {
    if (!isJsonObject(element) || plainId(asText(element['action_id'])) !== lookUpActionId) return [];
    const [reference] = lookUpWords(asText(element['value']));
    return reference === undefined ? [] : [`“${reference}”`];
  });
}

/** Slack's markup as words: mentions and dates go, a link leaves its label. */
function unmarked(text: string): string {
  return text
    .replace(/<[@#!][^<>]*>/g, ' ')
    .replace(/<(?:mailto|tel|https?):?[^<>|]*(?:\|([^<>]*))?>/g, ' $1 ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
