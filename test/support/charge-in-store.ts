import { setTimeout as sleep } from 'node:timers/promises';
import { readSettings } from '../../src/cli/read-settings.ts';
import type { Approval } from '../../src/domain/approval.ts';
import { approvalPrefix } from '../../src/features/approvals/approval-case.ts';
import { createChargeRecords, type ChargeRecord } from '../../src/features/charge/charge-record.ts';
import { openKept } from '../../src/store/kept.ts';
import type { House } from './house.ts';
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
