import { describe, expect, it } from 'vitest';
import { ServiceFailure } from '../../../src/domain/failure.ts';
import { assertBlocks } from '../../../src/slack/assert-blocks.ts';
import { cardsValue, readCardsValue } from '../../../src/slack/cards/cards-actions.ts';
import {
  cardsMessage,
  cardsPerMessage,
  goneCardsMessage,
  listingMessage,
  noCardsMessage,
  notSetUpMessage,
  refusedCardsMessage,
  type CardShown,
  type CardsContext,
  type CardsMay,
} from '../../../src/slack/cards/cards-message.ts';
import {
  deletingMessage,
  deletionMessage,
  type DeletionShown,
} from '../../../src/slack/cards/deletion-message.ts';
import type { SlackMessage } from '../../../src/slack/message.ts';
import { firstLine, shownLines, unescaped } from '../shown-text.ts';

const live = { environment: 'live', account: 'Main shop' } as const;
const sandbox = { ...live, environment: 'sandbox' } as const;
const everything: CardsMay = { charge: true, changeEmail: true, remove: true, link: true };
const context: CardsContext = { place: live, may: everything, nowMs: 1_700_000_000_000 };
const list = 'a'.repeat(32);
const email = 'ada.obi@example.com';

const card: CardShown = {
  fingerprint: '0123456789abcdef0123456789abcdef',
  face: { cardType: 'Visa', lastFour: '4242' },
  expiry: '12/29',
  customerEmail: email,
  isKnown: true,
};

function many(count: number, of: CardShown = card): CardShown[] {
  return Array.from({ length: count }, () => of);
}

/** As it is read, whole and fit for Slack. */
function read(message: SlackMessage): string {
  assertBlocks('message', message.blocks);
  expect(unescaped(message.text)).toBe(firstLine(message));
  return shownLines(message).join('\n');
}

function shown(cards: readonly CardShown[], more: Partial<CardsContext> = {}, from = 0): string {
  return read(cardsMessage({ list, email, cards, total: cards.length }, from, { ...context, ...more }));
}

describe('the list of a customer’s saved cards', () => {
  it('says of each its face, expiry, masked e-mail and fingerprint, with three ways on', () => {
    const says = shown([card, { ...card, face: { lastFour: '1127' }, isKnown: false }]);
    expect(says).toContain('💳 2 saved cards · a***@example.com\n');
    expect(says).toContain('1. Visa ·· 4242 · expiry 12/29 · a***@example.com');
    expect(says).toContain('2. Card ·· 1127');
    expect(says).toContain('Token fingerprint 0123456789ab · the bot knows it');
    expect(says).toContain('Token fingerprint 0123456789ab · new to the bot');
    expect(says.match(/\[Charge this card\] \[Change its e-mail\] \[Delete …\]/g)).toHaveLength(2);
    expect(says).not.toContain('ada.obi');
  });

  it('offers what the person may do, and nothing else', () => {
    const none = { charge: false, changeEmail: false, remove: false, link: false };
    expect(shown([card], { may: none })).not.toContain('[');
    expect(shown([card], { may: { ...none, remove: true } })).toContain('\n[Delete …]\n');
    const untold = { face: card.face, customerEmail: email };
    expect(shown([untold])).toContain('nothing can be done with it here');
    expect(shown([untold])).not.toContain('[');
  });

  it('opens no form where the bot remembers no cards, and says why', () => {
    const { isKnown: _, ...unkept } = card;
    const says = shown([unkept]);
    expect(says).toContain('CARD_LEDGER is off');
    expect(says).toContain('\n[Delete …]\n');
  });

  it('names card, e-mail and what it means before a card is deleted', () => {
    for (const [place, meaning] of [
      [live, 'It cannot be charged any more, and nobody can undo it'],
      [sandbox, 'no real card is deleted'],
    ] as const) {
      const message = cardsMessage({ list, email, cards: [card], total: 1 }, 0, { ...context, place });
      const dialog = JSON.stringify(message.blocks);
      expect(dialog).toContain('"confirm":{"title"');
      expect(dialog).toContain('Visa ·· 4242 of a***@example.com');
      expect(dialog).toContain(meaning);
    }
  });

  it('says in the sandbox, and there alone, that all of it is a sample', () => {
    expect(shown([card], { place: sandbox })).toContain('return fixed sample responses');
    expect(shown([card])).not.toContain('sample');
  });

  it('shows as many as fit, says how many more there are, and turns the page', () => {
    const cards = many(2 * cardsPerMessage + 1);
    const first = shown(cards);
    expect(first).toContain(`💳 ${cards.length} saved cards · a***@example.com · shown 1–${cardsPerMessage}`);
    expect(first).toContain(`${cardsPerMessage + 1} more: press Next.`);
    expect(first).toContain('\n[Next]\n');
    const middle = shown(cards, {}, cardsPerMessage);
    expect(middle).toContain('1 more: press Next.');
    expect(middle).toContain(`\n${cardsPerMessage + 1}. Visa`);
    expect(middle).toContain('\n[Back] [Next]\n');
    const last = shown(cards, {}, 2 * cardsPerMessage);
    expect(last).not.toContain('more');
    expect(last).toContain('\n[Back]\n');
    const cutOff = cardsMessage({ list, email, cards, total: 300 }, 2 * cardsPerMessage, context);
    expect(read(cutOff)).toContain(`${300 - cards.length} beyond these`);
    const full = cardsMessage({ list, email, cards, total: cards.length, mayHaveMore: true }, 0, context);
    expect(read(full)).toContain('There may be more');
  });

  it('says what to do next when there is none, naming only verbs that there are', () => {
    expect(read(cardsMessage({ list, email, cards: [], total: 0 }, 0, context))).toContain('is empty');
    const says = read(noCardsMessage({ email, why: 'not_found' }, context));
    expect(says).toContain('💳 No saved cards · a***@example.com');
    expect(says).toContain('/pay link');
    const without = { ...context, may: { ...everything, link: false } };
    expect(read(noCardsMessage({ email, why: 'not_found' }, without))).not.toContain('/pay link');
  });

  it('names the settings that are missing', () => {
    const says = read(notSetUpMessage(['SAVED_CARDS_QUERY', 'SAVED_CARDS_HEADERS'], live));
    expect(says).toContain('SAVED_CARDS_QUERY\nSAVED_CARDS_HEADERS');
  });

  it('reads back what its buttons carry, and nothing that is not theirs', () => {
    expect(readCardsValue(cardsValue({ list, index: 7 }))).toEqual({ list, index: 7 });
    for (const value of ['', 'x', 'null', '[]', '{"list":1,"index":0}', '{"list":"a","index":-1}']) {
      expect(readCardsValue(value)).toBeUndefined();
    }
  });
});

