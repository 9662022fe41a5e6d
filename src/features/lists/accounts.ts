import type { Account } from '../../domain/account.ts';
import type { Environment } from '../../domain/alert.ts';
import type { ListExporter } from './export-list.ts';
import { accountColumns } from './list-csv.ts';
import type { ServiceList } from './service-list.ts';
import type { Command } from '../../slack/command.ts';
import { accountSubject } from './list-subjects.ts';
import type { ShareFile } from '../../slack/kit/share-file.ts';
import { listCommand } from './list-command.ts';

export type AccountsDeps = {
  accounts: ServiceList<Account>;
  exports: { accounts: ListExporter<Account> };
  shareFile: ShareFile;
  environment: Environment;
  /** What people call the merchant account. */
  account: string;
  now: () => number;
};

/** `/pay accounts [filter]`: the sub accounts, newest first as the service lists them. */
export function accountsCommand(deps: AccountsDeps): Command {
  return listCommand(
    {
      subject: accountSubject,
      summary: 'List sub accounts',
      examples: ['accounts', 'accounts ikeja'],
      permission: 'accounts',
    },
    {
      list: deps.accounts,
      place: deps,
      exportList: deps.exports.accounts,
      columns: accountColumns,
      shareFile: deps.shareFile,
      now: deps.now,
    },
  );
}
