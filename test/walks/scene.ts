import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createStoreMark } from '../../src/store/store-mark.ts';
import { createApp } from '../../src/app.ts';
import { openLog, readSettings } from '../../src/cli/read-settings.ts';
import { botSettings, payopsFile } from '../../src/playground/bot-settings.ts';
import { startPaymentsService, type PaymentsService } from '../../src/simulators/payments/service.ts';
import type { Quirks } from '../../src/simulators/slack/quirks.ts';
import { startWorkspace, type Workspace } from '../../src/simulators/slack/workspace.ts';
import { createSealer } from '../../src/store/sealed.ts';
import type { Store } from '../../src/store/store.ts';
import { StoreUnavailable } from '../../src/domain/failure.ts';
import { createRandom, type Random } from '../chaos/random.ts';
import { memoryStore } from '../features/memory-store.ts';
import type { Breakage } from './breakages.ts';
import { type Pages, publicUrl } from './customers.ts';
import type { Done } from './people.ts';
import { Network, type Answer, type Call, type Fate } from './network.ts';
import { asRun, VirtualTime, type Run } from './virtual-time.ts';

/** The fixed conditions of one walk. */
export type Weather = {
  replicas: number;
  mayReadHistory: boolean;
  /** Shares of all calls that fail, in each direction. */
  slackFaults: number;
  paymentsFaults: number;
  storeFaults: number;
  mayCrash: boolean;
  threshold: number;
  /** Who may type the bank’s code. */
  codeEntry: 'agent' | 'customer' | 'both';
  rules: keyof typeof rules;
  acts: number;
  /** Slack's behaviour that only some users report. */
  quirks: Quirks;
};

/** A walk’s world: two simulators, the bots, and all traffic between them. */
export type Scene = {
  random: Random;
  weather: Weather;
  time: VirtualTime;
  network: Network;
  workspace: Workspace;
  payments: PaymentsService;
  bots: Run[];
  /** `isOn` is false after the faults have ended. */
  faults: { isOn: boolean; slackAway: Fate['kind'] | undefined; storeAway: boolean; paymentsAway: boolean };
  /** Calls sent so far. */
  changes: number;
  log: string[];
  /** The history, for reading a failure. */
  story: string[];
  /** Violations found during the walk. */
  broken: string[];
  seen: Seen;
  tell: (line: string) => void;
  startBot: () => Promise<void>;
  crash: (run: Run) => void;
  /** Lets time pass, in growing steps while nothing happens. */
  letPass: (ms: number) => Promise<void>;
  /** People's presses and submits. */
  done: Done[];
  /** The customers’ pages. */
  pages: Pages;
  end: () => Promise<void>;
};

/** The channels that events are told in. */
export function eventChannels({ ids: { channels } }: Workspace): string[] {
  return [channels.payAlerts, channels.payDesk, channels.general];
}

/** The recorded traffic. */
export type Seen = {
  /** All calls from bots to Slack. */
  toSlack: Call[];
  /** All values that were stored. */
  stored: string[];
  /** Posts that Slack refused for its rate limit. */
  tooFast: Call[];
  /** Events answered with 200, by kind and reference: when first. */
  acknowledged: Map<string, number>;
  /** When each event was first sent. */
  sent: Map<string, number>;
  /** For how long Slack was away in total. */
  slackAwayMs: number;
  /** When somebody first asked for a mute. */
  mutedAtMs: number;
  /** Channels that were archived for a while. */
  refused: Set<string>;
  /** Channels without the bot for a while. */
  left: Set<string>;
  /** Channels whose history was rate-limited: others pass a message that is searched there (docs/limits.md). */
  slowHistory: Set<string>;
  /** Charged order references that reached the service. */
  charged: Set<string>;
  /** Codes that reached the service, with their charge. */
  codes: { reference: string; code: string }[];
};

const firstStepMs = 400;
const settleMs = 60;
const longestStepMs = 1_800_000;
const startMs = 1_800_000_000_000;
const manifestPath = fileURLToPath(new URL('../../manifest.yml', import.meta.url));

