import type { Sharing } from '../commands/lookup/look-up.ts';
import { createShareOnce } from '../operations/work/share-once.ts';
import { createDelivery } from '../slack/delivery.ts';
import type { MerchantIds } from '../slack/merchant-ids.ts';
import type { SlackMessage } from '../slack/message.ts';
import type { SlackClients } from '../slack/workspace.ts';
import type { Kept } from './kept.ts';

/** How a look-up gets into a channel: at once, because whoever pressed is looking, and past the outbox of the alerts. */
export function createSharing(
  { store }: Kept,
  { interactive }: SlackClients,
  /** Those of an account’s messages. */
  ids: MerchantIds | undefined,
): Sharing {
  const shareOnce = createShareOnce({ store });
  const delivery = createDelivery(interactive);
  const own = (message: SlackMessage): SlackMessage => ids?.message(message) ?? message;
  return {
    post: (key, channel, message) => shareOnce(key, () => delivery.post(channel, own(message))),
    edit: (posted, message) => delivery.edit(posted, own(message)),
  };
}
