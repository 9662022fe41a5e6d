import type { NextCharge } from '../protocol.ts';
import type { Accounts, Terminal } from './accounts.ts';
import type { Cards } from './cards.ts';
import type { Orders, TellTransaction } from './orders.ts';
import type { Tokens } from './auth.ts';
import type { WebhooksOut } from './webhooks-out.ts';

/** Since the start. */
export type Counts = {
  /** Requests by "METHOD /path", refused ones included. */
  calls: Record<string, number>;
  /** How often money was taken for a reference: never above one. */
  chargesByReference: Record<string, number>;
  tokensIssued: number;
  tokensRevoked: number;
  otpSubmissions: number;
};

export function increase(counts: Record<string, number>, key: string): void {
  counts[key] = (counts[key] ?? 0) + 1;
}

/** All data of the simulated service, one module a concern; routes use it and keep nothing. */
export type World = {
  now: () => number;
  baseUrl: () => string;
  parentAccountId: string;
  tokens: Tokens;
  accounts: Accounts;
  terminals: readonly Terminal[];
  orders: Orders;
  cards: Cards;
  webhooks: WebhooksOut;
  stats: Counts;
  tellTransaction: TellTransaction;
  /** References of charges that a `before` fault has already stopped once: their retry works. */
  accidentsHad: Set<string>;
  /** The panel's choice for the next saved-card charge, used once. */
  next: { charge: NextCharge; reason?: string };
  changed: () => void;
};
