import type { Account } from '../domain/account.ts';
import type { Environment } from '../domain/alert.ts';
import type { ServiceList } from '../operations/service-list.ts';
import type { Command } from '../slack/command.ts';
import { accountSubject } from '../slack/list/list-subjects.ts';
import { listCommand } from './list/list-command.ts';

export type AccountsDeps = {
  accounts: ServiceList<Account>;
  environment: Environment;
  /** What people call the merchant account. */
  account: string;
};

/** `/pay accounts [filter]`: the sub accounts, newest first as the service lists them. */
export function accountsCommand(deps: AccountsDeps): Command {
  return listCommand(
    {
      subject: accountSubject,
      summary: 'List the sub accounts, newest first',
      examples: ['accounts', 'accounts ikeja'],
      permission: 'accounts',
    },
    { list: deps.accounts, place: deps },
  );
}
