import type { WebClient } from '@slack/web-api';
import { tableLines } from './blocks.ts';
import type { SlackMessage } from './message.ts';

/** Workspaces that have refused a message with a table and taken the same words without one. */
export const withoutTables = new WeakSet<WebClient>();

export function hasTable({ blocks }: SlackMessage): boolean {
  return blocks.some(({ type }) => type === 'table');
}

/** The message with each table as aligned text: Slack rolls tables out in phases. */
export function tablesAsLines(message: SlackMessage): SlackMessage {
  const blocks = message.blocks.map((block) => (block.type === 'table' ? tableLines(block) : block));
  return { ...message, blocks };
}
