import type { Sealer } from '../domain/sealer.ts';
import type { Entry } from '../store/store.ts';
import type { AlertPostDeps } from '../features/alerts/alert-post.ts';
import { prepareAlert } from '../features/alerts/prepare-alert.ts';
import { alertNoteViews } from '../features/alerts/prepare-alert-note.ts';
import { summaryView, type SummaryPostDeps } from '../features/alerts/summary/summarise-day.ts';
import { approvalViews, type ApprovalPostDeps } from '../features/approvals/prepare-approval.ts';
import { chargeViews, type ChargePostDeps } from '../features/charge/prepare-charge.ts';
import { linkViews, type LinkPostDeps } from '../features/links/prepare-link.ts';
import { deliverEntry, type DeliverDeps } from '../messages/deliver.ts';
import { openBody, type OutboxBodies, type Rendered, type Said, type Views } from '../messages/posts.ts';
import type { Work } from '../messages/message-work.ts';
import { digestView } from '../features/alerts/storm/prepare-digest.ts';

type FamilyDeps = AlertPostDeps & SummaryPostDeps & ChargePostDeps & LinkPostDeps & ApprovalPostDeps;

export type DeliverPostDeps = FamilyDeps & Omit<DeliverDeps, 'render'>;

/** Delivers one record of the outbox that was taken, as `deliverEntry` says: each family makes its own messages. */
export async function deliverPost(deps: DeliverPostDeps, entry: Entry): Promise<void> {
  const views: Views = {
    ...alertNoteViews(deps),
    ...summaryView(deps),
    ...digestView(deps),
    ...chargeViews(deps),
    ...linkViews(deps),
    ...approvalViews(deps),
    test_alert: async ({ askedBy }) => ({ kind: 'shown', post: { kind: 'test_alert', askedBy } }),
    notice: async (notice) => ({ kind: 'shown', post: { kind: 'notice', notice } }),
  };
  function render(work: Work, said: Said): Promise<Rendered> {
    const { kind } = work.record;
    return kind === 'alert' ? prepareAlert(deps, work, said) : show(deps.sealer, views, kind, { work, said });
  }
  await deliverEntry({ ...deps, render }, entry);
}

function show<Kind extends keyof OutboxBodies>(
  sealer: Sealer,
  views: Pick<Views, Kind>,
  kind: Kind,
  { work, said }: { work: Work; said: Said },
): Promise<Rendered> {
  return views[kind](openBody(kind, sealer, work), work, said);
}
