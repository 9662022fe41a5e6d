/**
 * `npm run sbom --silent > sbom.json`: the production dependencies as CycloneDX, made by npm from the lock file. Uses a
 * copy of the project without development dependencies: with `--omit dev` npm 11 leaves out packages that are both.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

type Lock = { packages: Record<string, { dev?: true; devOptional?: true; devDependencies?: object }> };

const parent = mkdtempSync(join(tmpdir(), 'payops-sbom-'));
try {
  // npm names the root component after its folder.
  const folder = join(parent, 'payops');
  mkdirSync(folder);
  const project = JSON.parse(readFileSync('package.json', 'utf8')) as { devDependencies?: object };
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as Lock;
  delete project.devDependencies;
  delete lock.packages['']?.devDependencies;
  for (const [path, { dev, devOptional }] of Object.entries(lock.packages)) {
    if (dev || devOptional) delete lock.packages[path];
  }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(project));
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock));
  const words = ['sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--package-lock-only'];
  process.stdout.write(execFileSync('npm', words, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] }));
} finally {
  rmSync(parent, { recursive: true, force: true });
}
