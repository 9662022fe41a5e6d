/**
 * `npm run gallery`: runs the stories of test/e2e and collects every screen that they show on one page,
 * .cache/gallery.html, with its word count and budget. Lists what the bot registers and no story uses. Exit code 1 if a
 * screen exceeds its budget or a story fails.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fullest, galleryVariable, type Recorded, type Screen } from '../test/support/screens.ts';
import { everyThing, type Thing } from '../test/support/permission-stage.ts';
import { everyVerb } from './every-verb.ts';
import { people } from '../src/simulators/slack/directory.ts';

type Part = { [field: string]: unknown };

/** All screens on one self-contained page, grouped by the surface in their names. */
function galleryPage(screens: readonly Screen[], missing: readonly string[]): string {
  const surfaces = Map.groupBy(screens, ({ name }) => name.split(' › ')[0]);
  const parts = [...surfaces].map(
    ([name = '', shown]) => `<h2>${escape(name)}</h2><div class="row">${shown.map(card).join('')}</div>`,
  );
  const none =
    missing.length === 0 ? '' : `<p class="over">Without a picture: ${escape(missing.join(', '))}</p>`;
  return `<!doctype html><meta charset="utf-8"><title>Gallery</title><style>${style}</style>
<h1>Every screen, with its words</h1>${none}${parts.join('')}`;
}

function card({ name, words, most, frame, blocks }: Screen): string {
  const { title, submit, close, errors = {} } = frame;
  const problems = Object.values(errors).map((problem) => `<p class="problem">${escape(problem)}</p>`);
  const buttons = [
    close && `<button>${escape(close)}</button>`,
    submit && `<button class="primary">${escape(submit)}</button>`,
  ];
  const foot = title === undefined ? '' : `<footer>${buttons.filter(Boolean).join('')}</footer>`;
  const isOver = words > most * fullest;
  return `<section><p class="name${isOver ? ' over' : ''}">${escape(name)} <b>${words} of ${most}</b></p>
<article${title === undefined ? '' : ' class="window"'}>${title === undefined ? '' : `<h3>${escape(title)}</h3>`}${blocks.map(html).join('')}${problems.join('')}${foot}</article></section>`;
}

const drawn: Readonly<Record<string, (part: Part) => string>> = {
  header: ({ text }) => `<h4>${html(text)}</h4>`,
  divider: () => '<hr>',
  context: ({ elements }) =>
    `<p class="context">${(elements as unknown[]).map((one) => `<span>${html(one)}</span>`).join(' ')}</p>`,
  actions: ({ elements }) => `<p>${html(elements)}</p>`,
  section: ({ text }) => `<p>${html(text)}</p>`,
  rich_text_section: ({ elements }) => `<p>${html(elements)}</p>`,
  rich_text_quote: ({ elements }) => `<blockquote>${html(elements)}</blockquote>`,
  rich_text_preformatted: ({ elements }) => `<pre>${html(elements)}</pre>`,
  user: ({ user_id: id }) =>
    `<span class="who">@${escape(people.find((one) => one.id === id)?.realName ?? 'someone')}</span>`,
  usergroup: () => '<span class="who">@on-call</span>',
  channel: () => '<span class="who">#channel</span>',
  date: ({ format }) => (format === '{time}' ? '14:05' : 'Nov 23 14:05'),
  button: ({ style, text }) =>
    `<button class="${typeof style === 'string' ? style : ''}">${html(text)}</button>`,
  overflow: () => '<button>⋯</button>',
  input: ({ label, optional, element, hint }) =>
    `<div class="field"><b>${html(label)}</b>${optional === true ? ' (optional)' : ''}${html(element)}<small>${html(hint)}</small></div>`,
  plain_text_input: ({ initial_value: typed, placeholder }) =>
    `<div class="input">${typeof typed === 'string' ? escape(typed) : `<i>${html(placeholder)}</i>`}&nbsp;</div>`,
  static_select: menu,
  external_select: menu,
  users_select: menu,
  text: ({ text, style }) => styled(escape(String(text)), style as Part | undefined),
  mrkdwn: ({ text }) =>
    escape(
      String(text)
        .replaceAll(/<!date[^>]*>/g, 'Nov 23 14:05')
        .replaceAll(/<[^|>]*\|([^>]*)>/g, '$1')
        .replaceAll(/<#[^>]*>/g, '#channel'),
    ),
};

function menu({ initial_option: option, placeholder }: Part): string {
  return `<div class="input">${html((option as Part | undefined)?.['text'] ?? placeholder)} ▾</div>`;
}

function html(part: unknown): string {
  if (Array.isArray(part)) return part.map(html).join('');
  if (typeof part !== 'object' || part === null) return '';
  const { type, text, elements } = part as Part;
  const draw = drawn[String(type)];
  if (draw) return draw(part as Part);
  return typeof text === 'string' ? escape(text) : `${html(text)}${html(elements)}`;
}

function styled(text: string, style: Part = {}): string {
  const bold = style['bold'] === true ? `<b>${text}</b>` : text;
  return style['code'] === true ? `<code>${bold}</code>` : bold;
}

function escape(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('\n', '<br>');
}

const style = `
body { font: 15px/1.45 system-ui, sans-serif; margin: 24px; background: #eee; }
.row { display: flex; flex-wrap: wrap; gap: 16px; align-items: flex-start; }
section { width: 400px; } article { background: #fff; padding: 12px 16px; border-radius: 8px; overflow-wrap: anywhere; }
article.window { box-shadow: 0 2px 12px #0003; } article p { margin: 3px 0; }
.name { font-size: 12px; margin: 0 0 4px; color: #555; } .over { color: #c00; } .context { color: #777; font-size: 12px; } .context span { margin-right: 8px; }
h3 { margin: 0 0 8px; } h4 { margin: 8px 0 4px; font-size: 17px; } blockquote { border-left: 4px solid #ccc; margin: 2px 0; padding-left: 8px; }
pre { background: #f6f6f6; padding: 6px; white-space: pre-wrap; font-size: 12px; margin: 4px 0; } code { background: #f6f6f6; color: #b3214e; font-size: 13px; }
.who { color: #1264a3; background: #e8f5fa; } button { margin: 2px 6px 2px 0; padding: 4px 10px; border: 1px solid #bbb; border-radius: 4px; background: #fff; font: inherit; font-weight: 600; font-size: 13px; }
button.primary { background: #007a5a; color: #fff; } button.danger { color: #c00; } .field { margin: 8px 0; } .field small { color: #777; display: block; }
.input { border: 1px solid #bbb; border-radius: 4px; padding: 4px 8px; } footer { text-align: right; border-top: 1px solid #eee; margin-top: 8px; padding-top: 8px; } .problem { color: #c00; }`;

const folder = mkdtempSync(join(tmpdir(), 'payops-gallery-'));
const files = process.argv.length > 2 ? process.argv.slice(2) : ['test/e2e'];
const stories = ['node_modules/vitest/vitest.mjs', 'run', '--project=waiting', ...files];
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
  // A bare reference is a look-up, so any one of them is enough.
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
