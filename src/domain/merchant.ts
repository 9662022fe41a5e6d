// A bot may work for several merchant accounts; each is called a merchant here. The word *account* alone can also mean
// the service's sub accounts.

/** One merchant account. `name` is what people type after `--account`. */
export type Merchant = {
  name: string;
  /**
   * The first account's record keys and message ids are those of a bot with one account, so accounts can be added
   * later.
   */
  isFirst: boolean;
  /** The bot has live and sandbox accounts, which people could confuse. */
  isMixed: boolean;
};

/** Separates an id or permission from the account's name. */
const separator = '@';

/** The prefix of all store keys of a further account; keys of the first account never begin with it. */
export function merchantPrefix(name: string): string {
  return `${separator}${name}:`;
}

/** The id of a message or modal for this account. */
export function merchantId(id: string, { name, isFirst }: Pick<Merchant, 'name' | 'isFirst'>): string {
  return isFirst ? id : `${id}${separator}${name}`;
}

/** The id without the account's name. */
export function plainId(id: string): string {
  const [plain = ''] = id.split(separator);
  return plain;
}

/** The permission for this account alone. */
export function merchantPermission(permission: string, { name }: Pick<Merchant, 'name'>): string {
  return `${permission}${separator}${name}`;
}

/** Splits a permission; `merchant` is undefined in a bot with one account. */
export function readPermission(permission: string): { plain: string; merchant: string | undefined } {
  const at = permission.lastIndexOf(separator);
  return at < 0
    ? { plain: permission, merchant: undefined }
    : { plain: permission.slice(0, at), merchant: permission.slice(at + 1) };
}
