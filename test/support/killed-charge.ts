import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { derivedReference } from '../../src/records/derived-reference.ts';
import type { Bundle } from './bot-bundle.ts';
import { reviews, sitAt, type Typed } from './desk.ts';
import { fastClock } from './fast-clock.ts';
import { type House, openHouse } from './house.ts';
import type { PageView } from '../../src/simulators/protocol.ts';
import { outcomeWords } from '../../src/slack/words/state-words.ts';
import type { BotPost } from '../../src/simulators/slack/payloads.ts';
import { type ChargeRecord, storedCharge } from '../../src/features/charge/charge-record.ts';
import { createRecords } from '../../src/records/records.ts';
import type { Bot } from './bot.ts';
import { readSettings } from '../../src/cli/read-settings.ts';
import type { Approval } from '../../src/domain/approval.ts';
import { approvalPrefix } from '../../src/features/approvals/approval-case.ts';
import { openStorage } from '../../src/store/storage.ts';
import { askUntilAnswered, workIn } from './store-contents.ts';

/** 30 s become 1.5 s and a code's 15 minutes become 45 s, while 25 s still suffice for a request. */
const factor = 20;

/** An agent charges a card through the whole bot, which is killed on the way; another bot finishes. */
export async function runCharge(run: Run): Promise<Ran> {
  const cleanUps: (() => unknown)[] = [];
  try {
    const begun = await run.place.busy(() => begin(run, cleanUps));
    if (begun.kind === 'over') return begun.ran;
    const { scene, stuck } = begun;
    await settleAsAgent(scene);
    return { killed: true, stuck, end: await endOf(scene), passed: [], problems: await problemsOf(scene) };
  } finally {
    for (const cleanUp of cleanUps.toReversed()) await cleanUp();
  }
}

type Begun = { kind: 'over'; ran: Ran } | { kind: 'restarted'; scene: Scene; stuck: boolean };

/** Until the successor listens. */
async function begin(run: Run, cleanUps: (() => unknown)[]): Promise<Begun> {
  const { house, first, store, passed } = await openKilled(run, cleanUps);
  // No event reaches the first bot, so that its points are those of the charge only; the successor gets them.
  house.sendEventsTo([]);
  const review = await reviews(sitAt(house, first), 'agent', cards[run.story]).catch(
    async (error: unknown) => {
      // An error from a dying bot is expected; from a living one it is a failure.
      await house.until('it is dead', () => !first.isRunning(), stepMs).catch(() => Promise.reject(error));
      return topView(house);
    },
  );
  const viewId = review?.id ?? '';
  const scene: Scene = {
    run,
    house,
    first,
    store,
    reference: derivedReference(viewId),
    pressedAgain: false,
    tooEarly: new Set(),
  };
  house.workspace.onChange(() => watchForPaid(scene));
  await chargeAsAgent(scene);
  // A posted message may be checked once more, and the bot may die of that: then the successor is judged.
  const isOver = async (): Promise<boolean> => !first.isRunning() || (await problemsOf(scene)).length === 0;
  await house.until('all is as promised', isOver, stepMs).catch(() => undefined);
  if (run.killAt === undefined || first.isRunning()) {
    const problems = await problemsOf(scene);
    return {
      kind: 'over',
      ran: { killed: false, stuck: false, end: await endOf(scene), passed: passed(), problems },
    };
  }
  const next = house.bot({ KILL_AT: '' });
  await house.start(next);
  const stuck = isReadBack(topView(house));
  scene.pressedAgain = stuck && run.pressAgain === true;
  if (scene.pressedAgain) await submit(scene, {});
  return { kind: 'restarted', scene, stuck };
}

/** A house with the bot that will be killed, its store, and its passed points if requested. */
export async function openKilled(run: Run, cleanUps: (() => unknown)[], more: Record<string, string> = {}) {
  const { killAt } = run;
  const house = await openFastHouse(run, cleanUps);
  const list = join(house.folder, 'points');
  const first = house.bot({ ...(killAt === undefined ? { KILL_LIST: list } : { KILL_AT: killAt }), ...more });
  await house.start(first);
  const store = await openChargeInStore(house);
  cleanUps.push(() => store.close());
  const passed = (): string[] => (killAt === undefined ? readFileSync(list, 'utf8').trim().split('\n') : []);
  return { house, first, store, passed };
}

