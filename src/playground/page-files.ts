import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { findPackageJSON, stripTypeScriptTypes } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export type PageFile = { type: string; body: string };

export type PageFiles = {
  /** The file under a path of the page's server, or undefined; no path reaches outside its folders. */
  read: (path: string) => Promise<PageFile | undefined>;
  /** The hash under which the page's one inline script, its import map, is allowed to stand. */
  importMapHash: () => Promise<string>;
};

const types: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.ts': 'text/javascript; charset=utf-8',
};

const pageFolder = fileURLToPath(new URL('page/', import.meta.url));

/** Where an installed package of the view library is; it may be installed beside us or inside the one that needs it. */
function packageFolder(name: 'lit' | 'lit-html'): string {
  const lit = findPackageJSON('lit', import.meta.url);
  const found = name === 'lit' ? lit : lit && findPackageJSON(name, lit);
  if (found === undefined) throw new Error(`The package ${name} is not installed: run npm ci first.`);
  return dirname(found);
}

/**
 * The page's own sources, their types stripped on the way out, and the view library from where it is
 * installed: no build, no bundle. What was read once is kept until the file changes.
 */
export function createPageFiles(): PageFiles {
  const kept = new Map<string, { changedMs: number; file: PageFile }>();
  const folders = { lit: packageFolder('lit'), 'lit-html': packageFolder('lit-html') };

  function locate(path: string): string | undefined {
    if (path === '/') return join(pageFolder, 'index.html');
    const own = /^\/page\/([a-z-]+\.(?:ts|css|svg))$/.exec(path)?.[1];
    if (own !== undefined) return join(pageFolder, own);
    const [, name, inside] = /^\/modules\/(lit|lit-html)\/((?:[\w-]+\/)*[\w-]+\.js)$/.exec(path) ?? [];
    if ((name !== 'lit' && name !== 'lit-html') || inside === undefined) return undefined;
    return join(folders[name], inside);
  }

  async function read(path: string): Promise<PageFile | undefined> {
    const location = locate(path);
    if (location === undefined) return undefined;
    const changedMs = await stat(location).then(
      (found) => found.mtimeMs,
      () => undefined,
    );
    if (changedMs === undefined) return undefined;
    const before = kept.get(location);
    if (before?.changedMs === changedMs) return before.file;
    const extension = extname(location);
    const text = await readFile(location, 'utf8');
    const body = extension === '.ts' ? stripTypeScriptTypes(text) : text;
    const file = { type: types[extension] ?? 'text/plain; charset=utf-8', body };
    kept.set(location, { changedMs, file });
    return file;
  }

  return {
    read,
    async importMapHash() {
      const html = (await read('/'))?.body ?? '';
      const script = /<script type="importmap">([\s\S]*?)<\/script>/.exec(html)?.[1] ?? '';
      return `sha256-${createHash('sha256').update(script).digest('base64')}`;
    },
  };
}
