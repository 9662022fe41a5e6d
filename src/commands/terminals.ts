import type { Environment } from '../domain/alert.ts';
import type { Terminal } from '../domain/terminal.ts';
import type { ListExporter } from '../operations/service/export-list.ts';
import { terminalColumns } from '../operations/service/list-csv.ts';
import type { ServiceList } from '../operations/service/service-list.ts';
import type { Command } from '../slack/command.ts';
import { terminalSubject } from '../slack/list/list-subjects.ts';
import type { ShareFile } from '../slack/share-file.ts';
import { listCommand } from './list/list-command.ts';

export type TerminalsDeps = {
  terminals: ServiceList<Terminal>;
  exports: { terminals: ListExporter<Terminal> };
  shareFile: ShareFile;
  environment: Environment;
  /** What people call the merchant account. */
  account: string;
  now: () => number;
};

/** `/pay terminals [filter]`: the merchant's terminals, by the service's own pages. */
export function terminalsCommand(deps: TerminalsDeps): Command {
  return listCommand(
    {
      subject: terminalSubject,
      summary: 'List terminals',
      examples: ['terminals', 'terminals lekki', 'terminals 20700042'],
      permission: 'terminals',
    },
    {
      list: deps.terminals,
      place: deps,
      exportList: deps.exports.terminals,
      columns: terminalColumns,
      shareFile: deps.shareFile,
      now: deps.now,
    },
  );
}
