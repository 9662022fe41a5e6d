import { bold, code, codeLines, headline, richText, words, type Piece } from '../../slack/kit/blocks.ts';
import type { SlackMessage } from '../../slack/kit/message.ts';

/** What help tells of a verb: the verb's own definition, so that help is never out of date. */
export type HelpVerb = {
  verb: string;
  usage: string;
  summary: string;
  examples: readonly string[];
};

/** Keeps one block far below Slack's length even when every summary is long. */
const verbsPerBlock = 8;

/**
 * What the caller can type: a line for each verb, or with `detail` everything about that one. Short, because
 * it is read on a phone.
 */
export function helpMessage(verbs: readonly HelpVerb[], detail?: HelpVerb): SlackMessage {
  return detail === undefined ? overview(verbs) : details(detail);
}

function overview(verbs: readonly HelpVerb[]): SlackMessage {
  const { text, block } = headline('What you can do with /pay', []);
  // The last line says what help's own would.
  const lines = verbs
    .filter(({ verb }) => verb !== 'help')
    .map((verb): Piece[] => [code(typed(verb)), words(`  ${verb.summary}`)]);
  const parts = Array.from({ length: Math.ceil(lines.length / verbsPerBlock) }, (_, index) =>
    richText(...lines.slice(index * verbsPerBlock, (index + 1) * verbsPerBlock)),
  );
  const more = richText([code('/pay help <verb>'), words('  gives examples.')]);
  return { text, blocks: [block, ...parts, more] };
}

function details(verb: HelpVerb): SlackMessage {
  const { text, block } = headline(`/pay ${verb.verb}`, [verb.summary]);
  return {
    text,
    blocks: [
      block,
      richText([bold('Type: '), code(typed(verb))]),
      ...(verb.examples.length === 0
        ? []
        : [richText([bold('For example:')]), codeLines(verb.examples.map(withCommand))]),
    ],
  };
}

function typed(verb: HelpVerb): string {
  return `/pay ${verb.verb} ${verb.usage}`.trim();
}

function withCommand(example: string): string {
  return example.startsWith('/') ? example : `/pay ${example}`;
}
