import type { AlertShown } from '../../src/features/alerts/alert-record.ts';
import { type AlertViewDeps, alertViews, type DigestShown } from '../../src/features/alerts/alert-views.ts';
import type { AlertStepShown } from '../../src/features/alerts/alert-notes.ts';
import type { SummaryShown } from '../../src/features/alerts/summary/daily-summary.ts';
import type { ApprovalPost } from '../../src/features/approvals/approval-screens.ts';
import { chargeViews, type ChargeShown } from '../../src/features/charge/charge-messages.ts';
import { deliverEntry, type DeliverDeps } from '../../src/messages/deliver.ts';
import type { Work } from '../../src/messages/message-work.ts';
import type { Notice } from '../../src/messages/notices.ts';
import { openBody, type FeatureMessages, type Rendered, type Said } from '../../src/messages/views.ts';
import type { Entry } from '../../src/store/store.ts';

type Shown =
  | AlertShown
  | AlertStepShown
  | { kind: 'test_alert'; askedBy: string }
  | SummaryShown
  | DigestShown
  | ChargeShown
  | ApprovalPost
  | { kind: 'notice'; notice: Notice };

export type Post = Shown & Said;

export type DeliverPostDeps = AlertViewDeps & { findCharge: Parameters<typeof chargeViews>[0] } & Omit<
    DeliverDeps<Shown>,
    'render'
  >;

/** Delivers a message as the outbox does, of the features that these tests have. */
export function createDeliverPost(deps: DeliverPostDeps): (entry: Entry) => Promise<void> {
  const views: FeatureMessages['views'] = {
    ...alertViews(deps),
    ...chargeViews(deps.findCharge, deps.log),
    notice: async (notice: Notice) => ({ kind: 'shown', post: { kind: 'notice', notice } }),
  };
  async function render(work: Work, said: Said): Promise<Rendered<Shown>> {
    const { kind } = work.record;
    return (await views[kind]!(openBody(kind, deps.sealer, work) as never, work, said)) as Rendered<Shown>;
  }
  // Whatever a test changes of them holds from then on.
  return (entry) => deliverEntry({ ...deps, render }, entry);
}
