import { createFeatures } from '../src/merchants.ts';
import { verbsOf } from '../src/features/registry.ts';
import type { Command } from '../src/slack/command.ts';

/** A stand-in for any object or function: every property and every call gives the stand-in again. */
const nothing: never = new Proxy(() => nothing, { get: (_target, name) => get(name) }) as never;

function get(name: string | symbol): unknown {
  // Not a promise and not a list, so `await` and loops end at once.
  if (name === 'then' || name === 'limits') return undefined;
  if (name === 'accountNewFields') return [];
  if (name === Symbol.toPrimitive) return () => 1;
  return name === Symbol.iterator ? () => [][Symbol.iterator]() : nothing;
}

/** Every command without an account behind it: good for reading its words, buttons and forms, but nothing can be run. */
export function everyVerb(): Command[] {
  return verbsOf(createFeatures(nothing, nothing).features);
}
