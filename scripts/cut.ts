/**
 * `npm run cut`: everything that the bot offers (verbs, buttons, forms, lists, shortcuts, the Home, payment events, jobs,
 * commands) is cut out, one at a time, and the first story of test/e2e that fails is named. Exit code 1 when one is held by none.
 *
 *   --list             only say what there is, and which files use it
 *   --kind button      only these: verb, button, select, form, options, shortcut, home, event, page, job, start, command
 *   --only charge      only ids in which this stands (a regular expression)
 *   --stories link     only files in whose names this stands (a regular expression)
 *   --fresh            record again what each file uses, also of files that have not changed
 *   --sure             a story counts when it fails twice: for a machine that is busy with other things
 *   --lanes 4          so many cuts at once
 */
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { BaseSequencer, createVitest, type Reporter, type TestSpecification, type Vitest } from 'vitest/node';
import { createAuditTrail } from '../src/audit/audit-trail.ts';
import { openKept } from '../src/store/kept.ts';
import { createMerchantBot, merchantPlaces } from '../src/account.ts';
import { createMetrics } from '../src/http/metrics.ts';
import { openLog, readSettings } from '../src/cli/read-settings.ts';
import { commands } from '../src/cli/commands.ts';
import { botSettings, payopsFile } from '../src/playground/bot-settings.ts';
import { createClients } from '../src/slack/workspace.ts';
import { bundleVariable } from '../test/support/bot.ts';
import { bundleBot } from '../test/support/bot-bundle.ts';
import { cutVariables, type Used } from '../test/support/cuts.ts';

const root = resolve(import.meta.dirname, '..');
const cachePath = join(root, '.cache', 'cut.json');
/** Stories run in the test's process; these are of a browser, of processes that die or hang, and of how soon. */
const notStories = /browser|canary|chaos|crash|hang|kills|outages|replicas|start-up|socket/;
/** Beyond three times what its longest test took, before a test whose feature is gone counts as failed. */
const graceMs = 5_000;
/** A line by which the bot, when it starts, starts a part that goes on by itself: `audit.start();` */
const startLine = /^( +)(\w+(?:\.\w+)*)\.start\(\);$/gm;

/** Lets the test's process say which of these lines are cut out; see `payopsMayStart`. */
const startsWatched = {
  name: 'watch-starts',
  enforce: 'pre' as const,
  transform(code: string, path: string): string | undefined {
    if (!/\/src\/app(?:\/[\w-]+)?\.ts$/.test(path)) return undefined;
    return code.replace(startLine, '$1if (globalThis.payopsMayStart?.("start:$2") ?? true) $2.start();');
  },
};

/** The order that they are given in: the first that fails is the one that is named. */
class AsGiven extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files;
  }
}

const { values } = parseArgs({
  options: {
    list: { type: 'boolean' },
    kind: { type: 'string' },
    only: { type: 'string' },
    stories: { type: 'string' },
    fresh: { type: 'boolean' },
    sure: { type: 'boolean' },
    lanes: { type: 'string', default: '3' },
  },
});

/** Of a file: what it uses, how long its longest test took, and which tests fail with nothing cut out. */
type Recorded = { digest: string; used: Omit<Used, 'file'>[]; longestMs: number; failed: string[] };
type Story = Recorded & { file: string };
type Held = { id: string; by: string | undefined };

const folder = mkdtempSync(join(tmpdir(), 'payops-cut-'));
const bundle = await bundleBot(join(root, 'src/main.ts'));
process.env[bundleVariable] = bundle.program;
try {
  const offered = await everythingOffered();
  const stories = await record(offered);
  for (const { file, failed } of stories) {
    for (const name of failed) console.log(`Not counted, it fails with nothing cut out: ${file} > ${name}`);
  }
  const selects = new Set(
    stories.flatMap(({ used }) => used.filter((one) => one.isSelect).map(({ id }) => id)),
  );
  const kindOf = (id: string): string => (selects.has(id) ? 'select' : id.slice(0, id.indexOf(':')));
  const asked = offered.filter(
    (id) =>
      (values.kind === undefined || kindOf(id) === values.kind) && new RegExp(values.only ?? '').test(id),
  );
  if (values.list) list(asked, stories, kindOf);
  else process.exitCode = await cutEach(asked, offered, stories, kindOf);
} finally {
  bundle.remove();
  rmSync(folder, { recursive: true, force: true });
}
// What a cut has left hanging.
process.exit();