function openFastHouse({ place }: Run, cleanUps: (() => unknown)[]): Promise<House> {
  const clock = { fromMs: Date.now(), factor };
  const now = fastClock(clock);
  return openHouse(
    {
      onTestFinished: (cleanUp) => void cleanUps.push(cleanUp as () => unknown),
      onTestFailed: () => undefined,
    },
    {
      workspace: { grantedOptionalScopes: 'all', now, triggerLifeMs: 3_000 * factor },
      payments: { now, retryDelaysMs: Array.from({ length: 1_000 }, () => 100) },
      program: place.bundle.program,
      env: {
        KILL_CLOCK: JSON.stringify(clock),
        WORK_LEASE_SECONDS: '60',
        // Otherwise a decline whose answer was lost takes 16 minutes.
        PAYMENTS_FINAL_STATUSES: 'FAILED',
      },
      ...(place.redis ? { redisUrl: place.redis.url } : {}),
    },
  );
}

async function endOf({ store, reference }: Scene): Promise<string> {
  return (await store.read(reference))?.intent.state.kind ?? 'none';
}

/** Longer than anything here that does not wait for the clock. */
const stepMs = 20_000;
const runDeadlineMs = 150_000;
const lookAgainMs = 100;

export const cards: Record<Story, Typed> = {
  approved: { token: 'tok-ada-approves', email: 'ada.obi@example.com', amount: '12,500.00' },
  otp: { token: 'tok-bola-otp', email: 'bola.ade@example.com', amount: '12,500.00' },
  declined: { token: 'tok-chidi-declines', email: 'chidi.eze@example.com', amount: '12,500.00' },
  rejected: { token: 'tok-nobody-has', email: 'ada.obi@example.com', amount: '12,500.00' },
  lost: { token: 'tok-ada-approves', email: 'ada.obi@example.com', amount: '12,500.09' },
};

/** The bank refuses the first; after a restart the right one is entered. */
const codes = ['000000', '123456'];
const rightCode = '123456';

/** Submits the review and enters the requested codes, until the charge is over or the bot is dead. */
async function chargeAsAgent(scene: Scene): Promise<void> {
  const { house, first } = scene;
  const isDead = (): boolean => !first.isRunning();
  await submit(scene, {});
  for (const code of scene.run.story === 'otp' ? codes : []) {
    await house.until('a field for the code', () => isDead() || hasCodeField(topView(house)), stepMs);
    if (!isDead()) await enterCode(scene, code);
  }
  await house.until('the end of it', async () => isDead() || (await isSettled(scene)), stepMs);
}

/** With the successor: a person enters the code through `/pay otp` if asked. */
async function settleAsAgent(scene: Scene): Promise<void> {
  const { run, store, reference } = scene;
  const endsAt = performance.now() + runDeadlineMs;
  let settledLooks = 0;
  while (performance.now() < endsAt) {
    const record = await store.read(reference);
    if (!record || (run.awaitExpiry === false && isCodeless(scene, record))) return;
    settledLooks = (await isQuiet(scene)) ? settledLooks + 1 : 0;
    if (settledLooks > 1) return;
    if (record.intent.state.kind === 'otp') await reopenAndEnter(scene);
    else await rest(lookAgainMs);
  }
}

async function reopenAndEnter(scene: Scene): Promise<void> {
  const { house } = scene;
  const user = house.workspace.ids.users.agent;
  for (let view = topView(house); view; view = topView(house)) {
    await house.workspace.act(user, { kind: 'close_view', viewId: view.id });
  }
  await house.type('agent', '/pay otp');
  await house.until('a field for the code', () => hasCodeField(topView(house)), 1_000).catch(() => undefined);
  if (!hasCodeField(topView(house))) return;
  await enterCode(scene, rightCode);
  const isOver = async (): Promise<boolean> =>
    (await scene.store.read(scene.reference))?.intent.state.kind !== 'otp';
  await house.until('the code is taken', isOver, stepMs).catch(() => undefined);
}

