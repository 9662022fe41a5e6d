/**
 * Generates docs/settings.md, docs/payops.schema.json and .env.example from the settings' schema, docs/commands.md from
 * the commands, and the diagram of docs/architecture.md from the imports. With --check it writes nothing, and fails if
 * one of them is out of date.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { commands } from '../src/cli/command-line.ts';
import { everyVerb } from './every-verb.ts';
import { policySchema } from '../src/config/policy.ts';
import type { Setting } from '../src/config/readers.ts';
import { settings, variableName } from '../src/config/settings.ts';
import { templateExample } from '../src/config/webhook-settings.ts';
import { permissionsOf } from '../src/slack/command.ts';

const groups = Map.groupBy(Object.entries<Setting>(settings), ([, setting]) => setting.group);

function settingsPage(): string {
  const parts = [
    '# Settings',
    guide,
    '## How they are read',
    'Made from `src/config/settings.ts` by `npm run generate`; do not edit. Every setting is an environment variable; lists are separated by commas. A **secret** may also be read from a file: set `NAME_FILE` to its path. † The payments service’s specification doesn’t show it, so it is never guessed.',
  ];
  for (const [group, entries] of groups) {
    parts.push(`## ${group}`, tableOf(entries));
    if (group === 'Webhook') parts.push(signedTemplate());
  }
  parts.push(
    '## Several merchant accounts',
    'Each has its own secrets, under its name: [accounts.md](accounts.md).',
    '## The policy file',
    'All else is in `payops.yml`: [policy.md](policy.md), [alerts.md](alerts.md). With `# yaml-language-server: $schema=docs/payops.schema.json` as its first line editors check and complete it.',
  );
  return `${parts.join('\n\n')}\n`;
}

/** At most one screen, before the reference. */
const guide = `The first seven lines of [.env.example](../.env.example) are what a bot needs; \`npm run connect\` asks for them and finds what else
your service needs ([set-up.md](set-up.md)). If it differs from the specification, by hand:

- *Paid*: \`PAYMENTS_PAID_STATUSES\`, \`PAYMENTS_AMOUNT_POINTER\`, \`PAYMENTS_FEE_POINTER\`, \`PAYMENTS_FINAL_STATUSES\`.
- Access token: \`PAYMENTS_ACCESS_TOKEN_POINTERS\`, \`PAYMENTS_TOKEN_EXPIRY_POINTERS\`, \`PAYMENTS_PARENT_ACCOUNT_ID\`.
- Alerts: \`WEBHOOK_SECRETS\`, \`WEBHOOK_SIGNATURE_PRESET\`; the rest below.
- \`/pay cards\` in live: the \`SAVED_CARDS_\` settings without a default.

Their right values: \`npm run doctor -- --paid REF AMOUNT --cards EMAIL --delivery FILE\`.`;

/** Links the template of single fields, with an example that a test reads. */
function signedTemplate(): string {
  return [
    '### The signed template',
    `A service signs \`<time>|<order reference>|<event>\`, with the time (in milliseconds) in a header, and sends base64:

\`\`\`
${templateExample.join('\n')}
\`\`\`

\`{body}\` is the body byte for byte; \`{pair:K}\` what follows \`K=\` in the signature’s header; \`{json:/pointer}\` a field of the body. All else is
signed as it stands; fields need something between them. \`npm run explain-delivery\` finds the template of a captured delivery.

With \`{body}\` everything in an event is trusted. Without it, only the fields that the template names; the log says at startup what is off.`,
  ].join('\n\n');
}

/** In the table a mark replaces these words. */
const openInSpec = ' Spec: not shown.';

function tableOf(entries: [string, Setting][]): string {
  const rows = entries.map(([key, setting]) => {
    const fallback = (setting.fallback ?? '') === '' ? '' : ` (\`${setting.fallback}\`)`;
    const description = setting.description.replace(openInSpec, '');
    const name = `\`${variableName(key)}\`${description === setting.description ? '' : ' †'}`;
    const words = setting.secret ? `${description} **Secret**.` : description;
    return `| ${name} | ${`${words}${fallback}`.replaceAll('|', '\\|')} |`;
  });
  return ['| Setting | What (default) |', '|---|---|', ...rows].join('\n');
}

/** Without these the bot does not start, or reaches no service. */
const needed: readonly (keyof typeof settings)[] = [
  'slackBotToken',
  'slackSigningSecret',
  'paymentsSandboxUrl',
  'paymentsAccountId',
  'paymentsClientId',
  'paymentsClientSecret',
  'paymentsTokenIssueBody',
];

const longestLine = 120;

function environmentExample(): string {
  const lines = [
    '# Made from src/config/settings.ts by `npm run generate`; copy to .env and fill in. docs/settings.md explains each.',
    '# Lists are separated by commas.',
    '',
    '# You need these. In Socket Mode: SLACK_MODE=socket and SLACK_APP_TOKEN in place of the signing secret.',
    ...needed.map((key) => `${variableName(key)}=`),
  ];
  for (const [group, entries] of groups) {
    const others = entries.filter(([key]) => !needed.some((one) => one === key));
    lines.push('', `# ${group}: docs/settings.md#${group.toLowerCase().replaceAll(' ', '-')}`);
    for (const [key, setting] of others) {
      lines.push(`# ${inOneLine(setting.description)}`, `#${variableName(key)}=${setting.fallback ?? ''}`);
    }
  }
  return `${lines.join('\n')}\n`;
}

