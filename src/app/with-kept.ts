import type { CommandEnd } from './command-end.ts';
import { openKept, type Kept } from './kept.ts';
import type { Outside } from './outside.ts';

/** An operator's command on the bot's own store, closed again whatever happens; `failed` says what any throw means. Never throws. */
export async function withKept(
  outside: Outside,
  work: (kept: Kept) => Promise<CommandEnd>,
  failed: (error: unknown) => CommandEnd,
): Promise<CommandEnd> {
  let kept: Kept | undefined;
  try {
    kept = openKept(outside);
    await kept.checked();
    return await work(kept);
  } catch (error) {
    return failed(error);
  } finally {
    await kept?.close();
  }
}
