import type { Reading } from '../../domain/service-page.ts';
import type { ListExport, ListExporter } from '../../operations/service/export-list.ts';
import type { ListColumns } from '../../operations/service/list-csv.ts';
import type { ChargePlace } from '../../slack/charge/charge-place.ts';
import type { Caller } from '../../slack/command.ts';
import { fileColumns, listFile } from '../../slack/list/list-file.ts';
import type { ListSubject } from '../../slack/list/list-message.ts';
import type { SharedFile, ShareFile } from '../../slack/share-file.ts';

/** What the CSV of a list needs. */
export type CsvDeps<Item> = {
  exportList: ListExporter<Item>;
  columns: ListColumns<Item>;
  shareFile: ShareFile;
  now: () => number;
};

/** The whole list, or what matches of it, as a file where the person is. */
export async function exportCsv<Item>(
  deps: CsvDeps<Item> & { subject: ListSubject<Item>; place: ChargePlace },
  { caller, list, filter }: { caller: Caller; list: string; filter: string },
  progress: (reading: Reading, rows: number) => void,
): Promise<ListExport<SharedFile>> {
  const { subject, place } = deps;
  return await deps.exportList({
    owner: caller.userId,
    list,
    filter,
    columns: fileColumns(deps.columns),
    progress,
    place: (made) =>
      deps.shareFile(caller, listFile({ subject, filter }, made, { place, nowMs: deps.now() })),
  });
}
