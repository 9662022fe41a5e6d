import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { document, valueAt, type Node } from './document.ts';

const ajv = new Ajv2020({ allErrors: true, strict: true, strictTypes: false, allowUnionTypes: true });
addFormats.default(ajv);
// Not constraints: the mark of an open schema, and the place that the references lead to.
ajv.addKeyword('x-not-shown');
ajv.addKeyword('components');

/** What is wrong with the value by the schema at a JSON pointer of the document; empty when it conforms. */
export function problemsOf(pointer: string, value: unknown): string[] {
  const schema = valueAt(document, pointer) as Node | undefined;
  if (!schema) throw new Error(`No schema at ${pointer}`);
  const validate = ajv.compile({ ...schema, components: document['components'] });
  if (validate(value)) return [];
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message ?? ''}`);
}
