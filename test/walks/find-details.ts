import type { Kept } from './slack.ts';
import type { Telling, Tellings } from './tellings.ts';
import { isOpen } from './watch-slack.ts';
import type { World } from './world.ts';

/** Of customer, bank and gateway: what nothing says any more once it is old. */
const details = /cust-\d|\.example|Insufficient|honour|Pick up|12,500|800\.00/;

/** Neither the message of an old alert nor what the store has of it says whose it was and what it was about. */
export function findWrongDetails(world: World, { events }: Tellings): void {
  if (world.weather.detailsMs === undefined) return;
  for (const { tellings } of events.values()) {
    for (const telling of tellings) {
      if (telling.record.posted) findDetails(world, telling);
    }
  }
}

function findDetails({ sealer, slack, violate }: World, { key, record, messages }: Telling): void {
  if (!record.isErased) violate(`${key} keeps its details`);
  const evidence = record.evidence === undefined ? '' : sealer.open(`${key}#evidence`, record.evidence);
  const kept = details.exec(sealer.open(key, record.sealed) + evidence);
  if (kept) violate(`the record of ${key} keeps its ${kept[0]}`);
  // One whose answer was lost, and which nobody may look for, is known to nobody.
  const last = messages.find(({ ts }) => ts === record.posted?.ts);
  const shown = last && isOpen(last) && !isLeft(last) && details.exec(JSON.stringify(last.shown));
  if (shown) violate(`${key} shows its ${shown[0]}`);

  /** In a channel that took no edit when its time came. */
  function isLeft(message: Kept): boolean {
    return slack.faulted.some((one) => one.key === message.key && one.kind === 'refused');
  }
}
