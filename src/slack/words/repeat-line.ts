import type { ContextBlock } from '@slack/types';
import { context, plainText } from '../kit/blocks.ts';

/** What a message says of itself, so that it can be posted, found again, and known for a possible repeat. */
export type AboutMessage = { key: string; mayBeRepeat: boolean };

/** What is said when a message may have been sent before. */
export function repeatLine(mayBeRepeat: boolean): ContextBlock[] {
  if (!mayBeRepeat) return [];
  return [context(plainText('May be a repeat: Slack didn’t confirm an earlier post.'))];
}
