import type { AlertCard, CardMove, CardStep } from '../../src/domain/alert-card.ts';
import type { RoutePlan } from '../../src/domain/alert-route.ts';
import type { PaymentEvent } from '../../src/domain/payment-event.ts';
import type { Sealer } from '../../src/domain/sealer.ts';
import type { Transaction } from '../../src/domain/transaction.ts';
import type { CardMoveResult } from '../../src/operations/alert/alert-cards.ts';
import { readOutboxRecord } from '../../src/operations/outbox/outbox.ts';
import type { ReceiveResult } from '../../src/operations/alert/receive-event.ts';
import type { TakenStorm } from '../../src/operations/storm/take-storm.ts';
import type { Store } from '../../src/store/store.ts';
import type { Random } from '../chaos/random.ts';
import type { Breakage } from './breakages.ts';
import type { Schedule } from './schedule.ts';
import type { Kept, Slack } from './slack.ts';

/** What a walk is like from its beginning to its end. */
export type Weather = {
  replicas: number;
  mayReadHistory: boolean;
  slackFaults: number;
  storeFaults: number;
  threshold: number;
  giveUpMs: number;
  plansMove: boolean;
  peopleDelete: boolean;
  mayKill: boolean;
  channelsRefuse: boolean;
  /** Channels are given up, and what was for them is delivered again. */
  abandons: boolean;
  keepsCards: boolean;
  detailsMs: number | undefined;
  /** How far apart the clocks of two processes may be, by half. */
  skewMs: number;
  /** A channel is told of its hours, as of days elsewhere. */
  summarises: boolean;
  steps: number;
};

/** An event that left its sender, and what the sender knows of it. */
export type Sent = { event: PaymentEvent; firstSentAtMs: number; ackedAtMs?: number; plansAtAck?: number };

/** What a sender was answered; `print`: what a repeat must equal. */
export type Answered = { key: string; print: string; result: ReceiveResult };

/** What one person asked for with a click, and what they were told; without `answer` nobody told them anything. */
export type Click = { id: string; move: CardMove; atMs: number; answer?: CardMoveResult };

export type StormClick = { storm: string; by: string; answer?: TakenStorm };

/** What the store held of one card, from the first to the last: the truth that clicks and messages are held against. */
export type CardTruth = { card: AlertCard; steps: CardStep[]; others: string[] };

export const canaries = { token: 'canary-token', transaction: 'canary-transaction' } as const;

/** What outlives every process, and what the model knows of it. */
export type World = {
  seed: number;
  random: Random;
  weather: Weather;
  clock: { nowMs: number };
  schedule: Schedule;
  /** As every process has it, but for the gates. */
  store: Store;
  storeAway: boolean;
  /** How often a call of the store fails now, of all calls. */
  storeFaults: number;
  slack: Slack;
  records: Map<string, Transaction>;
  /** All that the service ever said of a reference. */
  recordHistory: Map<string, Transaction[]>;
  /** Of payments whose record comes later than their event, by reference. */
  lateRecords: Map<string, Transaction>;
  serviceAway: boolean;
  plans: RoutePlan[];
  sent: Map<string, Sent>;
  answered: Answered[];
  /** Nobody asks for a summary any more. */
  summariesEndedAtMs: number | undefined;
  clicks: Click[];
  stormClicks: StormClick[];
  cards: Map<string, CardTruth>;
  violations: string[];
  story: string[];
  breakage: Breakage | undefined;
  sealer: Sealer;
  tell: (line: string) => void;
  violate: (what: string) => void;
};

export const startMs = 1_800_000_000_000;

/** The record of a message, as the store has it by now. */
export async function recordOf({ store }: Pick<World, 'store'>, key: string) {
  const entry = await store.read(key);
  return entry && readOutboxRecord(entry.value);
}

/** The record that a message tells, whichever message of it this is. */
export function baseOf({ key }: Pick<Kept, 'key'>): string {
  return key.replace(/#after:.*$/, '');
}
