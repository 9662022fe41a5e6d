import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openChargeInStore, type ChargeInStore } from './charge-in-store.ts';
import { sitAt, type Desk } from './desk.ts';
import type { House } from './house.ts';
import { openFastHouse } from './killed-charge.ts';
import { keyOf } from './killed-charge-promises.ts';
import type { Ran, Run } from './killed-charge-scene.ts';

/** What is killed besides charges and their approval, at every await from `act` on. */
export const casePlays = ['alert', 'link', 'card-email'] as const;
export type CasePlay = (typeof casePlays)[number];

const stepMs = 30_000;
/** Its connections break before its end is known. */
const deathMs = 3_000;
/** So long a person looks at a window that says that it goes on. */
const patienceMs = 5_000;

/** People at the bot that dies, or at the one that comes after it. `until` ends also when it is dead. */
type Scene = {
  house: House;
  desk: Desk;
  isDead: () => boolean;
  /** The charges of the merchant's own system. */
  seen: { failed?: string; paid?: string };
  until: (what: string, condition: () => boolean) => Promise<void>;
};

type Play = {
  /** What comes before the points. */
  prepare: (scene: Scene) => Promise<unknown>;
  /** What happens to the bot, from wherever it stands: done again with the one that comes after. */
  act: (scene: Scene) => Promise<void>;
  end: (scene: Scene) => string;
  problems: (scene: Scene) => string[];
};

/** Plays it through the whole bot, kills that on the way, and has another bot end it. */
export async function runCase(name: CasePlay, run: Run): Promise<Ran> {
  const play = plays[name];
  const cleanUps: (() => unknown)[] = [];
  try {
    const begun = await run.place.busy(() => begin(play, run, cleanUps));
    const { scene, killed, passed, store } = begun;
    if (killed) await play.act(scene);
    await settled(scene, store);
    const twice = repeatedKeys(scene);
    const problems = [...(twice.length > 0 ? [`told twice: ${twice.join()}`] : []), ...play.problems(scene)];
    return { killed, stuck: false, end: play.end(scene), passed, problems };
  } finally {
    // oxlint-disable-next-line no-await-in-loop -- the last opened is the first to go
    for (const cleanUp of cleanUps.toReversed()) await cleanUp();
  }
}

async function begin(play: Play, run: Run, cleanUps: (() => unknown)[]) {
  const house = await openFastHouse(run, cleanUps);
  const list = join(house.folder, 'points');
  const first = house.bot(run.killAt === undefined ? { KILL_LIST: list } : { KILL_AT: run.killAt });
  await house.start(first);
  const store = openChargeInStore(house, run.place.redis?.client);
  cleanUps.push(() => store.close());
  const isDead = (): boolean => !first.isRunning();
  const scene = sceneAt(house, sitAt(house, first), {}, isDead);
  await play.prepare(scene);
  process.kill(first.pid(), 'SIGUSR2');
  // Who presses while the bot dies is told that something went wrong, which is no problem of ours.
  await play.act(scene).catch((cause: unknown) =>
    house.until('it is dead', isDead, deathMs).catch(() => {
      throw cause;
    }),
  );
  if (!isDead()) await settled(scene, store);
  const killed = isDead();
  const passed = run.killAt === undefined ? readFileSync(list, 'utf8').trim().split('\n') : [];
  if (!killed) return { scene, store, killed, passed };
  const next = house.bot({ KILL_AT: '' });
  await house.start(next);
  return { scene: sceneAt(house, sitAt(house, next), scene.seen, () => false), store, killed, passed };
}

function sceneAt(house: House, desk: Desk, seen: Scene['seen'], isDead: () => boolean): Scene {
  return {
    house,
    desk,
    seen,
    isDead,
    until: (what, condition) => house.until(what, () => isDead() || condition(), stepMs),
  };
}

/** Twice in a row: every event has come, and there is nothing left to tell. */
async function settled({ house, isDead }: Scene, store: ChargeInStore): Promise<void> {
  let looks = 0;
  await house.until(
    'all is told',
    async () => {
      const delivered = house.payments.state().deliveries.every(({ state }) => state === 'delivered');
      looks = delivered && (await store.toTell()).length === 0 ? looks + 1 : 0;
      return isDead() || looks > 1;
    },
    stepMs,
  );
}

/** A post to a person whose answer died with the bot cannot be looked for: it is repeated, and says so. */
function repeatedKeys({ house }: Scene): string[] {
  const posts = (['payAlerts', 'payDesk', 'payOps', 'general'] as const).flatMap(house.posts);
  const keys = posts.map(keyOf);
  return keys.filter((key, index) => keys.indexOf(key) !== index);
}

const linkReference = 'LINK-KILLED';
const newEmail = 'ada.killed@example.org';
const ada = { tokenKey: 'tok-ada-approves', customerEmail: 'ada.obi@example.com' };

