import { setTimeout as rest } from 'node:timers/promises';
import type { PageView } from '../../src/simulators/protocol.ts';
import type { Typed } from './desk.ts';
import type { House } from './house.ts';
import { isCodeless, isQuiet, isSettled, type Scene, type Story } from './killed-charge-scene.ts';

/** Longer than anything takes here that is not waited for by the clock. */
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

/** The first is refused by the bank; what is entered after a restart is right. */
const codes = ['000000', '123456'];
const rightCode = '123456';

/** Submits the review and enters what code is asked for, until it is over or the bot is dead. */
export async function chargeAsAgent(scene: Scene): Promise<void> {
  const { house, first } = scene;
  const isDead = (): boolean => !first.isRunning();
  await submit(scene, {});
  for (const code of scene.run.story === 'otp' ? codes : []) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await house.until('a field for the code', () => isDead() || hasCodeField(topView(house)), stepMs);
    // oxlint-disable-next-line no-await-in-loop
    if (!isDead()) await enterCode(scene, code);
  }
  await house.until('the end of it', async () => isDead() || (await isSettled(scene)), stepMs);
}

/** Another bot has the store now. A person who is asked for a code enters it, as `/pay otp` lets them. */
export async function settleAsAgent(scene: Scene): Promise<void> {
  const { run, store, reference } = scene;
  const endsAt = performance.now() + runDeadlineMs;
  let settledLooks = 0;
  while (performance.now() < endsAt) {
    // oxlint-disable-next-line no-await-in-loop -- one look after the other
    const record = await store.read(reference);
    if (!record || (run.awaitExpiry === false && isCodeless(scene, record))) return;
    // oxlint-disable-next-line no-await-in-loop
    settledLooks = (await isQuiet(scene)) ? settledLooks + 1 : 0;
    if (settledLooks > 1) return;
    // oxlint-disable-next-line no-await-in-loop
    if (record.intent.state.kind === 'otp') await reopenAndEnter(scene);
    // oxlint-disable-next-line no-await-in-loop
    else await rest(lookAgainMs);
  }
}

async function reopenAndEnter(scene: Scene): Promise<void> {
  const { house } = scene;
  const user = house.workspace.ids.users.agent;
  for (let view = topView(house); view; view = topView(house)) {
    // oxlint-disable-next-line no-await-in-loop
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

export function topView(house: House): PageView | undefined {
  return house.workspace.state(house.workspace.ids.users.agent).views.at(-1);
}

/** With the button that charges, or that asks a second person. */
export function isReadBack(view: PageView | undefined): boolean {
  return /^(Charge |Ask for approval$)/.test(view?.submit ?? '');
}

function hasCodeField(view: PageView | undefined): boolean {
  return (
    view?.blocks.some((block) => block.type === 'input' && block.block_id?.startsWith('otp_code')) === true
  );
}

type Values = Record<string, Record<string, unknown>>;

/** A bot that dies meanwhile leaves the person with “We had some trouble connecting”, which is no problem of ours. */
export async function submit({ house }: Pick<Scene, 'house'>, values: Values): Promise<void> {
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
