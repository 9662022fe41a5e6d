import { merchantId, merchantPrefix, type Merchant } from '../domain/merchant.ts';
import type { HomeBlock, Modal, SlackMessage } from './kit/message.ts';

/** What a message and a modal become in the hands of one merchant account: the same to the eye. */
export type MerchantIds = {
  id: (id: string) => string;
  /** The key by which a post is found again. */
  key: (key: string) => string;
  message: (message: SlackMessage) => SlackMessage;
  modal: (modal: Modal) => Modal;
  home: (blocks: readonly HomeBlock[]) => HomeBlock[];
};

const named: ReadonlySet<string> = new Set(['action_id', 'callback_id']);

/**
 * Every id by which Slack says what was pressed or submitted bears the account’s name, so that the press of a message
 * can reach no account but the one that made it, whatever the channel’s default is by then. The ids of blocks stay:
 * by them a modal’s fields are read. The key by which a post is found again bears it too: two accounts may tell of one
 * reference in one channel.
 */
export function merchantIds(merchant: Pick<Merchant, 'name' | 'isFirst'>): MerchantIds {
  const id = (text: string): string => merchantId(text, merchant);
  // Before it and not behind it: outside text ends a key, and could end like this account’s.
  const key = (text: string): string => `${merchant.isFirst ? '' : merchantPrefix(merchant.name)}${text}`;
  function bear<T>(value: T): T {
    if (Array.isArray(value)) return value.map((one: unknown) => bear(one)) as T;
    if (typeof value !== 'object' || value === null) return value;
    const pairs = Object.entries(value).map(([key, inner]: [string, unknown]) => [
      key,
      named.has(key) && typeof inner === 'string' ? id(inner) : bear(inner),
    ]);
    return Object.fromEntries(pairs) as T;
  }
  if (merchant.isFirst) {
    return { id, key, message: (message) => message, modal: (modal) => modal, home: (blocks) => [...blocks] };
  }
  return {
    id,
    key,
    message: ({ metadata, ...message }) => ({
      ...message,
      blocks: bear(message.blocks),
      ...(metadata
        ? { metadata: { ...metadata, event_payload: { key: key(metadata.event_payload.key) } } }
        : {}),
    }),
    modal: (modal) => bear(modal),
    home: (blocks) => [...bear(blocks)],
  };
}
