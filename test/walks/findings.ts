import { findWrongCards } from './find-cards.ts';
import { findWrongClicks } from './find-clicks.ts';
import { findWrongDetails } from './find-details.ts';
import { findWrongOrder } from './find-order.ts';
import { findWrongPace } from './find-pace.ts';
import { findWrongRecoveries } from './find-recoveries.ts';
import { findWrongRepeats } from './find-repeats.ts';
import { findWrongSummaries } from './find-summaries.ts';
import { findWrongTellings, tellingsOf } from './tellings.ts';
import { readAlertCard } from '../../src/operations/alert/alert-cards.ts';
import type { World } from './world.ts';

/** What must hold once everything has come to rest: each thing that does not becomes a violation. */
export async function findWrongs(world: World): Promise<void> {
  await readCards(world);
  const tellings = await tellingsOf(world);
  findWrongTellings(world, tellings);
  findWrongOrder(world);
  findWrongPace(world);
  findWrongClicks(world);
  await findWrongCards(world, tellings);
  await findWrongRecoveries(world, tellings);
  findWrongRepeats(world, tellings);
  findWrongDetails(world, tellings);
  findWrongSummaries(world, tellings);
}

/** An open card of a storm that somebody acknowledged is theirs, though nothing is written of it. */
async function readCards(world: World): Promise<void> {
  for (const { event } of world.sent.values()) {
    if (event.kind !== 'payment_failed') continue;
    const known = world.cards.get(event.key) ?? { steps: [], others: [] };
    // oxlint-disable-next-line no-await-in-loop -- the store of a walk is at hand
    world.cards.set(event.key, { ...known, card: await readAlertCard(world, event.key) });
  }
}
