import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const page = readFileSync(join(root, 'docs/threat-model.md'), 'utf8');

/** Each promise names its proof as `test/…` › *part of the test’s title*. */
const proofs = [...page.matchAll(/`(test\/[\w./-]+\.ts)` › \*([^*]+)\*/g)].map(
  ([, file = '', title = '']) => ({ file, title: title.replace(/\s+/g, ' ') }),
);

/** Every row of a table of this page: what somebody tries, what stops it, the proof. */
const rows = [...page.matchAll(/^\| (?!---|They try)([^|]+)\|([^|]+)\|([^|]+)\|$/gm)].map(
  ([, tried = '', stops = '', proof = '']) => ({ tried, stops, proof }),
);

describe('docs/threat-model.md', () => {
  it('names for every attempt the test that shows what stops it', () => {
    expect(rows.length).toBeGreaterThan(20);
    expect(rows.filter(({ proof }) => !/`test\/|`\.oxlintrc/.test(proof))).toEqual([]);
  });

  it.each(proofs)('$file has a test called “$title”', ({ file, title }) => {
    expect(existsSync(join(root, file))).toBe(true);
    expect(readFileSync(join(root, file), 'utf8')).toContain(title);
  });
});
