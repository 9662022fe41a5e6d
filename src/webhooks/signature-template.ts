import { isJsonPointer } from '../domain/json.ts';
import { parsed, problem, type Parsed } from '../domain/wording.ts';

/**
 * Where a text is in a delivery: a header, by lower-case name; a pair of a `k=v,k=v` signature header, by key; a field
 * of the body, by JSON pointer.
 */
export type TextSource = { kind: 'header' | 'pair' | 'json'; name: string };

/** The signed parts, in order. */
export type SignatureTemplate = readonly TemplatePart[];

type TemplatePart = { kind: 'text'; text: string } | { kind: 'body' } | TextSource;

/**
 * What a valid signature covers: the whole body, or only the values at these JSON pointers. `atMs`: the signed time.
 */
export type Coverage = { covers: 'body' } | { covers: 'fields'; pointers: readonly string[]; atMs?: number };

/** Reads `{body}`, `{header:NAME}`, `{pair:K}` and `{json:/pointer}`, with any text between. */
export function parseSignatureTemplate(words: string): Parsed<SignatureTemplate> {
  const template: TemplatePart[] = [];
  for (const piece of words.split(/(\{[^{}]*\})/).filter((piece) => piece !== '')) {
    const part = /[{}]/.test(piece) ? parsePlaceholder(piece) : { kind: 'text' as const, text: piece };
    if (!part) {
      return problem(
        `“${piece}” is not known: write {body}, {header:NAME}, {pair:KEY} or {json:/pointer} where a brace stands.`,
      );
    }
    template.push(part);
  }
  return parsed(template);
}

function parsePlaceholder(piece: string): TemplatePart | undefined {
  if (piece === '{body}') return { kind: 'body' };
  return /^\{.+\}$/.test(piece) ? parseTextSource(piece.slice(1, -1)) : undefined;
}

/** Reads `header:NAME`, `pair:K` or `json:/pointer`. */
export function parseTextSource(words: string): TextSource | undefined {
  const [, kind, name = ''] = /^(header|pair|json):(.+)$/.exec(words) ?? [];
  if (kind === 'header') return /^[\w-]+$/.test(name) ? { kind, name: name.toLowerCase() } : undefined;
  if (kind === 'pair') return /^[^=,\s]+$/.test(name) ? { kind, name } : undefined;
  return kind === 'json' && isJsonPointer(name) ? { kind, name } : undefined;
}

export function coverageOf(template: SignatureTemplate): Coverage {
  if (template.some((part) => part.kind === 'body')) return { covers: 'body' };
  const pointers = template.flatMap((part) => (part.kind === 'json' ? [part.name] : []));
  return { covers: 'fields', pointers };
}

export function isSigned(source: TextSource, template: SignatureTemplate): boolean {
  return template.some((part) =>
    part.kind === 'body' ? source.kind === 'json' : isTextSource(part) && isSame(part, source),
  );
}

/**
 * The first two sources without a separator between them: text could be moved from one to the other under the same
 * signature. Allowed after a time, whose format shows where it ends, and before a time that ends the template, because
 * its format then shows where it begins.
 */
export function unseparated(
  template: SignatureTemplate,
  time: TextSource | undefined,
): readonly [TextSource, TextSource] | undefined {
  for (const [index, part] of template.entries()) {
    const next = template[index + 1];
    if (!next || !isTextSource(part) || !isTextSource(next)) continue;
    const isLast = index + 2 === template.length;
    const isDelimited = time && (isSame(part, time) || (isLast && isSame(next, time)));
    if (!isDelimited) return [part, next];
  }
  return undefined;
}

export function isTextSource(part: TemplatePart): part is TextSource {
  return part.kind !== 'text' && part.kind !== 'body';
}

export function isSame(one: TextSource, other: TextSource): boolean {
  return one.kind === other.kind && one.name === other.name;
}

const nouns = { header: 'header', pair: 'pair', json: 'field' };

/** Names the place for the log, without its value. */
export function nameOfSource({ kind, name }: TextSource): string {
  return `${nouns[kind]} ${name}`;
}

/** A template as WEBHOOK_SIGNED_TEMPLATE writes it. */
export function wordsOfTemplate(template: SignatureTemplate): string {
  const written = template.map((part) => {
    if (part.kind === 'text') return part.text;
    return part.kind === 'body' ? '{body}' : `{${part.kind}:${part.name}}`;
  });
  return written.join('');
}
