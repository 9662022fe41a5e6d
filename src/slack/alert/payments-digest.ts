import { formatMoney } from '../../domain/money.ts';
import type { StormSeen, StormSummary } from '../../domain/storm-summary.ts';
import { actions, bold, fields, headline, richText, words, type Run } from '../blocks.ts';
import { repeatLine, type AboutMessage } from '../charge/repeat-line.ts';
import { placeAlone, word } from '../evidence.ts';
import type { SlackMessage } from '../message.ts';
import { muteBlocks } from './mute-blocks.ts';
import { gathered, listButtons, mostMuted, stormEventType, sumWords, timeSpan } from './storm-facts.ts';

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
      richText([words(inWords(storm))]),
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

/** What was not looked up is spoken of only where there is such a payment. */
function inWords({ isOver, count, summary }: StormSeen): string {
  const isProven = (summary.confirmed ?? 0) >= count;
  const told = isOver
    ? 'What comes from now on is told one by one again.'
    : 'Nothing is wrong: so many came that they are counted here, until few come again. One that its look-up does not confirm is told on its own.';
  if (isProven) return told;
  return `${told} What came too fast was not looked up: the list says which, and /pay with a reference looks one up.`;
}

/** One alone stands in the first line already. */
function currencies({ sums }: StormSummary) {
  if (sums.length < 2) return [];
  return [richText([bold('By currency, as the events say')], ...sums.map(lineOf))];
}

function lineOf(sum: StormSummary['sums'][number]): Run[] {
  const { count } = sum;
  return [...(count === undefined ? [] : [bold(`${count}×`)]), words(`  ${word(formatMoney(sum)) ?? ''}`)];
}
