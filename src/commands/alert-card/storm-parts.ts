import type { StormRow, StormSeen } from '../../domain/storm-summary.ts';
import { itemsPerPage } from '../../operations/work/paged-log.ts';
import type { Storms } from '../../operations/storm/storms.ts';
import type { TakeStorm } from '../../operations/storm/take-storm.ts';
import { readListPage, stormActions } from '../../slack/alert/storm-actions.ts';
import {
  csvMessage,
  rowsPerPage,
  stormCsv,
  stormFileName,
  stormHadMessage,
  stormListModal,
  unknownStormMessage,
} from '../../slack/alert/storm-list.ts';
import { gathered } from '../../slack/alert/storm-facts.ts';
import type { Press, Pressed } from '../../slack/command.ts';
import type { Modal } from '../../slack/message.ts';
import type { UploadFile } from '../../slack/upload-file.ts';

/** What the digests of storms need of the operations and of Slack. */
export type StormActions = {
  storms: Pick<Storms, 'see' | 'place'>;
  takeStorm: Pick<TakeStorm, 'acknowledge' | 'rows'>;
  uploadFile: UploadFile;
};

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
async function acknowledgeAll({ takeStorm }: StormActions, { value, caller, reply }: Pressed): Promise<void> {
  const result = await takeStorm.acknowledge(value, caller.userId);
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

async function listModal(
  { storms, takeStorm }: StormActions,
  storm: string,
  page: number,
): Promise<Modal | undefined> {
  const seen = await storms.see(storm);
  if (!seen) return undefined;
  const from = page * rowsPerPage;
  const stored = await takeStorm.rows(storm, Math.floor(from / itemsPerPage));
  const rows = stored.slice(from % itemsPerPage, (from % itemsPerPage) + rowsPerPage);
  return stormListModal(seen, page, rows);
}

/** Everything that is listed by now, as a file below the digest. */
async function csv(
  { storms, takeStorm, uploadFile }: StormActions,
  { value, reply }: Pressed,
): Promise<void> {
  const [seen, place] = await Promise.all([storms.see(value), storms.place(value)]);
  if (!seen || !place) return await reply(unknownStormMessage());
  const rows = await allRows(takeStorm, value, seen);
  const many = gathered(seen.gathers, rows.length);
  const outcome = await uploadFile(
    { channel: place.channel, threadTs: place.ts },
    {
      name: stormFileName(seen),
      title: `${many} of one digest`,
      text: stormCsv(seen.gathers, rows),
      comment: `${many} of this digest, as they stand now`,
    },
  );
  await reply(csvMessage(outcome));
}

async function allRows(
  takeStorm: StormActions['takeStorm'],
  storm: string,
  { count }: StormSeen,
): Promise<StormRow[]> {
  const rows: StormRow[] = [];
  for (let page = 0; page * itemsPerPage < count; page += 1) {
    // oxlint-disable-next-line no-await-in-loop -- a page at a time, so that the store answers others in between
    rows.push(...(await takeStorm.rows(storm, page)));
  }
  return rows;
}
