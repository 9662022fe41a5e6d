import type { AuditNote, NoteAudit } from '../domain/audit-entry.ts';
import type { Log } from '../log.ts';
import { auditOf, type Caller, type Command } from './command.ts';

export type RecordDeps = {
  log: Log;
  now: () => number;
  /** Writes it into the audit, in the background; absent: the log alone has it. */
  note?: NoteAudit;
};

/** One thing that a person asked of the bot, and what became of it. Nothing in it is what they typed. */
export type Answered = {
  what: 'command' | 'press' | 'form';
  caller: Caller;
  /** Undefined: it was no verb of the bot. */
  command?: Pick<Command, 'verb' | 'merchant'> | undefined;
  /** The button or the form, by its own id. */
  part?: string | undefined;
  reference?: string | undefined;
  /** The id of what it is about that is no payment. */
  other?: string | undefined;
  result: string;
  /** The rule that refused it, or the error's id. */
  reason?: string | undefined;
  /** When it was asked. */
  startedAtMs?: number;
  /** The log's sentence, where it is not the usual one. */
  message?: string;
};

/** The one place where what was asked is told to the log and to the audit. Never throws, and nobody waits for it. */
export function recordAsked({ log, now, note }: RecordDeps, asked: Answered): void {
  const { caller, command, reference, result, startedAtMs } = asked;
  const whose: { verb?: string; account?: string } = command ? auditOf(command) : {};
  log('info', asked.message ?? 'Asked and answered', {
    ...whose,
    userId: caller.userId,
    channel: caller.channelId,
    orderReference: reference,
    result,
    durationMs: startedAtMs && now() - startedAtMs,
  });
  note?.({ ...whose, ...noteOf(asked, whose.verb) });
}

/** Of what was refused before anything of it was read. */
export function noteRefused(
  { note }: Pick<RecordDeps, 'note'>,
  { what, caller, reason }: Pick<Answered, 'what' | 'caller'> & { reason: string },
): void {
  note?.({ what, ...actorOf(caller), result: 'refused', reason });
}

/** Why nobody of another workspace is answered. */
export const ofAnotherWorkspace = 'of another workspace';

function noteOf(
  { what, caller, part, other, reference = other, result, reason }: Answered,
  verb: string | undefined,
): AuditNote {
  const named = [...new Set([verb, part])].filter((word) => word !== undefined).join(' ');
  return {
    ...actorOf(caller),
    what,
    result,
    ...(named === '' ? {} : { verb: named }),
    ...(reference === undefined ? {} : { reference }),
    ...(reason === undefined ? {} : { reason }),
  };
}

/** Who it was and where: a channel, or where there is none *home*, *modal*, *shortcut*. */
function actorOf({ userId, channelId, from }: Caller): Pick<AuditNote, 'who' | 'where'> {
  const where = channelId ?? from;
  return where === undefined ? { who: userId } : { who: userId, where };
}
