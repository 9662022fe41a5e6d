import type { ChargeSeen } from '../../domain/charge-seen.ts';
import type { ChargeState, Told } from '../../domain/charge-state.ts';
import { historyKey, outboxKey } from '../../messages/outbox.ts';
import { openBody } from '../../messages/outbox-bodies.ts';
import type { Work } from '../../messages/outbox-work.ts';
import { isRepeat, placeBelow, postOrEdit, settle, waitForParent } from '../../messages/post-or-edit.ts';
import type { PrepareDeps, Prepared } from '../../messages/prepare-post.ts';

export type ChargePostDeps = PrepareDeps & {
  findCharge: (reference: string) => Promise<ChargeSeen | undefined>;
  /** Where charges are told; undefined: where they were to be told when they began. */
  deskChannel: string | undefined;
};

/** A charge’s message in the desk’s channel. */
export async function prepareCharge(
  deps: ChargePostDeps,
  work: Work,
  mayBeRepeat: boolean,
): Promise<Prepared> {
  const { entry, record } = work;
  const { reference } = openBody('charge', deps.sealer, work);
  const key = historyKey(entry.key, record);
  const charge = await requireCharge(deps, reference);
  const message = deps.compose({ kind: 'charge', charge, key, mayBeRepeat: isRepeat(work, mayBeRepeat) });
  return await postOrEdit(deps, work, deps.deskChannel ?? record.channel, message);
}

/** A step of it, in the thread below. */
export async function prepareChargeNote(
  deps: ChargePostDeps,
  work: Work,
  mayBeRepeat: boolean,
): Promise<Prepared> {
  const { entry, record } = work;
  const { reference, note } = openBody('charge_note', deps.sealer, work);
  const channel = deps.deskChannel ?? record.channel;
  const place = await placeBelow(deps, work, { parent: outboxKey('charge', reference), channel });
  if (!place) {
    // The note alone waits: what it waits for may stand behind it in the same channel.
    return await waitForParent(deps, work);
  }
  const charge = await requireCharge(deps, reference);
  const message = deps.compose({ kind: 'charge_note', note, charge, key: entry.key, mayBeRepeat });
  return { kind: 'post', ...place, message };
}

/** What its agent is told where the modal may be closed; not posted any more once another message tells it better. */
export async function prepareChargeDirect(
  deps: ChargePostDeps,
  work: Work,
  mayBeRepeat: boolean,
): Promise<Prepared> {
  const { entry, record } = work;
  const { reference, what } = openBody('charge_direct', deps.sealer, work);
  const charge = await requireCharge(deps, reference);
  if (!record.posted && isUndecided(what, charge.state)) {
    return await waitForParent(deps, work);
  }
  if (!record.posted && isOver(what, charge.state)) {
    deps.log('info', 'not told: it no longer holds', { key: entry.key, result: charge.state.kind });
    return await settle(deps, work);
  }
  const repeat = isRepeat(work, mayBeRepeat);
  const key = historyKey(entry.key, record);
  const message = deps.compose({ kind: 'charge_direct', what, charge, key, mayBeRepeat: repeat });
  return await postOrEdit(deps, work, record.channel, message);
}

/**
 * A verdict that the charge no longer has, or a request for a code once there is a verdict: another message
 * tells that one.
 */
function isOver(what: Told, state: ChargeState): boolean {
  return what === 'otp' ? 'concludedAt' in state : state.kind !== what;
}

/** A verdict that is being looked up once more: it may stand again, and would not be told a second time. */
function isUndecided(what: Told, state: ChargeState): boolean {
  return what !== 'otp' && !('concludedAt' in state);
}

async function requireCharge(deps: ChargePostDeps, reference: string): Promise<ChargeSeen> {
  const charge = await deps.findCharge(reference);
  if (!charge) throw new Error('There is something to say of a charge that is not in the store.');
  return charge;
}
