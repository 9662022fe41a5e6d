import { type AlertShown, type AlertStepShown, createTelling } from '../../src/features/alerts/tell-alert.ts';
import { type DigestShown, stormViews } from '../../src/features/alerts/storm/storm-message.ts';
import type { Storms } from '../../src/features/alerts/storm/storm.ts';
import type { SummaryShown } from '../../src/features/alerts/summary/daily-summary.ts';
import type { ApprovalPost } from '../../src/features/approvals/approval-screens.ts';
import { chargeMessageViews, type ChargeShown } from '../../src/features/charge/charge-messages.ts';
import { deliverEntry, type Rendering } from '../../src/messages/deliver.ts';
import { messageName, openBody } from '../../src/messages/message-record.ts';
import type { Outbox, Work } from '../../src/messages/message-work.ts';
import type { Notice } from '../../src/messages/notices.ts';
import type { FeatureMessages, Rendered } from '../../src/messages/views.ts';
import type { AboutMessage } from '../../src/slack/kit/note.ts';
import type { Entry } from '../../src/store/store.ts';

type Shown =
  | AlertShown
  | AlertStepShown
  | SummaryShown
  | DigestShown
  | ChargeShown
  | ApprovalPost
  | { kind: 'notice'; notice: Notice };

export type Post = Shown & AboutMessage;

/** Of whatever tells alerts; see `createTelling`. */
export type Telling = Parameters<typeof createTelling>[0] & Parameters<typeof createTelling>[1];

export type DeliverPostDeps = Telling & {
  storms: Pick<Storms, 'find' | 'takenElsewhere'>;
  findCharge: Parameters<typeof chargeMessageViews>[0];
} & Outbox &
  Pick<Rendering<Shown>, 'compose'>;

/** Delivers a message as the outbox does, of the features that these tests have. */
export function createDeliverPost(deps: DeliverPostDeps): (entry: Entry) => Promise<void> {
  const views: FeatureMessages['views'] = {
    ...stormViews(deps.storms, async () => []),
    ...chargeMessageViews(deps.findCharge, deps.log),
    notice: async (notice: Notice) => ({ kind: 'shown', post: { kind: 'notice', notice } }),
  };
  async function render(work: Work, about: AboutMessage): Promise<Rendered<Shown>> {
    // Whatever a test changes of them holds from then on.
    const all: FeatureMessages['views'] = { ...views, ...createTelling(deps, deps).views };
    return (await all[messageName(work.entry.key)]!(
      openBody(deps.sealer, work.entry.key, work.record) as never,
      work,
      about,
    )) as Rendered<Shown>;
  }
  return (entry) => deliverEntry({ ...deps, render }, entry);
}
