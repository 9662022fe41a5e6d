import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CardEmailEnd, ShownCardEmail } from '../../../src/domain/card-email.ts';
import { ServiceFailure } from '../../../src/domain/failure.ts';
import { findBlockProblems, findViewProblems } from '../../../src/slack/assert-blocks.ts';
import {
  changingModal,
  endMessage,
  endModal,
  staleChangeModal,
} from '../../../src/slack/card-email/end-modal.ts';
import {
  cardEmailFields as fields,
  cardEmailModal,
  readCardEmailModal,
} from '../../../src/slack/card-email/form-modal.ts';
import { readBackModal, readDraftMetadata } from '../../../src/slack/card-email/read-back-modal.ts';

const place = { environment: 'live', account: 'Main shop' } as const;
const terms: ShownCardEmail = {
  card: { cardType: 'Visa', lastFour: '4242' },
  currentEmail: 'ada.old@example.com',
  newEmail: 'ada.new@example.org',
};
const cause = new ServiceFailure('timeout', 'no answer');
const ends: CardEmailEnd[] = [
  { kind: 'changed', list: 'current' },
  { kind: 'changed', list: 'behind' },
  { kind: 'not_linked', message: 'not ada.old@example.com' },
  { kind: 'no_such_card' },
  { kind: 'rejected', reason: 'email_invalid', message: 'invalid' },
  { kind: 'rejected', reason: 'other', message: 'because' },
  { kind: 'not_made', failure: 'unauthorized', cause },
  { kind: 'not_made', failure: 'forbidden', cause },
  { kind: 'not_made', failure: 'rate_limited', cause },
  { kind: 'not_made', failure: 'invalid_request', message: 'newEmailAddress: no' },
  { kind: 'unknown', cause },
];
const named = ends.map((end) => [JSON.stringify(end, ['kind', 'list', 'reason', 'failure']), end] as const);

function all(shown: ShownCardEmail, account: string) {
  const there = { ...place, account };
  return [
    readBackModal(shown, 'd', there),
    changingModal(shown, there),
    staleChangeModal(there),
    ...ends.map((end) => endModal(end, { terms: shown, draft: 'd' }, there)),
  ];
}

describe('the form', () => {
  it('has no field to choose from without a ledger, and then asks for token and current e-mail', () => {
    const { blocks } = cardEmailModal({ place, ledger: false });
    const inputs = blocks.filter((block) => block.type === 'input');
    expect(inputs.map(({ block_id, optional }) => [block_id, optional === true])).toEqual([
      [fields.token, false],
      [fields.current, false],
      [fields.next, false],
    ]);
  });

  it('puts what is wrong with the current e-mail right above its field, with the cursor in it', () => {
    const { blocks } = cardEmailModal({ place, ledger: true, currentProblem: 'Not that one.' });
    const at = blocks.findIndex((block) => block.type === 'input' && block.block_id === fields.current);
    expect(JSON.stringify(blocks[at - 1])).toContain('Not that one.');
    expect(JSON.stringify(blocks[at])).toContain('"focus_on_load":true');
  });

  it('reads a chosen card, a blank current e-mail being the card’s own', () => {
    const values = { [fields.card]: 'card1', [fields.next]: ' new@example.org ' };
    expect(readCardEmailModal(values)).toEqual({
      kind: 'read',
      form: { card: { kind: 'ledger', id: 'card1' }, newEmail: 'new@example.org' },
    });
  });

  it.each<[string, Record<string, string>, string[]]>([
    ['nothing at all', {}, [fields.token, fields.next]],
    ['both a card and a token', { card: 'c', token: 't', current: 'a@b.co', next: 'c@d.co' }, [fields.token]],
    ['a pasted token without the current e-mail', { token: 't', next: 'c@d.co' }, [fields.current]],
    ['two that are no addresses', { card: 'c', current: 'ada', next: 'b@c' }, [fields.current, fields.next]],
    ['the same address twice', { card: 'c', current: 'a@b.co', next: ' a@b.co' }, [fields.next]],
  ])('refuses %s at its fields, without repeating it', (_, typed, wrong) => {
    const names = Object.entries(typed) as [keyof typeof fields, string][];
    const read = readCardEmailModal(Object.fromEntries(names.map(([name, value]) => [fields[name], value])));
    const errors = read.kind === 'errors' ? read.errors : {};
    expect(Object.keys(errors)).toEqual(wrong);
    for (const value of ['a@b.co', 'c@d.co', 'b@c'])
      expect(Object.values(errors).join()).not.toContain(value);
  });

  it('takes a change of capitals alone: the service may tell them apart', () => {
    const values = { [fields.card]: 'c', [fields.current]: 'Ada@b.co', [fields.next]: 'ada@b.co' };
    expect(readCardEmailModal(values).kind).toBe('read');
  });
});

describe('the read-back', () => {
  it('says in words what changes, and that the card does not', () => {
    const text = JSON.stringify(readBackModal(terms, 'draft1', place));
    for (const part of [
      'Visa ·· 4242',
      'ada.old@example.com',
      'ada.new@example.org',
      'never the card',
      'LIVE',
    ]) {
      expect(text).toContain(part);
    }
    expect(readBackModal(terms, 'draft1', place).submit?.text).toBe('Change the e-mail');
  });

  it('carries its draft and reads it back; nothing else is one', () => {
    expect(readDraftMetadata(readBackModal(terms, 'draft1', place).private_metadata ?? '')).toBe('draft1');
    for (const other of ['', '{}', '[]', '{"draft":""}', '{"draft":1}', 'x']) {
      expect(readDraftMetadata(other)).toBeUndefined();
    }
  });
});

describe('what became of it', () => {
  it.each(named)('calls it changed when it was, and doubt never unchanged: %s', (_, end) => {
    const text = JSON.stringify(endModal(end, { terms, draft: 'd' }, place));
    expect(text.includes('✓ E-mail changed')).toBe(end.kind === 'changed');
    expect(text.includes('may have been changed')).toBe(end.kind === 'unknown');
    expect(text.includes('✗ E-mail not changed')).toBe(!['changed', 'unknown'].includes(end.kind));
  });

  it('says of doubt what a second try will show', () => {
    const text = JSON.stringify(endModal({ kind: 'unknown', cause }, { terms, draft: 'd' }, place));
    expect(text).toContain('do it again with the same addresses');
    expect(text).toContain('the first try has changed it');
  });

  it.each(named)(
    'masks every address in the direct message, and says its first line in its text: %s',
    (_, end) => {
      const message = endMessage(end, terms, { place, nowMs: 1_700_000_000_000 });
      expect(findBlockProblems('message', message.blocks)).toEqual([]);
      expect(JSON.stringify(message)).not.toMatch(/ada\.(old|new)/);
      expect(message.text).toContain('a***@example.org');
      expect(message.text).toContain('Visa ·· 4242');
    },
  );

  it('is in every modal one Slack takes, LIVE in its title, whatever the addresses and the account are', () => {
    const text = fc.string({ unit: 'binary', maxLength: 400 });
    fc.assert(
      fc.property(text, text, text, (one, other, account) => {
        const shown = { card: { cardType: one, lastFour: other }, currentEmail: one, newEmail: other };
        for (const modal of all(shown, account)) {
          expect(findViewProblems(modal)).toEqual([]);
          expect(modal.title.text.endsWith(' · LIVE')).toBe(true);
        }
      }),
      { numRuns: 100 },
    );
  });
});
