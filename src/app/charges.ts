import { setTimeout as sleep } from 'node:timers/promises';
import { auditOfCharge } from '../domain/audit-of-charge.ts';
import type { Chapters } from '../features/story/story.ts';
import { outboxKey } from '../messages/message-record.ts';
import type { ChargeSeen } from '../domain/charge-seen.ts';
import type { PaymentEvent } from '../domain/payment-event.ts';
import type { RetryVerdict } from '../domain/retry-rule.ts';
import type { SavedCard } from '../domain/saved-card.ts';
import type { StandingOf } from '../domain/standing.ts';
import type { AlertCases } from '../features/alerts/alert-case.ts';
import { createAlertClaims, type BotCharge } from '../features/alerts/alert-claims.ts';
import { keepProvenPayment } from '../features/alerts/alert-recovery.ts';
import type { AuditNotes } from '../audit/audit-notes.ts';
import { createCardHistory, type CardHistory } from '../features/charge/card-history.ts';
import { createCardLedger, type CardLedger } from '../features/cards/card-ledger.ts';
import { createCardEmails, type CardEmails } from '../features/card-email/change-card-email.ts';
import {
  chargeLists,
  chargeOf,
  createChargeRecords,
  hasEnded,
  seenOf,
  standingOf,
  type ChargeRecord,
  type ChargeRecords,
} from '../features/charge/charge-record.ts';
import type { ApprovalGate } from '../features/approvals/approval-desk.ts';
import { createChargeDesk, type ChargeDesk } from '../features/charge/charge-desk.ts';
import { createChargeDrafts } from '../features/charge/charge-drafts.ts';
import { createChargePosts } from '../features/charge/charge-posts.ts';
import { openFingerprint, type Fingerprint } from '../records/fingerprint.ts';
import { recoverCharge, triggerCharge, type ChargeDeps, type Room } from '../features/charge/run-charge.ts';
import { submitApproved, type ApprovedCharge, type SubmitResult } from '../features/charge/submit-charge.ts';
import type { MerchantIds } from '../slack/merchant-ids.ts';
import { createShowCharge } from '../features/charge/show-charge.ts';
import type { SlackClients } from '../slack/workspace.ts';
import type { Entry } from '../store/store.ts';
import { createBackground } from './background.ts';
import type { Kept } from './kept.ts';
import { openLimits } from './limits.ts';
import { chargePlace } from './merchants.ts';
import type { Outside } from './outside.ts';
import type { Payments } from './payments.ts';

export type Charges = {
  desk: ChargeDesk;
  cardEmails: CardEmails;
  /** Undefined: switched off. */
  ledger: CardLedger | undefined;
  /** A charge the store gave out as due. */
  recover: (entry: Entry) => Promise<void>;
  /** A signed event came; see `triggerCharge`. */
  trigger: (event: PaymentEvent) => Promise<void>;
  rememberCard: ((card: SavedCard) => Promise<void>) | undefined;
  find: (reference: string) => Promise<ChargeSeen | undefined>;
  story: Chapters['chargeStory'];
  /** Those that are not over. */
  open: () => Promise<readonly ChargeRecord[]>;
  /** Whether it moved no money and is over; undefined: there is no such charge. */
  hasEnded: (reference: string) => Promise<boolean | undefined>;
  /** What the bot charged under this reference; undefined: nothing, or it is forgotten. */
  chargeOf: (reference: string) => Promise<BotCharge | undefined>;
  /** Whether a card may be charged now, by its fingerprint; see `CardHistory`. */
  mayTry: (card: string) => Promise<RetryVerdict>;
  /** What else knows of a card that is deleted. */
  forgetting: { history: CardHistory; fingerprint: Fingerprint };
  /** What is done once enough people have approved it; nobody is asked again. */
  submitApproved: (charge: ApprovedCharge, atMs: number) => Promise<SubmitResult>;
  /** Resolves when nothing of a charge is under way in this process. */
  drained: () => Promise<void>;
};

type ChargeParts = {
  kept: Kept;
  links: ChargeDeps['links'];
  payments: Payments;
  clients: SlackClients;
  wake: () => void;
  awaitEvent: NonNullable<ChargeDeps['awaitEvent']>;
  count: NonNullable<ChargeDeps['count']>;
  standingOf: StandingOf;
  /** Undefined: nothing needs a second person. */
  approvals: ApprovalGate | undefined;
  notes: Pick<AuditNotes, 'note' | 'write'>;
  alertCases: AlertCases;
  /** The ids of its modals; undefined in a bot that knows one account alone. */
  ids?: MerchantIds | undefined;
};

