// Several merchant accounts in one bot: what tells them apart for a person. A merchant is one of the accounts
// that the bot works for; the word account alone also means the service's sub accounts.

/** One of the bot's merchant accounts. `name` is what people type after `--account`. */
export type Merchant = {
  name: string;
  /** Its records have the keys, and its messages the ids, of a bot that knows one account alone. */
  isFirst: boolean;
  /** The bot has live accounts and sandbox ones, so that one could be taken for the other. */
  isMixed: boolean;
};

/** What stands behind an id or a permission, so that it is one account's alone. */
const mark = '@';

/** What stands before every key of a further account’s, in the store and in its posts; no other key begins so. */
export function merchantPrefix(name: string): string {
  return `${mark}${name}:`;
}

/** The id as it stands in this account's messages and modals. */
export function merchantId(id: string, { name, isFirst }: Pick<Merchant, 'name' | 'isFirst'>): string {
  return isFirst ? id : `${id}${mark}${name}`;
}

/** The id without the account that it names, whichever that is. */
export function plainId(id: string): string {
  const [plain = ''] = id.split(mark);
  return plain;
}

/** The permission for this one account. */
export function merchantPermission(permission: string, { name }: Pick<Merchant, 'name'>): string {
  return `${permission}${mark}${name}`;
}

/** `merchant` is undefined in a bot that knows one account alone. */
export function readPermission(permission: string): { plain: string; merchant: string | undefined } {
  const at = permission.lastIndexOf(mark);
  return at < 0
    ? { plain: permission, merchant: undefined }
    : { plain: permission.slice(0, at), merchant: permission.slice(at + 1) };
}
