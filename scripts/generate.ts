import { readFile, writeFile } from 'node:fs/promises';
import openapiTS, { astToString } from 'openapi-typescript';

const description = new URL('../openapi/payments.yaml', import.meta.url);
const schemaFile = new URL('../src/payments/schema.d.ts', import.meta.url);
const banner =
  '// Generated from openapi/payments.yaml by `npm run generate`. Do not edit: a test fails when it is stale.\n\n';

/** The TypeScript types of openapi/payments.yaml, as they should stand in src/payments/schema.d.ts. */
export async function generateSchema(): Promise<string> {
  return banner + astToString(await openapiTS(description));
}

async function main(): Promise<void> {
  const fresh = await generateSchema();
  if (!process.argv.includes('--check')) {
    await writeFile(schemaFile, fresh);
    return;
  }
  const present = await readFile(schemaFile, 'utf8').catch(() => '');
  if (present !== fresh) {
    console.error('src/payments/schema.d.ts is stale: run `npm run generate` and commit the result.');
    process.exitCode = 1;
  }
}

if (import.meta.main) await main();
