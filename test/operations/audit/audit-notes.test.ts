import { describe, expect, it } from 'vitest';
import type { AuditEntry } from '../../../src/domain/audit-entry.ts';
import { StoreUnavailable } from '../../../src/domain/store-unavailable.ts';
import { createAuditNotes } from '../../../src/operations/audit/audit-notes.ts';

function open(refusals: number, account?: string) {
  const written: AuditEntry[] = [];
  const waited: number[] = [];
  const logged: { message: string; key: string | undefined }[] = [];
  let left = refusals;
  const notes = createAuditNotes({
    async audit(entry) {
      if (left > 0) {
        left -= 1;
        throw new StoreUnavailable('away');
      }
      written.push(entry);
    },
    account,
    now: () => 1_000,
    wait: (ms) => Promise.resolve(waited.push(ms)),
    log: (_level, message, fields) => void logged.push({ message, key: fields?.key }),
  });
  return { notes, written, waited, logged };
}

const note = { what: 'step', who: 'payops', result: 'due' } as const;

describe('a note for the audit', () => {
  it('is given an id of its own and the time of now, and both as they are where it has them', async () => {
    const { notes, written } = open(0);
    notes.note(note);
    notes.note({ ...note, id: 'mine', atMs: 7 });
    await notes.drained();
    expect(written).toEqual([
      { ...note, id: expect.stringMatching(/^[\da-f-]{36}$/), atMs: 1_000 },
      { ...note, id: 'mine', atMs: 7 },
    ]);
  });

  it('is tried a few times, and told in the log once by its id when none of them helped', async () => {
    const blink = open(3);
    blink.notes.note({ ...note, id: 'mine' });
    await blink.notes.drained();
    expect(blink.written).toHaveLength(1);
    expect(blink.waited).toEqual([100, 400, 1_600]);
    expect(blink.logged).toEqual([]);

    const away = open(100);
    away.notes.note({ ...note, id: 'mine' });
    await away.notes.drained();
    expect(away.written).toEqual([]);
    expect(away.logged).toEqual([{ message: 'an entry of the audit could not be written', key: 'mine' }]);
  });

  it('bears the name of its merchant account, in its id too: two accounts may have one reference', async () => {
    const { notes, written } = open(0, 'shop-b');
    notes.note({ ...note, id: 'link:INV-1:1' });
    await notes.drained();
    expect(written[0]).toMatchObject({ id: 'shop-b/link:INV-1:1', account: 'shop-b' });
  });
});
