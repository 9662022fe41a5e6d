/** A JSON body whose text leaves may hold `{{NAME}}` places. */
export type JsonTemplate = { readonly [name: string]: unknown };

/** Values for the places; a place without a value stays empty text. */
export type TemplateValues = { readonly [name: string]: string | undefined };

/**
 * The body with its places filled in. Works on the parsed leaves, never on the JSON text, so that a quote
 * or a backslash in a secret cannot change the body's shape.
 */
export function fillTemplate(template: JsonTemplate, values: TemplateValues): Record<string, unknown> {
  return Object.fromEntries(Object.entries(template).map(([name, leaf]) => [name, fillLeaf(leaf, values)]));
}

function fillLeaf(leaf: unknown, values: TemplateValues): unknown {
  if (typeof leaf === 'string')
    return leaf.replace(/\{\{([A-Z_]+)\}\}/g, (_place, name: string) => values[name] ?? '');
  if (Array.isArray(leaf)) return leaf.map((item) => fillLeaf(item, values));
  if (typeof leaf === 'object' && leaf !== null) return fillTemplate(leaf as JsonTemplate, values);
  return leaf;
}
