import { randomUUID } from 'node:crypto';
import { utcSeconds, type Accounts } from './accounts.ts';
import type { Terminal } from './terminals.ts';

const branches = ['Ikeja', 'Lekki', 'Surulere', 'Yaba', 'Apapa', 'Wuse', 'Garki', 'Bodija', 'Enugu', 'Kano'];
const kinds = ['Branch', 'Outlet', 'Warehouse', 'Kiosk', 'Market Stand', 'Online Shop'];

const hourMs = 3_600_000;

/** Its accountRef; charges in its name are rejected because it has no card payments. */
export const accountWithoutCards = 'NO-CARDS-ACCOUNT-001';

/** Its accountRef; one card was saved by it, which the parent may therefore not charge. */
export const accountWithOwnCard = 'OWN-CARD-ACCOUNT-001';

/** Sixty sub accounts, one every seven hours. */
export function seedAccounts(accounts: Accounts, now: number): void {
  for (const [index, { branch, kind }] of names().entries()) {
    const number = String(index + 1).padStart(3, '0');
    const ref =
      index === 0 ? accountWithoutCards : index === 1 ? accountWithOwnCard : `PLAYGROUND-SUB-00${number}`;
    accounts.create({
      accountName: `${branch} ${kind}`,
      accountRef: ref,
      status: index % 20 === 7 ? 'pnd' : 'active',
      description: `Collections of ${branch} ${kind}`,
      createdAt: utcSeconds(now - (60 - index) * 7 * hourMs),
    });
  }
}

const places = ['Front desk', 'Counter'];

/** Two terminals in every branch, a hundred and twenty; or as many as are wanted, branch by branch anew. */
export function seedTerminals(
  parentAccountId: string,
  accounts: Accounts,
  now: number,
  count?: number,
): Terminal[] {
  const branchAccounts = accounts.newestFirst();
  const wanted = count ?? branchAccounts.length * places.length;
  return Array.from({ length: wanted }, (_, index) => {
    const account = branchAccounts[Math.floor(index / places.length) % branchAccounts.length];
    const number = index + 1;
    const createdAt = new Date(now - number * 5 * hourMs).toISOString();
    return {
      terminalId: `2070${String(number).padStart(4, '0')}`,
      serialNumber: `PX${randomUUID().slice(0, 8).toUpperCase()}`,
      accountId: account?.accountId ?? '',
      parentAccountId,
      merchantName: account?.accountName ?? '',
      terminalLabel: `${account?.accountName}, ${places[index % places.length]}`,
      createdAt,
      updatedAt: createdAt,
    };
  });
}

function names(): { branch: string; kind: string }[] {
  return kinds.flatMap((kind) => branches.map((branch) => ({ branch, kind })));
}
