import type { PageBlock, PageMessage, PaymentsCard } from '../../src/simulators/protocol.ts';
import { elementValues } from '../../src/simulators/slack/elements.ts';
import { type Element, type Placed, pressable } from '../support/pressable.ts';
import { visibleText } from '../support/visible-text.ts';
import type { Scene } from './scene.ts';

type Container = { type: 'message'; channel: string; ts: string } | { type: 'view'; viewId: string };

/** A press or submit: where it was, and its label. */
export type Done = { user: string; label: string; on: string };

export const people = ['agent', 'lead', 'onCall', 'outsider'] as const;
export type Person = (typeof people)[number];
/** Few values, so that payments and failures often have equal amounts. */
const amounts = [
  '5000.00',
  '12000.00',
  '12000.00',
  '5000.01',
  '5000.02',
  '7000.06',
  '7000.08',
  '7000.11',
  '150000.00',
];
export const customers = ['ada.obi@example.com', 'bola.ade@example.com', 'chidi.eze@example.com'] as const;

/** A link leads out of Slack. */
function pressableHere(blocks: readonly PageBlock[]): Placed[] {
  return pressable(blocks).filter(({ element }) => element['url'] === undefined);
}

async function press(
  scene: Scene,
  user: string,
  placed: Placed,
  { on, ...container }: Container & { on: string },
): Promise<void> {
  const { blockId, actionId, element, label } = placed;
  scene.done.push({ user, label, on });
  scene.tell(`${user} presses “${label}” on ${on.slice(0, 90)}`);
  const action = { kind: 'block_action', blockId, actionId, element, container, values: {} } as const;
  const result = await scene.workspace.act(user, action);
  if (!result.ok) scene.tell(`${user} is told: ${result.problem}`);
}

/** A person uses their screen: fills in an open form, presses a button, or types a command. */
export function actAtRandom(scene: Scene, person: Person): void {
  const { random, workspace } = scene;
  const user = workspace.ids.users[person];
  const state = workspace.state(user);
  const view = state.views.at(-1);
  if (view) {
    const buttons = pressableHere(view.blocks);
    const lot = random.below(10);
    if (lot < 8 && view.submit !== undefined) return background(scene, () => submit(scene, user));
    if (lot < 9 && buttons.length > 0) {
      const placed = random.pick(buttons);
      return background(scene, () =>
        press(scene, user, placed, { type: 'view', viewId: view.id, on: view.title }),
      );
    }
    return background(scene, () => workspace.act(user, { kind: 'close_view', viewId: view.id }));
  }
  const offered = Object.values(state.messages)
    .flatMap((all) => all.slice(-25))
    .flatMap((message) => pressableHere(message.blocks).map((placed) => ({ message, placed })));
  if (offered.length === 0 || random.chance(0.2)) return type(scene, user);
  // Chooses the label first, so that each kind of button is equally likely.
  const label = random.pick([...new Set(offered.map(({ placed }) => placed.label))]);
  const { message, placed } = random.pick(offered.filter((one) => one.placed.label === label));
  pressOn(scene, user, message, placed);
  // A second person presses on the same message at the same time.
  const other = workspace.ids.users[random.pick(people)];
  if (other !== user && !message.ephemeral && random.chance(0.3)) pressOn(scene, other, message, placed);
}

/** Presses such a button in the person's open form, if there is one. */
export function pressInForm(scene: Scene, user: string, label: RegExp): void {
  const view = scene.workspace.state(user).views.at(-1);
  const placed = pressable(view?.blocks ?? []).find((one) => label.test(one.label));
  if (!view || !placed) return;
  background(scene, () => press(scene, user, placed, { type: 'view', viewId: view.id, on: view.title }));
}

function pressOn(scene: Scene, user: string, message: PageMessage, placed: Placed): void {
  const { channel, ts } = message;
  const on = `${message.text} ${visibleText(message.blocks)}`;
  background(scene, () => press(scene, user, placed, { type: 'message', channel, ts, on }));
}

/** Presses every such button of the newest message that has one. */
export function pressAll(scene: Scene, user: string, label: RegExp): void {
  const on = ({ blocks }: PageMessage): Placed[] => pressable(blocks).filter((one) => label.test(one.label));
  const message = Object.values(scene.workspace.state(user).messages)
    .flat()
    .toSorted((one, other) => Number(one.ts) - Number(other.ts))
    .findLast((one) => on(one).length > 0);
  for (const placed of message ? on(message) : []) pressOn(scene, user, message as PageMessage, placed);
}

function type(scene: Scene, user: string): void {
  const { random, payments } = scene;
  const orders = payments.state().orders.slice(0, 12);
  const reference = orders.length === 0 ? 'ORDER-1' : random.pick(orders).orderReference;
  const text = random.pick([
    ...['', ' 5000', ' 5000.01', ' 7000.06', ' 12000', ' 150000'].map((amount) => `/pay charge${amount}`),
    '/pay otp',
    `/pay lookup ${reference}`,
    `/pay story ${reference}`,
    '/pay doubt',
    '/pay alerts',
    '/pay undelivered',
    '/pay approvals',
    '/pay link 5000',
  ]);
  say(scene, user, text);
}

