import { writeFile } from 'node:fs/promises';
import openapiTS, { astToString } from 'openapi-typescript';

const description = new URL('../openapi/payments.yaml', import.meta.url);
const schemaFile = new URL('../src/payments/schema.d.ts', import.meta.url);
const banner =
  '// Generated from openapi/payments.yaml by `npm run generate`. Do not edit: a test fails when it is stale.\n\n';

/** The TypeScript types of openapi/payments.yaml, for src/payments/schema.d.ts. */
export async function generateSchema(): Promise<string> {
  return banner + astToString(await openapiTS(description));
}

if (import.meta.main) await writeFile(schemaFile, await generateSchema());
