import { seedCards } from '../../src/simulators/payments/seed.ts';
import { visibleText } from '../support/visible-text.ts';
import { background, charge, people, pressInForm, say, submit } from './people.ts';
import type { Scene } from './scene.ts';

/** The bot's public address for customers. */
export const publicUrl = 'https://pay.walk';
const address = /https:\/\/pay\.walk\/c\/([\w-]{22})/;
const minuteMs = 60_000;

/** Actions of customers and robots at the addresses that agents were shown. */
export type Pages = {
  /** Ids after `/c/`: of links, and of the pages that their forms led to. */
  links: Set<string>;
  seats: Set<string>;
  /** Codes that customers typed, each once; a double tap sends it twice. */
  codes: Set<string>;
};

/** A visit at one of the addresses: mostly by a robot, else by a customer. */
export function actAsCustomer(scene: Scene): void {
  const { random, workspace, pages } = scene;
  for (const person of people) {
    for (const { blocks } of workspace.state(workspace.ids.users[person]).views) {
      const [, link] = address.exec(visibleText(blocks)) ?? [];
      if (link !== undefined) pages.links.add(link);
    }
  }
  const known = [...pages.links, ...pages.seats];
  if (known.length === 0) return;
  // Most are dead by now.
  const at = random.pick(random.chance(0.7) ? known.slice(-4) : known);
  if (random.chance(0.3)) return background(scene, () => look(scene, at, random.pick(['GET', 'HEAD'])));
  background(scene, () => typeCode(scene, at));
}

/**
 * An agent charges a card whose bank wants a code and lets the customer type it; then both continue, among other people.
 */
export async function lendCode(scene: Scene): Promise<void> {
  const { random, workspace, payments, time } = scene;
  const user = workspace.ids.users[random.pick(['agent', 'lead'] as const)];
  const card = payments.state().cards.find(({ tokenKey }) => tokenKey === seedCards.requiresOtp.tokenKey);
  await charge(scene, user, `${5_000 + random.below(900)}`, card);
  pressInForm(scene, user, /^Let the customer/);
  await time.pass(2_000);
  for (let count = 3 + random.below(8); count > 0; count -= 1) {
    const lot = random.below(10);
    if (lot < 7) actAsCustomer(scene);
    else if (lot < 8) pressInForm(scene, user, /^(Take it back|New link|Let the customer|Take over)/);
    else if (lot < 9) background(scene, () => submit(scene, user));
    else background(scene, () => closeAndReopen(scene, user));
    await time.pass(random.pick([40, 700, 3_000]));
  }
}

/** Closes the link's window first: it covers the code window's buttons. */
async function closeAndReopen(scene: Scene, user: string): Promise<void> {
  const view = scene.workspace.state(user).views.at(-1);
  if (view) await scene.workspace.act(user, { kind: 'close_view', viewId: view.id });
  else say(scene, user, '/pay otp');
}

async function look(scene: Scene, at: string, method = 'GET'): Promise<string> {
  const answer = await ask(scene, at, { method });
  const page = (await answer?.text()) ?? '';
  const secret = /\bpay-[a-z0-9]{20,}|@example\.com|tok-/.exec(page);
  if (secret) scene.broken.push(`a customer’s page shows ${secret[0]}`);
  return page;
}

/** Undefined: no bot, or no answer. */
async function ask({ tell }: Scene, at: string, init: RequestInit): Promise<Response | undefined> {
  const answer = await fetch(`http://bot/c/${at}`, { ...init, signal: AbortSignal.timeout(minuteMs) }).catch(
    () => undefined,
  );
  tell(`a customer’s ${init.method} is answered ${answer?.status ?? 'by nobody'}`);
  return answer;
}

async function typeCode(scene: Scene, at: string): Promise<void> {
  const { random, pages, payments } = scene;
  const page = await look(scene, at);
  const value = (name: string): string => new RegExp(`name="${name}" value="([^"]+)"`).exec(page)?.[1] ?? '';
  const id = value('id');
  if (id === '') return;
  pages.seats.add(id);
  const right = payments.state().orders.find(({ otp }) => otp !== undefined)?.otp?.code;
  const own = `c0de${String(pages.codes.size).padStart(5, '0')}`;
  const isRight = right !== undefined && random.chance(0.5);
  if (!isRight) pages.codes.add(own);
  const wish = random.pick(['send', 'send', 'send', 'send', 'send', 'resend', 'not_mine']);
  const body = new URLSearchParams({ id, try: value('try'), do: wish, code: isRight ? right : own });
  const taps = random.chance(0.3) ? 2 : 1;
  await Promise.all(
    Array.from({ length: taps }, async (_, tap) => {
      await scene.time.sleep(tap * random.below(400));
      await ask(scene, at, { method: 'POST', body });
    }),
  );
}

/** Checks every address once more, after each should be dead. */
export async function findLivingPages(scene: Scene): Promise<void> {
  const { links, seats } = scene.pages;
  for (const at of [...links, ...seats]) {
    const asked = ask(scene, at, { method: 'GET' });
    await scene.time.pass(1_000);
    const { status } = (await asked) ?? {};
    if (status !== 404) scene.broken.push(`a customer’s page of long ago is answered ${status}`);
  }
}
