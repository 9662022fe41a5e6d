import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { WorkspaceAction } from '../../src/simulators/protocol.ts';
import { everyVerb } from '../../scripts/every-verb.ts';
import { openDesk, type Desk, type DeskOptions } from '../support/desk.ts';
import { everyThing } from '../support/permission-stage.ts';
import { galleryPage } from './page.ts';
import { collectScreens, type Screen } from './screens.ts';
import { chapters, stormChapters, type Chapter } from './tour.ts';

const folder = fileURLToPath(new URL('../../.cache/', import.meta.url));
const done = new Set<string>();
const problems: string[] = [];
let screens: Screen[] = [];

const rules = `routes:
  - { name: fraud, when: { reason: suspected fraud }, to: C0OPS00001, mention: S0ONCALL01 }
daily_summary:
  - { channel: C0OPS00001, at: '12:00', tz: Africa/Lagos }
`;

test(
  'every screen of the bot is within its budget, and what it registers without a picture is named',
  { timeout: 900_000 },
  async (scope) => {
    const env = { PAYMENTS_TIMEOUT_SECONDS: '5', CHARGE_RETRY_ATTEMPTS: '10' };
    await play(scope, chapters, {
      env,
      policy: (policy) =>
        policy
          .replace(
            '- { what: retry }',
            '- { what: retry }\n    - { what: charge, currency: NGN, amount_from: 500000.00, needed: 2 }\n    - { what: card_email }',
          )
          .replace(
            /(support-agent:\n.*\n.*\])/,
            '$1\n    limits: { NGN: { per_charge: 900000.00, per_agent_per_day: 2000000.00 } }',
          )
          .replace('may: [lookup, doubt]', 'may: [lookup, doubt, charge]'),
    });
    await play(scope, stormChapters, {
      env: { ...env, DIGEST_THRESHOLD: '3' },
      policy: (policy) => policy + rules,
    });
    const missing = everyThing(everyVerb())
      .filter(({ kind, name }) => !done.has(kind === 'typed' ? (name.split(' ')[0] ?? '') : name))
      .map(({ id }) => id);
    mkdirSync(folder, { recursive: true });
    writeFileSync(`${folder}gallery.html`, galleryPage(screens, missing));
    const over = screens.filter(({ words, most }) => words > most);
    console.log(table(screens));
    console.log(`${screens.length} screens, ${over.length} over their budget: .cache/gallery.html`);
    console.log(`Without a picture: ${missing.join(', ') || 'nothing'}`);
    expect(problems).toEqual([]);
    expect(over.map(({ name, words, most }) => `${name}: ${words} of ${most}`)).toEqual([]);
  },
);

async function play(
  scope: Parameters<typeof openDesk>[0],
  all: readonly Chapter[],
  options: DeskOptions,
): Promise<void> {
  const desk = await openDesk(scope, {
    clock: true,
    payments: { knownCards: true, terminals: 300 },
    workspace: { grantedOptionalScopes: 'all' },
    ...options,
  });
  const { workspace } = desk.house;
  const collector = collectScreens(workspace);
  const act = workspace.act.bind(workspace);
  workspace.act = (person, action) => {
    note(action);
    return act(person, action);
  };
  for (const { name, play: part } of all) {
    collector.chapter(name);
    // oxlint-disable-next-line no-await-in-loop -- one chapter after the other
    await part(desk).catch((error: unknown) => problems.push(`${name}: ${String(error).slice(0, 1_500)}`));
  }
  for (const view of collector.views) done.add(view);
  screens = [...screens, ...collector.screens];
  await (desk satisfies Desk).bot.stop();
}

function note(action: WorkspaceAction): void {
  if (action.kind === 'send_message') done.add(action.text.replace(/^\/pay /, '').split(' ')[0] ?? '');
  if (action.kind === 'block_action' || action.kind === 'suggest') done.add(action.actionId);
  if (action.kind === 'global_shortcut' || action.kind === 'message_shortcut') done.add(action.callbackId);
}

function table(all: readonly Screen[]): string {
  return all
    .map(
      ({ name, words, most }) =>
        `${words > most ? '✗' : ' '} ${String(words).padStart(4)} of ${String(most).padStart(3)}  ${name}`,
    )
    .join('\n');
}
