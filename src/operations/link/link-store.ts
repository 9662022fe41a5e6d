import type { NoteAudit } from '../../domain/audit-note.ts';
import { restOfLink, stepLink, type LinkEvent, type LinkRules } from '../../domain/payment-link.ts';
import { auditOfLinkStep, auditOfNewLink } from '../audit/audit-of-link.ts';
import { createChangeRecord, type RecordStore } from '../work/change-record.ts';
import { linkKey, listsOfLink, openLinkRecord, sealLink, type LinkRecord } from './link-record.ts';
import type { Sealer } from '../../domain/sealer.ts';

export type LinkStoreDeps = {
  store: RecordStore;
  sealer: Sealer;
  rules: LinkRules;
  /** How long a link is remembered once nothing is left to do about it. */
  rememberMs: number;
  now: () => number;
  /** Writes into the audit, in the background; absent: nothing is written down. */
  note?: NoteAudit;
};

/** All of it throws StoreUnavailable. */
export type LinkStore = {
  read(reference: string): Promise<LinkRecord | undefined>;
  /** Stores a new link; what was surely not made gives way to it. Another that is there is given, and stays. */
  begin(record: LinkRecord): Promise<LinkRecord | undefined>;
  /**
   * The record after what happened, whether that changed it or not. What it changed is work at once, so that a
   * crash before it was told tells it. Undefined: there is no such link.
   */
  apply(reference: string, event: LinkEvent): Promise<LinkRecord | undefined>;
  /** All of this record was told: it is work again when it is due. One that went on meanwhile stays as it is. */
  rest(record: LinkRecord): Promise<LinkRecord>;
};

/** Whoever changed it tells it at once; a crash leaves that to a worker. */
const tellAgainMs = 2_000;

export function createLinkStore(deps: LinkStoreDeps): LinkStore {
  const { store, sealer, rules, rememberMs, now } = deps;
  const changeRecord = createChangeRecord(store);
  const open = (key: string, value: string | undefined): LinkRecord | undefined =>
    value === undefined ? undefined : openLinkRecord(sealer, key, value);

  return {
    async read(reference) {
      const key = linkKey(reference);
      return open(key, (await store.read(key))?.value);
    },
    async begin(record) {
      const key = linkKey(record.link.reference);
      const held = await changeRecord<LinkRecord | undefined>(key, (value) => {
        const before = open(key, value);
        if (before && before.link.state.kind !== 'refused') return { kind: 'keep', result: before };
        const sealed = sealLink(sealer, record);
        const index = listsOfLink(record);
        return { kind: 'write', value: sealed, delayMs: rules.askAgainMs, index, result: undefined };
      });
      if (!held) deps.note?.(auditOfNewLink(record.link));
      return held;
    },
    async apply(reference, event) {
      const key = linkKey(reference);
      let stepped: { before: LinkRecord; after: LinkRecord; atMs: number } | undefined;
      const kept = await changeRecord<LinkRecord | undefined>(key, (value) => {
        stepped = undefined;
        const before = open(key, value);
        const atMs = now();
        const link = before && stepLink(before.link, event, atMs, rules);
        if (!link) return { kind: 'keep', result: before };
        // An event is followed by a look-up, which nobody here waits for.
        const isHeard = event.kind !== 'answered' && event.kind !== 'looked_up' && event.kind !== 'placed';
        const result: LinkRecord = { ...before, link, turn: before.turn + 1 };
        const delayMs = isHeard ? 0 : tellAgainMs;
        stepped = { before, after: result, atMs };
        return {
          kind: 'write',
          value: sealLink(sealer, result),
          delayMs,
          index: listsOfLink(result),
          result,
        };
      });
      if (stepped) deps.note?.(auditOfLinkStep(event, stepped));
      return kept;
    },
    rest(record) {
      const key = linkKey(record.link.reference);
      return changeRecord(key, (value) => {
        const kept = open(key, value);
        if (kept?.turn !== record.turn) return { kind: 'keep', result: kept ?? record };
        const result: LinkRecord = { ...kept, told: kept.turn };
        const delayMs = restOfLink(kept.link, now(), rules);
        const sealed = sealLink(sealer, result);
        return delayMs === undefined
          ? { kind: 'write', value: sealed, ttlMs: rememberMs, result }
          : { kind: 'write', value: sealed, delayMs, result };
      });
    },
  };
}
