import type { NextCharge } from '../protocol.ts';
import type { Accounts, Terminal } from './accounts.ts';
import type { Cards } from './cards.ts';
import type { Orders } from './orders.ts';
import type { Stats } from './stats.ts';
import type { Tokens } from './auth.ts';
import type { WebhooksOut } from './webhooks-out.ts';

/** Everything the simulated service knows, one data module per concern; the routes act on it and keep nothing. */
export type World = {
  now: () => number;
  baseUrl: () => string;
  /** The parent account of the business. */
  parentAccountId: string;
  tokens: Tokens;
  accounts: Accounts;
  terminals: readonly Terminal[];
  orders: Orders;
  cards: Cards;
  webhooks: WebhooksOut;
  stats: Stats;
  /** References whose `before` accident has happened: the next try goes through. */
  accidentsHad: Set<string>;
  /** What the panel ordered for the next saved-card charge; used up by it. */
  next: { charge: NextCharge; reason?: string };
  changed: () => void;
};
