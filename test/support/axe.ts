import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

type Violation = { impact: string; id: string; nodes: { target: string[] }[] };

/** What axe finds on the page, as "serious color-contrast: .soft"; minor ones too. */
export async function findViolations(page: Page): Promise<string[]> {
  if (await page.evaluate('typeof axe === "undefined"')) await page.evaluate(source);
  const found = await page.evaluate<Violation[]>(
    'axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations)',
  );
  return found.map(
    ({ impact, id, nodes }) => `${impact} ${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`,
  );
}
