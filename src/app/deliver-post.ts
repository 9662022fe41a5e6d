import type { Notice } from '../domain/notice.ts';
import type { AlertPostDeps } from '../features/alerts/alert-post.ts';
import { alertNoteViews, type AlertStepBodies } from '../features/alerts/prepare-alert-note.ts';
import { prepareAlert } from '../features/alerts/prepare-alert.ts';
import type { TestAlertBodies } from '../features/alerts/send-test-alert.ts';
import { digestView, type DigestBodies } from '../features/alerts/storm/prepare-digest.ts';
import {
  summaryView,
  type SummaryPostDeps,
  type SummarySpan,
} from '../features/alerts/summary/summarise-day.ts';
import { approvalViews, type ApprovalBodies } from '../features/approvals/approval-desk.ts';
import { chargeViews, type ChargeBodies, type ChargePostDeps } from '../features/charge/charge-messages.ts';
import { linkViews, type LinkBodies, type LinkPostDeps } from '../features/links/link-message.ts';
import { muteView, type MuteBodies, type MutePostDeps } from '../features/mute/mute-case.ts';
import { deliverEntry, type DeliverDeps } from '../messages/deliver.ts';
import type { Work } from '../messages/message-work.ts';
import { openBody, type Rendered, type Said, type Views } from '../messages/views.ts';
import type { Entry } from '../store/store.ts';
import type { Shown } from './post-message.ts';

type Bodies = AlertStepBodies &
  TestAlertBodies & { daily_summary: SummarySpan } & DigestBodies &
  ChargeBodies &
  LinkBodies &
  ApprovalBodies &
  MuteBodies & { notice: Notice };

type FamilyDeps = AlertPostDeps &
  SummaryPostDeps &
  ChargePostDeps &
  LinkPostDeps &
  MutePostDeps &
  Parameters<typeof approvalViews>[0];

export type DeliverPostDeps = FamilyDeps & Omit<DeliverDeps<Shown>, 'render'>;

/** Delivers one message that was taken as work, as `deliverEntry` says: each family makes its own. */
export function createDeliverPost(deps: DeliverPostDeps): (entry: Entry) => Promise<void> {
  const views: Views<Bodies, Shown> = {
    ...alertNoteViews(deps),
    ...summaryView(deps),
    ...digestView(deps),
    ...chargeViews(deps),
    ...linkViews(deps),
    ...approvalViews(deps),
    ...muteView(deps),
    test_alert: async ({ askedBy }) => ({ kind: 'shown', post: { kind: 'test_alert', askedBy } }),
    notice: async (notice) => ({ kind: 'shown', post: { kind: 'notice', notice } }),
  };
  function show<Kind extends keyof Bodies>(
    view: Pick<Views<Bodies, Shown>, Kind>,
    kind: Kind,
    work: Work,
    said: Said,
  ): Promise<Rendered<Shown>> {
    return view[kind](openBody(kind, deps.sealer, work) as Bodies[Kind], work, said);
  }
  function render(work: Work, said: Said): Promise<Rendered<Shown>> {
    const { kind } = work.record;
    return kind === 'alert' ? prepareAlert(deps, work, said) : show(views, kind, work, said);
  }
  return (entry) => deliverEntry<Shown>({ ...deps, render }, entry);
}
