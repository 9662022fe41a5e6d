import { z } from 'zod';
import type { Approval, ApprovalNote } from '../../domain/approval.ts';
import { withoutUndefined } from '../../domain/without-undefined.ts';
import type { TellApproval } from './approval-desk.ts';
import { createChangeRecord, type RecordStore } from '../work/change-record.ts';
import { outboxKey } from '../outbox/outbox.ts';
import type { Sealer } from '../../domain/sealer.ts';
import type { ApprovalAddress } from '../outbox/outbox-bodies.ts';
import { markStale } from '../outbox/outbox-work.ts';
import { approvalCardKey } from './prepare-approval.ts';
import { storeMessage } from '../outbox/store-message.ts';

/** A window that waits for the decision, and whose it is. */
export type ApprovalView = { id: string; userId: string };

export type ApprovalTelling = TellApproval & {
  /** How many people were asked; 0 while that could not be found out. */
  askedOf(id: string): Promise<number>;
  /** From now on this window is shown what becomes of the request, until something else takes its place. */
  watch(approval: Approval, view: ApprovalView): Promise<void>;
};

export type TellApprovalDeps = {
  store: RecordStore;
  sealer: Sealer;
  /** The approvals channel. */
  channel: string | undefined;
  /** Who may decide, by user id, as far as Slack tells. Never throws. */
  approvers: () => Promise<readonly string[]>;
  find: (id: string) => Promise<Approval | undefined>;
  /** Puts a request as it is into the windows that wait for it. Never throws. */
  show: (approval: Approval, asked: number, views: readonly ApprovalView[]) => Promise<void>;
  /** As long as a request may still be told of: after that its card would be posted a second time. */
  rememberMs: number;
  now: () => number;
  /** Called after work was stored, so that a worker need not wait for its next round. */
  wake: () => void;
};

/** A company with more approvers than this has the channel. */
const mostApprovers = 50;
const mostViews = 5;

/**
 * Where and to whom a request was told: fixed when it is first told, so that every copy is edited to the end, whoever is
 * given or loses the permission meanwhile, and whatever channel the policy file names by then. That they may decide is asked anew at each press.
 */
const copiesRecord = z.object({
  channel: z.string().exactOptional(),
  approvers: z.array(z.string()).exactOptional(),
  views: z.array(z.object({ id: z.string(), userId: z.string() })),
});
type Copies = z.infer<typeof copiesRecord>;

type Place = { channel: string; to: ApprovalAddress };

/** See `TellApproval`. Each card is stored once for each place, and each note once. Throws StoreUnavailable. */
export function createTellApproval(deps: TellApprovalDeps): ApprovalTelling {
  const changeRecord = createChangeRecord(deps.store);

  async function change(id: string, make: (copies: Copies) => Copies): Promise<Copies> {
    return await changeRecord(copiesKey(id), (text) => {
      const before = readCopies(text);
      const after = make(before);
      if (text !== undefined && JSON.stringify(after) === JSON.stringify(before)) {
        return { kind: 'keep', result: before };
      }
      return { kind: 'write', value: JSON.stringify(after), ttlMs: deps.rememberMs, result: after };
    });
  }
  async function copiesOf(id: string): Promise<Copies> {
    return readCopies((await deps.store.read(copiesKey(id)))?.value);
  }
  /** Approvers are asked for again at each step until there is somebody: Slack may have been away. */
  async function ensureCopies({ id, by, state }: Approval): Promise<Copies> {
    const known = await copiesOf(id);
    if (state.kind !== 'waiting' || (known.approvers && known.channel !== undefined)) return known;
    const found = known.approvers ?? (await deps.approvers());
    const others = [...new Set(found)].filter((userId) => userId !== by).slice(0, mostApprovers);
    const approvers = others.length === 0 ? undefined : others;
    return await change(id, (copies) => ({
      ...copies,
      ...withoutUndefined({
        channel: copies.channel ?? deps.channel,
        approvers: copies.approvers ?? approvers,
      }),
    }));
  }

  return {
    askedOf: async (id) => (await copiesOf(id)).approvers?.length ?? 0,

    async watch(approval, { id, userId }) {
      const { approvers = [] } = await change(approval.id, (copies) => ({
        ...copies,
        views: [...copies.views.filter((other) => other.id !== id), { id, userId }].slice(-mostViews),
      }));
      // What was decided before it watched was shown without it.
      const now = await deps.find(approval.id);
      if (!now || !isShownHere(now) || isAsIt(now, approval)) return;
      await deps.show(now, approvers.length, [{ id, userId }]);
    },

    async refresh(approval) {
      const copies = await ensureCopies(approval);
      const { approvers = [], views } = copies;
      const places = placesOf(approval, deps.channel, copies);
      const news = await Promise.all(places.map((place) => storeCard(deps, approval, place)));
      if (news.includes(true)) deps.wake();
      if (views.length === 0) return;
      // As it is by now: another replica may have decided, and once it is being done, what does it shows it.
      const now = await deps.find(approval.id);
      if (now && isShownHere(now)) await deps.show(now, approvers.length, views);
    },

    async note(approval, what) {
      const copies = await copiesOf(approval.id);
      const places = placesOf(approval, deps.channel, copies).filter((place) => hears(place, what, approval));
      const news = await Promise.all(places.map((place) => storeNote(deps, approval, what, place)));
      if (news.includes(true)) deps.wake();
    },
  };
}