/** The rules that a walk may have. In each, `large` begins at NGN 10,000. */
export const rules = {
  none: '',
  both: `routes:
  - { name: large, when: { currency: NGN, amount_from: 10000.00 }, to: DESK, mention: S0ONCALL01, continue: true }
`,
  later: `routes:
  - { name: large, when: { currency: NGN, amount_from: 10000.00 }, to: DESK, escalate: { after: 10m, to: S0ONCALL01 }, continue: true }
`,
  elsewhere: `routes:
  - { name: large, when: { currency: NGN, amount_from: 10000.00 }, to: [DESK, ALERTS] }
  - { name: small, when: { currency: NGN, amount_to: 1000.00 }, to: DESK }
`,
};

export async function openScene(seed: number, weather: Weather, breakage: Breakage): Promise<Scene> {
  const random = createRandom(seed);
  const time = new VirtualTime(startMs, random.fork('chance'));
  const dice = random.fork('traffic');
  const network = new Network(time, {
    fate: (call) => fateOf(scene, dice, call),
    async carry(call, carry) {
      const seen = async (one: Call): Promise<Answer | undefined> => {
        arrived(scene, one);
        return await carry(one);
      };
      const answer = await (breakage.carry?.(call, seen) ?? seen(call));
      if (answer) answered(scene, call, answer);
      return answer;
    },
  });
  const workspace = await startWorkspace({
    manifestPath,
    grantedOptionalScopes: weather.mayReadHistory ? 'all' : [],
    quirks: weather.quirks,
  });
  const payments = await startPaymentsService({});
  const storeRandom = random.fork('store');
  const whole = memoryStore(time);
  const shared = breakage.store?.(whole) ?? whole;
  const { channels, users } = workspace.ids;
  const policyFolder = mkdtempSync(join(tmpdir(), 'payops-walk-'));
  const policyFile = join(policyFolder, 'payops.yml');
  const policy = payopsFile({
    channels: { alerts: channels.payAlerts, ops: channels.payOps, desk: channels.payOps },
    users,
  }).replace('  ops:', `  successes: ${channels.general}\n  ops:`);
  const routes = rules[weather.rules]
    .replaceAll('DESK', channels.payDesk)
    .replaceAll('ALERTS', channels.payAlerts);
  writeFileSync(policyFile, (breakage.policy ?? String)(policy) + routes);
  const read = readSettings({
    ...botSettings({
      port: 0,
      dataDir: policyFolder,
      payopsFile: policyFile,
      slack: { ...workspace.credentials, apiUrl: workspace.apiUrl },
      payments: { ...payments.credentials, url: payments.url },
    }),
    // An operator's usual values: the playground's are short, for people who wait.
    PAYMENTS_TIMEOUT_SECONDS: '8',
    SLACK_TIMEOUT_SECONDS: '10',
    WORK_LEASE_SECONDS: '45',
    LINK_FOLLOW_HOURS: '1',
    DIGEST_THRESHOLD: String(weather.threshold),
    PUBLIC_URL: publicUrl,
    MERCHANT_NAME: 'Lagos Store',
    OTP_ENTRY: weather.codeEntry,
  });
  rmSync(policyFolder, { recursive: true });
  if (read.kind === 'refused') throw new Error(read.words);
  const { config } = read;
  const sealer = createSealer([{ id: 'walk', key: Buffer.alloc(32, 'walk') }]);
  let started = 0;

  const scene: Scene = {
    random: random.fork('walk'),
    weather,
    time,
    network,
    workspace,
    payments,
    bots: [],
    faults: { isOn: true, slackAway: undefined, storeAway: false, paymentsAway: false },
    changes: 0,
    log: [],
    story: [],
    broken: [],
    seen: {
      toSlack: [],
      stored: [],
      tooFast: [],
      acknowledged: new Map(),
      sent: new Map(),
      slackAwayMs: 0,
      mutedAtMs: Infinity,
      refused: new Set(),
      left: new Set(),
      slowHistory: new Set(),
      charged: new Set(),
      codes: [],
    },
    tell(line) {
      scene.story.push(`${((time.nowMs - startMs) / 1_000).toFixed(3)} s: ${line}`);
    },
    async startBot() {
      started += 1;
      const run: Run = { name: `bot ${started}`, isDead: false, heldUntilMs: 0, underWay: 0 };
      scene.tell(`${run.name} starts`);
      const log = openLog(config, 'info', (line) => {
        scene.log.push(line);
        scene.tell(`${run.name} ${line.trimEnd()}`);
      });
      const store = gated(scene, run, shared, storeRandom);
      const kept = {
        store,
        sealer,
        keyIds: ['walk'],
        redis: undefined,
        mark: createStoreMark({ store, sealer }),
        checked: () => Promise.resolve(),
        refusal: () => undefined,
        close: () => Promise.resolve(),
      };
      const begun = asRun(run, () => createApp({ config, log, now: () => Date.now() }, kept).start());
      await time.pass(200);
      urls.set(run, `127.0.0.1:${await begun}`);
      scene.bots.push(run);
    },
    crash(run) {
      if (run.isDead) return;
      scene.tell(`${run.name} is killed`);
      network.kill(run);
      scene.bots.splice(scene.bots.indexOf(run), 1);
    },
    async letPass(ms) {
      const untilMs = time.nowMs + ms;
      for (let stepMs = firstStepMs; time.nowMs < untilMs;) {
        const before = scene.changes;
        const isIdle = network.open === 0 && scene.bots.every(({ underWay }) => underWay === 0);
        if (isIdle) await time.leap(Math.min(stepMs, untilMs - time.nowMs));
        // Answers to work under way have arrived by then.
        await time.pass(settleMs);
        if (scene.changes !== before) stepMs = firstStepMs;
        else if (isIdle) stepMs = Math.min(stepMs * 4, longestStepMs);
      }
    },
    done: [],
    pages: { links: new Set(), seats: new Set(), codes: new Set() },
    async end() {
      for (const run of scene.bots) run.isDead = true;
      const closed = Promise.all([workspace.close(), payments.close()]);
      await time.pass(10);
      await closed;
      await whole.close();
    },
  };
  const urls = new Map<Run, string>();
  const balance = random.fork('balance');
  network.route = () => {
    const awake = scene.bots.filter(({ heldUntilMs }) => heldUntilMs <= time.nowMs);
    const from = awake.length > 0 ? awake : scene.bots;
    return from.length === 0 ? undefined : urls.get(balance.pick(from));
  };
  workspace.connect('http://bot/slack/events');
  payments.sendWebhooksTo('http://bot/webhooks/payments');
  for (let number = 0; number < weather.replicas; number += 1) {
    await scene.startBot();
  }
  return scene;
}