function topView(house: House): PageView | undefined {
  return house.workspace.state(house.workspace.ids.users.agent).views.at(-1);
}

/** The review: its button charges, or asks for approval. */
function isReadBack(view: PageView | undefined): boolean {
  return /^(Charge |Ask for approval$)/.test(view?.submit ?? '');
}

function hasCodeField(view: PageView | undefined): boolean {
  return (
    view?.blocks.some((block) => block.type === 'input' && block.block_id?.startsWith('otp_code')) === true
  );
}

type Values = Record<string, Record<string, unknown>>;

/** If the bot dies meanwhile, Slack shows “We had some trouble connecting”, which is expected. */
async function submit({ house }: Pick<Scene, 'house'>, values: Values): Promise<void> {
  const viewId = topView(house)?.id;
  if (viewId === undefined) return;
  await house.workspace.act(house.workspace.ids.users.agent, { kind: 'submit_view', viewId, values });
}

async function enterCode(scene: Scene, code: string): Promise<void> {
  const field = topView(scene.house)?.blocks.find((block) => block.block_id?.startsWith('otp_code'));
  if (field?.block_id === undefined) return;
  const { action_id: actionId } = field['element'] as { action_id: string };
  await submit(scene, { [field.block_id]: { [actionId]: { type: 'plain_text_input', value: code } } });
}

/** In the order of the words: the one at the start of a first line is the state. */
export const endWords: Record<string, string> = {
  approved: `✅ ${outcomeWords.paid}`,
  declined: `❌ ${outcomeWords.declined}`,
  rejected: `⛔ ${outcomeWords.rejected}`,
  abandoned: `📭 ${outcomeWords.abandoned}`,
  wrong_codes: `🚫 ${outcomeWords.wrongCodes}`,
  expired: `⌛ ${outcomeWords.expired}`,
};
/**
 * If the answer with the OTP's transaction id was lost, no code can be entered: the service ends the charge. A charge
 * whose rejection was lost is not found, and is sent again only while that is not too late.
 */
const ends: Record<Story, readonly string[]> = {
  approved: ['approved'],
  lost: ['approved'],
  declined: ['declined'],
  rejected: ['rejected', 'abandoned'],
  otp: ['approved', 'declined', 'expired'],
};

/** Nothing may say *paid* while the service's record does not. */
function watchForPaid(scene: Scene): void {
  const { house, tooEarly } = scene;
  if (orderOf(scene)?.state === 'paid') return;
  const { views, messages } = house.workspace.state(house.workspace.ids.users.agent);
  const shown = [...views, ...Object.values(messages).flat()].map((one) => JSON.stringify(one));
  for (const one of shown) if (one.includes(outcomeWords.paid)) tooEarly.add(one.slice(0, 200));
}

/** The broken promises, once the charge is settled. */
async function problemsOf(scene: Scene): Promise<string[]> {
  const { reference, run, store } = scene;
  const record = await store.read(reference);
  const problems = [...scene.tooEarly].map((text) => `said to be paid while it was not: ${text}`);
  if (!record) return [...problems, ...neverStoredProblems(scene)];
  const end = record.intent.state.kind;
  if (run.awaitExpiry === false && isCodeless(scene, record)) {
    if (scene.house.posts('payDesk').some(isVerdict))
      problems.push('a verdict was told of a charge in doubt');
    return [...problems, ...moneyProblems(scene, 1)];
  }
  if (!(await isSettled(scene))) {
    problems.push(`not settled: ${end}; to tell: ${(await store.toTell()).join(', ')}`);
  }
  return [...problems, ...endProblems(scene, end), ...toldProblems(scene, end)];
}

