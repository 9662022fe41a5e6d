import { chargeReferencePrefix } from '../../src/domain/order-reference.ts';
import type { PaymentsOrder } from '../../src/simulators/protocol.ts';
import { onCallGroup, people as cast } from '../../src/simulators/slack/directory.ts';
import type { BotPost } from '../../src/simulators/slack/payloads.ts';
import { people, pressable, textOf } from './people.ts';
import type { Scene } from './scene.ts';

/** The words that walks look for on the screen; they know nothing else of the bot. Change them with the bot's words. */
export const words = {
  states: [
    ['taken', /^👀/u],
    ['snoozed', /^💤/u],
    ['resolved', /^✅ Resolved/u],
    ['closed', /^☑️ Resolved/u],
  ],
  /** Notes below an alert that don't change its state, and notes that only say who has it. */
  noState: /^(💳|🔎)/u,
  stillTaken: /^(👤|⏰)/u,
  called: /^📣/u,
  acknowledge: 'Acknowledge',
  acknowledgeAll: 'Acknowledge all',
  storm: /Storm/,
  byPayment: /by payment/,
  digest: /(Storm|Many payments)[^:]*: ([\d,]+)/,
  mayRepeat: /may (repeat|be a repeat)/i,
  paid: /^✅ Paid/u,
  declined: /^❌/u,
  charge: /^(Charge.*[^…]|Again: .*|Approve .*)$/,
  deliverAgain: /^Deliver again/,
  /** Charging acknowledges it too, also after an approval. */
  take: /^(Acknowledge|Charge|Again: |Ask for approval)/,
  /** Notes that call people on purpose: the owner of a link, and of a charge that was taken over. */
  callsLater: /payops_(alert|storm)_note/,
  callsOnPurpose: /payops_(link|charge)_note/,
  givenUp: /given up until/,
  brokenRecord: /cannot be worked on|put aside|handler failed|broke off/,
  linkOver: /No payment yet|expired/i,
} as const;

const references = /\b(?:SUB-\d+|CARD-[\w-]+|ORDER-[\w-]+|pay-[a-z0-9]{20,})\b/g;
type State = 'open' | (typeof words.states)[number][0];

function stateOf(text: string): State {
  return words.states.find(([, says]) => says.test(text))?.[0] ?? 'open';
}

/** A reference that the bot generated is below the first line, before any other. */
function referenceOf({ text, blocks }: BotPost): string | undefined {
  return `${text} ${textOf(blocks)}`.match(references)?.[0];
}

/** An event's message in a channel, and its thread. */
type Told = { channel: string; post: BotPost; thread: BotPost[] };
type Event = {
  kind: 'payment_failed' | 'payment_success';
  reference: string;
  order: PaymentsOrder;
  told: Told[];
};

/** Checks everything at rest; returns how often each case was met. */
export function findWrongs(scene: Scene): Map<string, number> {
  const met = new Map<string, number>();
  const orders = new Map(scene.payments.state().orders.map((order) => [order.orderReference, order]));
  const events = [...scene.seen.acknowledged.keys()].flatMap((key): Event[] => {
    const [kind, reference] = key.split(' ') as [Event['kind'], string];
    const order = orders.get(reference);
    const told = toldOf(scene, reference);
    return order ? [{ kind, reference, order, told }] : [];
  });
  for (const { kind, told } of events) {
    count(met, kind);
    for (const { post } of told) count(met, `alerts ${stateOf(post.text)}`);
  }
  findWrongTellings(scene, events, met);
  findWrongStates(scene, events);
  findWrongRecoveries(scene, events);
  findWrongCalls(scene, events, met);
  findWrongOrder(scene, events);
  findWrongCharges(scene, met);
  findWrongCodes(scene, met);
  findWrongTraffic(scene);
  return met;
}

function count(met: Map<string, number>, what: string): void {
  met.set(what, (met.get(what) ?? 0) + 1);
}

