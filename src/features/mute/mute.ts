import type { Account } from '../../account.ts';
import { type AlertMute, type NotPosted, postsTo } from '../../domain/alert.ts';
import { type AuditEntry, stored } from '../../records/shapes.ts';
import { undefinedIfAway } from '../../domain/failure.ts';
import { messageKey } from '../../messages/message-record.ts';
import { createMessages, type Messages } from '../../messages/messages.ts';
import type { Renders } from '../../messages/deliver.ts';
import { createCases, type CaseStep } from '../../records/cases.ts';
import { defineCommand, wholeValue, type Pressed } from '../../slack/command.ts';
import { nothingAfter } from '../../slack/command-text.ts';
import { mutedWords } from '../../slack/words/mute-lines.ts';
import type { Entry } from '../../store/store.ts';
import {
  endMuteId,
  mutedModal,
  muteElsewhereMessage,
  muteMessage,
  muteModal,
  muteModalId,
  nothingToMute,
  readMuteModal,
} from './mute-views.ts';
import { dayMs } from '../../domain/span.ts';

const mutePrefix = 'mute:';

type MuteEvent = { kind: 'ended'; by: string } | { kind: 'over' };

/**
 * A mute's two messages in its channel: one is edited as the mute changes; the other (`isOver`) counts the muted
 * events.
 */
type MuteBodies = { mute: { id: string; isOver: boolean } };

/** The store's list of all mutes, by their end. */
const mutesList = 'mutes';
const mostListed = 100;

/**
 * A mute begins or ends this long after the press. By then every replica has read the mute, so all of them mute the
 * same events.
 */
const muteDelayMs = 5_000;
/** How long a replica uses the mutes it has read. Less than `muteDelayMs`. */
const cacheMs = 3_000;
/** A mute's events are counted this long after its end: the last ones may not be stored before. */
const countAfterMs = 4_000;