function nobody(): never {
  throw new Error('Nothing is asked here.');
}

/** Put together as `createApp` does it, with a policy that leaves nothing out. */
async function everythingOffered(): Promise<string[]> {
  const policyFile = join(folder, 'payops.yml');
  const [alerts, ops, desk] = ['C0ALERTS01', 'C0PAYOPS01', 'C0PAYDESK1'] as const;
  writeFileSync(
    policyFile,
    payopsFile({
      channels: { alerts, ops, desk },
      users: { agent: 'U0AGENT001', lead: 'U0LEAD0001', onCall: 'U0ONCALL01' },
    }),
  );
  const url = 'http://127.0.0.1:9';
  const settings = readSettings(
    botSettings({
      port: 0,
      dataDir: join(folder, 'data'),
      payopsFile: policyFile,
      slack: { apiUrl: `${url}/api/`, botToken: 'xoxb-none', signingSecret: '0'.repeat(32) },
      payments: {
        url,
        accountId: randomUUID(),
        clientId: 'none',
        clientSecret: 'none',
        webhookSecret: 'none',
      },
      redisUrl: undefined,
    }),
  );
  if (settings.kind === 'refused') throw new Error(settings.words);
  const { config } = settings;
  const outside = { config, log: openLog(config, 'error', () => undefined), now: () => Date.now() };
  const kept = await openKept(outside);
  const audit = createAuditTrail(outside, kept);
  const [place] = merchantPlaces(outside, kept);
  const { verbs, kinds } = createMerchantBot(place, {
    clients: createClients({ botToken: '', slackApiUrl: url, deliveryTimeoutMs: 1 }, outside.log),
    wake: nobody,
    metrics: createMetrics({ ...outside, webhookResults: [], asideReasons: [] }),
    mayRun: nobody,
    standingOf: nobody,
    holdersOf: nobody,
    nameOf: nobody,
    audit,
  });
  await kept.close();
  const ids = [
    ...['(alone)', '(a reference)', 'help'].map((verb) => `verb:${verb}`),
    ...verbs.flatMap(
      ({ verb, menu, buttons = [], presses = [], modals = [], suggestions = [], shortcuts = [] }) => [
        `verb:${verb}`,
        ...(menu ? [`button:${menu.actionId}`] : []),
        ...[...buttons, ...presses].map(({ actionId }) => `button:${actionId}`),
        ...modals.map(({ callbackId }) => `form:${callbackId}`),
        ...suggestions.map(({ actionId }) => `options:${actionId}`),
        ...shortcuts.map(({ callbackId }) => `shortcut:${callbackId}`),
      ],
    ),
    'home:opened',
    ...['payment_success', 'payment_failed', 'saved card', 'unknown'].map((kind) => `event:${kind}`),
    ...['/healthz', '/readyz', '/metrics'].map((path) => `page:${path}`),
    ...[...kinds, ...audit.kinds].map(({ prefix }) => `job:${prefix}`),
    ...[join(root, 'src/app.ts')].flatMap((path) =>
      [...readFileSync(path, 'utf8').matchAll(startLine)].map(([, , what]) => `start:${what}`),
    ),
    ...Object.keys(commands).map((name) => `command:${name}`),
  ];
  return [...new Set(ids)];
}

type Ended = { file: string; name: string; ms: number; failed: boolean };