function toldOf({ workspace }: Scene, reference: string): Told[] {
  const { payAlerts, payDesk, general } = workspace.ids.channels;
  return [payAlerts, payDesk, general].flatMap((channel) => {
    const posts = workspace.posts(channel);
    return posts
      .filter((post) => post.threadTs === undefined && referenceOf(post) === reference)
      .map((post) => ({ channel, post, thread: posts.filter(({ threadTs }) => threadTs === post.ts) }));
  });
}

function isLarge({ amount }: PaymentsOrder): boolean {
  return Number(amount.replaceAll(',', '')) >= 10_000;
}

function isSmall({ amount }: PaymentsOrder): boolean {
  return Number(amount.replaceAll(',', '')) <= 1_000;
}

/** The channels by the walk's rules. */
function channelsFor({ weather, workspace }: Scene, { kind, order }: Event): string[] {
  const { payAlerts, payDesk, general } = workspace.ids.channels;
  if (kind === 'payment_success') return [general];
  switch (weather.rules) {
    case 'none':
      return [payAlerts];
    case 'both':
    case 'later':
      return isLarge(order) ? [payDesk, payAlerts] : [payAlerts];
    case 'elsewhere':
      if (isLarge(order)) return [payDesk, payAlerts];
      return [isSmall(order) ? payDesk : payAlerts];
  }
}

/** A charge of the bot's own reports its failure itself, unless it is paid or under review. */
function mayBeUntold({ kind, reference }: Event): boolean {
  return kind === 'payment_failed' && reference.startsWith(chargeReferencePrefix);
}

/** Each event must be once in each channel of its rules, as a message or counted in a digest, and nowhere else. */
function findWrongTellings(scene: Scene, events: readonly Event[], met: Map<string, number>): void {
  const { workspace, weather, broken } = scene;
  const missing = new Map<string, number>();
  for (const event of events) {
    const { kind, reference, told } = event;
    const ways = channelsFor(scene, event);
    for (const { channel, post } of told) {
      if (!ways.includes(channel)) broken.push(`${kind} ${reference} is told in ${channel}: ${post.text}`);
    }
    for (const channel of ways) {
      const here = told.filter((one) => one.channel === channel);
      const marked = here.filter(({ post }) => mayRepeat(scene, post)).length;
      if (here.length - marked > 1)
        broken.push(`${kind} ${reference} is told ${here.length} times in ${channel}`);
      if (here.length === 0 && mayBeUntold(event)) continue;
      if (here.length === 0) missing.set(`${channel} ${kind}`, (missing.get(`${channel} ${kind}`) ?? 0) + 1);
      if (here.length === 0 && weather.threshold === 0)
        broken.push(`${kind} ${reference} is not told in ${channel}`);
    }
  }
  if (weather.threshold === 0) return;
  const { payAlerts, payDesk, general } = workspace.ids.channels;
  for (const channel of [payAlerts, payDesk, general]) {
    for (const kind of ['payment_failed', 'payment_success'] as const) {
      const inDigests = digests(scene, channel, kind).reduce((sum, one) => sum + one, 0);
      if (inDigests > 0) count(met, `digests of ${kind}`);
      const wanted = missing.get(`${channel} ${kind}`) ?? 0;
      const isRepeated = workspace
        .posts(channel)
        .some((post) => words.digest.test(post.text) && mayRepeat(scene, post));
      if (isRepeated ? inDigests < wanted : inDigests !== wanted)
        broken.push(`digests in ${channel} count ${inDigests} of ${wanted} times ${kind}`);
    }
  }
}

/** If the history could not be read, a post may be repeated with a mark; by then it may be behind others. */
function mayRepeat({ weather, seen }: Scene, { channel, blocks }: BotPost): boolean {
  const isOpen = weather.mayReadHistory && weather.quirks.isHistorySlow !== true && !seen.left.has(channel);
  const couldLook = isOpen && seen.slackAwayMs <= longAwayMs;
  return !couldLook && words.mayRepeat.test(textOf(blocks));
}

