import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readinessChecks } from '../src/app.ts';
import { helpText } from '../src/cli/command-line.ts';
import { exitCodeWords } from '../src/cli/exit-codes.ts';
import { createCommandSet } from '../src/features/help/command-set.ts';
import { everyVerb } from '../scripts/every-verb.ts';
import { policySchema } from '../src/config/policy.ts';
import { perAccountSettings, merchantVariable } from '../src/config/read-merchants.ts';
import type { Setting } from '../src/config/readers.ts';
import { settings, variableName } from '../src/config/settings.ts';
import { installApp } from '../src/simulators/slack/manifest.ts';
import { oneAccount } from './support/permission-stage.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'CHANGELOG.md',
  'docs/README.md',
  'docs/set-up.md',
  'docs/first-workspace.md',
  'docs/webhooks.md',
  'docs/operating.md',
  'docs/upgrading.md',
  'docs/troubleshooting.md',
  'docs/commands.md',
  'docs/agents.md',
  'docs/alerts.md',
  'docs/on-call.md',
  'docs/accounts.md',
  'docs/policy.md',
  'docs/audit.md',
  'docs/threat-model.md',
  'docs/command-line.md',
  'docs/limits.md',
  'docs/performance.md',
  'docs/settings.md',
  'docs/architecture.md',
  'docs/design-decisions.md',
];

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

const packageJson = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
const scripts = new Map(Object.entries(packageJson.scripts));
const compose = parse(read('compose.yml')) as {
  services: Record<string, Service>;
};
type Service = {
  image?: string;
  build?: { context: string; args: Record<string, string> };
  command?: string;
  environment?: Record<string, string>;
  ports?: string[];
  profiles?: string[];
  volumes?: string[];
};

/** Every command that a page tells people to type, with the file that runs it and the text that shows that. */
const whatRuns: Record<string, { by: string; seen: string; script?: string }> = {
  'npm ci': { by: '.ci/run', seen: 'npm ci' },
  'npm test': { by: '.ci/run', seen: 'npm test', script: 'test' },
  'npm run playground': {
    by: 'test/e2e/browser.test.ts',
    seen: 'src/playground/start.ts',
    script: 'playground',
  },
  'npm start': { by: 'test/support/bot.ts', seen: 'src/start.js', script: 'start' },
};

