import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** openapi/payments.yaml, read as it stands: no bundling, no defaults, references followed on demand. */
export type Node = { [key: string]: unknown };

export type Operation = { pointer: string; path: string; method: string; node: Node; webhook: boolean };

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

export const document = parse(
  readFileSync(new URL('../../openapi/payments.yaml', import.meta.url), 'utf8'),
) as Node;

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What stands at a JSON pointer, or undefined. References are not followed. */
export function valueAt(root: unknown, pointer: string): unknown {
  let value = root;
  for (const part of pointer.split('/').slice(1)) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Node)[part.replaceAll('~1', '/').replaceAll('~0', '~')];
  }
  return value;
}

/** The text at a key, or '' when there is none. */
export function textOf(node: Node | undefined, key: string): string {
  const value = node?.[key];
  return typeof value === 'string' ? value : '';
}

/** The node itself, or the one its $ref names with the siblings of the $ref laid over it. */
export function resolve(value: unknown): Node {
  if (!isNode(value)) throw new Error(`Not an object: ${JSON.stringify(value)}`);
  const { $ref: reference, ...siblings } = value;
  if (typeof reference !== 'string') return value;
  return { ...resolve(valueAt(document, reference.slice(1))), ...siblings };
}

/** A name as one part of a JSON pointer. */
function pointerPart(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Every operation of the paths and of the webhooks. */
export const operations: Operation[] = ['paths', 'webhooks'].flatMap((section) =>
  Object.entries(document[section] as Record<string, Node>).flatMap(([path, item]) =>
    methods
      .filter((method) => method in item)
      .map((method) => ({
        pointer: `/${section}/${pointerPart(path)}/${method}`,
        path,
        method,
        node: resolve(item[method]),
        webhook: section === 'webhooks',
      })),
  ),
);

export function operationNamed(operationId: string): Operation {
  const found = operations.find(({ node }) => node['operationId'] === operationId);
  if (!found) throw new Error(`No operation is called ${operationId}`);
  return found;
}

export type Media = { schema: Node; examples: Record<string, unknown> };

/** The application/json half of a request body or response, references followed; undefined when it has no content. */
function jsonOf(holder: unknown): Media | undefined {
  if (holder === undefined) return undefined;
  const content = resolve(holder)['content'];
  if (!isNode(content)) return undefined;
  const types = Object.keys(content);
  if (types.join() !== 'application/json') throw new Error(`All bodies are JSON, not ${types.join()}`);
  const media = resolve(content['application/json']);
  const examples = Object.entries((media['examples'] ?? {}) as Node).map(
    ([name, example]) => [name, resolve(example)['value']] as const,
  );
  return { schema: media['schema'] as Node, examples: Object.fromEntries(examples) };
}

export function requestOf(operation: Operation): Media | undefined {
  return jsonOf(operation.node['requestBody']);
}

export function responseOf(operation: Operation, status: string): Media | undefined {
  return jsonOf((operation.node['responses'] as Node)[status]);
}

/** The operation's parameters, references followed. */
export function parametersOf(operation: Operation): Node[] {
  return ((operation.node['parameters'] ?? []) as unknown[]).map((parameter) => resolve(parameter));
}
