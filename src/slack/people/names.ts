import type { RichTextBlock, RichTextElement } from '@slack/types';
import { isPerson, words } from '../kit/blocks.ts';
import { word } from '../words/evidence.ts';
import type { SlackMessage } from '../kit/message.ts';

/** Somebody's display name as Slack gave it within the last day; undefined where it is not known. Asks Slack nothing and never throws. */
export type NameOf = (userId: string) => Promise<string | undefined>;

const unknownName = 'a colleague';

/**
 * The message as it goes to a place. In a channel people stand by their names, as text: a mention in a new message
 * pings them, mostly whoever has just clicked. But for those it calls, and in a direct message, where nobody else is
 * pinged. No post waits for a name: without one it says *a colleague*, and an edit, which pings nobody, has the mention.
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