function commandsIn(page: string): string[] {
  const blocks = Array.from(page.matchAll(/^```sh\n(.*?)^```/gms), ([, block = '']) => block);
  return blocks.flatMap((block) =>
    block
      .split(/\n| && /)
      .map((line) => line.replace(/\s+#.*$/, '').trim())
      .filter((line) => line !== ''),
  );
}

const settingNames = new Set([
  ...perAccountSettings.flatMap((key) => ['lagos', 'test'].map((name) => merchantVariable(key, name))),
  ...Object.entries<Setting>(settings).flatMap(([key, setting]) => {
    const name = variableName(key);
    return setting.secret ? [name, `${name}_FILE`] : [name];
  }),
]);

/** Words in capitals with an underscore that are no settings. */
const noSettings = new Set([
  // Used by the images, besides .env's settings.
  'NODE_IMAGE',
  'STORE_IMAGE',
  'CADDY_IMAGE',
  'NAME_FILE',
  'CLIENT_ID',
  'CLIENT_SECRET',
  'ACCOUNT_ID',
  'REFRESH_TOKEN',
  'ACCESS_TOKEN',
  'TOKEN_KEY',
  'CUSTOMER_EMAIL',
  'PAYOPS_SKIP_NOTHING',
  'NODE_EXTRA_CA_CERTS',
  'NODE_COMPILE_CACHE',
  // Used in compose.yml, for Redis and the proxy.
  'STORE_PASSWORD',
  'REDISCLI_AUTH',
  'SITE_ADDRESS',
]);

function settingsNamedIn(text: string): string[] {
  return Array.from(text.matchAll(/\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b/g), ([name]) => name).filter(
    (name) => !noSettings.has(name),
  );
}

describe('the commands on the pages', () => {
  const commands = ['README.md', 'CONTRIBUTING.md', 'docs/set-up.md', 'docs/command-line.md'].flatMap(
    (page) => commandsIn(read(page)),
  );

  it('are all run by some file', () => {
    expect(new Set(commands)).toEqual(new Set(Object.keys(whatRuns)));
  });

  it.each(Object.entries(whatRuns))(
    'include %s, which is run exactly like this',
    (_, { by, seen, script }) => {
      expect(read(by)).toContain(seen);
      const started = script === undefined ? seen : scripts.get(script);
      expect(/^(npm|run) /.test(seen) || started?.endsWith(seen)).toBe(true);
    },
  );

  it('name only npm scripts that exist, and whose files exist', () => {
    const named = pages.flatMap((page) =>
      Array.from(read(page).matchAll(/npm run ([\w:-]+)/g), ([, name = '']) => name),
    );
    expect(named).toContain('playground');
    expect(named.filter((name) => !scripts.has(name))).toEqual([]);
    const files = [...scripts.values()].flatMap((script) => script.match(/\S+\.ts\b/g) ?? []);
    expect(files).toContain('scripts/test.ts');
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });
});

/** The words after `/pay` wherever a page has it in code font. */
function typedIn(page: string): string[] {
  return Array.from(read(page).matchAll(/`\/pay([^`]*)`/g), ([, words = '']) =>
    words.replaceAll(/\s+/g, ' ').trim(),
  );
}

/** `<reference> [amount]` is a pattern, not something to type. */
function isUsage(words: string): boolean {
  return /[<[]/.test(words);
}

describe('the Slack commands', () => {
  const account = oneAccount(everyVerb(), () => Promise.resolve({ kind: 'allowed' }));
  const commands = createCommandSet([account], () => {});
  function understood(words: string): boolean {
    const asked = commands.understand(words).understood;
    return asked.kind === 'command' && asked.command.prepare(asked.words).ok;
  }

  it.each(['docs/commands.md', 'docs/agents.md'])('of %s are understood word by word', (page) => {
    const examples = typedIn(page).filter((words) => !isUsage(words));
    expect(examples).toContain('charge');
    expect(examples.filter((words) => !understood(words))).toEqual([]);
  });
});

/** A page's anchors, made from its headings as GitHub does. */
function anchorsOf(page: string): string[] {
  return Array.from(read(page).matchAll(/^#+ (.*)$/gm), ([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

describe('links and pictures', () => {
  it.each(pages)('of %s lead somewhere', (page) => {
    const targets = Array.from(read(page).matchAll(/\]\(([^)\s]+)\)/g), ([, target = '']) => target);
    const files = targets.filter((target) => !/^(https?:|mailto:|#)/.test(target));
    const broken = files.filter((target) => {
      const [file = '', anchor] = target.split('#');
      const path = join(dirname(page), file);
      if (!existsSync(join(root, path))) return true;
      return anchor !== undefined && path.endsWith('.md') && !anchorsOf(path).includes(anchor);
    });
    expect(broken).toEqual([]);
  });

  it('name only source files that exist', () => {
    const files = ['src', 'test', 'scripts', 'bench'].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(
        (path) => `/${folder}/${path}`,
      ),
    );
    const named = new Set(
      pages.flatMap((page) => Array.from(read(page).matchAll(/`([\w/-]+\.ts)`/g), ([, file = '']) => file)),
    );
    const missing = [...named].filter((name) => !files.some((file) => file.endsWith(`/${name}`)));
    expect(named.size).toBeGreaterThan(20);
    expect(missing).toEqual([]);
  });

  it('show only PNG files, and all of docs/images', () => {
    const pictures = pages.flatMap((page) =>
      Array.from(read(page).matchAll(/!\[[^\]]+\]\(([^)]+)\)/g), ([, path = '']) =>
        join(dirname(page), path),
      ),
    );
    const made = readdirSync(join(root, 'docs/images')).map((name) => `docs/images/${name}`);
    expect([...new Set(pictures)].toSorted()).toEqual(made.toSorted());
    const kinds = pictures.map((path) => readFileSync(join(root, path)).subarray(1, 4).toString());
    expect(new Set(kinds)).toEqual(new Set(['PNG']));
  });
});

describe('settings', () => {
  it.each([...pages, 'Dockerfile', 'compose.yml', '.env.example', 'manifest.yml'])(
    'named in %s exist',
    (page) => {
      const own =
        { Dockerfile: ['NODE_ENV'], 'CONTRIBUTING.md': ['PAYOPS_TEST_QUIRKS', 'PAYOPS_TEST_SOCKET'] }[page] ??
        [];
      const known = new Set([...settingNames, ...own]);
      expect(settingsNamedIn(read(page)).filter((name) => !known.has(name))).toEqual([]);
    },
  );

  it('of compose.yml open no port but the proxy’s to the internet, and no Redis without a password', () => {
    const { payops, redis, ...others } = compose.services;
    expect(new Set(payops?.ports?.map((port) => port.split(':')[0]))).toEqual(new Set(['127.0.0.1']));
    expect(redis?.ports).toBeUndefined();
    expect(redis?.command).toContain('--requirepass ${STORE_PASSWORD:?');
    expect(payops?.environment?.['REDIS_URL']).toContain(':${STORE_PASSWORD:?');
    expect(Object.values(others).filter(({ profiles }) => !profiles?.includes('tls'))).toEqual([]);
    const images = Object.values(compose.services).flatMap(({ image = [] }) => image);
    expect(images.filter((image) => !/:\d+\.\d/.test(image))).toEqual([]);
  });

  it('of the proxy pass on exactly the paths that docs/operating.md calls public', () => {
    const rows = read('docs/operating.md').matchAll(/^\| (`.*`.*) \| .* \| yes \|$/gm);
    const told = Array.from(rows, ([, paths = '']) => paths.match(/\/[a-z/<>]+/g) ?? []).flat();
    const passed = /@public path (.*)/.exec(read('deploy/Caddyfile'))?.[1]?.split(' ');
    expect(passed).toEqual(told.map((path) => path.replace(/<\w+>/, '*')));
    expect(compose.services['proxy']?.volumes).toContain('./deploy/Caddyfile:/etc/caddy/Caddyfile:ro');
    // Also of the log for errors, which is on by default.
    expect(read('deploy/Caddyfile')).toContain('request>uri regexp ^/c/.* /c/');
  });

  it('of compose.yml exist, and it mounts the file that PAYOPS_FILE names', () => {
    const bot = compose.services['payops'];
    const environment = bot?.environment ?? {};
    expect(Object.keys(environment).filter((name) => !settingNames.has(name))).toEqual([]);
    expect(bot?.volumes?.some((volume) => volume.includes(`:${environment['PAYOPS_FILE']}`))).toBe(true);
    expect(bot?.build?.context).toBe('.');
  });
});

type Schema = { properties: Record<string, Schema>; items: Schema };

describe('payops.example.yml', () => {
  it('has every key of its routes explained in docs/alerts.md', () => {
    const { properties } = JSON.parse(read('docs/payops.schema.json')) as Schema;
    const rule = properties['routes']?.items.properties ?? {};
    const keys = [
      ...Object.keys(rule),
      ...Object.keys(rule['when']?.properties ?? {}).map((key) => `when.${key}`),
    ];
    expect(keys).toContain('when.reason');
    const rows = read('docs/alerts.md')
      .split('\n')
      .filter((line) => line.startsWith('| `'));
    const explained = rows.flatMap((line) =>
      Array.from((line.split('|')[1] ?? '').matchAll(/`([^`]+)`/g), ([, key = '']) => key),
    );
    expect(explained.toSorted()).toEqual(keys.toSorted());
  });

  it('is a valid policy', () => {
    expect(policySchema.safeParse(parse(read('payops.example.yml'))).error).toBeUndefined();
  });
});

function scopesIn(cells: string[]): string[] {
  return cells
    .flatMap((cell) => Array.from(cell.matchAll(/`([\w:.]+)`/g), ([, scope = '']) => scope))
    .toSorted();
}

describe('the Slack app', () => {
  it('asks for exactly the scopes that docs/set-up.md explains, optional ones marked', async () => {
    const manifest = parse(read('manifest.yml')) as {
      oauth_config: { scopes: { bot: string[]; bot_optional: string[] } };
    };
    const rows = Array.from(
      read('docs/set-up.md').matchAll(/^\| (`[\w:.]+`[^|]*)\|/gm),
      ([, cell = '']) => cell,
    );
    const scoped = rows.filter((cell) => /`(commands|[\w.]+:[\w.]+)`/.test(cell));
    const { bot, bot_optional: optional } = manifest.oauth_config.scopes;
    expect(scopesIn(scoped)).toEqual(bot.toSorted());
    expect(scopesIn(scoped.filter((cell) => cell.includes('optional')))).toEqual(optional.toSorted());
    const app = await installApp(join(root, 'manifest.yml'), 'all');
    expect(app.slashCommands.map(({ command }) => command)).toEqual(['/pay']);
  });
});

describe('the scripts of package.json', () => {
  it('and those behind them run only test projects that exist', () => {
    const names = Array.from(read('vitest.config.ts').matchAll(/name: '(\w+)'/g), ([, name = '']) => name);
    const behind = readdirSync(join(root, 'scripts')).map((name) => `scripts/${name}`);
    const asked = ['package.json', '.ci/run', 'test/contributing.test.ts', ...behind].flatMap((path) =>
      Array.from(read(path).matchAll(/--project=(\w+)/g), ([, name = '']) => name),
    );
    expect(asked.length).toBeGreaterThan(3);
    expect(names).toEqual(expect.arrayContaining(asked));
  });

  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };

  it.each([
    'payops',
    'audit',
    'connect',
    'doctor',
    'revoke-token',
    'explain-delivery',
    'forget-cards',
    'rehearse',
    'redrive',
    'reseal',
    'move-store',
    'backup',
    'restore',
  ])('read the bot’s settings for %s', (name) => {
    expect(scripts['start']).toContain('--env-file-if-exists=.env ');
    expect(scripts[name]).toBe(`node --env-file-if-exists=.env src/main.ts ${name}`);
  });
});

describe('the image', () => {
  const lines = read('Dockerfile').split('\n');
  const last = (instruction: string) => lines.findLast((line) => line.startsWith(`${instruction} `));

  it('is the official slim image of the tests’ Node version, with production dependencies only', () => {
    const { devDependencies } = JSON.parse(read('package.json')) as {
      devDependencies: Record<'node', string>;
    };
    const from = lines.filter((line) => line.startsWith('FROM ')).map((line) => line.split(' ')[1]);
    expect(new Set(from)).toEqual(new Set(['${NODE_IMAGE}']));
    const image = `node:${devDependencies.node}-slim`;
    expect(last('ARG')).toBe(`ARG NODE_IMAGE=${image}`);
    for (const page of ['compose.yml', 'docs/operating.md']) expect(read(page)).toContain(image);
    expect(lines.filter((line) => line.startsWith('RUN npm'))).toEqual([
      expect.stringContaining('npm ci --omit=dev'),
    ]);
  });

  it('runs the sources directly, as a numbered user other than root', () => {
    const { start } = (JSON.parse(read('package.json')) as { scripts: Record<'start', string> }).scripts;
    const words = start.split(' ').filter((word) => word !== '--env-file-if-exists=.env');
    expect(words).toEqual(['node', '--max-semi-space-size=8', '--heap-growing-percent=50', 'src/start.js']);
    expect(last('CMD')).toBe(`CMD ${JSON.stringify(words).replaceAll(',', ', ')}`);
    expect(last('USER')).toMatch(/^USER [1-9]\d*:[1-9]\d*$/);
  });

  it('fills the compile cache with the flags of its start, and no step may fail silently', () => {
    const run = last('RUN') ?? '';
    const flags = (last('CMD') ?? '').match(/--[\w-]+=\w+/g);
    expect(run).toContain(`$(node ${flags?.join(' ')} src/start.js 2>&1)`);
    expect(lines.filter((line) => /\|\| true|2>\/dev\/null/.test(line))).toEqual([]);
  });

  it('leaves out the playground', () => {
    const ignored = read('.dockerignore').trim().split('\n');
    expect(ignored[0]).toBe('*');
    expect(ignored.indexOf('src/playground')).toBeGreaterThan(ignored.indexOf('!src'));
  });
});

describe('README.md', () => {
  it.each(['npm ci && npm run playground', 'npm ci && npm test'])('gives %s in one line to copy', (line) => {
    expect(read('README.md').split('\n')).toContain(line);
  });

  it('is short, and links each of its claims to a test', () => {
    const text = read('README.md');
    expect(text.split(/\s+/).filter(Boolean).length).toBeLessThanOrEqual(650);
    const [, rows = ''] = /^\| When \|.*\n\|---.*\n((?:\|.*\n)+)/m.exec(text) ?? [];
    const claims = rows.trimEnd().split('\n');
    expect(claims.length).toBe(5);
    expect(claims.filter((row) => !/\]\(test\/\S+\.test\.ts\)/.test(row))).toEqual([]);
  });
});

describe('docs/troubleshooting.md', () => {
  it('lists every part of readiness', () => {
    const merchantBot = { scope: { merchant: undefined }, health: { forwarding: () => undefined } };
    const parts = readinessChecks({ slack: {}, merchantBots: [merchantBot] } as unknown as Parameters<
      typeof readinessChecks
    >[0]);
    const page = read('docs/troubleshooting.md');
    expect(parts.filter(({ name }) => !page.includes(`| \`${name}\` |`))).toEqual([]);
  });
});

