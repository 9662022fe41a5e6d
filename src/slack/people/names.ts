import type { RichTextBlock, RichTextElement } from '@slack/types';
import { isPerson, words } from '../kit/blocks.ts';
import { word } from '../words/payment-words.ts';
import type { SlackMessage } from '../kit/message.ts';

/** A display name that Slack gave within the last day, if known. Never calls Slack, never throws. */
export type NameOf = (userId: string) => Promise<string | undefined>;

const unknownName = 'a colleague';

/**
 * The message for its destination. In a channel people appear by name, since a mention in a new message would notify them,
 * mostly the person who just clicked; only the people in `calls` are mentioned, to notify them. Direct messages keep
 * mentions: nobody else is notified. A post doesn't wait for an unknown name but says *a colleague*; a later edit, which
 * notifies nobody, has the mention.
 */
export async function withNames(
  message: SlackMessage,
  channel: string,
  about: { as: 'post' | 'edit'; calls?: readonly string[]; nameOf: NameOf },
): Promise<SlackMessage> {
  if (isPerson(channel) || channel.startsWith('D')) return message;
  const { as, calls = [], nameOf } = about;
  const named = message.blocks.flatMap((block) => (block.type === 'rich_text' ? peopleIn(block) : []));
  const ids = [...new Set(named)].filter((id) => !calls.includes(id));
  if (ids.length === 0) return message;
  const names = new Map(await Promise.all(ids.map(async (id) => [id, word(await nameOf(id))] as const)));

  function written(run: RichTextElement): RichTextElement {
    if (run.type !== 'user' || !names.has(run.user_id)) return run;
    const name = names.get(run.user_id);
    return name ? words(name) : as === 'edit' ? run : words(unknownName);
  }
  const blocks = message.blocks.map((block) =>
    block.type === 'rich_text'
      ? {
          ...block,
          elements: block.elements.map((part) =>
            part.type === 'rich_text_section' ? { ...part, elements: part.elements.map(written) } : part,
          ),
        }
      : block,
  );
  return { ...message, blocks };
}

function peopleIn({ elements }: RichTextBlock): string[] {
  return elements.flatMap((part) =>
    part.type === 'rich_text_section'
      ? part.elements.flatMap((run) => (run.type === 'user' ? [run.user_id] : []))
      : [],
  );
}
