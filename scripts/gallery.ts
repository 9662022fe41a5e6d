/**
 * `npm run gallery`: runs the stories of test/e2e, and puts every screen that they show on one page, .cache/gallery.html, with
 * its words against its budget. Names what the bot registers and no story touches. Exit code 1 when a screen is over
 * its budget or a story fails.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { galleryPage } from '../test/gallery/page.ts';
import { fullest, galleryVariable, type Recorded, type Screen } from '../test/gallery/screens.ts';
import { everyThing, type Thing } from '../test/support/permission-stage.ts';
import { everyVerb } from './every-verb.ts';

const folder = mkdtempSync(join(tmpdir(), 'payops-gallery-'));
const files = process.argv.length > 2 ? process.argv.slice(2) : ['test/e2e'];
const stories = ['node_modules/vitest/vitest.mjs', 'run', '--project=whole', ...files];
const { status } = spawnSync(process.execPath, stories, {
  stdio: 'inherit',
  env: { ...process.env, [galleryVariable]: folder },
});
const recorded = readdirSync(folder).map(
  (name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Recorded,
);
rmSync(folder, { recursive: true });

const byName = new Map<string, Screen>();
for (const screen of recorded.flatMap((one) => one.screens)) {
  if ((byName.get(screen.name)?.words ?? -1) < screen.words) byName.set(screen.name, screen);
}
const screens = [...byName.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1));
const done = new Set(recorded.flatMap((one) => one.done));
const nameOf = ({ kind, name }: Thing): string => (kind === 'typed' ? (name.split(' ')[0] ?? '') : name);
const missing = everyThing(everyVerb())
  // A reference alone is looked up, whichever it is.
  .filter((thing) => !done.has(nameOf(thing)) && !/^[A-Z\d-]+$/.test(nameOf(thing)))
  .map(({ id }) => id);
mkdirSync('.cache', { recursive: true });
writeFileSync('.cache/gallery.html', galleryPage(screens, missing));

const over = screens.filter(({ words, most }) => words > most * fullest);
for (const { name, words, most } of screens)
  console.log(
    `${words > most * fullest ? '✗' : words > most ? '·' : ' '} ${String(words).padStart(4)} of ${String(most).padStart(3)}  ${name}`,
  );
console.log(`Without a picture: ${missing.join(', ') || 'nothing'}`);
console.log(`${screens.length} screens, ${over.length} over their budget: .cache/gallery.html`);
process.exitCode = status === 0 && over.length === 0 ? 0 : 1;