/** Its end must fit its story, and the service's record. */
function endProblems(scene: Scene, end: string): string[] {
  const { story } = scene.run;
  // Abandoned: when the successor came, it was too late to send. No money moved, and the words say so.
  const isAbandoned = end === 'abandoned' && requests(scene) === 0;
  const isPaid = orderOf(scene)?.state === 'paid';
  return [
    ...(isAbandoned || ends[story].includes(end) ? [] : [`ended as ${end}`]),
    ...(isPaid === (end === 'approved')
      ? []
      : [`ended as ${end}, and the service has it ${isPaid ? '' : 'not '}paid`]),
    ...moneyProblems(scene, story === 'rejected' || isAbandoned ? 0 : 1),
  ];
}

/** The process died before the charge was stored: nothing may have happened, unless the agent pressed again. */
function neverStoredProblems(scene: Scene): string[] {
  const desk = scene.house.posts('payDesk');
  return [
    ...moneyProblems(scene, 0),
    ...(requests(scene) > 0 ? ['the service was asked to charge though nothing was stored'] : []),
    ...(desk.length > 0 ? [`the desk was told of a charge that was never stored: ${desk[0]?.text}`] : []),
    ...(scene.pressedAgain ? ['the button was pressed again and nothing was stored'] : []),
  ];
}

/** This many charges were accepted, all under the one reference; and never more codes than the bank allows. */
function moneyProblems({ house, reference }: Scene, accepted: number): string[] {
  const { otpSubmissions } = house.payments.stats();
  const charged = house.payments.state().orders.map((order) => order.orderReference);
  const ours = charged.filter((one) => one.startsWith('pay-'));
  return [
    ...(ours.length === accepted ? [] : [`${ours.length} charges accepted, not ${accepted}`]),
    ...(ours.every((one) => one === reference) ? [] : [`charged as ${ours.join(', ')}, not ${reference}`]),
    ...(otpSubmissions <= 3 ? [] : [`${otpSubmissions} codes sent`]),
  ];
}

export function requests({ house }: Pick<Scene, 'house'>): number {
  return house.payments.stats().calls['POST /v1/checkout/tokenized-card-payment'] ?? 0;
}

/** Each message once, each verdict in one note and in at most one direct message. */
function toldProblems({ house }: Scene, end: string): string[] {
  const problems: string[] = [];
  const desk = house.posts('payDesk');
  const dms = directMessages(house);
  const keys = [...desk, ...dms, ...house.posts('payAlerts'), ...house.posts('general')].map(keyOf);
  const twice = keys.filter((key, index) => keys.indexOf(key) !== index);
  if (twice.length > 0) problems.push(`told twice: ${twice.join(', ')}`);
  const words = endWords[end] ?? end;
  const parents = desk.filter(({ threadTs }) => threadTs === undefined).map(({ text }) => text);
  if (parents.length !== 1 || !parents[0]?.startsWith(words))
    problems.push(`the desk has ${JSON.stringify(parents)}`);
  const verdicts = desk.filter(isVerdict).map(({ text }) => text);
  if (verdicts.length !== 1 || !verdicts[0]?.startsWith(words))
    problems.push(`the thread has ${JSON.stringify(verdicts)}`);
  const direct = dms.filter((post) => !keyOf(post).includes(':otp:')).map(({ text }) => text);
  if (direct.length > 1 || (direct[0] !== undefined && !direct[0].startsWith(words))) {
    problems.push(`the agent was sent ${JSON.stringify(direct)}`);
  }
  return problems;
}

function isVerdict({ threadTs, text }: BotPost): boolean {
  return threadTs !== undefined && Object.values(endWords).some((words) => text.startsWith(words));
}

export function keyOf({ ts, metadata }: BotPost): string {
  const payload = metadata?.event_payload as { key?: unknown } | undefined;
  return typeof payload?.key === 'string' ? payload.key : `no key, at ${ts}`;
}

export function directMessages(house: House, of: string = house.workspace.ids.users.agent): BotPost[] {
  const { channels } = house.workspace.state(of);
  return channels.filter(({ kind }) => kind === 'dm').flatMap(({ id }) => house.workspace.posts(id));
}

