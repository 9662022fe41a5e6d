import { readdirSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { listed, parsed, problem, type Parsed } from '../domain/wording.ts';

export type Variables = Readonly<Record<string, string | undefined>>;

/** One .env file per payments service, with the settings that are the same for each of its merchants. */
export const servicesFolder = new URL('../../openapi/services/', import.meta.url);

/** Adds the settings of the set that PAYMENTS_SERVICE names, which the environment overrides. Reads the set's file. */
export function withServiceSet(variables: Variables, isSecret: (name: string) => boolean): Parsed<Variables> {
  const name = variables['PAYMENTS_SERVICE']?.trim() ?? '';
  if (name === '') return parsed(variables);
  const names = serviceSets();
  if (!names.includes(name)) {
    return problem(`PAYMENTS_SERVICE must be a set of openapi/services: ${listed(names, 'or')}.`);
  }
  const set = parseEnv(readFileSync(new URL(`${name}.env`, servicesFolder), 'utf8'));
  // Sets are shared and part of the image, so they must not hold secrets.
  const forbidden = Object.keys(set).filter((key) => key === 'PAYMENTS_SERVICE' || isSecret(key));
  if (forbidden.length > 0) {
    return problem(
      `openapi/services/${name}.env may not hold ${listed(forbidden, 'or')}: put it into the environment.`,
    );
  }
  const overrides = Object.entries(variables).filter(
    ([, value]) => value !== undefined && value.trim() !== '',
  );
  return parsed({ ...variables, ...set, ...Object.fromEntries(overrides) });
}

/** The names of the sets, in order. */
export function serviceSets(): string[] {
  const files = readdirSync(servicesFolder).filter((file) => file.endsWith('.env'));
  return files.map((file) => file.slice(0, -'.env'.length)).toSorted();
}
