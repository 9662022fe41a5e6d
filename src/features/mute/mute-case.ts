import type { Account } from '../../account.ts';
import { z } from 'zod';
import type { AlertMute } from '../../domain/alert-route.ts';
import type { AuditEntry } from '../../domain/audit-entry.ts';
import { StoreUnavailable } from '../../domain/failure.ts';
import { createCases, type CaseStep } from '../../records/cases.ts';
import { messageKey } from '../../messages/message-record.ts';
import { createMessages, type Messages } from '../../messages/messages.ts';
import { mutedWords } from '../../slack/words/mute-lines.ts';

export const mutePrefix = 'mute:';

type MuteEvent = { kind: 'ended'; by: string } | { kind: 'over' };

/** The channel’s message with the mute as it is; or, once it is over, the one that says what it kept back. */
export type MuteBodies = { mute: { id: string; isOver: boolean } };

const muteCase: z.ZodType<AlertMute> = z.object({
  id: z.string(),
  channel: z.string(),
  rule: z.string().exactOptional(),
  match: z.object({
    reasonPart: z.string().exactOptional(),
    customer: z.object({ kind: z.enum(['exact', 'prefix']), text: z.string() }).exactOptional(),
  }),
  why: z.string(),
  by: z.string(),
  fromMs: z.number(),
  untilMs: z.number(),
  endedBy: z.string().exactOptional(),
  isOver: z.boolean(),
});

/** All mutes, by their ends. */
const mutesList = 'mutes';
const mostListed = 100;

/**
 * A mute begins and ends so long after the press: by then every replica has read it, and all of them keep back the same
 * events.
 */
export const muteDelayMs = 5_000;
const readAgainMs = 3_000;
/** What came just before its end may be on its way to the store for so long, and is told of with the rest. */
const overAfterMs = 4_000;

export function openMutes(
  deps: Pick<Account, 'store' | 'sealer' | 'wait' | 'rememberMs' | 'leaseMs' | 'now' | 'wake'> & {
    audit?: Account['audit']['write'];
  },
) {
  const { now } = deps;
  const messages: Messages<MuteBodies> = createMessages(deps);
  let known: { atMs: number; mutes: Promise<readonly AlertMute[]> } | undefined;
  const cases = createCases<AlertMute, MuteEvent>(
    deps,
    {
      prefix: mutePrefix,
      schema: muteCase,
      lists: ({ untilMs }) => ({ [mutesList]: untilMs }),
      step(mute, event, nowMs) {
        if (event.kind === 'over') return mute.isOver ? undefined : { ...mute, isOver: true };
        const untilMs = nowMs + muteDelayMs;
        return untilMs < mute.untilMs ? { ...mute, untilMs, endedBy: event.by } : undefined;
      },
      restMs: ({ isOver, untilMs }, nowMs) =>
        isOver ? undefined : Math.max(0, untilMs + overAfterMs - nowMs),
      history: (step) => [auditOf(step)],
    },
    {
      due: async ({ isOver, untilMs }, nowMs) =>
        !isOver && nowMs >= untilMs + overAfterMs ? { event: { kind: 'over' } } : undefined,
      async tell({ id, channel, isOver }) {
        const message = { kind: 'mute', channel } as const;
        await messages.keep(messageKey('mute', id), { ...message, body: { id, isOver: false } });
        if (isOver)
          await messages.post(messageKey('mute', `${id}/over`), { ...message, body: { id, isOver } });
      },
    },
  );
  /** The hundred that end last, over or not. Throws StoreUnavailable. */
  const newest = (): Promise<AlertMute[]> => cases.list(mutesList, { max: mostListed, newestFirst: true });
  return {
    cases,
    newest,
    /** The same as of a moment ago. None while the store is away: then alerts are told. */
    all: (): Promise<readonly AlertMute[]> => {
      if (!known || now() - known.atMs >= readAgainMs || now() < known.atMs) {
        known = { atMs: now(), mutes: newest().catch(noneIfAway) };
      }
      return known.mutes;
    },
  };
}

function noneIfAway(error: unknown): [] {
  if (error instanceof StoreUnavailable) return [];
  throw error;
}

function auditOf({ event, before, after, turn, atMs }: CaseStep<AlertMute, MuteEvent>): AuditEntry {
  const { id, by, channel, why, endedBy, untilMs } = after;
  return {
    id: `${mutePrefix}${id}/${turn}`,
    atMs,
    who: event?.kind === 'ended' ? (endedBy ?? by) : event ? 'payops' : by,
    where: channel,
    what: 'step',
    verb: 'mute',
    reference: id,
    ...(before ? { before: `muted until ${new Date(before.untilMs).toISOString()}` } : {}),
    after: event?.kind === 'over' ? 'over' : `muted until ${new Date(untilMs).toISOString()}`,
    reason: event ? mutedWords(after) : `${mutedWords(after)}: ${why}`,
  };
}