function placesOf({ by }: Approval, usual: string | undefined, copies: Copies): Place[] {
  const { channel = usual, approvers = [] } = copies;
  return [
    ...(channel === undefined ? [] : [{ channel, to: 'channel' as const }]),
    ...approvers.map((userId) => ({ channel: userId, to: 'approver' as const })),
    { channel: by, to: 'requester' },
  ];
}

/** A charge that was begun has messages and a window of its own, and what an approval did has the service's answer. */
function isShownHere({ state, shown }: Approval): boolean {
  return !(shown.kind === 'charge' && (state.kind === 'approved' || state.kind === 'executed'));
}

function isAsIt(one: Approval, other: Approval): boolean {
  return one.state.kind === other.state.kind && one.approvals.length === other.approvals.length;
}

/**
 * Whoever asked is told what they cannot see by themselves, and never what they have just done; the thread in the channel
 * has every step. An approver hears again only that time runs out.
 */
function hears({ to, channel }: Place, what: ApprovalNote, { shown, approvals }: Approval): boolean {
  switch (to) {
    case 'channel':
      return what !== 'asked' && what !== 'waiting';
    case 'approver':
      return what === 'expires_soon' && !approvals.some(({ by }) => by === channel);
    case 'requester':
      if (what === 'executed') return shown.kind !== 'charge';
      return what !== 'asked' && what !== 'waiting' && what !== 'approved_one' && what !== 'withdrawn';
  }
}

async function storeCard(deps: TellApprovalDeps, { id }: Approval, { channel, to }: Place): Promise<boolean> {
  const key = approvalCardKey(id, channel);
  const body = { id, to };
  const { rememberMs } = deps;
  const message = { kind: 'approval', channel, body, progress: { kind: 'waiting' }, rememberMs } as const;
  return (await storeMessage(deps, key, message)) || (await markStale(deps.store, key));
}

async function storeNote(
  deps: TellApprovalDeps,
  { id, approvals }: Approval,
  what: ApprovalNote,
  { channel, to }: Place,
): Promise<boolean> {
  // Of three who must approve, two are told of as one each.
  const step = what === 'approved_one' ? `${what}-${approvals.length}` : what;
  const key = outboxKey('approval_note', `${step}:${channel}:${id}`);
  const body = { id, to, what };
  const { rememberMs } = deps;
  const message = {
    kind: 'approval_note',
    channel,
    body,
    progress: { kind: 'waiting' },
    rememberMs,
  } as const;
  return await storeMessage(deps, key, message);
}

function copiesKey(id: string): string {
  return `approval-copies:${id}`;
}

function readCopies(text: string | undefined): Copies {
  return text === undefined ? { views: [] } : copiesRecord.parse(JSON.parse(text));
}
