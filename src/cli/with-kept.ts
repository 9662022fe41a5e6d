import type { CommandEnd } from './command-end.ts';
import { createAuditTrail } from '../audit/audit-trail.ts';
import { openKept, type Kept } from '../store/kept.ts';
import { keptPart } from '../store/scoped-store.ts';
import type { Outside } from '../config/config.ts';

/**
 * An operator's command on the part of the bot's own store that is the account's, closed again whatever happens; `failed`
 * says what any throw means. `verb`: what the audit calls it; absent for what changes nothing. Never throws.
 */
export async function withKept(
  outside: Outside,
  work: (kept: Kept) => Promise<CommandEnd>,
  failed: (error: unknown) => CommandEnd,
  verb?: string,
): Promise<CommandEnd> {
  let kept: Kept | undefined;
  let end: CommandEnd;
  try {
    kept = await openKept(outside);
    await kept.checked();
    end = await work(keptPart(kept, outside.config.merchant).kept);
  } catch (error) {
    end = failed(error);
  }
  if (kept && verb !== undefined) await noteCommand(outside, kept, { verb, end });
  await kept?.close();
  return end;
}

/** Whoever ran it is known to the machine alone. An entry that cannot be written is told in the log. */
async function noteCommand(
  outside: Outside,
  kept: Kept,
  { verb, end }: { verb: string; end: CommandEnd },
): Promise<void> {
  const trail = createAuditTrail(outside, kept);
  const result = end.exitCode === 0 ? 'answered' : 'failed';
  const notes = trail.notes.of(outside.config.merchant?.name);
  notes.note({ what: 'command', who: 'operator', where: 'cli', verb, result });
  await trail.notes.drained();
  await trail.stop();
}
