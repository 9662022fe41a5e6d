import { formatMoney } from '../../domain/money.ts';
import type { StormSeen, StormSummary } from '../../domain/storm-summary.ts';
import { actions, bold, fields, headline, richText, words, type Run } from '../blocks.ts';
import { repeatLine, type AboutMessage } from '../charge/repeat-line.ts';
import { placeAlone, word } from '../evidence.ts';
import type { SlackMessage } from '../message.ts';
import { muteBlocks } from './mute-blocks.ts';
import {
  gathered,
  listButtons,
  mostMuted,
  stateWords,
  stormEventType,
  sumWords,
  timeSpan,
} from './storm-facts.ts';

/**
 * Many payments, in place of a message for each: how many, how much in each currency, from when to when, and how many
 * of them a look-up proved. No alarm, so nobody has anything to acknowledge; and no claim that all of it was paid,
 * because it counts what the events say.
 */
export function paymentsDigestMessage(storm: StormSeen, about: AboutMessage): SlackMessage {
  const { count, summary, isOver, environment, account } = storm;
  const { text, block } = headline(`${isOver ? '☑️ Many payments, ended' : '📥 Many payments'}: ${count}`, [
    ...(summary.sums.length === 0 ? [] : [sumWords(summary)]),
    'as their events say',
  ]);
  return {
    text,
    blocks: [
      block,
      richText([words(stateWords(storm, overWords, liveWords))]),
      ...fields({
        Time: timeSpan(summary),
        'Proven by look-up': `${summary.confirmed ?? 0} of ${count}`,
        'Amount not known':
          summary.unsummed === 0 ? undefined : gathered('payment_success', summary.unsummed),
        'Cards saved': summary.cardsSaved === undefined ? undefined : String(summary.cardsSaved),
      }),
      ...currencies(summary),
      ...muteBlocks(storm.muted, { environment, account }, mostMuted),
      ...repeatLine(about.mayBeRepeat),
      placeAlone(environment, account),
      actions(...listButtons(storm)),
    ],
    metadata: { event_type: stormEventType, event_payload: { key: about.key } },
  };
}

const liveWords =
  'Nothing is wrong: too many to post one by one, so they are counted here until it calms down.';
const overWords = 'New payments are posted one by one again.';

/** One alone stands in the first line already. */
function currencies({ sums }: StormSummary) {
  if (sums.length < 2) return [];
  return [richText([bold('By currency')], ...sums.map(lineOf))];
}

function lineOf(sum: StormSummary['sums'][number]): Run[] {
  return [bold(`${sum.count}×`), words(`  ${word(formatMoney(sum)) ?? ''}`)];
}
