// Finds outside words that Slack would interpret, by Slack's own rules of markup, in the finished payload, independently
// of the code that made it.

import { mark } from './hostile-texts.ts';

/** Names that the bot may use itself; any other came from outside. */
export type Own = {
  users: readonly string[];
  groups: readonly string[];
  channels: readonly string[];
  /** The payment link's own address, checked by the bot: the only one that a button may open. */
  paymentLink?: string | undefined;
};

type Json = { readonly [field: string]: unknown };

type Finder = { own: Own; found: string[] };

/** Fields for machines, which people don't see. */
const unshown = new Set(['value', 'action_id', 'block_id', 'private_metadata', 'callback_id', 'key', 'type']);
/** A person's earlier input, in its own field. */
const typed = 'initial_value';

/** Every place where outside words could be a mention, a link, a style or a line of their own; empty if none. */
export function findLiveText(payload: unknown, own: Own): string[] {
  const finder: Finder = { own, found: [] };
  if (isObject(payload) && typeof payload['text'] === 'string') judgeFallback(payload['text'], finder);
  const blocks = isObject(payload) ? { ...payload, text: undefined } : payload;
  walk(blocks, '', finder);
  return finder.found;
}

/** Slack reads a message's `text` as mrkdwn, and shows it in notifications. */
function judgeFallback(text: string, { found }: Finder): void {
  if (/[<>]/.test(text)) found.push(`/text: an unescaped bracket in ${shown(text)}`);
  if (/&(?!amp;|lt;|gt;)/.test(text)) found.push(`/text: an unescaped ampersand in ${shown(text)}`);
  judgeSight(text, '/text', found);
  judgeLines(text, '/text', found);
}

function walk(value: unknown, path: string, finder: Finder): void {
  if (typeof value === 'string') judgeString(value, path, finder.found);
  else if (Array.isArray(value)) value.forEach((one, index) => walk(one, `${path}/${index}`, finder));
  else if (isObject(value)) {
    judgeObject(value, path, finder);
    for (const [name, part] of Object.entries(value)) walk(part, `${path}/${name}`, finder);
  }
}

function judgeString(text: string, path: string, found: string[]): void {
  const field = path.slice(path.lastIndexOf('/') + 1);
  if (!text.isWellFormed()) found.push(`${path}: half a character in ${shown(text)}`);
  if (unshown.has(field)) return;
  if (field === 'image_url') found.push(`${path}: an address to follow, ${shown(text)}`);
  judgeSight(text, path, found);
  if (field !== typed) judgeLines(text, path, found);
}

function judgeObject(node: Json, path: string, { own, found }: Finder): void {
  const { url } = node;
  if (url !== undefined && (node['type'] !== 'button' || url !== own.paymentLink))
    found.push(`${path}: an address to follow, ${shown(JSON.stringify(url))}`);
  switch (node['type']) {
    case 'mrkdwn':
      judgeMarkup(node, path, found);
      break;
    case 'plain_text':
      if (node['emoji'] !== false) found.push(`${path}: plain text whose :codes: become pictures`);
      break;
    case 'user':
      mustBeOwn(node['user_id'], own.users, path, found);
      break;
    case 'usergroup':
      mustBeOwn(node['usergroup_id'], own.groups, path, found);
      break;
    case 'channel':
      mustBeOwn(node['channel_id'], own.channels, path, found);
      break;
    default:
      if (neverOurs.has(node['type']))
        found.push(`${path}: a ${String(node['type'])}, which the bot never makes`);
  }
}

const neverOurs = new Set<unknown>(['broadcast', 'link', 'emoji', 'image', 'markdown', 'video']);

function mustBeOwn(id: unknown, own: readonly string[], path: string, found: string[]): void {
  if (!own.includes(String(id))) found.push(`${path}: names ${shown(String(id))}`);
}

/** The bot's own tokens, exactly: a time, a channel, and the message's own link. */
const ownTokens = [
  /<!date\^1[789]\d{8}\^\{date_short_pretty\} \{time\}\|20\d\d-\d\d-\d\d \d\d:\d\d UTC>/g,
  /<https:\/\/slack\.com\/archives\/C0OWN00001\/p\d{16}\|(?:an earlier message|the alert and its thread|the digest|Its message)>/g,
  /<#C0OWN00001>/g,
];

function judgeMarkup(node: Json, path: string, found: string[]): void {
  if (node['verbatim'] !== true) found.push(`${path}: bare addresses and names become links`);
  const text = String(node['text']);
  const rest = ownTokens.reduce((left, token) => left.replaceAll(token, ''), text);
  if (/[<>]/.test(rest)) found.push(`${path}: an unescaped bracket in ${shown(rest)}`);
  if (/&(?!amp;|lt;|gt;)/.test(rest)) found.push(`${path}: an unescaped ampersand in ${shown(rest)}`);
  if (rest.includes(mark) && /[*_~`]|:\w+:/.test(rest))
    found.push(`${path}: outside words in style, ${shown(rest)}`);
}

/** Characters that hide, reverse or split letters; listed by hand, from Unicode's names. */
const unseen: readonly (readonly [first: number, last: number])[] = [
  [0x00, 0x08],
  [0x0e, 0x1f],
  [0x7f, 0x84],
  [0x86, 0x9f],
  [0xad, 0xad],
  [0x61c, 0x61c],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x200b, 0x200f],
  [0x202a, 0x202e],
  [0x2060, 0x206f],
  [0x3164, 0x3164],
  // Except the one that selects coloured emoji.
  [0xfe00, 0xfe0e],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xe0000, 0xe0fff],
];

function isUnseen(character: string): boolean {
  const code = character.codePointAt(0) ?? 0;
  return unseen.some(([first, last]) => code >= first && code <= last);
}

function judgeSight(text: string, path: string, found: string[]): void {
  if (/[^\n -~]/.test(text) && Array.from(text).some(isUnseen))
    found.push(`${path}: a character nobody sees in ${shown(text)}`);
}

/** A line break next to outside words makes them look like a line of ours. Code begins each of its lines with one. */
function judgeLines(text: string, path: string, found: string[]): void {
  if (text.includes(mark) && /[\n\r\v\f\u0085\u2028\u2029]/.test(text.replace(/^\n/, ''))) {
    found.push(`${path}: outside words with a line of their own in ${shown(text)}`);
  }
}

function shown(text: string): string {
  return JSON.stringify(text.length > 160 ? `${text.slice(0, 160)}…` : text);
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
