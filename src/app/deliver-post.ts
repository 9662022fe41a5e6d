import type { Entry } from '../store/store.ts';
import type { AlertPostDeps } from '../features/alerts/alert-post.ts';
import { prepareAlert } from '../features/alerts/prepare-alert.ts';
import { prepareAlertDirect, prepareAlertNote } from '../features/alerts/prepare-alert-note.ts';
import { prepareDailySummary, type SummaryPostDeps } from '../features/alerts/summary/summarise-day.ts';
import { prepareTestAlert } from '../features/alerts/send-test-alert.ts';
import {
  prepareApproval,
  prepareApprovalNote,
  type ApprovalPostDeps,
} from '../features/approvals/prepare-approval.ts';
import {
  prepareCharge,
  prepareChargeDirect,
  prepareChargeNote,
  type ChargePostDeps,
} from '../features/charge/prepare-charge.ts';
import { prepareLink, prepareLinkNote, type LinkPostDeps } from '../features/links/prepare-link.ts';
import { deliverEntry, type DeliverDeps } from '../messages/deliver-outbox.ts';
import type { OutboxRecord } from '../messages/outbox.ts';
import { prepareNotice, type NoticePostDeps } from '../messages/tell-operators.ts';
import type { Prepare } from '../messages/prepare-post.ts';
import { prepareDigest } from '../features/alerts/storm/prepare-digest.ts';

type FamilyDeps = NoticePostDeps &
  AlertPostDeps &
  SummaryPostDeps &
  ChargePostDeps &
  LinkPostDeps &
  ApprovalPostDeps;

export type DeliverPostDeps = FamilyDeps & Omit<DeliverDeps, 'prepare'>;

/** Whose messages are whose: the outbox delivers them, and each family makes its own. */
const preparing: Readonly<Record<OutboxRecord['kind'], Prepare<FamilyDeps>>> = {
  alert: prepareAlert,
  alert_note: prepareAlertNote,
  alert_direct: prepareAlertDirect,
  test_alert: prepareTestAlert,
  daily_summary: prepareDailySummary,
  digest: prepareDigest,
  charge: prepareCharge,
  charge_note: prepareChargeNote,
  charge_direct: prepareChargeDirect,
  link: prepareLink,
  link_note: prepareLinkNote,
  approval: prepareApproval,
  approval_note: prepareApprovalNote,
  notice: prepareNotice,
};

/** Delivers one record of the outbox that was taken, as `deliverEntry` says. */
export async function deliverPost(deps: DeliverPostDeps, entry: Entry): Promise<void> {
  await deliverEntry(
    { ...deps, prepare: (work, mayBeRepeat) => preparing[work.record.kind](deps, work, mayBeRepeat) },
    entry,
  );
}
