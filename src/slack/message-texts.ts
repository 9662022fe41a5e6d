import { isJsonObject, type JsonObject } from '../domain/json.ts';
import { plainId } from '../domain/merchant.ts';
import { unescape } from './kit/text.ts';
import { lookUpActionId, lookUpWords } from './words/payment-words.ts';

/** More than a real message has; a hostile message may have more. */
const mostTexts = 300;
const deepest = 12;

/**
 * All readable text of a message: one text for each block and attachment, plus the message's own. The reference behind a
 * look-up button is included, in quotes. Leaves out people, channels, dates and addresses behind links. Never throws.
 */
export function messageTexts(message: unknown): string[] {
  if (!isJsonObject(message)) return [];
  const { blocks, attachments, text } = message;
  const parts: unknown[] = [blocks, attachments].flatMap((list) => (Array.isArray(list) ? list : []));
  const texts = [...parts, text].map((part) => textIn(part).trim()).filter((one) => one !== '');
  return [...new Set(texts)].slice(0, mostTexts);
}

/** Elements without readable text; each becomes a space, so it doesn't join the words beside it. */
const silent = new Set(['user', 'usergroup', 'channel', 'emoji', 'date', 'broadcast', 'team', 'image']);

const textFields = ['pretext', 'title', 'text', 'fields', 'elements', 'rows', 'blocks', 'fallback', 'footer'];

/** Joins the parts of a rich-text line without gaps: a half-bold word is one word. */
function textIn(part: unknown, depth = 0, gap = '\n'): string {
  if (depth > deepest) return '';
  if (typeof part === 'string') return unmarked(part);
  if (Array.isArray(part)) return part.map((one) => textIn(one, depth + 1, gap)).join(gap);
  if (!isJsonObject(part)) return '';
  const { title, value, style } = part;
  const type = String(part['type']);
  if (type === 'button') return referenceBehind(part);
  if (silent.has(type)) return ' ';
  if (typeof title === 'string' && typeof value === 'string') return unmarked(`${title}: ${value}`);
  const within = type.startsWith('rich_text_') ? '' : gap;
  const inside = textFields.map((name) => textIn(part[name], depth + 1, within));
  const text = inside.filter((one) => one !== '').join('\n');
  // Code is literal.
  return isJsonObject(style) && style['code'] === true ? ` \`${text}\` ` : text;
}

function referenceBehind({ action_id: id, value }: JsonObject): string {
  if (typeof id !== 'string' || typeof value !== 'string' || plainId(id) !== lookUpActionId) return ' ';
  const [reference] = lookUpWords(value);
  return reference === undefined ? ' ' : `“${reference}”`;
}

/** Slack's markup as words: no mentions or dates; a link becomes its label. */
function unmarked(text: string): string {
  return unescape(
    text.replace(/<[@#!][^<>]*>/g, ' ').replace(/<(?:mailto|tel|https?):?[^<>|]*(?:\|([^<>]*))?>/g, ' $1 '),
  );
}
