import { describe, expect, it } from 'vitest';
import type { PaymentLink } from '../../../src/domain/payment-link.ts';
import { assertBlocks, findViewProblems } from '../../../src/slack/assert-blocks.ts';
import { linkFields, linkForm, readLinkForm } from '../../../src/slack/link/link-form.ts';
import { homeLinks, lookedMessage, unknownLinkMessage } from '../../../src/slack/link/link-list.ts';
import { linkMessage, linkModal, linkNoteMessage, shownLink } from '../../../src/slack/link/link-message.ts';
import { shareModal } from '../../../src/slack/link/share-modal.ts';
import type { SlackMessage } from '../../../src/slack/message.ts';
import { firstLine, shownLines, unescaped } from '../shown-text.ts';
import { agent, everyLink, nowMs } from './seen-links.ts';

const place = { environment: 'live', account: 'Main shop' } as const;
const about = { key: 'outbox:link:1', mayBeRepeat: false, isFirst: true };
const plain = everyLink('plain');
const extremes = ['x', 'W'.repeat(2_000), '😀'.repeat(500), '\u202Eمتجر '.repeat(200), '<!here> *a* & _b_'];

function linkThat(kind: PaymentLink['state']['kind']): PaymentLink {
  const found = plain.find(({ state }) => state.kind === kind);
  if (!found) throw new Error(kind);
  return found;
}

function shown(message: SlackMessage): string {
  return shownLines(message).join('\n');
}

describe('what is shown of a payment link', () => {
  it.each(extremes)('fits Slack in every state with %.20s', (text) => {
    for (const link of everyLink(text)) {
      const messages = [
        linkMessage(link, place, { ...about, mayBeRepeat: true, isFirst: false }),
        linkNoteMessage('paid', link, place, about),
        linkNoteMessage('review', link, place, about),
        shownLink(link, place),
        lookedMessage(link, { kind: 'not_found' }, { place, nowMs }),
        unknownLinkMessage(text),
      ];
      for (const message of messages) {
        expect(() => assertBlocks('message', message.blocks)).not.toThrow();
        expect(unescaped(message.text)).toBe(firstLine(message));
      }
      expect(findViewProblems(linkModal(link, place))).toEqual([]);
      expect(findViewProblems(shareModal(link, place))).toEqual([]);
      const form = linkForm({ place, currencies: ['NGN'], channel: 'C0DESK0001', prefill: link.terms });
      expect(findViewProblems(form)).toEqual([]);
      const home = homeLinks(everyLink(text), place, nowMs);
      expect(() => assertBlocks('home', home)).not.toThrow();
    }
    expect(homeLinks([], place, nowMs)).toEqual([]);
  });

  it('calls nothing paid but what is proven', () => {
    for (const link of plain) {
      const text = firstLine(linkMessage(link, place, about));
      expect([link.state.kind, text.includes('✅')]).toEqual([link.state.kind, link.state.kind === 'paid']);
    }
    expect(shown(linkMessage(linkThat('confirming'), place, about))).toContain('Give no value');
  });

  it('sends whoever misses the card’s token to the list of saved cards, where there is one', () => {
    const paid: PaymentLink = { ...linkThat('paid'), cardSaved: { kind: 'no_token' } };
    const names = (where: Parameters<typeof linkMessage>[1]): boolean =>
      shown(linkMessage(paid, where, about)).includes('/pay cards');
    expect(names(place)).toBe(false);
    expect(names({ ...place, canListCards: true })).toBe(true);
  });

  it('keeps the two references apart in words', () => {
    const words = shown(linkMessage(linkThat('open'), place, about));
    expect(words).toMatch(/Our reference.*for look-ups and events/);
    expect(words).toMatch(/The service’s order id.*for the payments service/);
  });

  it('pings nobody by its first post, and names who asked in the edit', () => {
    const first = JSON.stringify(linkMessage(linkThat('open'), place, about));
    expect(first).not.toContain(agent);
    expect(JSON.stringify(linkMessage(linkThat('open'), place, { ...about, isFirst: false }))).toContain(
      agent,
    );
    expect(JSON.stringify(linkNoteMessage('paid', linkThat('paid'), place, about))).toContain(agent);
  });

  it('loses its link and its buttons once it is paid', () => {
    const paid = JSON.stringify(linkMessage(linkThat('paid'), place, about));
    expect(paid).not.toMatch(/https:|"actions"/);
    expect(JSON.stringify(linkMessage(linkThat('open'), place, about))).toContain(
      'https://pay.example/plain',
    );
  });
});

describe('readLinkForm', () => {
  const filled = {
    [linkFields.amount]: '150',
    [linkFields.currency]: 'NGN',
    [linkFields.email]: 'a@b.example',
  };

  it('saves the card unless told otherwise', () => {
    expect(readLinkForm(filled)).toMatchObject({ kind: 'read', terms: { savesCard: true } });
    expect(readLinkForm({ ...filled, [linkFields.saves]: 'once' })).toMatchObject({
      terms: { savesCard: false },
    });
  });

  it('tells every problem at its own field, and repeats nothing that was typed', () => {
    const wrong = {
      [linkFields.amount]: 'much',
      [linkFields.currency]: 'naira',
      [linkFields.email]: 'nobody',
      [linkFields.customerId]: 'c'.repeat(101),
      [linkFields.reference]: 'r'.repeat(51),
    };
    const read = readLinkForm(wrong);
    if (read.kind !== 'errors') throw new Error('it is read');
    expect(new Set(Object.keys(read.errors))).toEqual(new Set(Object.keys(wrong)));
    expect(JSON.stringify(read.errors)).not.toMatch(/much|naira|nobody|cccc|rrrr/);
  });
});