function told(deletion: Partial<DeletionShown> & Pick<DeletionShown, 'kind'>, place = context.place): string {
  const whole = { card, records: 'kept', open: [], ...deletion } as DeletionShown;
  return read(deletionMessage(whole, { list, index: 0 }, { ...context, place }));
}

describe('what became of a deletion', () => {
  it('is what the service answered, and never more', () => {
    expect(told({ kind: 'deleted', records: 'forgotten' })).toMatch(
      /^✓ Card deleted · Visa ·· 4242 · a\*\*\*@example\.com\n/,
    );
    expect(told({ kind: 'no_such_card', records: 'forgotten' })).toMatch(/^✓ Already gone/);
    const refused = told({ kind: 'refused', message: 'not today' });
    expect(refused).toMatch(/^✗ Card not deleted/);
    expect(refused).toContain('| not today');
    const cause = new ServiceFailure('timeout', 'late');
    const doubt = told({ kind: 'unknown', cause });
    expect(doubt).toMatch(/^❔ In doubt: the card may have been deleted/);
    expect(doubt).toContain('[List again]');
    expect(doubt).not.toContain('forgotten');
    const forbidden = new ServiceFailure('forbidden', 'no');
    expect(told({ kind: 'not_made', failure: 'forbidden', cause: forbidden })).toContain('does not allow');
  });

  it('names what is open with the card, and what the bot forgot or could not', () => {
    const open = ['PAY-1', 'PAY-2', 'PAY-3', 'PAY-4', 'PAY-5', 'PAY-6', 'PAY-7'];
    const says = told({ kind: 'deleted', records: 'behind', open });
    expect(says).toContain('Still open with this card');
    expect(says).toContain('/pay lookup PAY-5');
    expect(says).toContain('… and 2 more: /pay doubt');
    expect(says).toContain('may still offer the card');
    expect(told({ kind: 'deleted', records: 'forgotten' })).toContain('has forgotten its token');
  });

  it('is a sample in the sandbox', () => {
    expect(told({ kind: 'deleted', records: 'forgotten' }, sandbox)).toContain('fixed sample responses');
  });
});

describe('every message of saved cards', () => {
  it.each([
    ['the longest names', 'W'.repeat(3_000)],
    ['4-byte characters', '😀'.repeat(500)],
    ['right-to-left text', '\u202Eمتجر إيكيجا '.repeat(60)],
    ['joined characters', '👨‍👩‍👧‍👦'.repeat(90)],
    ['markup and a mention', '<!channel> *bold* <https://x.example|y> &amp;'],
    ['a card number', '4111 1111 1111 1111'],
    ['nothing', ''],
  ])('stands with %s wherever outside words are', (_what, text) => {
    const odd: CardShown = {
      ...card,
      face: { cardType: text, lastFour: text },
      expiry: text,
      customerEmail: text,
    };
    const open = ['PAY-1'];
    const deletion: DeletionShown = { kind: 'refused', message: text, card: odd, records: 'kept', open };
    const messages = [
      cardsMessage({ list, email: text, cards: many(40, odd), total: 400 }, 8, {
        ...context,
        place: sandbox,
      }),
      noCardsMessage({ email: text, why: 'not_found' }, context),
      refusedCardsMessage({ email: text, message: text }, context),
      listingMessage(text),
      deletingMessage(odd, { list, index: 0 }),
      deletionMessage(deletion, { list, index: 0 }, context),
      goneCardsMessage(),
    ];
    for (const message of messages) {
      expect(read(message)).not.toMatch(/\u202E|4111 1111 1111/);
    }
  });
});
