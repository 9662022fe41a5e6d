import { randomUUID } from 'node:crypto';
import { recordOfOrder } from '../../domain/alert.ts';
import { endsCard, type AlertCharge, type AlertTaken } from '../../domain/alert-card.ts';
import type { Sealer } from '../../domain/sealer.ts';
import { StoreUnavailable } from '../../domain/store-unavailable.ts';
import { referenceOfEventKey } from '../../domain/event-key.ts';
import { alertKey } from '../../messages/outbox.ts';
import type { Store } from '../../store/store.ts';
import { createChangeRecord, makeDue, type RecordStore } from '../../records/change-record.ts';
import {
  alertCardPrefix,
  openCard,
  readAlert,
  sealCard,
  standingCharge,
  type AlertCardsDeps,
  type CardRecord,
} from './alert-cards.ts';

export type AlertClaim =
  /** `release` takes back this very claim, for a charge that was not stored; never throws StoreUnavailable. */
  { kind: 'claimed'; release: () => Promise<void> } | { kind: 'taken'; taken: AlertTaken };

/** What the bot itself charged under a reference: the card's fingerprint, and the alert it was begun from. */
export type BotCharge = { card: string; alert?: string };

export type ChargeOf = (reference: string) => Promise<BotCharge | undefined>;

type Origin = { store: Pick<Store, 'read'>; sealer: Sealer; chargeOf: ChargeOf };

/** The failure that an alert goes back to: a charge that was begun from an alert may fail too, and has an alert then. */
export async function firstAlert(deps: Origin, alert: string): Promise<string> {
  const reference = referenceOfEventKey(alert) ?? (await provenReference(deps, alert));
  const from = reference === undefined ? undefined : (await deps.chargeOf(reference))?.alert;
  return from === undefined ? alert : await firstAlert(deps, from);
}

/** Of an event whose reference is not signed, as its look-up proved it. */
async function provenReference(deps: Origin, alert: string): Promise<string | undefined> {
  const lookup = (await readAlert(deps, alertKey(alert)))?.evidence?.lookup;
  return lookup && recordOfOrder(lookup)?.orderReference;
}

/**
 * Of all charges that are begun from one alert, one may move money at a time: it has the alert from before it is sent
 * until it has ended without money. An alert and those of the charges begun from it are one. Throws StoreUnavailable.
 */
export type AlertClaims = {
  /** One swap decides, on all replicas. Again for the same reference: claimed. */
  claim(alert: string, charge: Pick<AlertCharge, 'reference' | 'by'>): Promise<AlertClaim>;
  /** What would speak against that claim now. Changes nothing. */
  taken(alert: string, reference?: string): Promise<AlertTaken | undefined>;
  /** Its charge has ended without money: the alert's messages are to say so. */
  ended(alert: string): Promise<void>;
};

export type AlertClaimsDeps = Pick<AlertCardsDeps, 'hasEnded' | 'now' | 'wake'> & {
  store: RecordStore;
  sealer: Sealer;
  chargeOf: ChargeOf;
};

/** On the alert's own record, so that it cannot be resolved or closed between the question and the claim. */
export function createAlertClaims(deps: AlertClaimsDeps): AlertClaims {
  const { store, sealer, now } = deps;
  const changeRecord = createChangeRecord(store);

  async function keyOf(alert: string): Promise<string> {
    return alertCardPrefix + (await firstAlert(deps, alert));
  }

  /** Due at once: the messages of the alert say who charges it. */
  async function change<Result>(
    alert: string,
    judge: (record: CardRecord) => Promise<{ record?: CardRecord; result: Result }>,
  ): Promise<Result> {
    const key = await keyOf(alert);
    const result = await changeRecord(key, async (value) => {
      const judged = await judge(openCard(sealer, key, value));
      return judged.record
        ? { kind: 'write', value: sealCard(sealer, key, judged.record), delayMs: 0, result: judged.result }
        : { kind: 'keep', result: judged.result };
    });
    deps.wake();
    return result;
  }

  async function read(alert: string): Promise<CardRecord> {
    const key = alertCardPrefix + alert;
    return openCard(sealer, key, (await store.read(key))?.value);
  }

  async function takenBy(record: CardRecord, reference?: string): Promise<AlertTaken | undefined> {
    if (endsCard(record.card)) return { kind: 'ended', card: record.card };
    const charge = record.charge?.reference === reference ? undefined : record.charge;
    const standing = await standingCharge(deps, charge);
    return standing && { kind: 'charging', charge: standing };
  }

  function drop(alert: string, holder: string): Promise<void> {
    return change(alert, async ({ charge, ...record }) => {
      if (!charge?.holders.includes(holder)) return { result: undefined };
      const holders = charge.holders.filter((one) => one !== holder);
      return {
        record: holders.length === 0 ? record : { ...record, charge: { ...charge, holders } },
        result: undefined,
      };
    });
  }

  return {
    async claim(alert, { reference, by }) {
      const holder = randomUUID();
      const { card } = await read(alert);
      if (endsCard(card)) return { kind: 'taken', taken: { kind: 'ended', card } };
      const taken = await change(alert, async (record) => {
        const result = await takenBy(record, reference);
        if (result) return { result };
        // Another delivery of the same submit may charge, whatever becomes of this one.
        const others = record.charge?.reference === reference ? record.charge.holders : [];
        return {
          record: { ...record, charge: { reference, by, at: now(), holders: [...others, holder] } },
          result,
        };
      });
      if (taken) return { kind: 'taken', taken };
      return {
        kind: 'claimed',
        async release() {
          try {
            await drop(alert, holder);
          } catch (error) {
            if (!(error instanceof StoreUnavailable)) throw error;
          }
        },
      };
    },
    async taken(alert, reference) {
      const { card } = await read(alert);
      if (endsCard(card)) return { kind: 'ended', card };
      return await takenBy(await read(await firstAlert(deps, alert)), reference);
    },
    async ended(alert) {
      await makeDue(changeRecord, await keyOf(alert), 0);
      deps.wake();
    },
  };
}
