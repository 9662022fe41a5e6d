import { isJsonObject, type JsonObject, parseJson } from '../../domain/json.ts';
import { parsed, problem, type Parsed } from '../../domain/wording.ts';

/** A request as a service's documentation shows it. Header names are in lower case. */
type ShownRequest = {
  url?: string;
  headers: Readonly<Record<string, string>>;
  body: JsonObject;
};

/** Reads a curl command, or a JSON body. The problem repeats nothing of the text, which may have a secret. */
export function parseShownRequest(text: string): Parsed<ShownRequest> {
  const alone = parseJson(text.trim());
  if (isJsonObject(alone)) return parsed({ headers: {}, body: alone });
  const [command, ...words] = shellWords(text) ?? [];
  if (command !== 'curl') return problem('Paste a curl command, or the JSON body alone.');
  const options = optionsIn(words);
  const valuesOf = (...names: string[]): string[] =>
    options.flatMap(([name, value]) => (names.includes(name) ? [value] : []));
  const headers = valuesOf('-H', '--header').flatMap((line) => {
    const [, name, value = ''] = /^([^:]+):\s*(.*)$/s.exec(line) ?? [];
    return name === undefined ? [] : [[name.toLowerCase(), value] as const];
  });
  const [url] = valuesOf('--url', '');
  const data = valuesOf(...dataOptions);
  const body = data.length === 0 ? {} : parseJson(data.join('&'));
  if (!isJsonObject(body)) {
    return problem('Its body is no JSON object. The bot sends JSON bodies alone, as the specification says.');
  }
  return parsed({ headers: Object.fromEntries(headers), body, ...(url === undefined ? {} : { url }) });
}

const dataOptions = ['-d', '--data', '--data-raw', '--data-binary', '--data-ascii', '--json'];
/** Common options of curl that take a value. */
const valued = new Set(
  [
    ...dataOptions,
    '-X --request -H --header --url -u --user -o --output -m --max-time -A --user-agent -b --cookie -e --referer',
  ].flatMap((names) => names.split(' ')),
);

/** curl's options with their values, also as in `-XPOST` and `--request=POST`. Other words get an empty name. */
function optionsIn(words: readonly string[]): [name: string, value: string][] {
  const options: [string, string][] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    const [, name = word, joined] = /^(-[XHdumoAbe]|--[a-z-]+(?==))=?(.+)$/s.exec(word) ?? [];
    if (!word.startsWith('-')) options.push(['', word]);
    else if (joined !== undefined) options.push([name, joined]);
    else if (valued.has(word)) options.push([word, words[(at += 1)] ?? '']);
  }
  return options;
}

/** Splits text into words as a POSIX shell does, without expanding variables; undefined if a quote is not closed. */
function shellWords(text: string): string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  for (const [all, single, ansi, double, escaped, plain] of text.trim().matchAll(shellPiece)) {
    if (all === "'" || all === '"' || all === '\\') return undefined;
    const piece =
      single ??
      ansi?.replace(/\\(['"\\])/g, '$1') ??
      double?.replace(/\\(["\\$`])/g, '$1') ??
      escaped ??
      plain;
    if (piece !== undefined) word = (word ?? '') + piece;
    else if (/^\s/.test(all) && word !== undefined) {
      words.push(word);
      word = undefined;
    }
  }
  return word === undefined ? words : [...words, word];
}

/**
 * One piece of a shell word: blanks, a line continuation, one of three kinds of quotes, an escape, plain characters, or
 * an open quote.
 */
const shellPiece =
  /\s+|\\\r?\n|'([^']*)'|\$'((?:[^'\\]|\\[^])*)'|"((?:[^"\\]|\\[^])*)"|\\([^])|((?:[^\s'"\\$]|\$(?!'))+)|['"\\]/gy;
