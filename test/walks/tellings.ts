import { destinationsOf, needsLookUp, withLookUp, type RoutePlan } from '../../src/domain/alert-route.ts';
import { confirm } from '../../src/domain/confirmation.ts';
import { parseOrderReference } from '../../src/domain/order-reference.ts';
import type { PaymentEvent } from '../../src/domain/payment-event.ts';
import {
  emptySummary,
  summarise,
  type StormItem,
  type StormSummary,
} from '../../src/domain/storm-summary.ts';
import { alertKey, outboxKey, type OutboxRecord } from '../../src/operations/outbox/outbox.ts';
import { createPagedLog } from '../../src/operations/work/paged-log.ts';
import { channels } from './plans.ts';
import type { Kept } from './slack.ts';
import { baseOf, recordOf, type Sent, type World } from './world.ts';

/** A record that tells an event: as a message, or as one item of a storm’s digest. */
export type Telling = { key: string; record: OutboxRecord; messages: Kept[]; storm?: string };

export type Told = { event: PaymentEvent; own: OutboxRecord; sent: Sent; tellings: Telling[] };

export type ToldStorm = {
  id: string;
  channel: string;
  items: readonly StormItem[];
  count: number;
  messages: Kept[];
};

export type Tellings = {
  events: Map<string, Told>;
  storms: Map<string, ToldStorm>;
  messagesOf: (key: string) => Kept[];
};

/** What became of each event by the store and by what stands in Slack. */
export async function tellingsOf(world: World): Promise<Tellings> {
  const byKey = new Map<string, Kept[]>();
  for (const message of world.slack.messages) {
    byKey.set(baseOf(message), [...(byKey.get(baseOf(message)) ?? []), message]);
  }
  const messagesOf = (key: string): Kept[] => byKey.get(key) ?? [];
  const events: Tellings['events'] = new Map();
  const storms: Tellings['storms'] = new Map();
  for (const sent of world.sent.values()) {
    const key = sent.event.key;
    // oxlint-disable-next-line no-await-in-loop -- the store of a walk is at hand
    const own = await recordOf(world, alertKey(key));
    if (!own) {
      if (sent.ackedAtMs !== undefined) world.violate(`${key} is answered and not stored`);
      continue;
    }
    const tellings: Telling[] = [];
    for (const one of [alertKey(key), ...channels.map((channel) => alertKey(key, channel))]) {
      // oxlint-disable-next-line no-await-in-loop
      const record = await recordOf(world, one);
      if (!record) continue;
      const { digest } = record;
      tellings.push({
        key: one,
        record,
        messages: messagesOf(one),
        ...(digest ? { storm: digest.storm } : {}),
      });
      // oxlint-disable-next-line no-await-in-loop
      if (digest && !storms.has(digest.storm))
        storms.set(digest.storm, await stormOf(world, digest.storm, messagesOf));
    }
    events.set(key, { event: asStored(sent.event), own, sent, tellings });
  }
  // Of some all alerts stand above the digest.
  for (const key of byKey.keys()) {
    const [, id] = /^outbox:digest:([A-Z0-9]+(?:~paid)?\/\d+)$/.exec(key) ?? [];
    // oxlint-disable-next-line no-await-in-loop
    if (id !== undefined && !storms.has(id)) storms.set(id, await stormOf(world, id, messagesOf));
  }
  return { events, storms, messagesOf };
}

/** What is kept of an event says that a card was saved, without its token. */
function asStored({ savedCard, ...event }: PaymentEvent): PaymentEvent {
  if (!savedCard) return event;
  const customerEmail = event.customerEmail ?? savedCard.customerEmail ?? '';
  return { ...event, customerEmail, cardSaved: { kind: 'kept', face: {} } };
}

async function stormOf(world: World, id: string, messagesOf: (key: string) => Kept[]): Promise<ToldStorm> {
  const list = createPagedLog<StormItem, StormSummary>({
    store: world.store,
    sealer: world.sealer,
    prefix: 'storm-list:',
    ttlMs: 1,
    idOf: (item) => item.id,
    empty: emptySummary,
    summarise,
  });
  const [items, head] = await Promise.all([list.all(id), list.head(id)]);
  const channel = /^[A-Z0-9]+/.exec(id)?.[0] ?? '';
  return { id, channel, items, count: head?.count ?? 0, messages: messagesOf(outboxKey('digest', id)) };
}

/** In which channels an event is told by now; one that is told twice in one stands there twice. */
export function channelsOf(tellings: Tellings, { tellings: records }: Told): string[] {
  return records
    .flatMap(({ storm, messages }) => {
      if (storm !== undefined) return [tellings.storms.get(storm)?.channel ?? ''];
      const last = messages.at(-1);
      return last ? [last.channel] : [];
    })
    .toSorted();
}

/** Each way in which the rules may have sent it, by what the service may have said by then. */
export function waysOf(world: World, plan: RoutePlan, { event, own }: Told): string[][] {
  const seen = needsLookUp(plan, event) ? (world.recordHistory.get(event.orderReference ?? '') ?? []) : [];
  const reference = parseOrderReference(event.orderReference ?? '');
  const known = reference.ok
    ? seen.map((record) => withLookUp(event, confirm({ reference: reference.value }, record)))
    : [];
  return [event, ...known].map((one) =>
    destinationsOf(plan, one, own.receivedAtMs)
      .map(({ channel }) => channel)
      .toSorted(),
  );
}