/** The counts in each digest of events without a message. */
function digests({ workspace }: Scene, channel: string, kind: Event['kind']): number[] {
  return workspace.posts(channel).flatMap(({ text, threadTs }) => {
    const [, what, number] = words.digest.exec(text) ?? [];
    if (threadTs !== undefined || number === undefined) return [];
    if ((what === 'Many payments') !== (kind === 'payment_success')) return [];
    return [Number(number.replaceAll(',', ''))];
  });
}
/** If a post is doubled, the bot knows only the last: it neither edits the first nor calls people to it. */
function lastInEach(all: Event['told']): Event['told'] {
  return all.filter(({ channel }, index) => !all.slice(index + 1).some((one) => one.channel === channel));
}

/** Each channel's message must show the last state, and the same in all channels. */
function findWrongStates(scene: Scene, events: readonly Event[]): void {
  const { broken, done } = scene;
  for (const { kind, reference, told: all } of events) {
    const told = lastInEach(all);
    const states = new Set(told.map(({ post }) => stateOf(post.text)));
    if (states.size > 1) broken.push(`${kind} ${reference} is ${[...states].join(' and ')}`);
    for (const { post, thread } of told) {
      // A step posted by *Deliver again* may be below later ones.
      const isLate = scene.log.some((line) => words.givenUp.test(line) && line.includes(`/${reference}#`));
      const [state, noted] = [stateOf(post.text), isLate ? undefined : notedState(thread)];
      if (noted !== undefined && noted !== state)
        broken.push(`${kind} ${reference} says ${state} above a thread that says ${noted}`);
      const buttons = pressable(post.blocks);
      const has = new Set(buttons.map(({ actionId }) => actionId)).size;
      if (has > 3) broken.push(`${has} buttons on the alert of ${reference}`);
      if ((state === 'resolved' || state === 'closed') && has > 0)
        broken.push(`the alert of ${reference} is ${state} and has buttons`);
      const takers = done.filter(({ label }) => words.take.test(label)).map(({ user }) => user);
      // After a restart an edit mentions a person whose name is forgotten.
      const [, id, name] = /Acknowledged by\W*(?:<@(\w+)>|(\w+))/.exec(textOf(post.blocks)) ?? [];
      const taker = id ?? cast.find(({ realName }) => realName === name)?.id;
      if (taker !== undefined && !takers.includes(taker)) broken.push(`${taker} never took ${reference}`);
      if (state !== 'open' && kind === 'payment_success')
        broken.push(`a payment that is ${state}: ${reference}`);
    }
  }
}

/** By the last note that names a state. */
function notedState(thread: readonly BotPost[]): State | undefined {
  const last = thread.findLast(({ text }) => stateOf(text) !== 'open' || words.stillTaken.test(text));
  if (!last) return undefined;
  return words.stillTaken.test(last.text) ? undefined : stateOf(last.text);
}

function isStorm({ text, threadTs }: BotPost): boolean {
  return threadTs === undefined && words.storm.test(text);
}

function hasButton({ blocks }: BotPost, button: string): boolean {
  return pressable(blocks).some(({ label }) => label === button);
}

/** By an escalating rule, people are called once to an alert that is not acknowledged, in its thread and nowhere else. */
function findWrongCalls(
  { workspace, weather, broken }: Scene,
  events: readonly Event[],
  met: Map<string, number>,
): void {
  const { payDesk, payAlerts } = workspace.ids.channels;
  const posts = workspace.posts(payDesk);
  for (const { text } of posts) if (words.called.test(text)) count(met, 'calls');
  const digests = posts.filter(isStorm);
  // Acknowledging a storm also takes its alerts in other channels, whose messages don't show it.
  const areAlone = digests.length === 0 && !workspace.posts(payAlerts).some(isStorm);
  const alerts = events.flatMap(({ told }) => lastInEach(told).filter(({ channel }) => channel === payDesk));
  const above = [
    ...digests.map((post) => ({
      post,
      isOpen: hasButton(post, words.acknowledgeAll) && !words.byPayment.test(textOf(post.blocks)),
    })),
    ...alerts.map(({ post }) => ({ post, isOpen: areAlone && hasButton(post, words.acknowledge) })),
  ];
  for (const { post, isOpen } of above) {
    const called = posts.filter(({ text, threadTs }) => threadTs === post.ts && words.called.test(text));
    const times = called.filter(({ blocks }) => !words.mayRepeat.test(textOf(blocks))).length;
    if (times > 1) broken.push(`people are called ${times} times to ${post.text}`);
    if (isOpen && called.length === 0 && weather.rules === 'later')
      broken.push(`nobody is called to ${post.text}`);
  }
}

