import { chargeReferencePrefix } from '../../src/domain/order-reference.ts';
import type { PaymentsOrder } from '../../src/simulators/protocol.ts';
import { onCallGroup, people as cast } from '../../src/simulators/slack/directory.ts';
import type { BotPost } from '../../src/simulators/slack/payloads.ts';
import { pressable } from '../support/pressable.ts';
import { visibleText } from '../support/visible-text.ts';
import { people } from './people.ts';
import { eventChannels, type Scene } from './scene.ts';

/** The words that walks look for on the screen; they know nothing else of the bot. Change them with the bot's words. */
export const words = {
  states: [
    ['taken', /^👀/u],
    ['snoozed', /^💤/u],
    ['resolved', /^✅ Resolved/u],
    ['closed', /^☑️ Resolved/u],
  ],
  /** A payment that was charged from the alert, or by a link for it. */
  ownPayment: /for this alert|^🚨 Paid/u,
  /** Notes that only say who has it. */
  stillTaken: /^(👤|⏰)/u,
  called: /^📣/u,
  acknowledge: 'Acknowledge',
  acknowledgeAll: 'Acknowledge all',
  storm: /Storm/,
  byPayment: /by payment/,
  digest: /(Storm|Many payments)[^:]*: ([\d,]+)/,
  /** A mute's last message, with the number of events that it held back. */
  muteOver: /^🔔 Mute is over/u,
  heldBack: /([\d,]+) not posted:/,
  mayRepeat: /may (repeat|be a repeat)/i,
  paid: /^✅ Paid/u,
  givenBack: /^(↩️ Paid and|\S+ Event says) given back/u,
  declined: /^❌/u,
  charge: /^(Charge.*[^…]|Again: .*|Approve .*)$/,
  approve: /^Approve/,
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

function wholeText({ text, blocks }: Pick<BotPost, 'text' | 'blocks'>): string {
  return `${text} ${visibleText(blocks)}`;
}

function referencesIn(post: Pick<BotPost, 'text' | 'blocks'>): string[] {
  return wholeText(post).match(references) ?? [];
}

/** The person that a post names after this label. After a restart an edit mentions a person whose name is forgotten. */
function personIn({ blocks }: Pick<BotPost, 'blocks'>, label: string): string | undefined {
  const [, id, name] = new RegExp(`${label}\\W*(?:<@(\\w+)>|(\\w+))`).exec(visibleText(blocks)) ?? [];
  return id ?? cast.find(({ realName }) => realName === name)?.id;
}

/** An event's message in a channel, and its thread. */
type Told = { channel: string; post: BotPost; thread: BotPost[] };
const kinds = ['payment_failed', 'payment_success'] as const;
type Event = {
  kind: (typeof kinds)[number];
  reference: string;
  order: PaymentsOrder;
  told: Told[];
};

/** Checks everything at rest; returns how often each case was met. */
export function findWrongs(scene: Scene): Map<string, number> {
  const met = new Map<string, number>();
  const orders = new Map(scene.payments.state().orders.map((order) => [order.orderReference, order]));
  const events = [...scene.seen.acknowledged.keys()].flatMap((key): Event[] => {
    const [name, reference = ''] = key.split(' ');
    const kind = kinds.find((one) => one === name);
    const order = orders.get(reference);
    return order && kind ? [{ kind, reference, order, told: toldOf(scene, kind, reference) }] : [];
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
  findStrangers(scene);
  return met;
}

function count(met: Map<string, number>, what: string, times = 1): void {
  if (times > 0) met.set(what, (met.get(what) ?? 0) + times);
}

function isEventPost({ metadata, threadTs }: BotPost, kind: string): boolean {
  const isAlert = metadata?.event_type === 'payops_alert' && threadTs === undefined;
  return isAlert && String(metadata.event_payload['key']).includes(kind);
}

function toldOf({ workspace }: Scene, kind: Event['kind'], reference: string): Told[] {
  return eventChannels(workspace).flatMap((channel) => {
    const posts = workspace.posts(channel);
    // A reference that the bot generated is below the first line, before any other.
    return posts
      .filter((post) => isEventPost(post, kind) && referencesIn(post)[0] === reference)
      .map((post) => ({ channel, post, thread: posts.filter(({ threadTs }) => threadTs === post.ts) }));
  });
}

function minorOf({ amount }: PaymentsOrder): number {
  return Number(amount.replaceAll(/[.,]/g, ''));
}

/** The channels by the walk's rules. */
function channelsFor({ weather, workspace, payments }: Scene, { kind, order }: Event): string[] {
  const { payAlerts, payDesk, general } = workspace.ids.channels;
  if (kind === 'payment_success') {
    const saves = payments.state().cards.some(({ label }) => label.includes(`${order.orderReference},`));
    return saves ? [payAlerts, general] : [general];
  }
  const isLarge = minorOf(order) >= 1_000_000;
  switch (weather.rules) {
    case 'none':
      return [payAlerts];
    case 'both':
    case 'later':
      return isLarge ? [payDesk, payAlerts] : [payAlerts];
    case 'elsewhere':
      if (isLarge) return [payDesk, payAlerts];
      return [minorOf(order) <= 100_000 ? payDesk : payAlerts];
  }
}

/** A charge of the bot's own reports its failure itself, unless it is paid or under review. */
function mayBeUntold({ kind, reference }: Event): boolean {
  return kind === 'payment_failed' && reference.startsWith(chargeReferencePrefix);
}

/**
 * Each event must be once in each channel of its rules, as a message or counted in a digest or by a mute, and nowhere
 * else.
 */
function findWrongTellings(scene: Scene, events: readonly Event[], met: Map<string, number>): void {
  const { workspace, broken } = scene;
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
      if (here.length > 0) continue;
      count(missing, mayBeUntold(event) ? channel : `${channel} ${kind}`);
    }
  }
  count(missing, `${workspace.ids.channels.payAlerts} refund`, findWrongRefunds(scene, met).length);
  for (const channel of eventChannels(workspace)) findWrongCounts(scene, { channel, events, missing, met });
}

/** What a channel has no message of must be counted by its digests and mutes. */
function findWrongCounts(
  scene: Scene,
  {
    channel,
    events,
    missing,
    met,
  }: { channel: string; events: readonly Event[] } & Record<'missing' | 'met', Map<string, number>>,
): void {
  const { workspace, broken } = scene;
  const posts = workspace.posts(channel);
  const mutes = posts.filter(({ text }) => words.muteOver.test(text));
  const isRepeated = [...mutes, ...posts.filter(({ text }) => words.digest.test(text))].some((post) =>
    mayRepeat(scene, post),
  );
  let untold = missing.get(`${channel} refund`) ?? 0;
  for (const kind of kinds) {
    const gathered = inDigests(posts, kind);
    if (gathered > 0) count(met, `digests of ${kind}`);
    const wanted = missing.get(`${channel} ${kind}`) ?? 0;
    if (!isRepeated && gathered > wanted)
      broken.push(`digests in ${channel} count ${gathered} of ${wanted} times ${kind}`);
    untold += Math.max(0, wanted - gathered);
  }
  const named = mutes.flatMap(referencesIn);
  for (const { reference, kind, order, told } of events)
    // It may be the refund that a mute held back.
    if (
      order.state !== 'given_back' &&
      named.includes(reference) &&
      told.some((one) => one.channel === channel)
    )
      broken.push(`${kind} ${reference} is told in ${channel}, and said not to be`);
  const held = sum(mutes.map((post) => words.heldBack.exec(wholeText(post))?.[1] ?? '0'));
  count(met, 'held back', held);
  // A refund that is held back here may be read elsewhere.
  const refunds = events.filter(
    ({ reference, order }) => order.state === 'given_back' && named.includes(reference),
  ).length;
  // An event of two mutes is counted by both.
  const most = isRepeated || mutes.length > 1 ? Infinity : untold + refunds + (missing.get(channel) ?? 0);
  if (held < untold || held > most)
    broken.push(`${untold} events are not told in ${channel}, whose mutes count ${held}`);
}

/** If the history could not be read, a post may be repeated with a mark; by then it may be behind others. */
function mayRepeat({ weather, seen }: Scene, { channel, blocks }: BotPost): boolean {
  const isOpen = weather.mayReadHistory && weather.quirks.isHistorySlow !== true && !seen.left.has(channel);
  const couldLook = isOpen && seen.slackAwayMs <= longAwayMs;
  return !couldLook && words.mayRepeat.test(visibleText(blocks));
}

function sum(numbers: readonly string[]): number {
  return numbers.reduce((total, one) => total + Number(one.replaceAll(',', '')), 0);
}

/** How many events without a message the digests count. */
function inDigests(posts: readonly BotPost[], kind: Event['kind']): number {
  const found = posts.flatMap(({ text, threadTs }) => (threadTs ? [] : [words.digest.exec(text) ?? []]));
  return sum(
    found
      .filter(([, what]) => (what === 'Many payments') === (kind === 'payment_success'))
      .map(([, , number = '0']) => number),
  );
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
      const taker = personIn(post, 'Acknowledged by');
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
      isOpen: hasButton(post, words.acknowledgeAll) && !words.byPayment.test(visibleText(post.blocks)),
    })),
    ...alerts.map(({ post }) => ({ post, isOpen: areAlone && hasButton(post, words.acknowledge) })),
  ];
  for (const { post, isOpen } of above) {
    const called = posts.filter(({ text, threadTs }) => threadTs === post.ts && words.called.test(text));
    const times = called.filter(({ blocks }) => !words.mayRepeat.test(visibleText(blocks))).length;
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
        paid.order.state === 'paid' &&
        (paid.reference === failed.reference ||
          (seen.sent.get(name(paid)) ?? 0) > (seen.acknowledged.get(name(failed)) ?? 0)) &&
        !events.some((other) => other !== failed && isOwnPayment(paid, other)),
    );
    if (states.includes('resolved') && may.length === 0)
      broken.push(`${failed.reference} is resolved by no payment`);
    if (must.length > 0 && states.some((state) => state !== 'resolved' && state !== 'closed'))
      broken.push(`${failed.reference} is ${states.join()}, though ${must[0]?.reference} was paid`);
  }
}

