import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChargeNote } from '../../../src/domain/charge-note.ts';
import type { ChargeSeen } from '../../../src/domain/charge-seen.ts';
import type { Told } from '../../../src/domain/charge-state.ts';
import type { OrderReference } from '../../../src/domain/order-reference.ts';
import { findBlockProblems, findViewProblems } from '../../../src/slack/assert-blocks.ts';
import { chargeDirectMessage } from '../../../src/slack/charge/charge-direct-message.ts';
import { doubtMessage, homeCharges, pendingCodesMessage } from '../../../src/slack/charge/charge-list.ts';
import { chargeMessage } from '../../../src/slack/charge/charge-message.ts';
import { chargeNoteMessage } from '../../../src/slack/charge/charge-note-message.ts';
import { chargeStateModal } from '../../../src/slack/charge/state-modal.ts';
import { termsModal } from '../../../src/slack/charge/terms-modal.ts';
import type { Modal, SlackMessage } from '../../../src/slack/message.ts';
import { unescaped } from '../shown-text.ts';
import { agent, colleague, everyCharge, nowMs, places, sandbox } from './seen-charges.ts';
import { buttons, firstLine, lines, page } from './shown.ts';

const about = { key: 'k', mayBeRepeat: true, isFirst: false };
const toldKinds: readonly Told[] = [
  'otp',
  'approved',
  'declined',
  'rejected',
  'abandoned',
  'expired',
  'review',
];
const notes: readonly ChargeNote[] = [
  ...toldKinds.map((what) => ({ kind: 'told', what, at: nowMs }) as const),
  { kind: 'handed_over', from: agent, to: colleague, at: nowMs },
  ...(['resent', 'refused', 'not_made', 'unknown', 'too_late'] as const).map(
    (answer) => ({ kind: 'resent', by: agent, answer, at: nowMs }) as const,
  ),
];

const manyReferences = Array.from({ length: 40 }, (_, index) => `pay-${'x'.repeat(40)}${index}`);

function messagesOf(charge: ChargeSeen, place = sandbox): SlackMessage[] {
  return [
    chargeMessage(charge, place, { key: 'k', mayBeRepeat: true, isFirst: false }),
    ...notes.map((note) => chargeNoteMessage(note, charge, place, about)),
    ...toldKinds.map((what) => chargeDirectMessage(what, charge, place, about)),
    doubtMessage({ charges: Array.from({ length: 12 }, () => charge), unread: manyReferences }, place, nowMs),
    doubtMessage({ charges: [], unread: manyReferences }, place, nowMs),
    pendingCodesMessage(
      Array.from({ length: 12 }, () => charge),
      place,
      nowMs,
    ),
  ];
}

function modalsOf(charge: ChargeSeen, place = sandbox): Modal[] {
  return [agent, colleague].map((viewerId) => chargeStateModal(charge, place, { nowMs, viewerId }));
}

/** What customers, banks and agents can write into a charge. */
const outside = fc.oneof(
  { arbitrary: fc.string({ unit: 'binary', maxLength: 300 }), weight: 2 },
  {
    arbitrary: fc.constantFrom(
      '',
      ' ',
      '\u202E\u200B',
      '𝒜'.repeat(3000),
      'שלום עולם‏',
      '<!channel> <@U1> *b* _i_',
      '&'.repeat(500),
      'x'.repeat(3000),
    ),
    weight: 3,
  },
);

function extreme(charge: ChargeSeen, text: string, minor: number): ChargeSeen {
  return {
    ...charge,
    reference: ([...text].slice(0, 50).join('').trim() || 'R') as OrderReference,
    terms: {
      card: { cardType: text, lastFour: text },
      money: { minor, currency: 'NGN' },
      customerEmail: `${text}@example.com`,
      customerId: text,
      reason: text,
    },
    bankWords: text,
    state: 'concludedAt' in charge.state ? { ...charge.state, why: text } : charge.state,
    handOvers: [{ at: nowMs, from: colleague, to: agent }],
    resends: [{ at: nowMs, by: agent, answer: 'resent' }],
  };
}