/** An account's mutes; each is a case (`records/cases.ts`). */
export function openMutes(
  deps: Pick<Account, 'store' | 'sealer' | 'wait' | 'rememberMs' | 'leaseMs' | 'now' | 'wake'> & {
    audit?: Account['audit']['write'];
  },
) {
  const { now } = deps;
  const messages: Messages<MuteBodies> = createMessages(deps);
  let cached: { atMs: number; mutes: Promise<readonly AlertMute[]> } | undefined;
  const cases = createCases<AlertMute, MuteEvent>(
    deps,
    {
      prefix: mutePrefix,
      schema: stored<AlertMute>('channel', 'match', 'fromMs', 'untilMs', 'isOver'),
      lists: ({ untilMs }) => ({ [mutesList]: untilMs }),
      step(mute, event, nowMs) {
        if (event.kind === 'over') return mute.isOver ? undefined : { ...mute, isOver: true };
        const untilMs = nowMs + muteDelayMs;
        return untilMs < mute.untilMs ? { ...mute, untilMs, endedBy: event.by } : undefined;
      },
      dueInMs: ({ isOver, untilMs }, nowMs) =>
        isOver ? undefined : Math.max(0, untilMs + countAfterMs - nowMs),
      auditEntries: (step) => [auditOf(step)],
    },
    {
      due: async ({ isOver, untilMs }, nowMs) =>
        !isOver && nowMs >= untilMs + countAfterMs ? { event: { kind: 'over' } } : undefined,
      async tell({ id, channel, isOver }) {
        await messages.postOrRefresh(messageKey('mute', id), { channel, body: { id, isOver: false } });
        if (isOver) await messages.post(messageKey('mute', `${id}/over`), { channel, body: { id, isOver } });
      },
    },
  );
  /** The hundred mutes with the latest ends, including ended ones. Throws StoreUnavailable. */
  const newest = (): Promise<AlertMute[]> => cases.list(mutesList, { max: mostListed, newestFirst: true });
  return {
    cases,
    newest,
    /**
     * `newest`, cached for `cacheMs`. Empty while the store is away: an alert too many is better than a missing alert.
     */
    all: (): Promise<readonly AlertMute[]> => {
      if (!cached || now() - cached.atMs >= cacheMs || now() < cached.atMs) {
        cached = { atMs: now(), mutes: newest().catch((error: unknown) => undefinedIfAway(error) ?? []) };
      }
      return cached.mutes;
    },
  };
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

export type Mutes = ReturnType<typeof createMutes>;

/**
 * `/pay mute`: keeps alerts out of the channel where it is typed, for up to a day. `notPosted` counts a mute's events;
 * throws StoreUnavailable.
 */
export function createMutes(account: Account, notPosted: (mute: AlertMute) => Promise<NotPosted>) {
  const { rules, shownAccount, settings, audit, wake, now } = account;
  const rememberMs = settings.webhookRememberDays * dayMs;
  const { cases, all, newest } = openMutes({ ...account, rememberMs, audit: audit.write });

  async function formFor(channel: string) {
    const here = rules.routes.rules.filter(({ channels }) => channels.includes(channel));
    const isOn = (mute: AlertMute): boolean =>
      mute.channel === channel && mute.endedBy === undefined && mute.untilMs > now();
    const mutes = (await newest()).filter(isOn);
    return muteModal(channel, { rules: here.map(({ name }) => name), mutes, shownAccount });
  }

  /** Ends a mute; the worker then edits its message and writes the audit. */
  async function end({ caller, value, view, updateModal, reply }: Pressed): Promise<void> {
    const ended = await cases.applyAndWake(value, { kind: 'ended', by: caller.userId });
    if (view) await updateModal(await formFor(view.privateMetadata));
    else if (!ended?.isMoved) await reply(nothingToMute(true));
  }

  const verb = defineCommand<undefined>({
    verb: 'mute',
    usage: '',
    summary: 'Mute alerts',
    examples: ['mute'],
    permission: 'mute',
    elsewhere: { words: ['mutes', 'unmute', 'silence'], answer: muteElsewhereMessage },
    effect: 'none',
    opensForm: true,
    parse: nothingAfter('Nothing follows “mute”: the form asks what, how long and why.'),
    presses: [{ actionId: endMuteId, aboutOther: wholeValue, press: end }],
    modals: [
      {
        callbackId: muteModalId,
        effect: 'access',
        ifNoAnswer: 'If none comes, look at /pay mute before you send it again.',
        async submit({ caller, viewId, privateMetadata: channel, values }) {
          const read = readMuteModal(values);
          if (read.kind === 'errors') return read;
          const fromMs = now() + muteDelayMs;
          const mute: AlertMute = {
            id: viewId,
            channel,
            ...read.wanted,
            by: caller.userId,
            fromMs,
            untilMs: fromMs + read.forMs,
            isOver: false,
          };
          // The view's id is the mute's id, so a repeated submit begins no second mute.
          const begun = await cases.begin(viewId, mute, { untold: true });
          if (begun.kind === 'begun') await cases.settle(viewId, begun.stored);
          wake();
          return {
            kind: 'update',
            modal: mutedModal(begun.kind === 'begun' ? mute : begun.state, shownAccount),
          };
        },
      },
    ],
    async run(_, { caller: { channelId = '' }, openModal }) {
      if (!postsTo(rules.routes, channelId)) return nothingToMute(false);
      await openModal(await formFor(channelId));
      return undefined;
    },
  });
  const renders: Renders<MuteBodies> = {
    async mute({ id, isOver }, _work, about) {
      const mute = await cases.find(id);
      if (!mute) return { kind: 'nothing' };
      const counts = isOver && { notPosted: await notPosted(mute) };
      return { kind: 'shown', message: muteMessage({ mute, ...counts, ...about }, shownAccount) };
    },
  };
  return {
    verbs: [verb],
    cases: [{ prefix: mutePrefix, work: (entry: Entry) => cases.work(entry) }],
    messages: renders,
    all,
  };
}
