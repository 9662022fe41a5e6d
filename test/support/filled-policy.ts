import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folder = mkdtempSync(join(tmpdir(), 'payops-policy-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

/** The example policy with ids as an operator would fill them in. */
export const filledPolicy = readFileSync('payops.example.yml', 'utf8').replaceAll(/\b([CUS])XXXX/g, '$10123');

export const filledPolicyFile = join(folder, 'payops.yml');
writeFileSync(filledPolicyFile, filledPolicy);
