import { z } from 'zod';
import { parseJson } from '../../domain/json.ts';
import { findBlockProblems } from './assert-blocks.ts';
import type { PageBlock } from '../protocol.ts';
import { nameBlocks } from './elements.ts';
import type { Ids } from './ids.ts';
import type { MessageContent, MessageMetadata } from './messages.ts';

/** The content of one call; fields that the call leaves out are absent. */
type ReadContent =
  | { kind: 'content'; content: Partial<MessageContent>; blank: boolean }
  | { kind: 'refused'; error: string; messages: string[] };

type Refusal = Extract<ReadContent, { kind: 'refused' }>;

const maxTextLength = 4_000;
const maxMetadataBytes = 8_000;

const metadataShape = z.object({
  event_type: z.string().min(1),
  event_payload: z.record(z.string(), z.unknown()),
});

/**
 * Reads text, blocks and metadata of a post, an update or an answer, with Slack's checks. Refuses attachments, which the
 * bot never uses. `blank`: nothing to show.
 */
export function readContent(given: Record<string, unknown>, ids: Ids): ReadContent {
  if (given['attachments'] !== undefined) return refuse('invalid_attachments');
  const content: Partial<MessageContent> = {};
  const refusal =
    readText(given['text'], content) ??
    readBlocks(given['blocks'], content, ids) ??
    readMetadata(given['metadata'], content);
  if (refusal !== undefined) return refusal;
  const blank = (content.text ?? '').trim() === '' && (content.blocks ?? []).length === 0;
  return { kind: 'content', content, blank };
}

function readText(raw: unknown, content: Partial<MessageContent>): Refusal | undefined {
  if (raw === undefined || raw === null) return undefined;
  const text = typeof raw === 'string' ? raw : JSON.stringify(raw);
  if (text.length > maxTextLength) return refuse('msg_too_long');
  content.text = text;
  return undefined;
}

function readBlocks(raw: unknown, content: Partial<MessageContent>, ids: Ids): Refusal | undefined {
  if (raw === undefined || raw === null || raw === '') return undefined;
  const blocks = parsedJson(raw);
  if (!Array.isArray(blocks)) return refuse('invalid_blocks_format');
  const problems = findBlockProblems('message', blocks);
  if (problems.length > 0) return refuse('invalid_blocks', problems);
  content.blocks = nameBlocks(blocks as PageBlock[], ids);
  return undefined;
}

function readMetadata(raw: unknown, content: Partial<MessageContent>): Refusal | undefined {
  if (raw === undefined || raw === null || raw === '') return undefined;
  const read = metadataShape.safeParse(parsedJson(raw));
  if (!read.success) return refuse('invalid_metadata_format');
  const metadata: MessageMetadata = read.data;
  if (JSON.stringify(metadata).length > maxMetadataBytes) return refuse('metadata_too_large');
  content.metadata = metadata;
  return undefined;
}

function refuse(error: string, messages: string[] = []): Refusal {
  return { kind: 'refused', error, messages: messages.map((message) => `[ERROR] ${message}`) };
}

/** Form bodies carry structures as JSON text. Text that is not JSON stays as it is, and fails the shape check later. */
export function parsedJson(raw: unknown): unknown {
  if (typeof raw !== 'string') return raw;
  const json = parseJson(raw);
  return json === undefined ? raw : json;
}
