import { randomUUID } from 'node:crypto';
import { recordOfOrder, endsCard } from './alert.ts';
import type { AlertCharge, AlertClaims, AlertTaken, BotCharge } from '../../domain/alert.ts';
import { claimTimes } from '../../domain/charge.ts';
import { referenceOfEventKey } from '../../domain/payment-event.ts';
import type { Sealer, Store } from '../../store/store.ts';
import { StoreUnavailable } from '../../domain/failure.ts';
import type { Applied } from '../../records/cases.ts';
import { openEvidence } from './alert-record.ts';
import { alertMessages, untouched, type AlertCase, type AlertCases, type AlertEvent } from './alert-case.ts';

export type ChargeOf = (reference: string) => Promise<BotCharge | undefined>;

type Origin = { store: Pick<Store, 'read'>; sealer: Sealer; chargeOf: ChargeOf };

/** The failure that an alert goes back to: a charge that was begun from an alert may fail too, and has an alert then. */
export async function firstAlert(deps: Origin, alert: string): Promise<string> {
  const reference = referenceOfEventKey(alert) ?? (await provenReference(deps, alert));
  const from = reference === undefined ? undefined : (await deps.chargeOf(reference))?.alert;
  return from === undefined ? alert : await firstAlert(deps, from);
}

/** Of an event whose reference is not signed, as its look-up proved it. */
async function provenReference({ store, sealer }: Origin, alert: string): Promise<string | undefined> {
  const [own] = await alertMessages(store, alert);
  const lookup = own && openEvidence(sealer, own.key, own.record)?.lookup;
  return lookup && recordOfOrder(lookup)?.orderReference;
}

/** An alert after what happened; one that nobody has done anything with yet begins so. Told at once, by a worker. */
export async function hearOf(alerts: AlertCases, id: string, event: AlertEvent): Promise<Applied<AlertCase>> {
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- once more only where it had to be begun
    const heard = await alerts.hear(id, event);
    if (heard) return heard;
    // oxlint-disable-next-line no-await-in-loop
    await alerts.begin(id, untouched(id));
  }
}

export type StandingChargeDeps = {
  /** Whether the charge of this reference has ended without money; undefined: it was never stored. */
  hasEnded: (reference: string) => Promise<boolean | undefined>;
  now: () => number;
};

/**
 * The charge that has the alert: one that is under way, in doubt, in doubt again, or paid. A claim whose charge was
 * never stored, as a crash leaves it, stands for `claimTimes.lostMs`, like the claim of a card.
 */
export async function standingCharge(
  { hasEnded, now }: StandingChargeDeps,
  claim: AlertCase['charge'],
): Promise<AlertCharge | undefined> {
  if (!claim) return undefined;
  const { reference, by, at } = claim;
  const ended = (await hasEnded(reference)) ?? now() - at >= claimTimes.lostMs;
  return ended ? undefined : { reference, by, at };
}

/** On the alert's own record, so that it cannot be resolved or closed between the question and the claim. */
export function createAlertClaims(deps: Origin & StandingChargeDeps & { alerts: AlertCases }): AlertClaims {
  const { alerts } = deps;

  async function takenBy(state: AlertCase | undefined, reference?: string): Promise<AlertTaken | undefined> {
    const { card, charge } = state ?? untouched('');
    if (endsCard(card)) return { kind: 'ended', card };
    const standing = charge?.reference === reference ? undefined : await standingCharge(deps, charge);
    return standing && { kind: 'charging', charge: standing };
  }

  async function release(id: string, holder: string): Promise<void> {
    try {
      await alerts.hear(id, { kind: 'released', holder });
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
    }
  }

  return {
    async claim(alert, { reference, by }) {
      const { card } = (await alerts.find(alert)) ?? untouched(alert);
      if (endsCard(card)) return { kind: 'taken', taken: { kind: 'ended', card } };
      const id = await firstAlert(deps, alert);
      const holder = randomUUID();
      for (;;) {
        // oxlint-disable no-await-in-loop -- asked once more only where another charge was faster
        const state = await alerts.find(id);
        const taken = await takenBy(state, reference);
        if (taken) return { kind: 'taken', taken };
        const over = state?.charge?.holders.at(-1);
        const { isMoved } = await hearOf(alerts, id, { kind: 'claimed', reference, by, holder, over });
        // oxlint-enable no-await-in-loop
        if (isMoved) return { kind: 'claimed', release: () => release(id, holder) };
      }
    },
    async taken(alert, reference) {
      const { card } = (await alerts.find(alert)) ?? untouched(alert);
      if (endsCard(card)) return { kind: 'ended', card };
      return await takenBy(await alerts.find(await firstAlert(deps, alert)), reference);
    },
    async ended(alert) {
      await alerts.hear(await firstAlert(deps, alert), { kind: 'retold' });
    },
  };
}