/** Lost, told twice, or told elsewhere than the rules say. */
export function findWrongTellings(world: World, tellings: Tellings): void {
  for (const told of tellings.events.values()) {
    const found = channelsOf(tellings, told);
    const ways = world.plans.map((plan) => waysOf(world, plan, told));
    const wrong = ways.length === 1 ? wrongWay(found, ways.flat()) : wrongAmid(told, found, ways.flat());
    if (wrong !== undefined) world.violate(`${told.event.key} ${wrong}`);
    for (const telling of told.tellings) {
      findWrongRecord(world, telling);
      findWrongWords(world, telling);
    }
  }
  for (const storm of tellings.storms.values()) findWrongStorm(world, tellings, storm);
}

/** While the rules stay what they are an event is told just where they say. */
function wrongWay(found: readonly string[], ways: readonly string[][]): string | undefined {
  if (ways.some((way) => way.join() === found.join())) return undefined;
  return `is told in [${found.join()}], and belongs in [${ways.map((way) => way.join()).join(' or ')}]`;
}

/**
 * Amid rules that change: wherever all of them send it, somewhere, if all of them send it somewhere, and nowhere twice;
 * a message of its own only where one of them sends it.
 */
function wrongAmid(
  { tellings }: Told,
  found: readonly string[],
  ways: readonly string[][],
): string | undefined {
  const always = ways[0]?.find((one) => ways.every((way) => way.includes(one)) && !found.includes(one));
  if (always !== undefined) return `is not told in ${always}, where all rules send it`;
  const stray = tellings
    .flatMap(({ messages }) => messages)
    .find(({ channel }) => !ways.flat().includes(channel));
  if (stray) return `is told in ${stray.channel}, where no rule sends it`;
  if (found.length === 0 && ways.every((way) => way.length > 0)) return 'is lost';
  return new Set(found).size < found.length ? `is told twice in one channel: ${found.join()}` : undefined;
}

/** What a look-up proved is not unsaid. */
function findWrongWords(world: World, { key, messages }: Telling): void {
  const last = messages.at(-1);
  if (last?.firstText.includes('Paid (confirmed)') && last.shown.text.includes('not checked'))
    world.violate(`${key} said that it is paid, and says that nobody checked it`);
}

function findWrongRecord(world: World, { key, record, messages }: Telling): void {
  const { posted, doubt, progress, digest, refused } = record;
  if (doubt) world.violate(`${key} is in doubt for ever`);
  if (refused) world.violate(`${key} is refused for ever`);
  if (progress && progress.kind !== 'done') world.violate(`${key} is ${progress.kind} for ever`);
  if (digest && digest.at === undefined) world.violate(`${key} is never counted`);
  if (digest && messages.length > 0) world.violate(`${key} is a message, and its digest counts it too`);
  if (posted && !messages.some(({ ts, channel }) => ts === posted.ts && channel === posted.channel))
    world.violate(`${key} is posted nowhere, by Slack`);
}

function findWrongStorm(world: World, tellings: Tellings, storm: ToldStorm): void {
  const { id, items, count, messages } = storm;
  const told = [...tellings.events.values()].filter(({ tellings: all }) =>
    all.some((one) => one.storm === id),
  );
  const ids = new Set(items.map((item) => item.id));
  if (count !== items.length) world.violate(`the digest of ${id} counts ${count}, and lists ${items.length}`);
  for (const { event } of told) if (!ids.has(event.key)) world.violate(`${event.key} is in no digest`);
  const inside = items.filter(({ isAbove }) => !isAbove);
  if (told.length !== inside.length) world.violate(`${id} lists ${inside.length} of ${told.length}`);
  for (const item of items) if (item.isAbove) findWrongAbove(world, tellings, item.id);
  const last = messages.at(-1);
  if (last) findWrongDigest(world, storm, last);
  else world.violate(`${id} has no digest`);
}

/** What a digest counts as told above it has a message of its own. */
function findWrongAbove(world: World, { events }: Tellings, id: string): void {
  if (!events.get(id)?.tellings.some(({ messages }) => messages.length > 0))
    world.violate(`${id} is said to stand above a digest, and stands nowhere`);
}

function findWrongDigest(world: World, { id, items, count }: ToldStorm, { goneAtMs, post }: Kept): void {
  if (goneAtMs !== undefined || post.kind !== 'digest') return;
  const shown = post.storm;
  if (shown.count !== count) world.violate(`the digest of ${id} shows ${shown.count} of ${count}`);
  if (!shown.isOver) world.violate(`${id} never ends, by its digest`);
  const recovered = items.filter((item) => world.cards.get(item.id)?.card.kind === 'recovered').length;
  if (shown.recovered !== recovered)
    world.violate(`the digest of ${id} says ${shown.recovered} of ${recovered} recovered`);
  if (!shown.taken) return;
  const left = items.filter((item) => (world.cards.get(item.id)?.card.kind ?? 'open') === 'open');
  if (left.length > 0) world.violate(`${id} is taken on, and ${left[0]?.id} is open`);
}
