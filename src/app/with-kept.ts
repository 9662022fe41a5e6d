import type { CommandEnd } from './command-end.ts';
import { openKept, type Kept } from './kept.ts';
import { keptFor } from './merchants.ts';
import type { Outside } from './outside.ts';

/** An operator's command on the part of the bot's own store that is the account's, closed again whatever happens; `failed` says what any throw means. Never throws. */
export async function withKept(
  outside: Outside,
  work: (kept: Kept) => Promise<CommandEnd>,
  failed: (error: unknown) => CommandEnd,
): Promise<CommandEnd> {
  let kept: Kept | undefined;
  try {
    kept = openKept(outside);
    await kept.checked();
    return await work(keptFor(outside, kept));
  } catch (error) {
    return failed(error);
  } finally {
    await kept?.close();
  }
}
