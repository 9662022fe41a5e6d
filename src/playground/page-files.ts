import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { findPackageJSON, stripTypeScriptTypes } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const types: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.ts': 'text/javascript; charset=utf-8',
};

const pageFolder = fileURLToPath(new URL('page/', import.meta.url));

/** The view library may be installed beside us or inside the package that needs it. */
function moduleFolder(name: string): string {
  const lit = findPackageJSON('lit', import.meta.url);
  const found = name === 'lit' ? lit : lit && findPackageJSON(name, lit);
  if (found === undefined) throw new Error(`The package ${name} is not installed: run npm ci first.`);
  return dirname(found);
}

/** No path reaches outside the page's folder and the view library's. */
function locate(path: string): string | undefined {
  if (path === '/') return join(pageFolder, 'index.html');
  const own = /^\/page\/([a-z-]+\.(?:ts|css|svg))$/.exec(path)?.[1];
  if (own !== undefined) return join(pageFolder, own);
  const [, name, inside] = /^\/modules\/(lit|lit-html)\/((?:[\w-]+\/)*[\w-]+\.js)$/.exec(path) ?? [];
  return name === undefined || inside === undefined ? undefined : join(moduleFolder(name), inside);
}

/**
 * A file of the page under its path, or undefined: its own sources, their types stripped on the way out, and the
 * view library from where it is installed. No build, no bundle.
 */
export async function readPageFile(path: string): Promise<{ type: string; body: string } | undefined> {
  const location = locate(path);
  const text = location && (await readFile(location, 'utf8').catch(() => undefined));
  if (location === undefined || text === undefined) return undefined;
  const extension = extname(location);
  return { type: types[extension] ?? '', body: extension === '.ts' ? stripTypeScriptTypes(text) : text };
}

/** The hash under which the page's one inline script, its import map, is allowed to stand. */
export async function importMapHash(): Promise<string> {
  const html = (await readPageFile('/'))?.body ?? '';
  const script = /<script type="importmap">([\s\S]*?)<\/script>/.exec(html)?.[1] ?? '';
  return `sha256-${createHash('sha256').update(script).digest('base64')}`;
}