/** Only a later payment of the same customer and amount resolves an alert, and it must. */
function findWrongRecoveries(scene: Scene, events: readonly Event[]): void {
  const { seen, broken } = scene;
  const name = ({ kind, reference }: Event): string => `${kind} ${reference}`;
  const payments = events.filter(({ kind }) => kind === 'payment_success');
  for (const failed of events) {
    if (failed.kind !== 'payment_failed' || failed.told.length === 0) continue;
    const states = failed.told.slice(-1).map(({ post }) => stateOf(post.text));
    const may = payments.filter((paid) => paid.reference === failed.reference || isSameSale(paid, failed));
    const must = may.filter(
      (paid) =>
        paid.reference === failed.reference ||
        (seen.sent.get(name(paid)) ?? 0) > (seen.acknowledged.get(name(failed)) ?? 0),
    );
    if (states.includes('resolved') && may.length === 0)
      broken.push(`${failed.reference} is resolved by no payment`);
    if (must.length > 0 && states.some((state) => state !== 'resolved' && state !== 'closed'))
      broken.push(`${failed.reference} is ${states.join()}, though ${must[0]?.reference} was paid`);
  }
}

function isSameSale({ order: one }: Event, { order: other }: Event): boolean {
  return one.customerEmail === other.customerEmail && one.amount === other.amount;
}

/** After this long, a message in doubt that can't be checked lets others pass. */
const longAwayMs = 10 * 60_000;

/**
 * No alert may be behind one of its channel that was sent only after it was acknowledged. An alert with several channels
 * may be: the worker makes its copies (docs/limits.md).
 */
function findWrongOrder(scene: Scene, events: readonly Event[]): void {
  const { workspace, seen, broken, weather } = scene;
  if (seen.slackAwayMs > longAwayMs) return;
  for (const channel of Object.values(workspace.ids.channels)) {
    // Without the optional scopes the bot can't post where it is no member.
    if (seen.refused.has(channel) || (seen.left.has(channel) && !weather.mayReadHistory)) continue;
    // After a 429 for its history a message in doubt waits for the next check, and later ones are posted meanwhile.
    if (seen.slowHistory.has(channel)) continue;
    const placed = events
      .flatMap((event) =>
        event.told
          .filter((one) => one.channel === channel && !mayRepeat(scene, one.post))
          .map(({ post }) => ({ event, ts: Number(post.ts) })),
      )
      .toSorted((one, other) => one.ts - other.ts);
    let latest = placed[0];
    for (const one of placed) {
      const ackedAt = seen.acknowledged.get(`${one.event.kind} ${one.event.reference}`) ?? 0;
      const sentAt = latest ? (seen.sent.get(`${latest.event.kind} ${latest.event.reference}`) ?? 0) : 0;
      const isCopied = channelsFor(scene, one.event).length > 1;
      if (latest && sentAt > ackedAt && !isCopied)
        broken.push(`${one.event.reference} comes behind ${latest.event.reference} in ${channel}`);
      if (sentAt <= (seen.sent.get(`${one.event.kind} ${one.event.reference}`) ?? 0)) latest = one;
    }
  }
}

