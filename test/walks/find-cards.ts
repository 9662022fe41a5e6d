import { hadInHand, type AlertCard, type CardStep } from '../../src/domain/alert-card.ts';
import { outboxKey } from '../../src/operations/outbox/outbox.ts';
import { readList } from './in-hand.ts';
import type { Kept } from './slack.ts';
import type { Telling, Tellings, Told } from './tellings.ts';
import { isOpen, peopleIn } from './watch-slack.ts';
import { mayBeLate } from './find-order.ts';
import type { CardTruth, World } from './world.ts';

/** What stands in the channels of a card is what the store says of it, and each step was told once in each thread. */
export async function findWrongCards(world: World, tellings: Tellings): Promise<void> {
  for (const told of tellings.events.values()) {
    const { event } = told;
    if (event.kind !== 'payment_failed') continue;
    const truth = world.cards.get(event.key) ?? { card: { kind: 'open' }, steps: [], others: [] };
    for (const telling of told.tellings) {
      if (telling.storm === undefined && telling.messages.length > 0) findWrongMessage(world, truth, telling);
    }
    for (const [index, step] of truth.steps.entries())
      findWrongNotes(world, tellings, { told, step, number: index + 1 });
    const storms = [...tellings.storms.values()].filter(({ items }) =>
      items.some(({ id }) => id === event.key),
    );
    findWrongDirects(world, tellings, { told, storms: storms.map(({ id }) => id) }, truth);
    // oxlint-disable-next-line no-await-in-loop -- the store of a walk is at hand
    await findWrongHands(world, event.key, truth.card);
  }
  findWrongThreads(world);
}

const stateWords: Record<Exclude<AlertCard['kind'], 'acknowledged'>, RegExp> = {
  open: /^(?!👀|💤|☑️|✅ Resolved)/u,
  recovered: /^✅ Resolved/u,
  closed: /^☑️ Closed/u,
};

function findWrongMessage(world: World, { card }: CardTruth, { key, record, messages }: Telling): void {
  const last = messages.find(
    ({ ts, channel }) => ts === record.posted?.ts && channel === record.posted.channel,
  );
  // An old alert that takes no edit any more is left as it is.
  if (!last || last.goneAtMs !== undefined || (record.isErased && isLeft(world, last))) return;
  const { text } = last.shown;
  if (!saysState(card, text))
    world.violate(`${key} says “${text}” of a card that is ${JSON.stringify(card)}`);
  if (record.isErased || last.closedAtMs !== undefined) return;
  const named = [...new Set(peopleIn(last.shown))].toSorted().join();
  const expected = [...new Set(namedOn(card))].toSorted().join();
  if (named !== expected) world.violate(`${key} names [${named}], and not [${expected}]`);
}

/** Slack took no edit of it, or refused its channel when its details were to go. */
function isLeft({ slack }: World, { key, closedAtMs }: Kept): boolean {
  return closedAtMs !== undefined || slack.faulted.some((one) => one.key === key && one.kind === 'refused');
}

function saysState(card: AlertCard, text: string): boolean {
  if (card.kind === 'acknowledged')
    return text.startsWith(card.snoozedUntil === undefined ? '👀 Acknowledged' : '💤 Snoozed');
  return stateWords[card.kind].test(text);
}

function namedOn(card: AlertCard): string[] {
  switch (card.kind) {
    case 'open':
      return [];
    case 'acknowledged':
      return [card.by, card.assignee ?? card.by];
    case 'recovered':
      return card.acknowledged ? [card.acknowledged.by] : [];
    case 'closed':
      return [card.by, card.acknowledged?.by ?? card.by];
  }
}

function findWrongNotes(
  world: World,
  { messagesOf }: Tellings,
  { told, step, number }: { told: Told; step: CardStep; number: number },
): void {
  for (const { key, storm, messages } of told.tellings) {
    if (storm !== undefined || messages.length === 0) continue;
    const name = key.slice(outboxKey('alert', '').length);
    const notes = messagesOf(outboxKey('alert_note', `${name}#${number}`));
    // What a channel was not told of when it happened stands in its message alone.
    const isFirst =
      told.tellings[0]?.key === key && told.own.receivedAtMs + world.weather.skewMs * 2 < step.at;
    if (isFirst && notes.length === 0) world.violate(`nobody is told below ${key} that it is ${step.kind}`);
    const last = notes.at(-1);
    if (last && isOpen(last) && 'by' in step && !peopleIn(last.shown).includes(step.by))
      world.violate(`the note that ${key} is ${step.kind} never says by whom`);
  }
}

/**
 * Whoever has it in hand is told how it ended, by a message of its own or by the one about its storm, and whoever is
 * given it that they are; never of their own click.
 */
function findWrongDirects(
  world: World,
  { messagesOf }: Tellings,
  { told: { event }, storms: listedIn }: { told: Told; storms: readonly string[] },
  { card, steps }: CardTruth,
): void {
  for (const [index, step] of steps.entries()) {
    const storms = step.kind === 'recovered' ? listedIn : [];
    for (const userId of concernedBy(step, card)) {
      const keys = [
        outboxKey('alert_direct', `${event.key}#${index + 1}:${userId}`),
        ...storms.map((storm) => outboxKey('digest', `${storm}:${userId}`)),
      ];
      if (keys.every((key) => messagesOf(key).length === 0))
        world.violate(`${userId} is not told that ${event.key} is ${step.kind}`);
    }
  }
}

function concernedBy(step: CardStep, card: AlertCard): string[] {
  if (step.kind === 'assigned') {
    return [step.to, step.from ?? step.to].filter(
      (userId, index, all) => userId !== step.by && all.indexOf(userId) === index,
    );
  }
  if (step.kind === 'closed') return [hadInHand(card) ?? step.by].filter((userId) => userId !== step.by);
  if (step.kind !== 'recovered' || card.kind !== 'recovered' || !card.acknowledged) return [];
  const { by, assignee = by } = card.acknowledged;
  return [...new Set([by, assignee])];
}

/** Whoever clicked finds it in their list. */
async function findWrongHands(world: World, id: string, card: AlertCard): Promise<void> {
  if (card.kind !== 'acknowledged') return;
  const holder = card.assignee ?? card.by;
  const isByStorm = card.assignee === undefined && world.stormClicks.some(({ by }) => by === holder);
  if (!isByStorm && !(await readList(world, holder)).includes(id))
    world.violate(`${id} is in no list of ${holder}`);
}

/** A thread tells the steps in their order. */
function findWrongThreads(world: World): void {
  const { slack, violate } = world;
  const latest = new Map<string, { number: number; key: string }>();
  const seen = new Set<string>();
  for (const message of slack.messages as readonly Kept[]) {
    const [, parent, number] = /^outbox:alert_note:(.*)#(\d+)$/.exec(message.key) ?? [];
    if (parent === undefined || message.threadTs === undefined || seen.has(message.key)) continue;
    seen.add(message.key);
    const place = `${parent} ${message.threadTs}`;
    const before = latest.get(place);
    const isLate = before && before.number > Number(number) && !mayBeLate(world, message);
    if (isLate) violate(`${message.key} comes behind ${before.key}`);
    latest.set(place, { number: Number(number), key: message.key });
  }
}
