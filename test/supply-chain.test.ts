import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const root = new URL('..', import.meta.url);
const read = (path: string): unknown => JSON.parse(readFileSync(new URL(path, root), 'utf8'));

type Locked = {
  version: string;
  resolved?: string;
  integrity?: string;
  license?: string;
  dev?: true;
  devOptional?: true;
  hasInstallScript?: true;
};

const { packages } = read('package-lock.json') as { packages: Record<string, Locked> };
const all = Object.entries(packages).filter(([path]) => path !== '');
const production = all.filter(([, { dev, devOptional }]) => !dev && !devOptional);
const asked = read('package.json') as Record<'dependencies' | 'devDependencies', Record<string, string>>;

/** Licences whose code a company may ship with its own without asking. */
const permissive = ['MIT', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', '0BSD'];

it('no dependency runs a script at installation, except the Node for the tests', () => {
  expect(production.length).toBeGreaterThan(50);
  const scripted = all.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path);
  expect(scripted).toEqual(['node_modules/node']);
  expect(production.some(([path]) => scripted.includes(path))).toBe(false);
});

it('each dependency is pinned to one version and to a hash', () => {
  const versions = [...Object.values(asked.dependencies), ...Object.values(asked.devDependencies)];
  expect(versions.filter((version) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
  expect(
    all.filter(([, { resolved, integrity }]) => resolved !== undefined && integrity === undefined),
  ).toEqual([]);
});

it('each production dependency has a licence that requires only its notice', () => {
  const others = production.filter(([, { license = 'none' }]) => !permissive.includes(license));
  expect(others.map(([path, { license }]) => `${path}: ${license}`)).toEqual([]);
});

it('npm run sbom names every production dependency, with its licence', () => {
  const { scripts } = read('package.json') as { scripts: Record<'sbom', string> };
  const [program = '', ...words] = scripts.sbom.split(' ');
  const bill = JSON.parse(execFileSync(program, words, { cwd: root, encoding: 'utf8' })) as {
    metadata: { component: { name: string } };
    bomFormat: string;
    components: { name: string; version: string; licenses?: unknown[] }[];
  };
  expect(bill.bomFormat).toBe('CycloneDX');
  expect(bill.metadata.component.name).toBe('payops');
  const named = new Set(bill.components.map(({ name, version }) => `${name}@${version}`));
  const missing = production
    .map(([path, { version }]) => `${path.replace(/^.*node_modules\//, '')}@${version}`)
    .filter((name) => !named.has(name));
  expect(missing).toEqual([]);
  expect(bill.components.filter(({ licenses = [] }) => licenses.length === 0)).toEqual([]);
});
