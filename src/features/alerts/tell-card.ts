import { hadInHand, handlersOf, handOf, type AlertCard, type CardStep } from '../../domain/alert-card.ts';
import type { Store } from '../../store/store.ts';
import { alertKey, alertNoteKey, isMessage, outboxKey, readOutboxRecord } from '../../messages/outbox.ts';
import type { Sealer } from '../../domain/sealer.ts';
import { refreshMessage } from '../../messages/outbox-work.ts';
import { storeMessage } from '../../messages/messages.ts';
import { stormsOfAlert, type Storms } from './storm/storms.ts';

export type TellCardDeps = {
  store: Pick<Store, 'create' | 'read' | 'write' | 'list'>;
  sealer: Sealer;
  /** What counts the alerts of storms that payments resolve. */
  storms: Pick<Storms, 'recovered'>;
  /** How long one piece of work may be held. */
  leaseMs: number;
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
  /** The storms that count it as resolved. */
  storms?: string[];
};

/**
 * The messages first: one that Slack does not edit any more is replaced before a note goes below it. All of it
 * may be done again: a note is stored once by its number. What a storm’s digest tells has neither message nor
 * thread, and a thousand of one storm that are resolved are told to whoever acknowledged it in one direct message.
 * Says which storms are to count it as resolved.
 */
export async function tellCard(deps: TellCardDeps, id: string, told: UntoldCard): Promise<string[]> {
  const keys = [alertKey(id), ...told.others];
  const { messages, about = alertKey(id) } = await readMessages(deps, keys);
  await Promise.all(messages.map(({ key }) => refreshMessage(deps, key)));
  const storms = told.card.kind === 'recovered' ? await stormsOfAlert(deps, keys) : [];
  const takers = storms.flatMap(({ taken }) => taken?.by ?? []);
  const steps = told.untold.map((step, index) => ({ step, number: told.told + index + 1 }));
  for (const { step, number } of steps) {
    // oxlint-disable-next-line no-await-in-loop -- a thread tells the steps in their order
    for (const message of messages) await storeNote(deps, message, number, step);
    for (const userId of addressees(step, told.card)) {
      if (step.kind === 'recovered' && takers.includes(userId)) continue;
      const name = `${id}#${number}:${userId}`;
      // oxlint-disable-next-line no-await-in-loop
      await storeDirect(deps, name, { userId, step, parent: about });
    }
  }
  const known = told.storms ?? [];
  // Before the card is on their lists: a crash in between does both again.
  await Promise.all(
    storms.filter((storm) => !known.includes(storm.id)).map((storm) => deps.storms.recovered(storm.id)),
  );
  return [...new Set([...known, ...storms.map((storm) => storm.id)])];
}

type CardMessage = { key: string; channel: string };

/** The messages that tell a card; `about`: what stands, if anything does. */
async function readMessages(
  { store }: TellCardDeps,
  keys: readonly string[],
): Promise<{ messages: CardMessage[]; about: string | undefined }> {
  const entries = await Promise.all(keys.map((key) => store.read(key)));
  const read = entries.flatMap((entry) => (entry ? [{ entry, record: readOutboxRecord(entry.value) }] : []));
  const told = read.filter(({ record }) => isMessage(record));
  const about = told.find(({ record }) => record.posted) ?? told[0] ?? read[0];
  return {
    about: about?.entry.key,
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
  await storeMessage(deps, key, { kind: 'alert_note', channel, body });
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
