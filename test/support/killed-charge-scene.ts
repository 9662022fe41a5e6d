import { setTimeout as sleep } from 'node:timers/promises';
import { type ChargeRecord, createChargeRecords } from '../../src/features/charge/charge-record.ts';
import type { Bot } from './bot.ts';
import type { House } from './house.ts';
import type { Bundle } from './bot-bundle.ts';
import { readSettings } from '../../src/cli/read-settings.ts';
import type { Approval } from '../../src/domain/approval.ts';
import { approvalPrefix } from '../../src/features/approvals/approval-case.ts';
import { openKept } from '../../src/store/kept.ts';
import { workIn } from './store-contents.ts';

/** What a bot's store holds of charges, read past the bot. */
export type ChargeInStore = {
  read: (reference: string) => Promise<ChargeRecord | undefined>;
  /** The request for a second person that has this id. */
  approval: (id: string) => Promise<Approval | undefined>;
  /** Keys of what is still to be told or edited. */
  toTell: () => Promise<string[]>;
  close: () => Promise<void>;
};

/** Of a house whose bot has started once: there is no file before. */
export async function openChargeInStore(house: House): Promise<ChargeInStore> {
  const settings = readSettings(house.settings());
  if (settings.kind === 'refused') throw new Error(settings.words);
  const kept = await openKept({ config: settings.config, log: () => undefined, now: Date.now });
  const { store, sealer, close } = kept;
  const charges = createChargeRecords({ store, sealer, wait: sleep });
  return {
    read: (reference) => charges.read(reference),
    async approval(id) {
      const entry = await store.read(approvalPrefix + id);
      if (!entry) return undefined;
      const { state } = JSON.parse(sealer.open(entry.key, entry.value)) as { state: { approval: Approval } };
      return state.approval;
    },
    toTell: async () =>
      workIn(await house.due())
        .map(({ key }) => key)
        .filter((key) => key.startsWith('message:')),
    close,
  };
}

/** What the bank does with the charge; `lost`: it charges, and the connection breaks before the answer. */
export const stories = ['approved', 'otp', 'declined', 'rejected', 'lost'] as const;
export type Story = (typeof stories)[number];

/** What runs share. */
export type Place = {
  bundle: Bundle;
  /** Where the bots of a run keep their store: this Redis, under a prefix of their own; absent: a file of their own. */
  redis?: { url: string };
  /** What keeps a processor busy, or must not be kept waiting, goes through here. */
  busy: <T>(work: () => Promise<T>) => Promise<T>;
};

export type Run = {
  story: Story;
  place: Place;
  /** See killed-bot.ts; absent: it is not killed, and `passed` names all its points. */
  killAt?: string;
  /** The agent, who sees the read-back stand there still, presses its button again once the bot is back. */
  pressAgain?: boolean;
  /**
   * Waits until a charge ends for which no code can be entered, its answer having died with the bot. False leaves
   * it in doubt, which it must then be said to be.
   */
  awaitExpiry?: boolean;
};

export type Ran = {
  killed: boolean;
  /** The read-back was still in front of the agent when the bot was back. */
  stuck: boolean;
  /** How the charge ended; `none`: it was never stored. */
  end: string;
  passed: string[];
  /** What is wrong; empty when all is as promised. */
  problems: string[];
};

/** One run as it goes. */
export type Scene = {
  run: Run;
  house: House;
  first: Bot;
  store: ChargeInStore;
  /** Which the charge has, or would have. */
  reference: string;
  /** The agent pressed the read-back's button a second time. */
  pressedAgain: boolean;
  /** Said too early, whatever it became later. */
  tooEarly: Set<string>;
};

export function orderOf({ house, reference }: Scene) {
  return house.payments.state().orders.find((order) => order.orderReference === reference);
}

/** Also the events have come to the bot, and what they brought is done if it is quiet at the next look too. */
export async function isQuiet(scene: Scene): Promise<boolean> {
  const { deliveries } = scene.house.payments.state();
  return deliveries.every(({ state }) => state === 'delivered') && (await isSettled(scene));
}

export async function isSettled({ store, reference }: Scene): Promise<boolean> {
  const record = await store.read(reference);
  return record !== undefined && isTold(record) && (await store.toTell()).length === 0;
}

export function isTold({ intent: { state, told } }: ChargeRecord): boolean {
  return 'concludedAt' in state && told.includes(state.kind);
}

/** The service waits for a code, and the bot knows of none: its transaction id was in the answer that was lost. */
export function isCodeless(scene: Scene, { intent }: ChargeRecord): boolean {
  const isWaiting = orderOf(scene)?.state === 'awaiting_otp';
  return isWaiting && intent.otp === undefined && intent.state.kind === 'confirming';
}
