import { parseAmount } from '../domain/money.ts';
import { parsed, problem, type Parsed } from '../domain/wording.ts';
import { unescape } from './kit/text.ts';

const openingQuotes = '"“”„«';
const closingQuotes = '"“”»';

/**
 * A slash command's words. Quoted words (straight or curly) stay together. Undoes Slack's changes: `&amp;` becomes `&`, an
 * auto-linked address its label. Mentions stay as Slack wrote them.
 */
export function wordsOf(text: string): string[] {
  const words: string[] = [];
  let word = '';
  let quoted = false;
  let started = false;
  for (const character of withoutLinks(text)) {
    if (quoted ? closingQuotes.includes(character) : !started && openingQuotes.includes(character)) {
      quoted = !quoted;
      started = true;
    } else if (!quoted && /\s/.test(character)) {
      if (started) words.push(word);
      word = '';
      started = false;
    } else {
      word += character;
      started = true;
    }
  }
  if (started) words.push(word);
  return words.map(unescape);
}

/** With `should_escape` Slack turns addresses and numbers into `<url|label>`. */
function withoutLinks(text: string): string {
  return text.replace(
    /<(?:https?:\/\/|mailto:|tel:)([^|>]*)(?:\|([^>]*))?>/g,
    (_, address: string, label?: string) => label ?? address,
  );
}

/** The parser of a command without arguments. If somebody types some, the answer is `why`, and doesn't repeat them. */
export function nothingAfter(why: string): (words: readonly string[]) => Parsed<undefined> {
  return (words) => (words.length === 0 ? parsed(undefined) : problem(why));
}

/**
 * The parser of a command that opens a form: no argument, or an amount. `most` names all that can be typed, `rest` says
 * what the form asks for.
 */
export function parseAmountAlone(
  [first, ...more]: readonly string[],
  { most, rest }: { most: string; rest: string },
): Parsed<{ amountMinor?: number }> {
  if (first === undefined) return parsed({});
  const amount = parseAmount(first);
  if (more.length === 0 && amount.ok) return parsed({ amountMinor: amount.value });
  const said = more.length === 0 && !amount.ok ? amount.problem : `Give at most ${most}.`;
  return problem(`${said} ${rest}`);
}