/** As many charges as one process settles at once. */
const settledAtOnce = 32;

/** What moves money, put together: the machine's caller, its memory, and where it is told. */
export function createCharges(outside: Outside, parts: ChargeParts): Charges {
  const { config, log, now } = outside;
  const { kept, payments, clients, awaitEvent, count, approvals, notes } = parts;
  const { store, sealer } = kept;
  const background = createBackground(outside, 'a charge');
  const fingerprint = openFingerprint({ store, sealer, log });
  const deskChannel = config.policy.channels.desk;
  const rememberMs = config.chargeRememberDays * dayMs;
  const { wake } = parts;
  const leaseMs = config.workLeaseSeconds * 1_000;
  const telling = { store, sealer, rememberMs, leaseMs, now, wake };
  const posts = createChargePosts({ ...telling, deskChannel, wait: sleep });
  const charges = createChargeRecords({ store, sealer, wait: sleep });
  const cards = openCardHistory(outside, kept, charges);
  const place = chargePlace(config);
  const told = { note: notes.note, log, wait: sleep };
  const limits = openLimits(outside, { kept, standingOf: parts.standingOf });
  const claims = createAlertClaims({
    store,
    sealer,
    alerts: parts.alertCases,
    hasEnded: (reference) => hasEnded(charges, reference),
    chargeOf: (reference) => chargeOf(charges, reference),
    now,
  });
  const alerts: ChargeDeps['alerts'] = {
    ...claims,
    async paid(charge) {
      await keepProvenPayment({ store, sealer, wait: sleep }, charge);
      wake();
    },
  };
  const deps: ChargeDeps = {
    store,
    charges,
    sealer,
    rememberMs,
    now,
    limits,
    audit: notes.write,
    ...told,
    ...payments,
    links: parts.links,
    cards,
    alerts,
    drafts: createChargeDrafts({ store, sealer, fingerprint, wait: sleep }),
    fingerprint,
    approvals,
    threeDSecureWords: config.chargeThreeDSecureWords,
    tell: { ...posts, hasDesk: deskChannel !== undefined },
    show: createShowCharge({ client: clients.interactive, place, now, log, ids: parts.ids }),
    inBackground: background.add,
    awaitEvent,
    count,
  };
  const ledger =
    config.cardLedger === 'on'
      ? createCardLedger({ store, sealer, fingerprint, keepMs: config.savedCardDays * dayMs, now })
      : undefined;
  const room: Room = { taken: 0, size: settledAtOnce };

  const desk = createChargeDesk(deps);
  return {
    desk,
    cardEmails: createCardEmails({
      ...payments,
      ...told,
      store,
      sealer,
      ledger,
      fingerprint,
      approvals,
      now,
    }),
    submitApproved: (charge, atMs) => submitApproved(deps, charge, atMs),
    ledger,
    recover: (entry) => recoverCharge(deps, room, entry),
    trigger: (event) => triggerCharge(deps, event),
    rememberCard: ledger && ((card) => ledger.remember(card)),
    mayTry: (card) => cards.mayTry(card),
    forgetting: { history: cards, fingerprint },
    find: (reference) => desk.find(reference),
    async story(reference) {
      const record = await charges.read(reference);
      return (
        record && {
          charge: seenOf(record),
          entries: auditOfCharge(record.intent.history),
          posts: [outboxKey('charge', reference)],
        }
      );
    },
    open: () => charges.all(chargeLists.open),
    hasEnded: (reference) => hasEnded(charges, reference),
    chargeOf: (reference) => chargeOf(charges, reference),
    drained: background.drained,
  };
}

function openCardHistory(
  { config, now }: Outside,
  { store, sealer }: Kept,
  charges: ChargeRecords,
): CardHistory {
  return createCardHistory({
    store,
    sealer,
    wait: sleep,
    rule: {
      waitMs: config.chargeRetryWaitHours * hourMs,
      attempts: config.chargeRetryAttempts,
      forgetMs: config.chargeRetryForgetDays * dayMs,
    },
    twinMs: config.chargeTwinMinutes * 60_000,
    now,
    chargeExists: async (reference) => (await standingOf(charges, reference)) !== undefined,
  });
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