/** The first sentence describes the setting; the page has the rest. */
function inOneLine(description: string): string {
  const [first = ''] = description.split(/(?<=\.) /);
  if (first.length > longestLine) throw new Error(`The first sentence is too long for one line: ${first}`);
  return first;
}

function commandsPage(): string {
  const verbs = everyVerb().map(({ verb, usage, summary, examples, permission }) => [
    asCode(`/pay ${verb} ${usage}`.trim()),
    summary,
    examples.map((example) => asCode(`/pay ${example}`)).join(', '),
    permissionsOf({ permission }).map(asCode).join(' or '),
  ]);
  const { features } = parse(readFileSync('manifest.yml', 'utf8')) as Manifest;
  const shortcuts = features.shortcuts.map(({ name, type, description }) => [
    name,
    type === 'global' ? 'anywhere' : 'on a message, under *More actions*',
    description,
  ]);
  const typed = Object.keys(commands).map(asCode).join(', ');
  return `${[
    '# Commands',
    'Made from the code by `npm run generate`; do not edit.',
    '## In Slack',
    '`/pay <reference>` is short for `/pay lookup <reference>`. `/pay` says what waits for you, `/pay help` what your roles allow, `/pay help charge` explains one command. `--account NAME` chooses among several merchant accounts. Outcomes: [agents.md](agents.md). Permissions: [policy.md](policy.md).',
    table(['Type', 'What', 'For example', 'Permission'], verbs),
    '## In Slack’s own menus',
    table(['Shortcut', 'Where', 'What'], shortcuts),
    '## In a terminal',
    `For operators, with the bot’s settings: \`npm run payops --\` and ${typed}. \`npm run payops -- --help\` says what each does, \`npm run payops -- redrive --help\` how one is typed. Output and exit codes: [command-line.md](command-line.md).`,
  ].join('\n\n')}\n`;
}

type Manifest = { features: { shortcuts: { name: string; type: string; description: string }[] } };

function asCode(text: string): string {
  return `\`${text}\``;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [
    head,
    head.map(() => '---'),
    ...rows.map((row) => row.map((cell) => cell.replaceAll('|', '\\|'))),
  ];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** Which room of the bot imports which, without arrows that follow from others. All import the domain. */
function roomsOfImports(): string {
  const imports = new Map<string, Set<string>>();
  const all = readdirSync('src', { recursive: true, encoding: 'utf8' });
  for (const path of all.filter((one) => one.endsWith('.ts') && !/^(playground|simulators)\//.test(one))) {
    const from = roomOf(path);
    for (const [, target = ''] of readFileSync(join('src', path), 'utf8').matchAll(
      /(?:from|import\()\s*'(\.[^']+)'/g,
    )) {
      const to = roomOf(join(dirname(path), target));
      if (from === undefined || to === undefined || from === to) continue;
      imports.set(from, (imports.get(from) ?? new Set()).add(to));
    }
  }
  const leadsTo = (from: string, to: string, passed: readonly string[] = []): boolean =>
    [...(imports.get(from) ?? [])].some(
      (next) => next === to || (!passed.includes(next) && leadsTo(next, to, [...passed, from])),
    );
  const arrows = [...imports].flatMap(([from, targets]) =>
    [...targets]
      .filter((to) => ![...targets].some((other) => other !== to && leadsTo(other, to)))
      .map((to) => `  ${from} --> ${to}`),
  );
  return ['```mermaid', 'flowchart TD', ...arrows.toSorted(), '```'].join('\n');
}

/** Undefined for files that belong to no room: shared ones, and the simulators. */
function roomOf(path: string): string | undefined {
  const [room = '', ...rest] = path.split('/');
  if (rest.length === 0) return /^(main|app)\.ts$/.test(room) ? room.replace('.ts', '') : undefined;
  return ['domain', 'playground', 'simulators'].includes(room) ? undefined : room;
}

function architecturePage(): string {
  const page = readFileSync('docs/architecture.md', 'utf8');
  const between = /(<!-- rooms begin -->\n)[^]*(<!-- rooms end -->)/;
  return page.replace(between, (_, begin: string, end: string) => `${begin}\n${roomsOfImports()}\n\n${end}`);
}

const files = {
  'docs/architecture.md': architecturePage(),
  'docs/commands.md': commandsPage(),
  'docs/settings.md': settingsPage(),
  'docs/payops.schema.json': `${JSON.stringify(z.toJSONSchema(policySchema, { io: 'input' }), undefined, 2)}\n`,
  '.env.example': environmentExample(),
};

const check = process.argv.includes('--check');
for (const [path, content] of Object.entries(files)) {
  if (!check) writeFileSync(path, content);
  else if (readFileSync(path, 'utf8') !== content) {
    console.error(`${path} is stale: run npm run generate and commit what it writes.`);
    process.exitCode = 1;
  }
}