/**
 * Each store call takes a little time, in which others continue. A dead bot's calls are not made, and it gets no answers.
 */
function gated(scene: Scene, run: Run, store: Store, random: Random): Store {
  const { time, weather, faults } = scene;
  async function through(call: () => Promise<unknown>): Promise<unknown> {
    if (random.chance(0.4)) await time.sleep(1 + random.below(4));
    const isFaulty = faults.isOn && (faults.storeAway || random.chance(weather.storeFaults));
    if (isFaulty && random.chance(0.5)) throw new StoreUnavailable('a fault of the walk');
    time.activity += 1;
    const result = await call();
    time.activity += 1;
    if (isFaulty) throw new StoreUnavailable('a fault of the walk, after it was carried out');
    if (random.chance(0.2)) await time.sleep(1 + random.below(20));
    return result;
  }
  async function gate(call: () => Promise<unknown>): Promise<unknown> {
    if (run.isDead) return await new Promise(() => undefined);
    run.underWay += 1;
    const result = await through(call).finally(() => {
      run.underWay -= 1;
    });
    return run.isDead ? await new Promise(() => undefined) : result;
  }
  return Object.fromEntries(
    Object.entries(store).map(([name, call]) => [
      name,
      (...args: unknown[]) => {
        if (name === 'close') return Promise.resolve();
        if (typeof args[1] === 'string') scene.seen.stored.push(args[1]);
        return gate(() => (call as (...given: unknown[]) => Promise<unknown>).apply(store, args));
      },
    ]),
  ) as unknown as Store;
}

