import { nearestWord } from '../../domain/wording.ts';
import { parsed, problem, type Parsed } from '../../domain/parsed.ts';

/** What was typed without the option; `name` as it was typed, in small letters. */
export type MerchantWords = { text: string; name?: string };

/** Quoted words are a reference, whatever stands in them; phones make one long dash of two short ones. */
const option =
  /"[^"]*"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|(?<=^|\s)(?:--|—|–)account(?:[\s=]+(?!--|—|–)([^\s"“”„«»]+)|(?=[\s=]|$)=?)/giu;

/** Takes `--account NAME` out of what was typed after the slash command, wherever it stands. */
export function readMerchantWords(text: string, names: readonly string[]): Parsed<MerchantWords> {
  const found: (string | undefined)[] = [];
  const rest = text.replaceAll(option, (whole: string, name?: string) => {
    if (/^["“„«]/.test(whole)) return whole;
    found.push(name?.toLowerCase());
    return ' ';
  });
  if (found.length === 0) return parsed({ text });
  const [name, ...more] = found;
  if (name === undefined || more.length > 0)
    return problem(`Name one account after --account: ${listed(names)}.`);
  if (names.includes(name)) return parsed({ text: rest.trim(), name });
  const nearest = nearestWord(name, names);
  const hint = nearest === undefined ? '' : ` Did you mean --account ${nearest}?`;
  return problem(`There is no account “${name}”.${hint} The accounts are ${listed(names)}.`);
}

function listed(names: readonly string[]): string {
  return names.join(', ');
}