/** A charge or link for an alert resolves that one alone. */
function isOwnPayment({ reference }: Event, { told }: Event): boolean {
  if (!reference.startsWith(chargeReferencePrefix)) return false;
  const all = told.flatMap(({ post, thread }) => [post, ...thread]).map(wholeText);
  return all.some((text) => words.ownPayment.test(text) && text.includes(reference));
}

function isSameSale({ order: one }: Event, { order: other }: Event): boolean {
  return one.customerEmail === other.customerEmail && one.amount === other.amount;
}

/** After this long, a message in doubt that can't be checked lets others pass. */
const longAwayMs = 10 * 60_000;

/**
 * No alert may be behind one of its channel that was sent only after it was acknowledged. An alert with several channels
 * may be: the worker makes its copies. So may one that is looked up for a mute (docs/limits.md).
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
      const mayBeBehind = channelsFor(scene, one.event).length > 1 || ackedAt >= seen.mutedAtMs;
      if (latest && sentAt > ackedAt && !mayBeBehind)
        broken.push(`${one.event.reference} comes behind ${latest.event.reference} in ${channel}`);
      if (sentAt <= (seen.sent.get(`${one.event.kind} ${one.event.reference}`) ?? 0)) latest = one;
    }
  }
}

/** Words about a charge or link must agree with the service, and each charge was asked for by people who may. */
function findWrongCharges(scene: Scene, met: Map<string, number>): void {
  const { workspace, payments, seen, done, broken } = scene;
  const { orders } = payments.state();
  const { users } = workspace.ids;
  const views = people.flatMap((person) =>
    workspace.state(users[person]).views.map(({ title, blocks }) => ({ text: title, blocks })),
  );
  const read = people.flatMap((person) => Object.values(workspace.state(users[person]).messages).flat());
  const posts = workspace.posts();
  const own = [...posts.filter(({ metadata }) => metadata?.event_type !== 'payops_alert'), ...views];
  const charged = orders.filter(({ orderReference }) => seen.charged.has(orderReference));
  const links = orders.filter(
    ({ orderReference, isSavedCardCharge }) =>
      !isSavedCardCharge && orderReference.startsWith(chargeReferencePrefix),
  );
  for (const order of [...charged, ...links]) {
    const { orderReference: reference, state } = order;
    count(met, `${order.isSavedCardCharge ? 'charges' : 'links'} ${state}`);
    const says = (all: readonly Pick<BotPost, 'text' | 'blocks'>[]): boolean =>
      all.some((one) => words.paid.test(one.text) && wholeText(one).includes(reference));
    if (state === 'paid' && !says(own)) broken.push(`nobody reads that ${reference} is paid`);
    if (!['paid', 'given_back'].includes(state) && says([...read, ...views]))
      broken.push(`${reference} is ${state}, and somebody reads that it is paid`);
  }
  const asked = done.filter(({ user, label }) => words.charge.test(label) && user !== users.outsider);
  for (const { amount, orderReference: reference } of charged) {
    const [times, wanted] = [
      charged.filter((order) => order.amount === amount).length,
      asked.filter(({ label }) => label.replaceAll(/[^\d.]/g, '') === amount).length,
    ];
    if (times > wanted) broken.push(`${times} charges of ${amount}, of ${wanted} that were asked for`);
    if (Number(amount) < 100_000) continue;
    const request = posts.find(
      (post) => post.metadata?.event_type === 'payops_approval' && wholeText(post).includes(reference),
    );
    const by = request && personIn(request, '[Aa]sked by');
    const isApproved = asked.some(
      ({ user, label, on }) =>
        words.approve.test(label) && on.includes(reference) && user !== by && user !== users.agent,
    );
    if (isApproved) count(met, 'charges approved by another');
    else broken.push(`${reference} of ${amount} is charged, which nobody but ${by} approved`);
  }
}

