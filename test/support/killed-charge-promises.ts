import { outcomeWords } from '../../src/slack/words/state-words.ts';
import type { BotPost } from '../../src/simulators/slack/payloads.ts';
import type { House } from './house.ts';
import { isCodeless, isSettled, orderOf, type Scene, type Story } from './killed-charge-scene.ts';

/** In the order of the words: the one at the beginning of a first line is the state. */
export const endWords: Record<string, string> = {
  approved: `✅ ${outcomeWords.paid}`,
  declined: `❌ ${outcomeWords.declined}`,
  rejected: `⛔ ${outcomeWords.rejected}`,
  abandoned: `📭 ${outcomeWords.abandoned}`,
  wrong_codes: `🚫 ${outcomeWords.wrongCodes}`,
  expired: `⌛ ${outcomeWords.expired}`,
};
/**
 * A charge whose answer with the OTP's transaction id was lost can be given no code: the service ends it. One whose
 * rejection was lost is found nowhere, and is sent again only while that is not too late.
 */
const ends: Record<Story, readonly string[]> = {
  approved: ['approved'],
  lost: ['approved'],
  declined: ['declined'],
  rejected: ['rejected', 'abandoned'],
  otp: ['approved', 'declined', 'expired'],
};

/** Nothing may say that it is paid while the service's own record does not. */
export function watchForPaid(scene: Scene): void {
  const { house, tooEarly } = scene;
  if (orderOf(scene)?.state === 'paid') return;
  const { views, messages } = house.workspace.state(house.workspace.ids.users.agent);
  const shown = [...views, ...Object.values(messages).flat()].map((one) => JSON.stringify(one));
  for (const one of shown) if (one.includes(outcomeWords.paid)) tooEarly.add(one.slice(0, 200));
}

/** What is not as promised, once the charge is settled. */
export async function problemsOf(scene: Scene): Promise<string[]> {
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

/** It ended as its story has it, and as the service has it. */
function endProblems(scene: Scene, end: string): string[] {
  const { story } = scene.run;
  // Too late to be sent when somebody came to look: money did not move, and the words say so.
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

/** The process died before anything was agreed: nothing happened, unless the agent agrees once more. */
function neverStoredProblems(scene: Scene): string[] {
  const desk = scene.house.posts('payDesk');
  return [
    ...moneyProblems(scene, 0),
    ...(requests(scene) > 0 ? ['the service was asked to charge though nothing was stored'] : []),
    ...(desk.length > 0 ? [`the desk was told of a charge that was never stored: ${desk[0]?.text}`] : []),
    ...(scene.pressedAgain ? ['the button was pressed again and nothing was stored'] : []),
  ];
}

/** So many charges were accepted, all of them under the one reference; and never more codes than the bank takes. */
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

/** Told once: each message stands once, each verdict in one note, and in at most one direct message. */
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
