const openingQuotes = '"“”„«';
const closingQuotes = '"“”»';

/**
 * The words of a slash command as the person meant them: quoted words stay together (straight or curly
 * quotes), and what Slack puts into the text is undone: `&amp;` is `&`, an auto-linked address its label.
 * Mentions stay as Slack wrote them.
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

/** With `should_escape` Slack turns an address or a number into `<url|label>`. */
function withoutLinks(text: string): string {
  return text.replace(
    /<(?:https?:\/\/|mailto:|tel:)([^|>]*)(?:\|([^>]*))?>/g,
    (_, address: string, label?: string) => label ?? address,
  );
}

function unescape(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}
