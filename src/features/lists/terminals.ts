import type { Environment } from '../../domain/alert.ts';
import type { Terminal } from '../../domain/terminal.ts';
import type { ListExporter } from './export-list.ts';
import { terminalColumns } from './list-csv.ts';
import type { ServiceList } from './service-list.ts';
import type { Command } from '../../slack/command.ts';
import { terminalSubject } from './list-subjects.ts';
import type { ShareFile } from '../../slack/kit/share-file.ts';
import { listCommand } from './list-command.ts';

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