/** Nobody reads of a refund that was not made, or of one twice in a place. Returns those that nobody reads of. */
function findWrongRefunds(scene: Scene, met: Map<string, number>): string[] {
  const { workspace, payments, seen, broken } = scene;
  const refunded = payments.state().orders.filter(({ state }) => state === 'given_back');
  const names = new Set(refunded.map(({ orderReference }) => orderReference));
  const said = workspace.posts().filter(({ text }) => words.givenBack.test(text));
  for (const post of said) {
    const about = referencesIn(post);
    if (!about.some((reference) => names.has(reference)))
      broken.push(`somebody reads that ${about.join()} was given back`);
  }
  const sent = [...names].filter((reference) => seen.acknowledged.has(`payment_refunded ${reference}`));
  count(met, 'refunds', sent.length);
  return sent.filter((reference) => {
    const about = said.filter((post) => referencesIn(post).includes(reference));
    const ofAlerts = about.filter(
      (post) => isEventPost(post, 'payment_given_back') || post.metadata?.event_type === 'payops_alert_note',
    );
    const places = ofAlerts
      .filter((post) => !mayRepeat(scene, post))
      .map(({ channel, threadTs }) => `${channel} ${threadTs}`);
    if (new Set(places).size < places.length)
      broken.push(`the refund of ${reference} is told ${places.length} times: ${places.join()}`);
    return about.length === 0;
  });
}

/** No message names somebody who has no role: what they press does nothing. */
function findStrangers({ workspace, broken }: Scene): void {
  const { id, realName } = workspace.state(workspace.ids.users.outsider).user;
  const names = new RegExp(`<@${id}>|\\b${realName}\\b`);
  for (const text of workspace.posts().map(wholeText))
    if (names.test(text)) broken.push(`somebody who has no role acts: ${text.slice(0, 200)}`);
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
