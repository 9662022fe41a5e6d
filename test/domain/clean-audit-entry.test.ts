import { describe, expect, it } from 'vitest';
import type { AuditEntry } from '../../src/domain/audit-entry.ts';
import { cleanAuditEntry, cleanAuditReference } from '../../src/domain/clean-audit-entry.ts';

const texts = ['where', 'verb', 'account', 'reference', 'before', 'after', 'result', 'reason'] as const;

function entryWith(text: string): AuditEntry {
  const said = Object.fromEntries(texts.map((name) => [name, text]));
  return { id: 'a', atMs: 1, who: text, what: 'step', ...said };
}

function textsOf(entry: AuditEntry): string[] {
  return [...texts.map((name) => entry[name] ?? ''), entry.who];
}

describe('a clean audit entry', () => {
  it('holds no e-mail address in full, in whatever text it stands', () => {
    const cleaned = cleanAuditEntry(entryWith('of ada.obi@example.com'));
    expect(new Set(textsOf(cleaned))).toEqual(new Set(['of a***@example.com']));
  });

  it('holds nothing that looks like a card number, however it is written', () => {
    for (const number of ['4111111111111111', '4111 1111 1111 1111', '4111-1111-1111-1111']) {
      const cleaned = cleanAuditEntry(entryWith(`typed ${number} here`));
      expect(new Set(textsOf(cleaned))).toEqual(new Set(['[withheld: it looks like a card number]']));
    }
  });

  it('is one visible line a text, and none of them long', () => {
    const cleaned = cleanAuditEntry(entryWith(`two\nlines\u202E, ${'x'.repeat(10_000)}`));
    expect(textsOf(cleaned).every((text) => text.startsWith('two lines, x'))).toBe(true);
    expect(JSON.stringify(cleaned).length).toBeLessThan(3_500);
    expect(cleanAuditEntry(cleaned)).toEqual(cleaned);
  });

  it('leaves out a text that says nothing, and keeps all that is fit to be kept', () => {
    expect(cleanAuditEntry({ id: 'a', atMs: 1, who: 'U1', what: 'step', reason: ' \n' })).toEqual({
      id: 'a',
      atMs: 1,
      who: 'U1',
      what: 'step',
    });
    const whole = entryWith('NGN 12,500.00 · pay-abc');
    expect(cleanAuditEntry(whole)).toEqual(whole);
  });

  it('has the reference that it is then asked for by', () => {
    const odd = 'ORDER\u200B-1 of ada@example.com';
    expect(cleanAuditEntry(entryWith(odd)).reference).toBe(cleanAuditReference(odd));
  });
});