export function say(
  scene: Scene,
  user: string,
  text: string,
  channel: string = scene.workspace.ids.channels.payOps,
): void {
  scene.tell(`${user} types ${text}`);
  background(scene, () => scene.workspace.act(user, { kind: 'send_message', channel, text }));
}

/** Types a command that opens a form, and submits it. */
export async function typeAndSubmit(
  scene: Scene,
  ...typed: [user: string, text: string, channel?: string]
): Promise<void> {
  say(scene, ...typed);
  await scene.time.pass(2_000);
  background(scene, () => submit(scene, typed[0]));
}

/** Submits a charge's form and its review. */
export async function charge(scene: Scene, user: string, amount: string, card?: PaymentsCard): Promise<void> {
  const { time } = scene;
  say(scene, user, `/pay charge ${amount}`);
  await time.pass(2_000);
  pressInForm(scene, user, /^More fields/);
  await time.pass(1_000);
  for (const waitMs of [2_000, 4_000]) {
    background(scene, () => submit(scene, user, card));
    await time.pass(waitMs);
  }
}

/** Fills in the open form with that card, and submits it. */
export async function submit(
  scene: Scene,
  user: string,
  card = scene.random.pick(scene.payments.state().cards),
): Promise<void> {
  const { workspace } = scene;
  const view = workspace.state(user).views.at(-1);
  if (!view) return;
  const values: Record<string, Record<string, unknown>> = {};
  for (const block of view.blocks.filter(({ type: kind }) => kind === 'input')) {
    const element = block['element'] as Element;
    const [blockId, actionId] = [block.block_id ?? '', element.action_id ?? ''];
    const state = await fill(scene, user, { block, element, viewId: view.id, card });
    if (state) values[blockId] = { [actionId]: { type: element.type, ...state } };
  }
  const front = workspace.state(user).views.at(-1);
  if (front?.id !== view.id || front.title !== view.title) return;
  scene.done.push({ user, label: view.submit ?? '', on: view.title });
  scene.tell(`${user} submits “${view.title}” ${JSON.stringify(values).slice(0, 300)}`);
  const result = await workspace.act(user, { kind: 'submit_view', viewId: view.id, values });
  if (!result.ok) scene.tell(`${user} is told: ${result.problem}`);
}

type Field = { block: PageBlock; element: Element; viewId: string; card: PaymentsCard };

async function fill(scene: Scene, user: string, field: Field): Promise<object | undefined> {
  const { random, workspace } = scene;
  const { block, element, viewId, card } = field;
  const kind = elementValues[element.type];
  if (!kind) return undefined;
  // Usually leaves prefilled values; sometimes types them again, as the bot asks when Slack did not send them.
  const standing = element[kind.initial];
  if (standing !== undefined && !(element.options && random.chance(0.2)))
    return random.chance(0.4) ? { [kind.value]: standing } : undefined;
  if (element.type === 'users_select') return { selected_user: workspace.ids.users[random.pick(people)] };
  if (element.type.endsWith('external_select')) {
    const where = { blockId: block.block_id ?? '', actionId: element.action_id ?? '', viewId };
    const asked = await workspace.act(user, {
      kind: 'suggest',
      ...where,
      text: card.customerEmail.slice(0, 4),
    });
    const options = asked.ok ? (asked.options ?? []) : [];
    return options.length === 0 ? undefined : { selected_option: random.pick(options) };
  }
  // Snoozes of days would outlast the walk.
  if (element.options) return { [kind.value]: random.pick(element.options.slice(0, 3)) };
  if (!element.type.endsWith('_input')) return undefined;
  return { value: typed(scene, visibleText([block['label']]), field) };
}

/** By the field's label. */
function typed({ random, payments }: Scene, label: string, { block, card }: Field): string {
  if (/token key/i.test(label)) return card.tokenKey;
  if (/e-?mail/i.test(label)) return card.customerEmail;
  if (/code/i.test(label)) {
    const code = payments.state().orders.find(({ otp }) => otp !== undefined)?.otp?.code;
    return code === undefined || random.chance(0.2) ? '654321' : code;
  }
  if (/amount/i.test(label)) return random.pick(amounts);
  if (/reason contains/i.test(label)) return random.pick(['', 'funds']);
  return block['optional'] === true ? '' : 'Settled with the customer';
}

/** Does not wait: the person's action takes its own time. */
export function background(scene: Scene, work: () => Promise<unknown>): void {
  work().catch((error: unknown) => scene.broken.push(`a person’s act fails: ${String(error)}`));
}
