import type { Account, Finder } from '../../account.ts';
import { isClosed } from '../../domain/charge.ts';
import type { FoundRecord } from '../../domain/found-record.ts';
import { withoutUndefined } from '../../domain/json.ts';
import { openRecord } from '../../records/records.ts';
import { isInDoubt, stateWord } from '../../slack/words/state-words.ts';
import { hasMovedNothing, outcomeAtMs, seenOf, storedCharge, type ChargeRecord } from './charge-record.ts';

/** Reads the bot's own charges for `/pay find`. */
export function chargeFinder({ sealer }: Pick<Account, 'sealer'>): Finder {
  return {
    prefix: storedCharge.prefix,
    read: async (entry) => foundCharge(openRecord(sealer, storedCharge, entry)),
  };
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
    isOpen: !isClosed(intent),
  };
}
