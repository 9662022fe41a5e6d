import { readFileSync, writeFileSync } from 'node:fs';
import type { House } from './house.ts';
import { noonZone } from './noon-zone.ts';

/** Support agents and whoever is on call may charge within these limits, as YAML says them; the lead has none. */
export function limitAgents({ policyFile }: Pick<House, 'policyFile'>, limits: string): void {
  const policy = readFileSync(policyFile, 'utf8')
    .replace('roles:', `timezone: ${noonZone()}\nroles:`)
    .replace(/(support-agent:\n.*\n.*\])/, `$1\n    limits: ${limits}`)
    .replace(/may: \[lookup, doubt\]/, `may: [lookup, charge, otp, doubt]\n    limits: ${limits}`);
  writeFileSync(policyFile, policy);
}