/** The charges in a bot's store, read past the bot. */
export type ChargeInStore = {
  read: (reference: string) => Promise<ChargeRecord | undefined>;
  /** The request for approval with this id. */
  approval: (id: string) => Promise<Approval | undefined>;
  /** Keys of messages still to be posted or edited. */
  toTell: () => Promise<string[]>;
  close: () => Promise<void>;
};

/** The bot must have started once: before, there is no file. */
export async function openChargeInStore(house: House): Promise<ChargeInStore> {
  const settings = readSettings(house.settings());
  if (settings.kind === 'refused') throw new Error(settings.words);
  const kept = await openStorage({ config: settings.config, log: () => undefined, now: Date.now });
  const { store, sealer, close } = kept;
  const charges = createRecords({ store, sealer, wait: rest }, storedCharge);
  return {
    read: (reference) => askUntilAnswered(() => charges.read(reference)),
    async approval(id) {
      const entry = await askUntilAnswered(() => store.read(approvalPrefix + id));
      if (!entry) return undefined;
      const { state } = JSON.parse(sealer.open(entry.key, entry.value)) as { state: { approval: Approval } };
      return state.approval;
    },
    toTell: async () =>
      workIn(await house.due())
        .map(({ key }) => key)
        .filter((key) => key.startsWith('message:')),
    close,
  };
}

/** How the bank answers; `lost`: it charges, and the connection breaks before the answer. */
export const stories = ['approved', 'otp', 'declined', 'rejected', 'lost'] as const;
export type Story = (typeof stories)[number];

/** Shared by all runs. */
export type Place = {
  bundle: Bundle;
  /** The Redis for the stores of a run's bots, under a prefix of their own; absent: a file. */
  redis?: { url: string };
  /** Work that uses the processor heavily, or must not be slowed down, goes through here. */
  busy: <T>(work: () => Promise<T>) => Promise<T>;
};

export type Run = {
  story: Story;
  place: Place;
  /** As in killed-bot.ts; absent: no kill, and `passed` names all points. */
  killAt?: string;
  /** The agent still sees the review, and presses its button again once the bot is back. */
  pressAgain?: boolean;
  /**
   * Waits until a charge ends that can get no code because its answer died with the bot. False leaves it in doubt, and
   * its words must say so.
   */
  awaitExpiry?: boolean;
};

export type Ran = {
  killed: boolean;
  /** The agent still saw the review when the bot was back. */
  stuck: boolean;
  /** The charge's end; `none`: it was never stored. */
  end: string;
  passed: string[];
  /** Broken promises; empty if there are none. */
  problems: string[];
};

/** One run. */
type Scene = {
  run: Run;
  house: House;
  first: Bot;
  store: ChargeInStore;
  /** The reference that the charge has or would have. */
  reference: string;
  /** The agent pressed the review's button a second time. */
  pressedAgain: boolean;
  /** Words that came too early, even if they became true later. */
  tooEarly: Set<string>;
};

function orderOf({ house, reference }: Scene) {
  return house.payments.state().orders.find((order) => order.orderReference === reference);
}

/** All events were delivered, and the work they caused is done; must hold at two checks in a row. */
async function isQuiet(scene: Scene): Promise<boolean> {
  const { deliveries } = scene.house.payments.state();
  return deliveries.every(({ state }) => state === 'delivered') && (await isSettled(scene));
}

async function isSettled({ store, reference }: Scene): Promise<boolean> {
  const record = await store.read(reference);
  return record !== undefined && isTold(record) && (await store.toTell()).length === 0;
}

export function isTold({ intent: { state, told } }: ChargeRecord): boolean {
  return 'concludedAt' in state && told.includes(state.kind);
}

/** The service waits for a code, but the bot has no transaction id: it was in the lost answer. */
function isCodeless(scene: Scene, { intent }: ChargeRecord): boolean {
  const isWaiting = orderOf(scene)?.state === 'awaiting_otp';
  return isWaiting && intent.otp === undefined && intent.state.kind === 'confirming';
}