describe('docs/command-line.md', () => {
  it('and the help explain every exit code', () => {
    const plain = read('docs/command-line.md').replaceAll('`', '').replaceAll('\\|', '|');
    const help = helpText();
    for (const [code, words] of Object.entries(exitCodeWords)) {
      expect(plain).toContain(`| ${code} | ${words} |`);
      expect(help).toContain(`${code}  ${words}`);
    }
  });
});

describe('docs/threat-model.md', () => {
  const page = read('docs/threat-model.md');
  /** Each proof is written as `test/…` › *part of the test’s title*. */
  const proofs = [...page.matchAll(/`(test\/[\w./-]+\.ts)` › \*([^*]+)\*/g)].map(
    ([, file = '', title = '']) => ({ file, title: title.replace(/\s+/g, ' ') }),
  );
  /** The rows of the page's tables: what somebody tries, what stops it, the proof. */
  const rows = [...page.matchAll(/^\| (?!---|They try)([^|]+)\|([^|]+)\|([^|]+)\|$/gm)];

  it('names an existing test for every attempt', () => {
    expect(rows.length).toBeGreaterThan(20);
    expect(rows.filter(([, , , proof = '']) => !/`test\/|`\.oxlintrc/.test(proof))).toEqual([]);
    const missing = proofs.filter(
      ({ file, title }) => !existsSync(join(root, file)) || !read(file).includes(title),
    );
    expect(missing).toEqual([]);
  });
});
