import { isDeepStrictEqual } from 'node:util';
import {
  document,
  operationNamed,
  requestOf,
  responseOf,
  textOf,
  valueAt,
  type Operation,
} from './document.ts';
import { queryOf, shapeOf } from './shape.ts';
import type { Evidence } from './spec-tables.ts';

/** What the YAML lacks of the evidence, in words; empty when it shows all of it. */
export function lacking(evidence: Evidence): string[] {
  if ('at' in evidence) return differing(evidence.at, valueAt(document, evidence.at), evidence.is);
  const operation = operationNamed(evidence.operation);
  const name = evidence.operation;
  if ('says' in evidence) {
    const text = textOf(operation.node, 'description').replace(/\s+/g, ' ');
    return text.includes(evidence.says) ? [] : [`${name} does not say: ${evidence.says}`];
  }
  if ('field' in evidence) {
    const fields = { ...queryOf(operation), ...shapeOf(requestOf(operation)?.schema ?? {}) };
    return differing(`${name} ${evidence.field}`, fields[evidence.field], evidence.is);
  }
  const example = exampleOf(operation, evidence);
  if (example === undefined) return [`${name} has no such example: ${JSON.stringify(evidence)}`];
  return Object.entries(evidence.holds).flatMap(([pointer, value]) =>
    differing(`${name} ${pointer}`, valueAt(example, pointer), value),
  );
}

function differing(what: string, found: unknown, wanted: unknown): string[] {
  if (isDeepStrictEqual(found, wanted)) return [];
  return [`${what} is ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`];
}

/** "404 recordNotFound" names the answer of another status than 200. */
function exampleOf(operation: Operation, named: { asks: string } | { answers: string }): unknown {
  if ('asks' in named) return requestOf(operation)?.examples[named.asks];
  const [first = '', second] = named.answers.split(' ');
  const [status, example] = second === undefined ? ['200', first] : [first, second];
  return responseOf(operation, status)?.examples[example];
}