/** Vitest, to run some files as often as it is asked; `isEnough`: then the rest of them is left. */
async function openRunner(workers: number, isEnough: (ended: Ended) => boolean) {
  let ended: Ended[] = [];
  function note(one: Ended): void {
    const { file } = one;
    const noted = { ...one, file: relative(root, file) };
    ended.push(noted);
    if (isEnough(noted)) void vitest.cancelCurrentRun('test-failure');
  }
  const reporter: Reporter = {
    onTestCaseResult(test) {
      const { state } = test.result();
      const ms = test.diagnostic()?.duration ?? 0;
      note({ file: test.module.moduleId, name: test.fullName, ms, failed: state === 'failed' });
    },
    onTestModuleEnd(module) {
      const [error] = module.errors();
      if (error) note({ file: module.moduleId, name: error.message, ms: 0, failed: true });
    },
    onTestSuiteResult(suite) {
      const [error] = suite.errors();
      if (error) note({ file: suite.module.moduleId, name: suite.fullName, ms: 0, failed: true });
    },
  };
  const vitest: Vitest = await createVitest(
    'test',
    {
      root,
      config: false,
      watch: false,
      include: ['test/e2e/*.test.ts'],
      setupFiles: [join(root, 'test/support/cuts.ts')],
      isolate: false,
      maxWorkers: workers,
      hookTimeout: 60_000,
      expect: { poll: { timeout: 60_000 } },
      sequence: { sequencer: AsGiven },
      reporters: [reporter],
      env: existsSync('/dev/shm') ? { TMPDIR: '/dev/shm' } : {},
    },
    { plugins: [startsWatched] },
  );
  const project = vitest.getRootProject();
  return {
    /** Everything that ended, in that order. */
    async run(files: readonly string[], testTimeout: number, env: Record<string, string>): Promise<Ended[]> {
      ended = [];
      vitest.state.filesMap.clear();
      project.config.testTimeout = testTimeout;
      project.config.env = { ...project.config.env, ...env };
      const { unhandledErrors } = await vitest.runTestSpecifications(
        files.map((file) => project.createSpecification(join(root, file))),
      );
      const [error] = unhandledErrors as Error[];
      if (error && !ended.some(({ failed }) => failed)) {
        ended.push({
          file: files[0] ?? '',
          name: `(unhandled) ${error.message}`,
          ms: 0,
          failed: true,
        });
      }
      return ended;
    },
    close: () => vitest.close(),
  };
}

type Runner = Awaited<ReturnType<typeof openRunner>>;

/** Runs every story uncut, unless its file has not changed since it was recorded last. */
async function record(offered: readonly string[]): Promise<Story[]> {
  const known = readCache();
  const files = globSync('test/e2e/*.test.ts', { cwd: root })
    .filter(
      (file) => !notStories.test(basename(file)) && new RegExp(values.stories ?? '').test(basename(file)),
    )
    .toSorted();
  const digests = new Map(
    files.map((file) => [
      file,
      createHash('sha256')
        .update(readFileSync(join(root, file)))
        .digest('hex'),
    ]),
  );
  const changed = files.filter(
    (file) =>
      values.fresh || known[file]?.digest !== digests.get(file) || (known[file]?.failed.length ?? 0) > 0,
  );
  if (changed.length > 0) {
    console.log(`Recording what ${changed.length} files use …`);
    const runner = await openRunner(2, () => false);
    const usedPath = join(folder, 'used.jsonl');
    writeFileSync(usedPath, '');
    const ended = await runner.run(changed, 120_000, {
      [cutVariables.offered]: JSON.stringify(offered),
      [cutVariables.used]: usedPath,
    });
    await runner.close();
    const lines = readFileSync(usedPath, 'utf8').split('\n').filter(Boolean);
    const used = [...new Set(lines)].map((line) => JSON.parse(line) as Used);
    for (const file of changed) {
      const own = ended.filter((one) => one.file === file);
      known[file] = {
        digest: digests.get(file) ?? '',
        used: used.filter((one) => relative(root, one.file) === file).map(({ file: _file, ...one }) => one),
        longestMs: Math.max(0, ...own.map(({ ms }) => ms)),
        failed: own.filter((one) => one.failed).map(({ name }) => name),
      };
    }
    mkdirSync(join(root, '.cache'), { recursive: true });
    writeFileSync(cachePath, JSON.stringify(known));
  }
  return files.flatMap((file) => {
    const recorded = known[file];
    return recorded ? [{ file, ...recorded }] : [];
  });
}