/** A charge's words must agree with the service, and each charge must have been asked for. */
function findWrongCharges(scene: Scene, met: Map<string, number>): void {
  const { workspace, payments, seen, done, broken } = scene;
  const { orders } = payments.state();
  const read = people.flatMap((person) => {
    const { messages, views } = workspace.state(workspace.ids.users[person]);
    return [
      ...Object.values(messages).flat(),
      ...views.map(({ title, blocks }) => ({ text: title, blocks })),
    ];
  });
  const charged = orders.filter(({ orderReference }) => seen.charged.has(orderReference));
  for (const order of charged) {
    const { orderReference: reference, state } = order;
    count(met, `charges ${state}`);
    const about = read.filter((one) => `${one.text} ${textOf(one.blocks)}`.includes(reference));
    const says = (what: RegExp): boolean => about.some(({ text }) => what.test(text));
    if (state === 'paid' && !says(words.paid)) broken.push(`nobody reads that ${reference} is paid`);
    if (state !== 'paid' && says(words.paid))
      broken.push(`${reference} is ${state}, and somebody reads that it is paid`);
  }
  const asked = done.filter(({ label }) => words.charge.test(label)).length;
  if (charged.length > asked) broken.push(`${charged.length} charges of ${asked} that were asked for`);
}

function isView({ path }: { path: string }): boolean {
  return /\/views\.(open|push|update)$/.test(path);
}

/**
 * A customer's code reaches the service at most once, and no charge gets more than three; links and codes appear nowhere
 * else.
 */
function findWrongCodes({ seen, pages, log, broken }: Scene, met: Map<string, number>): void {
  for (const code of pages.codes) {
    const times = seen.codes.filter((one) => one.code === code).length;
    if (times > 1) broken.push(`a customer’s code is submitted ${times} times`);
    if (times > 0) count(met, 'codes of customers');
  }
  for (const reference of new Set(seen.codes.map((one) => one.reference))) {
    const times = seen.codes.filter((one) => one.reference === reference).length;
    if (times > 3) broken.push(`${times} codes are submitted for ${reference}`);
  }
  const places = {
    'the log': log.join(''),
    'the store': seen.stored.join(''),
    Slack: seen.toSlack.map(({ body }) => body).join(''),
    'a message': seen.toSlack.flatMap((call) => (isView(call) ? [] : [call.body])).join(''),
  };
  for (const [place, text] of Object.entries(places)) {
    const secrets = [...pages.seats, ...pages.codes, ...(place === 'Slack' ? [] : pages.links)];
    for (const secret of secrets)
      if (text.includes(secret)) broken.push(`a customer’s ${secret} is in what went to ${place}`);
  }
}

/**
 * Slack’s rate limit was kept; only posts of a rule call its people, and no other post calls anybody except the person
 * who waits for it; nothing secret was sent.
 */
function findWrongTraffic(scene: Scene): void {
  const { seen, broken, log, workspace, payments, weather } = scene;
  for (const { body } of seen.tooFast)
    broken.push(`posted faster than Slack takes it: ${body.slice(0, 200)}`);
  const { channels } = workspace.ids;
  for (const { path, body } of seen.toSlack) {
    if (!path.includes('chat.postMessage')) continue;
    const post = decodeURIComponent(body.replaceAll('+', ' '));
    const calls = post.includes(onCallGroup);
    const isTold =
      post.includes(`channel=${channels.payDesk}`) &&
      ((weather.rules === 'both' && post.includes('payment_failed/')) ||
        (weather.rules === 'later' && words.callsLater.test(post)));
    if (calls && !isTold) broken.push(`the people on call are called without a rule: ${post.slice(0, 200)}`);
    const mentions = post.includes('channel=C') && post.includes('"type":"user"');
    if (mentions && !words.callsOnPurpose.test(post))
      broken.push(`somebody is called for nothing: ${post.slice(0, 200)}`);
  }
  const { cards } = payments.state();
  const secrets = [
    ...cards.map(({ tokenKey }) => tokenKey),
    payments.credentials.clientSecret,
    payments.credentials.webhookSecret,
    workspace.credentials.signingSecret,
    workspace.credentials.botToken,
  ];
  const places = {
    log: log.join(''),
    store: seen.stored.join(''),
    Slack: seen.toSlack.map(({ body }) => body).join(''),
  };
  for (const [place, text] of Object.entries(places)) {
    for (const secret of secrets)
      if (text.includes(secret)) broken.push(`${secret} is in what went to ${place}`);
  }
  for (const line of log)
    if (words.brokenRecord.test(line) && !line.includes('a fault of the walk'))
      broken.push(line.slice(0, 600));
}
