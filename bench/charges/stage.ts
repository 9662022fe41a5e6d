import { randomBytes } from 'node:crypto';
import { defaultRetryRule } from '../../src/domain/decline-reason.ts';
import type { Transaction } from '../../src/domain/transaction.ts';
import { chargeKey, createChargeRecords } from '../../src/features/charge/charge-record.ts';
import { createChargeDrafts, createChargeDesk } from '../../src/features/charge/charge-desk.ts';
import { createCardHistory } from '../../src/features/charge/card-history.ts';
import { createChargePosts } from '../../src/features/charge/charge-messages.ts';
import { openFingerprint } from '../../src/records/fingerprint.ts';
import { noLimits } from '../../src/features/charge/limit-claims.ts';
import { recoverCharge, type ChargeDeps, type Room } from '../../src/features/charge/run-charge.ts';
import { workOnce } from '../../src/records/work-once.ts';
import { createSealer } from '../../src/store/sealed.ts';
import type { Store } from '../../src/store/store.ts';
import { money } from './plans.ts';

export const sealer = createSealer([{ id: 'bench', key: randomBytes(32) }]);
const log = () => undefined;
const now = () => Date.now();
const wait = () => Promise.resolve();
const deskChannel = 'C0DESK0001';
const leaseMs = 45_000;

/**
 * The bot's charging, put together as features/charge/charge.ts does it, on the store given; only the payments service and
 * Slack are fakes, which answer at once. The service has every charge it is asked for, paid; nobody has a modal open.
 */
export function openStage(store: Store) {
  const background = new Set<Promise<unknown>>();
  const failures: unknown[] = [];
  const lookedUp: string[] = [];
  const rememberMs = 365 * 86_400_000;
  const fingerprint = openFingerprint({ store, sealer, log });
  const posts = createChargePosts({ store, sealer, deskChannel, rememberMs, leaseMs, now, wake: log });
  const deps: ChargeDeps = {
    store,
    charges: createChargeRecords({ store, sealer, wait }),
    audit: () => Promise.resolve(true),
    sealer,
    rememberMs,
    now,
    log,
    wait,
    cards: createCardHistory({
      store,
      sealer,
      wait,
      rule: defaultRetryRule,
      twinMs: 600_000,
      now,
      chargeExists: async (reference) => (await store.read(chargeKey(reference))) !== undefined,
    }),
    limits: noLimits,
    alerts: {
      claim: () => Promise.reject(new Error('nothing is charged from an alert here')),
      taken: () => Promise.resolve(undefined),
      ended: () => Promise.resolve(),
      paid: () => Promise.resolve(),
    },
    drafts: createChargeDrafts({ store, sealer, wait }),
    fingerprint,
    threeDSecureWords: ['3D Secure'],
    chargeSavedCard: () => Promise.resolve({ kind: 'approved' }),
    submitOtp: () => Promise.resolve({ kind: 'accepted' }),
    findTransaction(reference) {
      lookedUp.push(reference);
      const { minor: amountMinor, currency } = money;
      const paid = { status: 'SUCCESS', orderReference: reference, amountMinor, currency };
      return Promise.resolve(paid as Transaction);
    },
    resendOtp: () => Promise.resolve({ kind: 'resent', message: undefined }),
    tell: { ...posts, hasDesk: true },
    show: () => Promise.resolve(false),
    inBackground(work) {
      const done = work
        .catch((error: unknown) => failures.push(error))
        .finally(() => background.delete(done));
      background.add(done);
    },
  };
  const room: Room = { taken: 0, size: 32 };
  const kinds = [
    {
      prefix: 'charge:',
      work: (entry: Parameters<typeof recoverCharge>[2]) => recoverCharge(deps, room, entry),
    },
    {
      // What is to be told is taken away untold: Slack's pace is not what is measured here.
      prefix: 'message:',
      work: async (entry: Parameters<typeof recoverCharge>[2]) =>
        void (await store.write(entry, entry.value)),
    },
  ];
  return {
    deps,
    desk: createChargeDesk(deps),
    lookedUp,
    failures,
    /** One round of the worker, as the bot runs it; the charge's story goes on in the background. */
    workOnce: () => workOnce({ store, leaseMs: 45_000, kinds }),
    async drained(): Promise<void> {
      // What is under way may bring more.
      // oxlint-disable-next-line no-await-in-loop
      while (background.size > 0) await Promise.all(background);
    },
  };
}

export type Stage = ReturnType<typeof openStage>;
