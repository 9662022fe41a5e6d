import { createFeatures } from '../src/merchants.ts';
import { verbsOf } from '../src/features/registry.ts';
import type { Command } from '../src/slack/command.ts';

/** Whatever is asked of it is nothing again: what is made of it can be looked at, and does nothing. */
const nothing: never = new Proxy(() => nothing, { get: (_target, name) => get(name) }) as never;

function get(name: string | symbol): unknown {
  // Nobody waits for nothing, and nothing is gone through item by item.
  if (name === 'then' || name === 'limits') return undefined;
  if (name === 'accountNewFields') return [];
  if (name === Symbol.toPrimitive) return () => 1;
  return name === Symbol.iterator ? () => [][Symbol.iterator]() : nothing;
}

/** Every verb with nothing behind it: its words are read, its buttons and forms counted, and nothing it would do is done. */
export function everyVerb(): Command[] {
  return verbsOf(createFeatures(nothing, nothing).features);
}