function fateOf(scene: Scene, dice: Random, call: Call): Fate {
  scene.changes += 1;
  const event = eventOf(call);
  if (event !== undefined && !scene.seen.sent.has(event)) scene.seen.sent.set(event, scene.time.nowMs);
  const { faults, weather, workspace, payments } = scene;
  const passes: Fate = { kind: 'carried', thereMs: 2 + dice.below(30), backMs: 2 + dice.below(60) };
  if (!call.from) return passes;
  const isSlack = workspace.url.endsWith(call.to);
  const isPayments = payments.url.endsWith(call.to);
  if (!isSlack && !isPayments) return passes;
  const isAway = isSlack ? faults.slackAway !== undefined : faults.paymentsAway;
  const share = isSlack ? weather.slackFaults : weather.paymentsFaults;
  const isFault = faults.isOn && (isAway || dice.chance(share));
  if (!isFault) return passes;
  const kind = isSlack && faults.slackAway ? faults.slackAway : dice.pick(faultKinds);
  const fate = faultOf(kind, dice, passes);
  scene.tell(`${call.from.name} → ${call.path}: ${fate.kind}`);
  if (fate.kind === 'answered') noteSlowHistory(scene, call, fate.answer);
  return fate;
}

function noteSlowHistory({ seen }: Scene, call: Call, { status }: Answer): void {
  const [, read] = /^\/api\/conversations\.history.*channel=(\w+)/.exec(call.path + call.body) ?? [];
  if (status === 429 && read !== undefined) seen.slowHistory.add(read);
}

const faultKinds = ['not_sent', 'lost', 'unheard', 'unheard', 'answered'] as const;

function faultOf(kind: Fate['kind'], dice: Random, passes: Fate): Fate {
  switch (kind) {
    case 'not_sent':
      return { kind };
    case 'lost':
      return { kind, isCut: dice.chance(0.5) };
    case 'unheard':
      return { kind, lateMs: dice.chance(0.3) ? dice.below(8_000) : 0, isCut: dice.chance(0.5) };
    case 'answered':
      return { kind, answer: dice.chance(0.5) ? broken : tooMany(1 + dice.below(30)) };
    case 'carried':
      return passes;
  }
}

const broken: Answer = { status: 500, headers: {}, body: 'Internal Server Error' };

function tooMany(seconds: number): Answer {
  const headers = { 'retry-after': String(seconds), 'content-type': 'application/json' };
  return { status: 429, headers, body: '{"ok":false,"error":"ratelimited"}' };
}

function arrived({ seen, workspace, payments }: Scene, call: Call): void {
  if (workspace.url.endsWith(call.to)) seen.toSlack.push(call);
  if (payments.url.endsWith(call.to) && call.path.includes('tokenized-card-payment')) {
    const { order } = JSON.parse(call.body) as { order?: { orderReference?: string } };
    seen.charged.add(order?.orderReference ?? '');
  }
  if (payments.url.endsWith(call.to) && call.path.endsWith('/checkout-card-otp')) {
    const { orderReference: reference, otp: code } = JSON.parse(call.body) as Record<string, string>;
    seen.codes.push({ reference: reference ?? '', code: code ?? '' });
  }
}

function answered(scene: Scene, call: Call, answer: Answer): void {
  const { seen, workspace, time } = scene;
  // Answers to a person's own press have no message key and don't wait for a lane: in a channel, or by direct message.
  const isPost =
    workspace.url.endsWith(call.to) &&
    call.path === '/api/chat.postMessage' &&
    /^channel=C.*metadata=/.test(call.body);
  if (isPost && answer.status === 429) seen.tooFast.push(call);
  noteSlowHistory(scene, call, answer);
  const event = eventOf(call);
  if (event !== undefined) {
    if (answer.status === 200 && !seen.acknowledged.has(event)) seen.acknowledged.set(event, time.nowMs);
    scene.tell(`${event} is answered ${answer.status}`);
  }
}

/** The kind and reference of an event's call; undefined for other calls. */
function eventOf(call: Call): string | undefined {
  if (call.to !== 'bot' || !call.path.startsWith('/webhooks/')) return undefined;
  const { event, data } = JSON.parse(call.body) as {
    event: string;
    data: { order: { orderReference: string } };
  };
  return `${event} ${data.order.orderReference}`;
}
