/** `npm run licences`: the licence of every production dependency, by licence, from the lock file. */
import { readFileSync } from 'node:fs';

type Locked = { version: string; license?: string; dev?: true; devOptional?: true };

const lock = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')) as {
  packages: Record<string, Locked>;
};
const production = Object.entries(lock.packages).filter(
  ([path, { dev, devOptional }]) => path !== '' && !dev && !devOptional,
);
for (const [licence, packages] of Map.groupBy(production, ([, { license = 'none' }]) => license)) {
  const names = packages.map(([path, { version }]) => `${path.replace(/^.*node_modules\//, '')}@${version}`);
  console.log(`${licence} (${names.length}): ${names.join(', ')}\n`);
}
