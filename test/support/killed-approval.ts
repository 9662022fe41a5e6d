import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import type { BotPost } from '../../src/simulators/slack/payloads.ts';
import { referenceOf } from '../../src/records/reference-of.ts';
import { openChargeInStore, type ChargeInStore } from './charge-in-store.ts';
import { reviews, sitAt, type Desk } from './desk.ts';
import type { House } from './house.ts';
import { cards, submit } from './killed-charge-agent.ts';
import { directMessages, endWords, keyOf, requests } from './killed-charge-promises.ts';
import type { Ran, Run } from './killed-charge-scene.ts';
import { openFastHouse } from './killed-charge.ts';

/** More than one person alone may charge in the playground. */
const amount = '150,000.00';
const stepMs = 20_000;
const runDeadlineMs = 60_000;
const lookAgainMs = 100;

type Scene = { house: House; desk: Desk; store: ChargeInStore; reference: string };

/**
 * An agent asks for a charge, a second person approves it, and the bot they press in is killed on the way; another
 * bot has to carry on. The points begin with the click.
 */
export async function runApproval(run: Run): Promise<Ran> {
  const cleanUps: (() => unknown)[] = [];
  try {
    const { scene, passed, killed } = await run.place.busy(() => approveAndDie(run, cleanUps));
    if (killed) await carryOn(scene);
    const state = (await scene.store.approval(scene.reference))?.state.kind ?? 'none';
    return { killed, stuck: false, end: state, passed, problems: await problemsOf(scene) };
  } finally {
    // oxlint-disable-next-line no-await-in-loop -- the last opened is the first to go
    for (const cleanUp of cleanUps.toReversed()) await cleanUp();
  }
}

async function approveAndDie(
  run: Run,
  cleanUps: (() => unknown)[],
): Promise<{ scene: Scene; passed: string[]; killed: boolean }> {
  const house = await openFastHouse(run, cleanUps);
  const list = join(house.folder, 'points');
  const first = house.bot();
  await house.start(first);
  const store = openChargeInStore(house, run.place.redis?.client);
  cleanUps.push(() => store.close());
  const desk = sitAt(house, first);
  const { id } = await reviews(desk, 'agent', { ...cards.approved, amount });
  const scene: Scene = { house, desk, store, reference: referenceOf(id) };
  await ask(scene);
  await first.stop();
  const how = run.killAt === undefined ? { KILL_LIST: list } : { KILL_AT: run.killAt };
  const second = house.bot({ ...how, KILL_FROM: 'before read approval' });
  await second.start();
  // No event reaches it: what it does is then what follows from the click and nothing beside it.
  house.workspace.connect(`${second.url()}/slack/events`);
  await approve(scene);
  await house.until('the end of it', async () => !second.isRunning() || (await isOver(scene)), stepMs);
  const killed = !second.isRunning();
  const passed = run.killAt === undefined ? readFileSync(list, 'utf8').trim().split('\n') : [];
  if (killed) await house.start(house.bot());
  return { scene, passed, killed };
}

/** The request, told to everybody it is told to. */
async function ask(scene: Scene): Promise<void> {
  const { house, store, reference } = scene;
  await submit(scene, {});
  await house.until(
    'the request is told',
    async () => (await store.approval(reference)) !== undefined && (await store.toTell()).length === 0,
    stepMs,
  );
}

function isApprove(label: string): boolean {
  return label.startsWith('Approve');
}

/** Presses the button of the newest message in the approvals channel that has one. */
async function approve({ desk }: Scene): Promise<void> {
  const message = desk.messages('lead', 'payOps').findLast(({ shown }) => shown.buttons.some(isApprove));
  const label = message?.shown.buttons.find(isApprove);
  // Who presses while the bot dies is told that something went wrong, which is no problem of ours.
  if (message && label !== undefined) await desk.presses('lead', label, message).catch(() => undefined);
}

/** Another bot has the store now. An approver whose click came to nothing presses once more. */
async function carryOn(scene: Scene): Promise<void> {
  const { store, reference } = scene;
  const endsAt = performance.now() + runDeadlineMs;
  let overLooks = 0;
  while (performance.now() < endsAt && overLooks < 2) {
    // oxlint-disable-next-line no-await-in-loop -- one look after the other
    if ((await store.approval(reference))?.state.kind === 'waiting') await approve(scene);
    // oxlint-disable-next-line no-await-in-loop
    overLooks = (await isOver(scene)) ? overLooks + 1 : 0;
    // oxlint-disable-next-line no-await-in-loop
    await rest(lookAgainMs);
  }
}

async function isOver({ store, reference }: Scene): Promise<boolean> {
  const [approval, charge] = await Promise.all([store.approval(reference), store.read(reference)]);
  if (approval?.state.kind !== 'executed' || !charge) return false;
  const { state, told } = charge.intent;
  return 'concludedAt' in state && told.includes(state.kind) && (await store.toTell()).length === 0;
}

function isMarked({ blocks }: BotPost): boolean {
  return JSON.stringify(blocks).includes('May be a repeat');
}

/** Executed once: one charge under the one reference, of the one decision; and all of it told once. */
async function problemsOf(scene: Scene): Promise<string[]> {
  const { house, store, reference } = scene;
  const approval = await store.approval(reference);
  const end = (await store.read(reference))?.intent.state.kind ?? 'none';
  // Too late to be sent when somebody came to look: money did not move, and the words say so.
  const isAbandoned = end === 'abandoned' && requests(scene) === 0;
  const charged = house.payments
    .state()
    .orders.map((order) => order.orderReference)
    .filter((one) => one.startsWith('pay-'));
  const wrongs: [boolean, string][] = [
    [
      charged.join() !== (isAbandoned ? '' : reference),
      `charged as [${charged.join()}], not as ${reference}`,
    ],
    [end !== 'approved' && !isAbandoned, `the charge is ${end}`],
    [approval?.state.kind !== 'executed', `the request is ${approval?.state.kind}`],
    [approval?.approvals.length !== 1, `${approval?.approvals.length} approvals`],
  ];
  return [
    ...wrongs.filter(([isWrong]) => isWrong).map(([, words]) => words),
    ...toldProblems(scene, endWords[end] ?? end),
  ];
}

function toldProblems({ house, reference }: Scene, words: string): string[] {
  const { users } = house.workspace.ids;
  const ops = house.posts('payOps');
  const people = [users.agent, users.lead, users.onCall].flatMap((user) => directMessages(house, user));
  // A post to a person whose answer died with the bot cannot be looked for: it is repeated, and says so.
  const sure = [...ops, ...house.posts('payDesk'), ...people.filter((post) => !isMarked(post))];
  const keys = sure.map(keyOf);
  const twice = keys.filter((key, index) => keys.indexOf(key) !== index);
  const desk = house.posts('payDesk').filter(({ threadTs }) => threadTs === undefined);
  const card = ops.filter(({ threadTs, text }) => threadTs === undefined && text.includes(reference));
  const saidByCard = card[0]?.text ?? '';
  const wrongs: [boolean, string][] = [
    [twice.length > 0, `told twice: ${twice.join()}`],
    [card.length !== 1, `${card.length} cards in the approvals channel`],
    [
      !/^(☑️ Approved, charge started|✅ Paid)/u.test(saidByCard) && !saidByCard.startsWith(words),
      `the card says ${saidByCard}`,
    ],
    [desk.length !== 1, `the desk has ${desk.length} messages`],
    [desk[0]?.text.startsWith(words) !== true, `the desk says ${desk[0]?.text}`],
  ];
  return wrongs.filter(([isWrong]) => isWrong).map(([, problem]) => problem);
}
