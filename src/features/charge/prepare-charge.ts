import type { ChargeSeen } from '../../domain/charge-seen.ts';
import type { ChargeState, Told } from '../../domain/charge-state.ts';
import type { Log } from '../../log.ts';
import { outboxKey } from '../../messages/message-record.ts';
import type { ChargeNote } from '../../domain/charge-note.ts';
import type { Views } from '../../messages/views.ts';

/** What is said of a charge is kept by its reference alone: the rest is read when it leaves. */
export type ChargeBodies = {
  charge: { reference: string };
  charge_note: { reference: string; note: ChargeNote };
  charge_direct: { reference: string; what: Told };
};

export type ChargeShown =
  | { kind: 'charge'; charge: ChargeSeen }
  | { kind: 'charge_note'; note: ChargeNote; charge: ChargeSeen }
  | { kind: 'charge_direct'; what: Told; charge: ChargeSeen };

export type ChargePostDeps = {
  findCharge: (reference: string) => Promise<ChargeSeen | undefined>;
  log: Log;
};

export function chargeViews({ findCharge, log }: ChargePostDeps): Views<ChargeBodies, ChargeShown> {
  async function requireCharge(reference: string): Promise<ChargeSeen> {
    const charge = await findCharge(reference);
    if (!charge) throw new Error('There is something to say of a charge that is not in the store.');
    return charge;
  }
  return {
    /** In the desk’s channel. */
    async charge({ reference }) {
      return { kind: 'shown', post: { kind: 'charge', charge: await requireCharge(reference) } };
    },
    /** A step of it, in the thread below. */
    async charge_note({ reference, note }) {
      const charge = await requireCharge(reference);
      const below = { key: outboxKey('charge', reference) };
      return { kind: 'shown', post: { kind: 'charge_note', note, charge }, below };
    },
    /** What its agent is told where the modal may be closed; not posted any more once another message tells it better. */
    async charge_direct({ reference, what }, { entry: { key }, record: { posted } }) {
      const charge = await requireCharge(reference);
      const { state } = charge;
      if (!posted && isUndecided(what, state)) return { kind: 'later' };
      if (!posted && isOver(what, state)) {
        log('info', 'not told: it no longer holds', { key, result: state.kind });
        return { kind: 'nothing' };
      }
      return { kind: 'shown', post: { kind: 'charge_direct', what, charge } };
    },
  };
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
