// Tells several merchant accounts of one bot apart. A merchant is an account that the bot works for; *account* alone can
// also mean the service's sub accounts.

/** One merchant account. `name` is what people type after `--account`. */
export type Merchant = {
  name: string;
  /** Its record keys and message ids are those of a bot with one account. */
  isFirst: boolean;
  /** The bot has both live and sandbox accounts: they could be confused. */
  isMixed: boolean;
};

/** Stands before the account's name in an id or permission. */
const mark = '@';

/** The prefix of all keys of a further account, in the store and in posts; no other key begins with it. */
export function merchantPrefix(name: string): string {
  return `${mark}${name}:`;
}

/** The id for this account's messages and modals. */
export function merchantId(id: string, { name, isFirst }: Pick<Merchant, 'name' | 'isFirst'>): string {
  return isFirst ? id : `${id}${mark}${name}`;
}

/** The id without its account, whichever that is. */
export function plainId(id: string): string {
  const [plain = ''] = id.split(mark);
  return plain;
}

/** The permission for this account. */
export function merchantPermission(permission: string, { name }: Pick<Merchant, 'name'>): string {
  return `${permission}${mark}${name}`;
}

/** `merchant` is undefined in a bot with one account. */
export function readPermission(permission: string): { plain: string; merchant: string | undefined } {
  const at = permission.lastIndexOf(mark);
  return at < 0
    ? { plain: permission, merchant: undefined }
    : { plain: permission.slice(0, at), merchant: permission.slice(at + 1) };
}
