import { derivedReference } from '../../src/records/derived-reference.ts';
import type { BotPost } from '../../src/simulators/slack/payloads.ts';
import { type Desk, reviews, sitAt } from './desk.ts';
import type { House } from './house.ts';
import {
  cards,
  type ChargeInStore,
  directMessages,
  endWords,
  isTold,
  keyOf,
  openKilled,
  type Ran,
  requests,
  type Run,
} from './killed-charge.ts';

/** The killed stories other than plain charges, at every await from `act` on. */
export const casePlays = ['four-eyes', 'alert', 'link', 'card-email'] as const;
export type CasePlay = (typeof casePlays)[number];

const stepMs = 30_000;
/** A connection breaks before the process's end is noticed. */
const deathMs = 3_000;
/** How long a person watches a window that shows progress. */
const patienceMs = 5_000;

/** People using the bot that dies, or its successor. `until` also ends when the bot is dead. */
type Scene = {
  house: House;
  desk: Desk;
  isDead: () => boolean;
  store: ChargeInStore;
  /** References: charges by the merchant's own system, and the request for approval. */
  seen: { failed?: string; paid?: string; asked?: string };
  until: (what: string, condition: () => boolean | Promise<boolean>) => Promise<void>;
};

type Play = {
  /** Runs before the first kill point. */
  prepare: (scene: Scene) => Promise<unknown>;
  /** Can start from any state: repeated with the successor. */
  act: (scene: Scene) => Promise<void>;
  end: (scene: Scene) => string | Promise<string>;
  problems: (scene: Scene) => string[] | Promise<string[]>;
};

/** Runs the story through the whole bot, kills it on the way, and lets another bot finish. */
export async function runCase(name: CasePlay, run: Run): Promise<Ran> {
  const play = plays[name];
  const cleanUps: (() => unknown)[] = [];
  try {
    const begun = await run.place.busy(() => begin(play, run, cleanUps));
    const { scene, killed, passed } = begun;
    if (killed) await play.act(scene);
    await settled(scene);
    const twice = repeatedKeys(scene);
    const problems = [
      ...(twice.length > 0 ? [`told twice: ${twice.join()}`] : []),
      ...(await play.problems(scene)),
    ];
    return { killed, stuck: false, end: await play.end(scene), passed, problems };
  } finally {
    for (const cleanUp of cleanUps.toReversed()) await cleanUp();
  }
}

async function begin(play: Play, run: Run, cleanUps: (() => unknown)[]) {
  const opened = await openKilled(run, cleanUps, { KILL_FROM: 'as soon as it is told' });
  const { house, first, store } = opened;
  const isDead = (): boolean => !first.isRunning();
  const scene = sceneAt({ house, desk: sitAt(house, first), store, seen: {}, isDead });
  await play.prepare(scene);
  process.kill(first.pid(), 'SIGUSR2');
  // Pressing a dying bot's button fails for the person, which is expected.
  await play.act(scene).catch((cause: unknown) =>
    house.until('it is dead', isDead, deathMs).catch(() => {
      throw cause;
    }),
  );
  if (!isDead()) await settled(scene);
  const killed = isDead();
  const passed = opened.passed();
  if (!killed) return { scene, killed, passed };
  const next = house.bot({ KILL_AT: '' });
  await house.start(next);
  const after = sceneAt({ ...scene, desk: sitAt(house, next), isDead: () => false });
  return { scene: after, killed, passed };
}

function sceneAt(at: Omit<Scene, 'until'>): Scene {
  const { house, isDead } = at;
  return {
    ...at,
    until: (what, condition) => house.until(what, () => isDead() || condition(), stepMs),
  };
}

