import { sha256 } from './audit-line.ts';
import type { Sealer } from '../../domain/sealer.ts';

/** What stands in a record that anybody may read and nobody may change; `problem`: why it is not believed. */
export type SignedText = { text: string; problem?: string };

/**
 * The text in the clear behind a line that only who holds a sealing key can write, and for this record alone: a copy
 * under another key of the store is none. Which key it was is in the line, so the keys may be rotated.
 */
export function signText(sealer: Sealer, key: string, text: string): string {
  return `${sealer.seal(key, sha256(text))}\n${text}`;
}

export function readSignedText(sealer: Sealer, key: string, value: string): SignedText {
  const end = value.indexOf('\n');
  const text = value.slice(end + 1);
  try {
    return sealer.open(key, value.slice(0, Math.max(end, 0))) === sha256(text)
      ? { text }
      : { text, problem: 'It was changed after it was signed.' };
  } catch (error) {
    return { text, problem: error instanceof Error ? error.message : 'Its signature cannot be read.' };
  }
}
