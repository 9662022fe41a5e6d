import type { StormRow } from '../../../domain/storm-summary.ts';
import type { AlertCards } from '../alert-cards.ts';
import type { Storms } from './storms.ts';
import {
  csvMessage,
  rowsPerPage,
  stormCsv,
  stormFileName,
  stormHadMessage,
  stormListModal,
  unknownStormMessage,
} from './storm-list.ts';
import { gathered, readListPage, stormActions } from './storm-message.ts';
import type { Press, Pressed } from '../../../slack/command.ts';
import type { Modal } from '../../../slack/kit/message.ts';
import type { UploadFile } from '../../../slack/kit/upload-file.ts';

/** What the digests of storms need of the operations and of Slack. */
export type StormActions = {
  storms: Pick<Storms, 'see' | 'place' | 'items' | 'take'>;
  alertCards: Pick<AlertCards, 'read'>;
  uploadFile: UploadFile;
};

const cardsAtOnce = 50;

/** What acts on the digest of a storm. It needs a verb to belong to. */
export function stormPresses(deps: StormActions): Press[] {
  return [
    { actionId: stormActions.acknowledgeAll, press: (pressed) => acknowledgeAll(deps, pressed) },
    { actionId: stormActions.showList, opensForm: true, press: (pressed) => showList(deps, pressed) },
    { actionId: stormActions.back, press: (pressed) => turnTo(deps, pressed) },
    { actionId: stormActions.next, press: (pressed) => turnTo(deps, pressed) },
    { actionId: stormActions.csv, press: (pressed) => csv(deps, pressed) },
  ];
}

/** The digest shows it; only whoever was not first is told anything. */
async function acknowledgeAll({ storms }: StormActions, { value, caller, reply }: Pressed): Promise<void> {
  const result = await storms.take(value, caller.userId);
  if (result.kind === 'had') await reply(stormHadMessage(result, caller.userId));
  if (result.kind === 'unknown_storm') await reply(unknownStormMessage());
}

async function showList(deps: StormActions, { value, openModal, reply }: Pressed): Promise<void> {
  const shown = await listModal(deps, value, 0);
  if (shown) await openModal(shown);
  else await reply(unknownStormMessage());
}

async function turnTo(deps: StormActions, { value, updateModal, reply }: Pressed): Promise<void> {
  const asked = readListPage(value);
  if (!asked) return;
  const shown = await listModal(deps, asked.storm, asked.page);
  if (shown) await updateModal(shown);
  else await reply(unknownStormMessage());
}

async function listModal(deps: StormActions, storm: string, page: number): Promise<Modal | undefined> {
  const seen = await deps.storms.see(storm);
  return seen && stormListModal(seen, page, await rows(deps, storm, page * rowsPerPage, rowsPerPage));
}

/** With their cards as they are now. */
async function rows(
  { storms, alertCards }: StormActions,
  ...which: Parameters<Storms['items']>
): Promise<StormRow[]> {
  const items = await storms.items(...which);
  const found: StormRow[] = [];
  for (let from = 0; from < items.length; from += cardsAtOnce) {
    const some = items.slice(from, from + cardsAtOnce);
    // oxlint-disable-next-line no-await-in-loop -- some at a time, so that the store answers others in between
    const cards = await Promise.all(some.map(({ id }) => alertCards.read(id)));
    found.push(
      ...some.map((item, index) => ({ ...item, card: cards[index]?.card ?? ({ kind: 'open' } as const) })),
    );
  }
  return found;
}

/** Everything that is listed by now, as a file below the digest. */
async function csv(deps: StormActions, { value, reply }: Pressed): Promise<void> {
  const { storms, uploadFile } = deps;
  const [seen, place] = await Promise.all([storms.see(value), storms.place(value)]);
  if (!seen || !place) return await reply(unknownStormMessage());
  const all = await rows(deps, value);
  const many = gathered(seen.gathers, all.length);
  const outcome = await uploadFile(
    { channel: place.channel, threadTs: place.ts },
    {
      name: stormFileName(seen),
      title: `${many} of one digest`,
      text: stormCsv(seen.gathers, all),
      comment: `${many} of this digest, as they stand now`,
    },
  );
  await reply(csvMessage(outcome));
}