function readCache(): Record<string, Recorded> {
  try {
    return JSON.parse(readFileSync(cachePath, 'utf8')) as Record<string, Recorded>;
  } catch {
    return {};
  }
}

/** First the files that use little else: what is cut out is most likely what they are about. */
function usersOf(id: string, stories: readonly Story[]): Story[] {
  return stories
    .filter(({ used }) => used.some((one) => one.id === id))
    .toSorted((one, other) => one.used.length - other.used.length);
}

function list(asked: readonly string[], stories: readonly Story[], kindOf: (id: string) => string): void {
  for (const id of asked) {
    const users = usersOf(id, stories).map(({ file }) => basename(file, '.test.ts'));
    console.log(
      `${kindOf(id).padEnd(8)} ${id.slice(id.indexOf(':') + 1).padEnd(36)} ${users.join(' ') || '—'}`,
    );
  }
}

async function cutEach(
  asked: readonly string[],
  offered: readonly string[],
  stories: readonly Story[],
  kindOf: (id: string) => string,
): Promise<number> {
  const waiting = [...asked];
  const held: Held[] = [];
  const failing = new Set<string>();
  const env = { [cutVariables.offered]: JSON.stringify(offered) };
  const timeoutOf = (users: readonly Story[]): number =>
    graceMs + 3 * Math.max(0, ...users.map(({ longestMs }) => longestMs));

  const isTelling = ({ file, name, failed }: Ended): boolean =>
    failed && stories.some((story) => story.file === file && !story.failed.includes(name));

  /** With --sure it counts when it fails twice: on a machine that is busy with other things a test may fail by itself. */
  async function firstFailing(runner: Runner, id: string): Promise<Ended | undefined> {
    const users = usersOf(id, stories);
    const run = async (some: readonly Story[]): Promise<Ended | undefined> => {
      const files = some.map(({ file }) => file);
      const ended = await runner.run(files, timeoutOf(some), { ...env, [cutVariables.cut]: id });
      return ended.find(isTelling);
    };
    /* oxlint-disable no-await-in-loop */
    while (users.length > 0) {
      const failed = await run(users);
      if (!failed || !values.sure) return failed;
      const from = users.findIndex(({ file }) => file === failed.file);
      const again = await run(users.slice(from, from + 1));
      if (again?.name === failed.name) return failed;
      users.splice(0, from + 1);
    }
    /* oxlint-enable no-await-in-loop */
    return undefined;
  }

  async function work(): Promise<void> {
    const runner = await openRunner(1, isTelling);
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other in each lane
      const failed = await firstFailing(runner, id);
      if (failed) failing.add(failed.file);
      held.push({ id, by: failed && `${basename(failed.file)} > ${failed.name}` });
      console.error(
        `${held.length}/${asked.length} ${id}: ${failed ? `${failed.file} > ${failed.name}` : 'NOT HELD'}`,
      );
    }
    await runner.close();
  }
  await Promise.all(Array.from({ length: Number(values.lanes) }, work));

  console.log('| Cut out | | The story that fails |\n|---|---|---|');
  for (const id of asked) {
    const by = held.find((one) => one.id === id)?.by;
    console.log(
      `| ${kindOf(id)} | \`${id.slice(id.indexOf(':') + 1)}\` | ${by?.replaceAll('|', '\\|') ?? '**NOT HELD**'} |`,
    );
  }
  const missing = held.filter(({ by }) => by === undefined);
  console.log(`${asked.length} cut out, ${missing.length} not held`);
  return missing.length + (await failedUncut([...failing])) > 0 ? 1 : 0;

  /** As a proof that it is the cut they fail by, and not the time they are given: they are run once with nothing cut out. */
  async function failedUncut(files: readonly string[]): Promise<number> {
    if (files.length === 0) return 0;
    const users = stories.filter(({ file }) => files.includes(file));
    const runner = await openRunner(2, () => false);
    const ended = await runner.run(files, timeoutOf(users), { ...env, [cutVariables.cut]: '' });
    await runner.close();
    const failed = ended.filter(isTelling);
    for (const { file, name } of failed) console.log(`Fails with nothing cut out: ${file} > ${name}`);
    return failed.length;
  }
}