describe('every message and modal of a charge', () => {
  it.each(everyCharge)('is one Slack takes: %s', (_, charge) => {
    const blockLists = places.flatMap((place) => messagesOf(charge, place));
    for (const message of blockLists) expect(findBlockProblems('message', message.blocks)).toEqual([]);
    for (const place of places) {
      for (const view of modalsOf(charge, place)) expect(findViewProblems(view)).toEqual([]);
      expect(findBlockProblems('home', homeCharges('Yours', [charge], place, nowMs))).toEqual([]);
    }
  });

  it('is one Slack takes whatever stands in the charge, the read-back too', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...everyCharge.map(([, charge]) => charge)),
        outside,
        fc.constantFrom(1, 1_250_000, Number.MAX_SAFE_INTEGER),
        (plain, text, minor) => {
          const charge = extreme(plain, text, minor);
          for (const { blocks } of messagesOf(charge))
            expect(findBlockProblems('message', blocks)).toEqual([]);
          for (const view of modalsOf(charge)) expect(findViewProblems(view)).toEqual([]);
          expect(findBlockProblems('home', homeCharges(text, [charge], sandbox, nowMs))).toEqual([]);
          const terms = termsModal({ place: sandbox, terms: charge.terms, draft: 'd', nowMs });
          expect(findViewProblems(terms)).toEqual([]);
        },
      ),
      { numRuns: 150 },
    );
  });

  it('says in its text what its first line says, live to no mention', () => {
    fc.assert(
      fc.property(fc.constantFrom(...everyCharge.map(([, charge]) => charge)), outside, (plain, text) => {
        for (const message of messagesOf(extreme(plain, text, 100))) {
          expect(firstLine(message)).toBe(unescaped(message.text));
          expect(message.text).not.toMatch(/[<>]/);
        }
      }),
      { numRuns: 60 },
    );
  });

  it.each(everyCharge)('says paid only when it was proven: %s', (_, charge) => {
    const shown = [...messagesOf(charge).flatMap(lines), ...modalsOf(charge).flatMap(page)].join('\n');
    expect(/\bpaid\b/i.test(shown)).toBe(charge.state.kind === 'approved');
  });

  it.each(everyCharge.filter(([, { state }]) => state.kind === 'confirming'))(
    'never calls doubt failed: %s',
    (_, charge) => {
      const shown = [
        ...lines(chargeMessage(charge, sandbox, { key: 'k', mayBeRepeat: false, isFirst: false })),
        ...modalsOf(charge).flatMap(page),
      ];
      expect(shown.join('\n')).not.toMatch(/fail|declin/i);
    },
  );

  it.each(everyCharge)(
    'shows the e-mail masked, in its modals too, which colleagues open: %s',
    (_, charge) => {
      const withEmails: ChargeSeen = {
        ...charge,
        terms: { ...charge.terms, reason: 'asked by ada.obi@example.com', customerId: 'ada.obi@example.com' },
        bankWords: 'sent to ada.obi@example.com',
      };
      expect(JSON.stringify(messagesOf(withEmails))).not.toContain('ada.obi');
      expect(JSON.stringify(homeCharges('Yours', [withEmails], sandbox, nowMs))).not.toContain('ada.obi');
      expect(JSON.stringify(modalsOf(withEmails))).not.toContain('ada.obi');
      for (const view of modalsOf(charge)) expect(page(view).join('\n')).toContain('a***@example.com');
    },
  );

  it.each(everyCharge)('says LIVE or SANDBOX, and in a modal in its title: %s', (_, charge) => {
    for (const place of places) {
      const [word, other] = place.environment === 'live' ? ['LIVE', 'SANDBOX'] : ['SANDBOX', 'LIVE'];
      for (const view of modalsOf(charge, place)) expect(view.title.text.endsWith(` · ${word}`)).toBe(true);
      for (const message of messagesOf(charge, place)) {
        expect(lines(message).join('\n')).toContain(word);
        expect(lines(message).join('\n')).not.toContain(other);
      }
    }
  });

  it.each(everyCharge)('has at most three buttons, each with the reference: %s', (_, charge) => {
    const surfaces = [
      chargeMessage(charge, sandbox, { key: 'k', mayBeRepeat: false, isFirst: false }),
      ...modalsOf(charge),
    ];
    for (const surface of surfaces) {
      expect(buttons(surface).length).toBeLessThanOrEqual(3);
      for (const { value } of buttons(surface)) expect(value).toBe(charge.reference);
    }
  });
});
