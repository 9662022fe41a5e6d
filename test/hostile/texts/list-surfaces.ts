import { unescaped } from '../../slack/shown-text.ts';
import type { Account } from '../../../src/payments/accounts.ts';
import type { AccountEnd } from '../../../src/features/new-account/create-account.ts';
import { knownAccountFields, parseAccountFields } from '../../../src/config/payments-settings.ts';
import { ServiceFailure } from '../../../src/domain/failure.ts';
import type { ListPage, Reading, ReadingStop } from '../../../src/features/lists/service-list.ts';
import {
  accountEndMessage,
  accountMessage,
  accountModal,
  creatingMessage,
  noAccountMessage,
  refusedKeyMessage,
} from '../../../src/features/new-account/new-account.ts';
import { richText, words } from '../../../src/slack/kit/blocks.ts';
import {
  exportingMessage,
  type FileEnd,
  fileNews,
  listFile,
  listMessage,
  readingMessage,
} from '../../../src/features/lists/list-message.ts';
import { accountSubject, terminalSubject } from '../../../src/features/lists/lists.ts';
import type { SlackMessage } from '../../../src/slack/kit/message.ts';
import { fixFor } from '../../../src/slack/slack-error.ts';
import { oneLine, visible } from '../../../src/slack/kit/text.ts';
import { anAccount } from './alert-surfaces.ts';
import { messageOf, modalOf, type Outside, type Surface } from './surface.ts';
import {
  type CardsContext,
  cardsMessage,
  deletingMessage,
  deletionMessage,
  listingMessage,
  noCardsMessage,
  refusedCardsMessage,
} from '../../../src/features/cards/cards-message.ts';
import type { CardDeletion, ListedCard } from '../../../src/features/cards/card-listings.ts';

// The service's lists, messages about their CSV, and sub accounts. Outside words come from the service's records, from
// typed filters and form fields, and from Slack's answers.

const at = Date.UTC(2026, 8, 14, 13, 37);
const colleague = 'U0OWN00002';

export const listSurfaces: readonly Surface[] = [
  messageOf('a page of terminals', (outside) =>
    listMessage(terminalSubject, shownList(outside, terminalOf), anAccount(outside)),
  ),
  messageOf('a page of accounts', (outside) =>
    listMessage(accountSubject, shownList(outside, accountOf), anAccount(outside)),
  ),
  messageOf('a list that is read', ({ text }) =>
    readingMessage(terminalSubject, { filter: text(), reading: undefined, found: 0 }),
  ),
  messageOf('a CSV that is made', ({ text }) =>
    exportingMessage({ subject: accountSubject, filter: text() }, { rows: 0 }),
  ),
  messageOf('what stands beside a CSV', (outside) => {
    const { title, comment } = listFile(
      { subject: terminalSubject, filter: outside.text() },
      { text: '', rows: 2, reading: readingOf(outside) },
      { shownAccount: anAccount(outside), nowMs: at },
    );
    return { text: comment, blocks: [richText([words(unescaped(comment))], [words(title)])] };
  }),
  messageOf('an account', (outside) => accountMessage(accountOf(outside), shownIn(outside))),
  messageOf('no account', (outside) => {
    const key = { by: 'accountRef', value: outside.text() } as const;
    return outside.random.chance(0.5)
      ? noAccountMessage(key, shownIn(outside))
      : refusedKeyMessage(key, outside.text(), shownIn(outside));
  }),
  modalOf('the form of a new account', (outside) =>
    accountModal(fields(), anAccount(outside), wantedOf(outside)),
  ),
  messageOf('a new account that is made', (outside) => creatingMessage(askedOf(outside), anAccount(outside))),
  messageOf('what became of a new account', (outside) =>
    accountEndMessage(endOf(outside), askedOf(outside), shownIn(outside)),
  ),
];

function shownIn(outside: Outside) {
  return { shownAccount: anAccount(outside), nowMs: at };
}

function terminalOf({ text }: Outside) {
  return {
    terminalId: text(),
    terminalLabel: text(),
    merchantName: text(),
    serialNumber: text(),
    createdAt: text(),
  };
}

function accountOf({ random, text }: Outside): Account {
  return {
    accountId: text(),
    accountRef: text(),
    accountName: text(),
    status: random.pick(['active', text()]),
    type: text(),
    currency: text(),
    email: text(),
    phoneNumber: text(),
    address: text(),
    description: text(),
    createdAt: random.pick(['2026-01-05T09:30:00Z', text()]),
    updatedAt: text(),
    banks: [{ bankAccountNumber: text(), bankName: text(), bankAccountName: text() }],
  };
}

