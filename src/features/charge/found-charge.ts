import type { Account, Finder } from '../../account.ts';
import type { FoundRecord } from '../../domain/found-record.ts';
import { withoutUndefined } from '../../domain/json.ts';
import { isInDoubt, stateWord } from '../../slack/words/state-words.ts';
import {
  chargePrefix,
  createChargeRecords,
  hasMovedNothing,
  isOpen,
  outcomeAtMs,
  seenOf,
  type ChargeRecord,
} from './charge-record.ts';

/** Reads the bot's own charges for `/pay find`. */
export function chargeFinder(account: Pick<Account, 'store' | 'sealer' | 'wait'>): Finder {
  const charges = createChargeRecords(account);
  return { prefix: chargePrefix, read: async (entry) => foundCharge(charges.open(entry)) };
}

function foundCharge(record: ChargeRecord): FoundRecord {
  const { intent, terms } = record;
  const { money, card, customerEmail } = terms;
  const seen = seenOf(record);
  return {
    kind: 'charge',
    isProven: intent.state.kind === 'approved',
    isInDoubt: isInDoubt(seen) || intent.state.kind === 'review',
    agent: record.agent,
    state: stateWord(seen),
    atMs: intent.submittedAt,
    ...withoutUndefined({ outcomeAtMs: outcomeAtMs(record) }),
    reference: intent.reference,
    money,
    card,
    customerEmail,
    isFailed: hasMovedNothing(intent),
    isOpen: isOpen(record),
  };
}
