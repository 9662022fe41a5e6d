import type { AuditEntry } from '../../domain/audit-entry.ts';
import { auditOfCharge } from '../../domain/audit-of-charge.ts';
import { StoreUnavailable } from '../../domain/store-unavailable.ts';
import { amendCharge, type AdvanceDeps, type ChargeAudit } from './advance-charge.ts';
import type { AuditNotes } from '../audit/audit-notes.ts';
import { isAudited, type ChargeRecord } from './charge-record.ts';

export type ChargeAuditDeps = Omit<AdvanceDeps, 'audit'> & {
  write: AuditNotes['write'];
  /** What the audit has of it. Throws StoreUnavailable. */
  ofReference: (reference: string) => Promise<readonly AuditEntry[]>;
  /** Work that nobody waits for; the process does, before it ends. */
  inBackground: (work: Promise<unknown>) => void;
};

/** Whoever stored a step has written it down by then, or is dead. */
const graceMs = 10_000;
/** A charge that rests no longer than this is stored again soon anyway. */
const soonMs = 30_000;
/** Of so many charges this process remembers what it wrote down; of one it forgot it would write some of it again. */
const mostRemembered = 5_000;

/**
 * Puts the steps of charges into the audit, in the background and in their order. The charge's own history is what
 * makes this sure: its record says up to which step the audit has it, and whoever works on it next, a crash later,
 * writes down what is missing, under the same ids.
 */
export function createChargeAudit(deps: ChargeAuditDeps): ChargeAudit {
  const written = createWritten();
  const queues = new Map<string, Promise<void>>();

  function missing(record: ChargeRecord): AuditEntry[] {
    const { auditedAt = 0, intent } = record;
    const known = written.of(intent.reference);
    return auditOfCharge(intent.history).filter(({ atMs }) => atMs > auditedAt && !known.has(atMs));
  }

  /** What is in the audit and not on record as such: of a process that was killed in between. */
  async function learn(reference: string): Promise<void> {
    for (const { id, atMs } of await deps.ofReference(reference)) {
      if (id.endsWith(`${reference}:${atMs}`)) written.add(reference, atMs);
    }
  }

  async function writeDown(record: ChargeRecord, how?: 'once'): Promise<void> {
    const { reference, at } = record.intent;
    const untilMs = deps.now() - graceMs;
    // Of whoever stored it and then died, perhaps after it was written down.
    if (missing(record).some(({ atMs }) => atMs <= untilMs)) await learn(reference);
    for (const entry of missing(record)) {
      // A step of another process: that one writes it down, unless it has had its time.
      if (entry.atMs !== at && entry.atMs > untilMs) continue;
      // oxlint-disable-next-line no-await-in-loop -- in the order in which it happened
      if (!(await deps.write(entry, how))) return;
      written.add(reference, entry.atMs);
    }
  }

  /** Nobody stores it again soon, so that all of it is in the audit must be on record now. */
  async function noteOnRecord(record: ChargeRecord): Promise<void> {
    const { reference, at, dueAt } = record.intent;
    if (missing(record).length > 0 || (dueAt !== undefined && dueAt - deps.now() <= soonMs)) return;
    const noted = await amendCharge({ ...deps, audit }, reference, (current) =>
      current.intent.at === at && !isAudited(current) ? { ...current, auditedAt: at } : undefined,
    );
    if (noted) written.forget(reference);
  }

  async function work(record: ChargeRecord): Promise<void> {
    try {
      await writeDown(record);
      await noteOnRecord(record);
    } catch (error) {
      // Its timer comes sooner as long as that is not on record.
      if (!(error instanceof StoreUnavailable)) throw error;
    }
  }

  const audit: ChargeAudit = {
    stored(record) {
      const { reference } = record.intent;
      const working = (queues.get(reference) ?? Promise.resolve()).then(() => work(record));
      queues.set(reference, working);
      const done = working.finally(() => {
        if (queues.get(reference) === working) queues.delete(reference);
      });
      deps.inBackground(done);
    },
    upTo(record) {
      const [first] = missing(record);
      return first === undefined ? record.intent.at : Math.max(record.auditedAt ?? 0, first.atMs - 1);
    },
    // A worker waits for this one, and it has alerts to deliver.
    catchUp: (record) => writeDown(record, 'once'),
  };
  return audit;
}

/** What this process wrote down of charges that are under way. */
function createWritten() {
  const byReference = new Map<string, Set<number>>();
  const none: ReadonlySet<number> = new Set();
  return {
    of: (reference: string): ReadonlySet<number> => byReference.get(reference) ?? none,
    add(reference: string, atMs: number): void {
      const known = byReference.get(reference) ?? new Set();
      byReference.set(reference, known.add(atMs));
      const [oldest] = byReference.keys();
      if (byReference.size > mostRemembered && oldest !== undefined) byReference.delete(oldest);
    },
    forget: (reference: string): void => void byReference.delete(reference),
  };
}