function shownList<Item>(outside: Outside, itemOf: (outside: Outside) => Item) {
  const { random, text } = outside;
  const items = [itemOf(outside), itemOf(outside)];
  const stop = random.chance(0.5) ? stopOf(outside) : undefined;
  // Longer filters are refused before anything is read.
  const typed = oneLine(text());
  const filter = random.chance(0.5) || typed.length > 100 ? '' : typed;
  const page: ListPage<Item> = {
    number: random.below(2),
    items,
    before: 0,
    found: items.length,
    hasNext: random.chance(0.5),
    reading: readingOf(outside),
    ...(stop && { stop }),
  };
  const news: { news?: SlackMessage } = random.chance(0.5) ? { news: newsOf(outside) } : {};
  return { filter, page, ...news };
}

function newsOf(outside: Outside): SlackMessage {
  const { random, text } = outside;
  const slackError = text();
  const end = random.pick<FileEnd>([
    { kind: 'made', upload: { kind: 'uploaded', fileId: 'F0FILE0001' }, rows: 3 },
    { kind: 'made', upload: { kind: 'failed', why: 'It failed.', fix: fixFor(slackError) }, rows: 3 },
    { kind: 'stopped', stop: stopOf(outside), rows: 3, reading: readingOf(outside) },
    { kind: 'nothing' },
  ]);
  return fileNews({ subject: terminalSubject, filter: text() }, end);
}

function readingOf({ random }: Outside): Reading {
  const end = random.pick(['more', 'last_page', 'repeated_cursor'] as const);
  return { pages: 3, items: 150, readAt: at, end };
}

function stopOf({ random, text }: Outside): ReadingStop {
  return random.pick<ReadingStop>([
    { kind: 'enough_calls' },
    { kind: 'cursor_refused' },
    { kind: 'failure', failure: new ServiceFailure('malformed', text()) },
  ]);
}

function fields() {
  return parseAccountFields(knownAccountFields.split(',')) ?? [];
}

/** As the form reads it. */
function wantedOf({ text }: Outside): Record<string, string> {
  const typed = (): string => visible(text()).trim();
  const accountRef = [...`${typed()}${'R'.repeat(20)}`].slice(0, 20).join('');
  return { accountName: typed(), accountRef, email: typed(), address: typed(), description: typed() };
}

function askedOf(outside: Outside) {
  return {
    id: outside.text(),
    wanted: wantedOf(outside),
    ...(outside.random.chance(0.5) ? { askedBy: colleague } : {}),
  };
}

function endOf(outside: Outside): AccountEnd {
  const { random, text } = outside;
  return random.pick<AccountEnd>([
    { kind: 'created', account: accountOf(outside) },
    { kind: 'not_made', failure: 'invalid_request', message: text() },
    { kind: 'doubt', lookUp: random.pick(['not_found', 'another', 'failed', 'impossible']) },
  ]);
}

// A customer's saved cards: the service's answers are outside words, and so is the typed e-mail.

const list = 'f'.repeat(32);

export const cardsSurfaces: readonly Surface[] = [
  messageOf('saved cards', (outside) =>
    cardsMessage(
      { list, email: outside.text(), cards: Array.from({ length: 12 }, () => cardOf(outside)), total: 120 },
      contextOf(outside),
    ),
  ),
  messageOf('saved cards being listed', ({ text }) => listingMessage(text())),
  messageOf('no saved cards', (outside) => noCardsMessage(outside.text(), contextOf(outside))),
  messageOf('saved cards refused', (outside) =>
    refusedCardsMessage({ email: outside.text(), message: outside.text() }, contextOf(outside)),
  ),
  messageOf('a card being deleted', (outside) => deletingMessage(cardOf(outside), { list, index: 0 })),
  messageOf('a card deleted or not', (outside) =>
    deletionMessage(deletionOf(outside), { list, index: 0 }, anAccount(outside), at),
  ),
];

function contextOf(outside: Outside): CardsContext {
  const chance = () => outside.random.chance(0.7);
  const may = { charge: chance(), changeEmail: chance(), remove: chance() };
  return { shownAccount: anAccount(outside), may, canOffer: chance(), nowMs: Date.UTC(2026, 8, 14, 13, 37) };
}

function cardOf({ random, text }: Outside): ListedCard {
  return {
    ...(random.chance(0.8) ? { fingerprint: 'e'.repeat(32) } : {}),
    face: random.chance(0.9) ? { cardType: text(), lastFour: text() } : {},
    expiry: text(),
    customerEmail: random.pick([text(), `${text()}@${text()}`]),
  };
}

function deletionOf(outside: Outside): CardDeletion {
  const { random, text } = outside;
  const told = { card: cardOf(outside) };
  return random.pick<() => CardDeletion>([
    () => ({ kind: 'deleted', ...told, records: random.pick(['forgotten', 'behind']) }),
    () => ({ kind: 'no_such_card', ...told, records: 'forgotten' }),
    () => ({ kind: 'refused', message: text(), ...told, records: 'kept' }),
    () => ({ kind: 'not_made', failure: 'invalid_request', message: text(), ...told, records: 'kept' }),
    () => ({ kind: 'unknown', cause: new ServiceFailure('timeout', text()), ...told, records: 'kept' }),
  ])();
}