const plays: Record<CasePlay, Play> = {
  /** A charge fails, and the same customer pays another. */
  alert: {
    prepare: async () => undefined,
    async act(scene) {
      const { house, seen, until } = scene;
      seen.failed ??= await house.decline();
      await until('the alert', () => alerts(scene).length > 0);
      if (scene.isDead()) return;
      seen.paid ??= await house.approve({ amount: '5000.00' });
      await until('the payment resolves it', () => alerts(scene)[0]?.text.includes('Resolved') === true);
    },
    end: (scene) => (alerts(scene)[0]?.text.includes('Resolved') === true ? 'resolved' : 'open'),
    problems(scene) {
      const told = alerts(scene);
      const paid = scene.house.posts('general').filter(({ threadTs }) => threadTs === undefined);
      return [
        ...(told.length === 1 ? [] : [`${told.length} alerts of one failure`]),
        ...(told[0]?.text.includes('Resolved') === true ? [] : [`the alert says ${told[0]?.text}`]),
        ...(paid.length === 1 ? [] : [`${paid.length} messages of one payment`]),
      ];
    },
  },
  /** An agent has a link made, and the customer pays it. */
  link: {
    prepare: ({ desk }) => desk.opens('agent', '/pay link 150.00'),
    async act(scene) {
      const { house, desk, until } = scene;
      if (desk.modal('agent')?.fields.includes('Amount') === true) {
        await desk.submits('agent', {
          'Customer’s e-mail': 'zainab.link@example.com',
          'Our reference': linkReference,
        });
      }
      await until('the link', () => links(scene).length > 0);
      if (scene.isDead()) return;
      if (orders(scene)[0]?.state !== 'paid') {
        await house.payments.act({ kind: 'pay_order', orderReference: linkReference, outcome: 'approved' });
      }
      await until('it is paid', () => links(scene)[0]?.text.includes('Paid (confirmed)') === true);
    },
    end: (scene) => orders(scene)[0]?.state ?? 'none',
    problems(scene) {
      const told = links(scene);
      return [
        ...(orders(scene).length === 1 ? [] : [`${orders(scene).length} orders of one link`]),
        ...(told.length === 1 ? [] : [`${told.length} messages of one link`]),
        ...(told[0]?.text.includes('Paid (confirmed)') === true ? [] : [`the link says ${told[0]?.text}`]),
      ];
    },
  },
  /** An agent changes a card's e-mail, and does it again when the bot that was to do it is dead. */
  'card-email': {
    prepare: (scene) => reviewEmail(scene),
    async act(scene) {
      const { desk, house, isDead } = scene;
      for (let tries = 0; tries < 3 && !isDead() && !saysEnd(scene); tries += 1) {
        // oxlint-disable-next-line no-await-in-loop -- one try after the other
        if (desk.modal('agent')?.submit === undefined) await reviewEmail(scene);
        // oxlint-disable-next-line no-await-in-loop
        await desk.submits('agent');
        // oxlint-disable-next-line no-await-in-loop -- of one whose bot has died meanwhile nothing more is heard
        await house.until('its end', () => isDead() || saysEnd(scene), patienceMs).catch(() => undefined);
      }
    },
    end: (scene) => (isChanged(scene) ? 'changed' : 'unchanged'),
    problems: (scene) => [
      ...(isChanged(scene) ? [] : ['the card has its old e-mail']),
      ...(saysEnd(scene) ? [] : [`the window says ${scene.desk.modal('agent')?.shown.text}`]),
    ],
  },
};

async function reviewEmail({ desk, until }: Scene): Promise<void> {
  await desk.closes('agent');
  await desk.opens('agent', '/pay card-email');
  await desk.submits('agent', {
    'Or the card’s token key': ada.tokenKey,
    'Current e-mail': ada.customerEmail,
    'New e-mail': newEmail,
  });
  await until('the review', () => desk.modal('agent')?.shown.text.includes(newEmail) === true);
}

/** Also one that finds the change made: the answer was lost with the bot. */
function saysEnd({ desk }: Scene): boolean {
  const top = desk.modal('agent');
  return /E-mail changed|E-mail not changed/.test(JSON.stringify([top?.shown.text, top?.problems]));
}

function isChanged({ house }: Scene): boolean {
  return house.payments
    .state()
    .cards.some((card) => card.tokenKey === ada.tokenKey && card.customerEmail === newEmail);
}

function alerts({ house, seen }: Scene) {
  const { failed } = seen;
  if (failed === undefined) return [];
  return house
    .posts('payAlerts')
    .filter(({ threadTs, text }) => threadTs === undefined && text.includes(failed));
}

function links({ house }: Scene) {
  return house
    .posts('payDesk')
    .filter(({ threadTs, text }) => threadTs === undefined && text.includes(linkReference));
}

function orders({ house }: Scene) {
  return house.payments.state().orders.filter(({ orderReference }) => orderReference === linkReference);
}
