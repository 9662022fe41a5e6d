import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { parse } from 'yaml';

type Json = { [name: string]: unknown };

/** What of the answer is held against the document. `headers` are read case-blind. */
export type GivenAnswer = { method: string; path: string; status: number; headers: Headers; body: unknown };

export type OpenapiAnswers = {
  /** Every "METHOD /path" the document declares. */
  operations: string[];
  /** Throws, saying why, unless the document declares this answer. */
  check: (answer: GivenAnswer) => void;
  /** Throws, saying why, unless the document declares this event with this payload. */
  checkEvent: (event: string, payload: unknown) => void;
};

/**
 * Records the simulator always tells whole. The specification requires none of their fields, so without
 * this an empty object would pass for a transaction.
 */
const wholeRecords = ['Account', 'BankEntry', 'SavedCard', 'Transaction', 'Terminal'];

export function loadOpenapiAnswers(file: string | URL): OpenapiAnswers {
  const document = parse(readFileSync(file, 'utf8'), { maxAliasCount: -1 }) as Json;
  const schemas = at(document, 'components', 'schemas');
  for (const name of wholeRecords) {
    const record = schemas[name] as Json;
    record['required'] = Object.keys(record['properties'] as Json);
    record['additionalProperties'] = false;
  }
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema(document, 'openapi');
  const validators = new Map<string, ValidateFunction>();

  function check(pointer: string[], value: unknown, what: string): void {
    const ref = `openapi#/${pointer.map(escapePointer).join('/')}`;
    const validate = validators.get(ref) ?? ajv.compile({ $ref: ref });
    validators.set(ref, validate);
    if (!validate(value)) {
      throw new Error(
        `${what} breaks openapi/payments.yaml: ${ajv.errorsText(validate.errors)}\n${JSON.stringify(value)}`,
      );
    }
  }

  function checkHeaders(pointer: string[], headers: Headers, what: string): void {
    const declared = (at(document, ...pointer)['headers'] ?? {}) as Json;
    for (const name of Object.keys(declared)) {
      const header = follow(document, [...pointer, 'headers', name]);
      const text = headers.get(name);
      if (text === null) throw new Error(`${what} has no header ${name}, which the document declares.`);
      const schema = at(document, ...header, 'schema');
      check([...header, 'schema'], schema['type'] === 'integer' ? Number(text) : text, `${what} ${name}`);
    }
  }

  return {
    operations: Object.entries(document['paths'] as Json).flatMap(([path, item]) =>
      ['get', 'post', 'put', 'patch', 'delete']
        .filter((method) => method in (item as Json))
        .map((method) => `${method.toUpperCase()} ${path}`),
    ),
    check: ({ method, path, status, headers, body }) => {
      const what = `${method} ${path} ${status}`;
      const operation = ['paths', path, method.toLowerCase(), 'responses'];
      if (!(String(status) in at(document, ...operation))) throw new Error(`${what} is not declared.`);
      const response = follow(document, [...operation, String(status)]);
      checkHeaders(response, headers, what);
      check([...response, 'content', 'application/json', 'schema'], body, what);
    },
    checkEvent: (event, payload) => {
      const body = follow(document, ['webhooks', event, 'post', 'requestBody']);
      check([...body, 'content', 'application/json', 'schema'], payload, `Event ${event}`);
    },
  };
}

function at(document: Json, ...pointer: string[]): Json {
  let value: unknown = document;
  for (const name of pointer) value = (value as Json | undefined)?.[name];
  if (typeof value !== 'object' || value === null)
    throw new Error(`The document has no ${pointer.join(' → ')}.`);
  return value as Json;
}

/** Where the thing really stands, behind a reference. */
function follow(document: Json, pointer: string[]): string[] {
  const reference = at(document, ...pointer)['$ref'];
  return typeof reference === 'string' ? reference.slice(2).split('/') : pointer;
}

function escapePointer(name: string): string {
  return encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'));
}
