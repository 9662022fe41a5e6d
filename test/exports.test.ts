import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { codeMutants } from './features/customer-code/mutants.ts';
import { mutants } from './tapes/mutants.ts';

const code = globSync('{src,test,scripts,bench}/**/*.{ts,js}').filter((path) => !path.endsWith('.d.ts'));
/** CONTRIBUTING.md counts as an importing file, as a test types its code. */
const importing = [...code, 'CONTRIBUTING.md'].map((path) => ({ path, text: readFileSync(path, 'utf8') }));

/** The imported files with the names; `*` for a whole module. */
function importsOf({ path, text }: { path: string; text: string }): { from: string; names: string[] }[] {
  const folder = path.endsWith('.md') ? 'src/features/balance' : dirname(path);
  const named = text.matchAll(/(?:import|export)\s+(?:type\s+)?([^;'"]*?)\s*from\s*'(\.[^']+)'/g);
  const whole = text.matchAll(/import\(\s*'(\.[^']+)'\s*\)/g);
  return [
    ...Array.from(named, ([, names = '', from = '']) => ({
      from: join(folder, from),
      names: names.includes('*') ? ['*'] : names.split(/[{},]/).map(nameOf),
    })),
    ...Array.from(whole, ([, from = '']) => ({ from: join(folder, from), names: ['*'] })),
  ];
}

function nameOf(imported: string): string {
  return imported
    .trim()
    .replace(/^type\s+/, '')
    .replace(/\s+as\s.*$/, '');
}

it('every export of the bot is imported by another file', () => {
  const taken = new Set(
    importing.flatMap(importsOf).flatMap(({ from, names }) => names.map((name) => `${from} ${name}`)),
  );
  const exported = /^export\s+(?:async\s+)?(?:function\*?|const|let|class|type)\s+(\w+)/gm;
  const offered = importing
    .filter(({ path }) => path.startsWith('src/') && !taken.has(`${path} *`))
    .flatMap(({ path, text }) => Array.from(text.matchAll(exported), ([, name]) => `${path} ${name}`));
  expect(offered.length).toBeGreaterThan(500);
  expect(offered.filter((one) => !taken.has(one))).toEqual([]);
});

it('every wrong edit that the mutants make fits the code, so that a rename doesn’t disable it', () => {
  for (const { name, edits } of [...mutants, ...codeMutants]) {
    for (const [file, from] of edits) {
      expect([name, readFileSync(file, 'utf8').split(from).length - 1]).toEqual([name, 1]);
    }
  }
});
