import { findWrongCards } from './find-cards.ts';
import { findWrongClicks } from './find-clicks.ts';
import { findWrongDetails } from './find-details.ts';
import { findWrongOrder } from './find-order.ts';
import { findWrongPace } from './find-pace.ts';
import { findWrongRecoveries } from './find-recoveries.ts';
import { findWrongRepeats } from './find-repeats.ts';
import { findWrongSummaries } from './find-summaries.ts';
import { findWrongTellings, tellingsOf } from './tellings.ts';
import type { World } from './world.ts';

/** What must hold once everything has come to rest: each thing that does not becomes a violation. */
export async function findWrongs(world: World): Promise<void> {
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
