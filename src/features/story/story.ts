import { parseOrderReference, type OrderReference } from '../../domain/order-reference.ts';
import { parsed, problem, type Parsed } from '../../domain/parsed.ts';
import { storyCsv } from '../../audit/export-audit.ts';
import type { Story } from './tell-story.ts';
import { askedHereAlone, type ChargePlace } from '../../slack/words/charge-place.ts';
import { defineCommand, itself, type Command, type Pressed } from '../../slack/command.ts';
import { lookUpWords, referenceWord } from '../../slack/words/evidence.ts';
import type { ShareFile } from '../../slack/kit/share-file.ts';
import { noStoryMessage, storyActions, storyFileMessage, storyMessage } from './story-message.ts';
import { mrkdwnText } from '../../slack/kit/text.ts';

export type StoryDeps = ChargePlace & {
  /** Undefined: the bot knows nothing of it. Throws StoreUnavailable. */
  story: (reference: OrderReference) => Promise<Story | undefined>;
  shareFile: ShareFile;
  now: () => number;
};

type Question = { reference: OrderReference; page: number };

/** `/pay story <reference>`: everything the bot knows and did about one reference, in order, with who did it. */
export function storyCommand(deps: StoryDeps): Command {
  return defineCommand<Question>({
    verb: 'story',
    usage: '<reference> [page]',
    summary: 'Everything about one reference',
    examples: ['story pay-mfrggzdfmztwq2lknnwg23tpob', 'story INV-2041', 'story "ORDER 17 B" 2'],
    permission: 'story',
    effect: 'none',
    buttons: [storyActions.earlier, storyActions.later].map((actionId) => ({ actionId, words: lookUpWords })),
    presses: [{ actionId: storyActions.file, about: itself, press: (pressed) => shareStory(deps, pressed) }],
    parse: parseQuestion,
    reference: ({ reference }) => reference,
    async run({ reference, page }) {
      const story = await deps.story(reference);
      return story
        ? storyMessage(story, page, { place: deps, nowMs: deps.now() })
        : askedHereAlone(noStoryMessage(reference), deps);
    },
  });
}

function parseQuestion([first = '', second, ...rest]: readonly string[]): Parsed<Question> {
  const reference = parseOrderReference(first);
  if (!reference.ok) return reference;
  if (second === undefined) return parsed({ reference: reference.value, page: 1 });
  if (rest.length > 0 || !/^[1-9]\d{0,5}$/.test(second)) {
    return problem(
      'Give one reference, and the number of a page if you like. A reference with spaces goes in quotes: "ORDER 17 B".',
    );
  }
  return parsed({ reference: reference.value, page: Number(second) });
}

/** To whoever asks alone: a channel's other people need not be allowed to read it. */
async function shareStory(deps: StoryDeps, { value, caller, reply }: Pressed): Promise<void> {
  const reference = parseOrderReference(value);
  const story = reference.ok ? await deps.story(reference.value) : undefined;
  if (!story) return await reply(noStoryMessage(value));
  const title = `Story of ${referenceWord(story.reference)}`;
  const placed = await deps.shareFile(
    { userId: caller.userId },
    {
      name: `story-${new Date(deps.now()).toISOString().slice(0, 16).replace('T', '-').replace(':', '')}.csv`,
      title,
      text: storyCsv(story.entries),
      comment: mrkdwnText(`${title}: ${story.entries.length} entries`, 500),
    },
  );
  await reply(storyFileMessage(story.reference, placed));
}
