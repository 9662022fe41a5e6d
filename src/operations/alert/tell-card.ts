import { hadInHand, handlersOf, handOf, type AlertCard, type CardStep } from '../../domain/alert-card.ts';
import type { Store } from '../../store/store.ts';
import {
  alertKey,
  alertNoteKey,
  isMessage,
  outboxKey,
  readOutboxRecord,
  type OutboxRecord,
} from '../outbox/outbox.ts';
import type { Sealer } from '../../domain/sealer.ts';
import { markStale } from '../outbox/outbox-work.ts';
import { storeMessage } from '../outbox/store-message.ts';
import type { StormMember } from '../storm/storm-records.ts';
import type { Storms } from '../storm/storms.ts';

export type TellCardDeps = {
  store: Pick<Store, 'create' | 'read' | 'write'>;
  sealer: Sealer;
  /** What counts the alerts of storms that payments resolve. */
  storms: Pick<Storms, 'recovered'>;
  now: () => number;
};

/** A card with what is not told of it yet. */
export type UntoldCard = {
  card: AlertCard;
  untold: CardStep[];
  /** How many were told before those; a step's number never changes. */
  told: number;
  /** Keys in the outbox of messages besides the first. */
  others: string[];
  /** The storms above whose digests its messages stand. */
  storms?: StormMember[];
};

/**
 * The messages first: one that Slack does not edit any more is replaced before a note goes below it. All of it
 * may be done again: a note is stored once by its number. What a storm’s digest tells has neither message nor
 * thread, and a thousand of one storm that are resolved are told to whoever acknowledged it in one direct message.
 */
export async function tellCard(deps: TellCardDeps, id: string, told: UntoldCard): Promise<void> {
  const {
    messages,
    digests,
    about = alertKey(id),
  } = await readMessages(deps, [alertKey(id), ...told.others]);
  await Promise.all(messages.map(({ key }) => markStale(deps.store, key)));
  const steps = told.untold.map((step, index) => ({ step, number: told.told + index + 1 }));
  for (const { step, number } of steps) {
    // oxlint-disable-next-line no-await-in-loop -- a thread tells the steps in their order
    for (const message of messages) await storeNote(deps, message, number, step);
    // oxlint-disable-next-line no-await-in-loop
    const takers =
      step.kind === 'recovered' ? await tellStorms(deps, [...digests, ...(told.storms ?? [])], id) : [];
    for (const userId of addressees(step, told.card).filter((one) => !takers.includes(one))) {
      const name = `${id}#${number}:${userId}`;
      // oxlint-disable-next-line no-await-in-loop
      await storeDirect(deps, name, { userId, step, parent: about });
    }
  }
}

/** Who is told by it: each of those who acknowledged one of these storms. */
async function tellStorms(
  deps: TellCardDeps,
  storms: readonly { storm: string; at?: number | undefined }[],
  id: string,
): Promise<string[]> {
  const takers = await Promise.all(storms.map(({ storm, at }) => deps.storms.recovered(storm, id, at)));
  return takers.filter((taker) => taker !== undefined);
}

type CardMessage = { key: string; channel: string };

/** The messages that tell a card, and the storms whose digests do in place of one; `about`: what stands, if anything does. */
async function readMessages(
  { store }: TellCardDeps,
  keys: readonly string[],
): Promise<{
  messages: CardMessage[];
  digests: NonNullable<OutboxRecord['digest']>[];
  about: string | undefined;
}> {
  const entries = await Promise.all(keys.map((key) => store.read(key)));
  const read = entries.flatMap((entry) => (entry ? [{ entry, record: readOutboxRecord(entry.value) }] : []));
  const told = read.filter(({ record }) => isMessage(record));
  const about = told.find(({ record }) => record.posted) ?? told[0] ?? read[0];
  return {
    about: about?.entry.key,
    digests: read.flatMap(({ record: { digest } }) => (digest ? [digest] : [])),
    messages: told.flatMap(({ entry: { key }, record: { channel, digest } }) =>
      digest ? [] : [{ key, channel }],
    ),
  };
}

/** Whom a step is told by direct message: whoever has it in hand, or has no more, and did not do it. A thread calls nobody. */
function addressees(step: CardStep, card: AlertCard): string[] {
  switch (step.kind) {
    case 'recovered':
      return handlersOf(card);
    case 'awake':
      return others([handOf(card)]);
    case 'closed':
      return others([hadInHand(card)], step.by);
    case 'assigned':
      return others([step.to, step.from], step.by);
    default:
      return [];
  }
}

function others(people: readonly (string | undefined)[], by?: string): string[] {
  return people.filter((userId) => userId !== undefined).filter((userId) => userId !== by);
}

async function storeNote(
  deps: TellCardDeps,
  { key: parent, channel }: CardMessage,
  number: number,
  step: CardStep,
): Promise<void> {
  const key = alertNoteKey(parent, number);
  const body = { parent, step };
  // The steps after it wait until it is told, or never will be.
  await storeMessage(deps, key, { kind: 'alert_note', channel, body, progress: { kind: 'waiting' } });
}

/** About any of the card's messages that is still kept. */
async function storeDirect(
  deps: TellCardDeps,
  name: string,
  { userId, step, parent }: { userId: string; step: CardStep; parent: string },
): Promise<void> {
  const key = outboxKey('alert_direct', name);
  const body = { parent, step };
  await storeMessage(deps, key, { kind: 'alert_direct', channel: userId, body });
}
