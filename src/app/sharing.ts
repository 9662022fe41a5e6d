import type { Sharing } from '../features/lookup/look-up.ts';
import { createShareOnce } from '../features/lookup/share-once.ts';
import { createDelivery } from '../messages/delivery.ts';
import type { MerchantIds } from '../slack/merchant-ids.ts';
import type { SlackMessage } from '../slack/kit/message.ts';
import { withNames, type NameOf } from '../slack/people/names.ts';
import type { SlackClients } from '../slack/workspace.ts';
import type { Kept } from './kept.ts';

/** How a look-up gets into a channel: at once, because whoever pressed is looking, and past the outbox of the alerts. */
export function createSharing(
  { store }: Kept,
  { interactive }: SlackClients,
  /** `ids`: those of an account’s messages. */
  { ids, nameOf }: { ids: MerchantIds | undefined; nameOf: NameOf },
): Sharing {
  const shareOnce = createShareOnce({ store });
  const delivery = createDelivery(interactive);
  function own(message: SlackMessage, channel: string, as: 'post' | 'edit'): Promise<SlackMessage> {
    return withNames(ids?.message(message) ?? message, channel, { as, nameOf });
  }
  return {
    async post(key, channel, message) {
      const said = await own(message, channel, 'post');
      return await shareOnce(key, () => delivery.post(channel, said));
    },
    edit: async (posted, message) => delivery.edit(posted, await own(message, posted.channel, 'edit')),
  };
}
