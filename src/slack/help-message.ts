import { bold, code, codeLines, headline, richText, words, type Piece } from './blocks.ts';
import type { SlackMessage } from './message.ts';

/** What help tells of a verb: the verb's own definition, so that help is never out of date. */
export type HelpVerb = {
  verb: string;
  usage: string;
  summary: string;
  examples: readonly string[];
  takesBareWords?: true;
};

/** Keeps one block far below Slack's length even when every summary is long. */
const verbsPerBlock = 8;

/**
 * What the caller can type: a line for each verb, or with `detail` everything about that one. Short, because
 * it is read on a phone; `command` is the slash command before the verb.
 */
export function helpMessage(verbs: readonly HelpVerb[], detail?: HelpVerb, command = '/pay'): SlackMessage {
  return detail === undefined ? overview(verbs, command) : details(detail, command);
}

function overview(verbs: readonly HelpVerb[], command: string): SlackMessage {
  const { text, block } = headline(`What you can do with ${command}`, []);
  // The last line says what help's own would.
  const lines = verbs
    .filter(({ verb }) => verb !== 'help')
    .map((verb): Piece[] => [code(typed(verb, command)), words(`  ${verb.summary}${orShorter(verb)}`)]);
  const parts = Array.from({ length: Math.ceil(lines.length / verbsPerBlock) }, (_, index) =>
    richText(...lines.slice(index * verbsPerBlock, (index + 1) * verbsPerBlock)),
  );
  const more = richText([code(`${command} help <verb>`), words('  tells more, with examples.')]);
  return { text, blocks: [block, ...parts, more] };
}

function orShorter({ verb, takesBareWords }: HelpVerb): string {
  return takesBareWords ? ` (“${verb}” may be left out)` : '';
}

function details(verb: HelpVerb, command: string): SlackMessage {
  const { text, block } = headline(`${command} ${verb.verb}`, [verb.summary]);
  return {
    text,
    blocks: [
      block,
      richText([bold('Type: '), code(typed(verb, command))]),
      ...(verb.examples.length === 0
        ? []
        : [
            richText([bold('For example:')]),
            codeLines(verb.examples.map((example) => withCommand(example, command))),
          ]),
    ],
  };
}

function typed(verb: HelpVerb, command: string): string {
  return `${command} ${verb.verb} ${verb.usage}`.trim();
}

function withCommand(example: string, command: string): string {
  return example.startsWith('/') ? example : `${command} ${example}`;
}