/** Seen twice in a row: every event was delivered, and nothing is left to post. */
async function settled({ house, store, isDead }: Scene): Promise<void> {
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

/** A direct message whose answer died with the bot can't be searched for: it is repeated, and marked as a repeat. */
function repeatedKeys({ house }: Scene): string[] {
  const { agent, lead, onCall } = house.workspace.ids.users;
  const direct = [agent, lead, onCall].flatMap((user) => directMessages(house, user));
  const posts = (['payAlerts', 'payDesk', 'payOps', 'general'] as const).flatMap(house.posts);
  const keys = [...posts, ...direct.filter((post) => !isMarked(post))].map(keyOf);
  return keys.filter((key, index) => keys.indexOf(key) !== index);
}

const linkReference = 'LINK-KILLED';
const newEmail = 'ada.killed@example.org';
const ada = { tokenKey: 'tok-ada-approves', customerEmail: 'ada.obi@example.com' };

const plays: Record<CasePlay, Play> = {
  /** An agent requests a charge, and a second person approves it. */
  'four-eyes': {
    async prepare(scene) {
      const { id } = await reviews(scene.desk, 'agent', { ...cards.approved, amount: '150,000.00' });
      scene.seen.asked = derivedReference(id);
      await scene.desk.submits('agent');
      await scene.until('it is asked', async () => (await approvalOf(scene)) !== undefined);
      await settled(scene);
    },
    async act(scene) {
      await scene.until('it is executed', async () => {
        const kind = (await approvalOf(scene))?.state.kind;
        // Presses again if the first click was lost.
        if (kind === 'waiting') await approve(scene);
        const charge = await scene.store.read(scene.seen.asked ?? '');
        return kind === 'executed' && charge !== undefined && isTold(charge);
      });
    },
    end: async (scene) => (await approvalOf(scene))?.state.kind ?? 'none',
    problems: problemsOfApproval,
  },
  /** A charge fails, and the same customer then pays. */
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
  /** An agent creates a link, and the customer pays it. */
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
  /** An agent changes a card's e-mail, and does it again if the bot died before. */
  'card-email': {
    prepare: (scene) => reviewEmail(scene),
    async act(scene) {
      const { desk, house, isDead } = scene;
      for (let tries = 0; tries < 3 && !isDead() && !saysEnd(scene); tries += 1) {
        if (desk.modal('agent')?.submit === undefined) await reviewEmail(scene);
        await desk.submits('agent');
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

/** Or reports that the change exists already, if its answer was lost with the bot. */
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

function approvalOf({ store, seen }: Scene) {
  return store.approval(seen.asked ?? '');
}

function isApprove(label: string): boolean {
  return label.startsWith('Approve');
}

/** Presses *Approve* on the newest message in the approvals channel that has it. */
async function approve({ desk }: Scene): Promise<void> {
  const message = desk.messages('lead', 'payOps').findLast(({ shown }) => shown.buttons.some(isApprove));
  const label = message?.shown.buttons.find(isApprove);
  // Pressing a dying bot's button fails for the person, which is expected.
  if (message && label !== undefined) await desk.presses('lead', label, message).catch(() => undefined);
}

function isMarked({ blocks }: BotPost): boolean {
  return JSON.stringify(blocks).includes('May be a repeat');
}

/** Executed once: one charge under one reference for one decision, and everything posted once. */
async function problemsOfApproval(scene: Scene): Promise<string[]> {
  const { house, store, seen } = scene;
  const reference = seen.asked ?? '';
  const approval = await approvalOf(scene);
  const end = (await store.read(reference))?.intent.state.kind ?? 'none';
  // Abandoned: when the successor came, it was too late to send. No money moved, and the words say so.
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
    ...toldProblems(scene, reference, endWords[end] ?? end),
  ];
}

function toldProblems({ house }: Scene, reference: string, words: string): string[] {
  const ops = house.posts('payOps');
  const desk = house.posts('payDesk').filter(({ threadTs }) => threadTs === undefined);
  const card = ops.filter(({ threadTs, text }) => threadTs === undefined && text.includes(reference));
  const saidByCard = card[0]?.text ?? '';
  const wrongs: [boolean, string][] = [
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
