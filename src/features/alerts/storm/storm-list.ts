// What a storm’s buttons show: its list in pages, the same as CSV, and what the one person who pressed is told.

import { type CsvColumn, csvHead, csvRows } from '../../../csv.ts';
import type { AlertCard } from '../../../domain/alert.ts';
import { formatMoney, wireFromMinor } from '../../../domain/money.ts';
import type { PaymentEventKind } from '../../../domain/payment-event.ts';
import type { AlertCards } from '../alert-cards.ts';
import { gathered, stormActions } from './storm-message.ts';
import type { StormRow, StormSeen } from './storm.ts';
import type { Storms } from './storms.ts';
import type { Press, Pressed } from '../../../slack/command.ts';
import {
  bold,
  context,
  modal,
  moment,
  person,
  plainText,
  richText,
  words,
} from '../../../slack/kit/blocks.ts';
import type { Modal, SlackMessage } from '../../../slack/kit/message.ts';
import { noteMessage } from '../../../slack/kit/note.ts';
import { outsideText } from '../../../slack/kit/text.ts';
import type { UploadFile } from '../../../slack/kit/upload-file.ts';
import { customerWord, placeWords, referenceWord, word } from '../../../slack/words/evidence.ts';

/** One press opens it; nothing is submitted. */
const listModalId = 'storm_list';
const longestReason = 120;

/** As many as one window takes; the CSV has all of them. */
const mostRows = 90;

export function stormListModal(storm: StormSeen, rows: readonly StormRow[]): Modal {
  const { gathers, count, environment, account } = storm;
  const more = count > rows.length ? `, the first ${rows.length}; the CSV has all` : '';
  return modal({
    callbackId: listModalId,
    title: gathers === 'payment_failed' ? 'Storm of failures' : 'Many payments',
    blocks: [
      richText([bold(`${gathered(gathers, count)}${more}`)]),
      ...rows.map((row, index) => richText(...rowLines(row, stateOf(gathers, row).words, index + 1))),
      context(
        plainText('Amounts and reasons as the events say.'),
        plainText(placeWords(environment, account)),
      ),
    ],
  });
}

function rowLines(row: StormRow, state: string, number: number) {
  const { customerEmail, reason = '' } = row.event;
  const rest = [amountOf(row), customerWord(customerEmail), outsideText(reason, longestReason)];
  return [
    [bold(`${number}. ${referenceOf(row)}`), words(` · ${state} · `), moment(row.receivedAtMs)],
    [words(rest.filter((part) => part !== '').join(' · '))],
  ];
}

function referenceOf({ event: { orderReference } }: StormRow): string {
  return orderReference === undefined ? 'no reference' : referenceWord(orderReference) || '–';
}

function amountOf({ event: { amountMinor, currency } }: StormRow): string {
  if (amountMinor === undefined) return 'amount unknown';
  return word(formatMoney({ minor: amountMinor, currency: currency ?? '' })) ?? '';
}

/** A failure’s is its card’s, which people move; a payment’s, whether a look-up proved it. */
function stateOf(
  gathers: PaymentEventKind,
  { card, isConfirmed }: StormRow,
): { words: string; cell: string } {
  if (gathers === 'payment_failed') return { words: stateWords(card), cell: card.kind };
  return isConfirmed
    ? { words: '✅ Proven by look-up', cell: 'confirmed' }
    : { words: 'By its event alone', cell: 'event_alone' };
}

function stateWords(card: AlertCard): string {
  switch (card.kind) {
    case 'open':
      return 'Open';
    case 'acknowledged':
      return card.snoozedUntil === undefined ? '👀 Acknowledged' : '💤 Snoozed';
    case 'recovered':
      return '✅ Resolved';
    case 'closed':
      return '☑️ Closed';
  }
}

const csvColumns = (gathers: PaymentEventKind): readonly CsvColumn<StormRow>[] => [
  {
    head: 'reference',
    cell: ({ event: { orderReference } }) => orderReference && referenceWord(orderReference),
  },
  { head: 'received_at', cell: ({ receivedAtMs }) => new Date(receivedAtMs).toISOString() },
  {
    head: 'amount',
    cell: ({ event: { amountMinor: minor } }) => (minor === undefined ? '' : wireFromMinor(minor)),
  },
  { head: 'currency', cell: ({ event }) => word(event.currency) },
  { head: 'reason', cell: ({ event }) => outsideText(event.reason ?? '', longestReason) },
  { head: 'customer', cell: ({ event }) => customerWord(event.customerEmail) },
  { head: 'state', cell: (row) => stateOf(gathers, row).cell },
  {
    head: 'recovered_by',
    cell: ({ card }) => (card.kind === 'recovered' ? referenceWord(card.payment.reference) : ''),
  },
];

/** All of it, masked as in the list; times in UTC. */
function stormCsv(gathers: PaymentEventKind, rows: readonly StormRow[]): string {
  const columns = csvColumns(gathers);
  return csvHead(columns) + csvRows(columns, rows);
}

/** "storm-2026-11-21-1002.csv". */
function stormFileName({ gathers, summary }: StormSeen): string {
  const name = gathers === 'payment_failed' ? 'storm' : 'payments';
  return `${name}-${new Date(summary.firstMs).toISOString().slice(0, 16).replace('T', '-').replace(':', '')}.csv`;
}

/** The second of two who pressed *Acknowledge all* learns who was first. */
function stormHadMessage(had: { by: string; at: number; isOver: boolean }, askedBy: string): SlackMessage {
  const isSelf = had.by === askedBy;
  const state = isSelf
    ? '👀 You already acknowledged this storm'
    : '👀 Somebody else acknowledged this storm first';
  const who = isSelf ? words('You') : person(had.by);
  const what = had.isOver ? ' acknowledged all of it, ' : ' acknowledged all of it, new ones too, ';
  return noteMessage({ state, body: [[who, words(what), moment(had.at), words('.')]] });
}

function unknownStormMessage(): SlackMessage {
  const next = words('You can still look up each reference.');
  return noteMessage({ state: 'This storm is too old', body: [[next]] });
}

/** What became of the file that was asked for. */
export function csvMessage(
  outcome: { kind: 'uploaded' } | { kind: 'failed'; why: string; fix: string },
): SlackMessage {
  if (outcome.kind === 'uploaded') return noteMessage({ state: 'The CSV is in the digest’s thread' });
  const why = [words(`${outcome.why} `), bold('Next: '), words(outcome.fix)];
  return noteMessage({ state: '⚠️ The CSV couldn’t be put into the thread', body: [why] });
}

/** What the digests of storms need of the operations and of Slack. */
export type StormActions = {
  storms: Pick<Storms, 'see' | 'place' | 'items' | 'take'>;
  alertCards: Pick<AlertCards, 'read'>;
  uploadFile: UploadFile;
};

const cardsAtOnce = 50;

/** What acts on the digest of a storm. It needs a verb to belong to. */
export function stormPresses(deps: StormActions): Press[] {
  return [
    { actionId: stormActions.acknowledgeAll, press: (pressed) => acknowledgeAll(deps, pressed) },
    { actionId: stormActions.showList, opensForm: true, press: (pressed) => showList(deps, pressed) },
    { actionId: stormActions.csv, press: (pressed) => csv(deps, pressed) },
  ];
}

/** The digest shows it; only whoever was not first is told anything. */
async function acknowledgeAll({ storms }: StormActions, { value, caller, reply }: Pressed): Promise<void> {
  const result = await storms.take(value, caller.userId);
  if (result.kind === 'had') await reply(stormHadMessage(result, caller.userId));
  if (result.kind === 'unknown_storm') await reply(unknownStormMessage());
}

async function showList(deps: StormActions, { value, openModal, reply }: Pressed): Promise<void> {
  const seen = await deps.storms.see(value);
  if (seen) await openModal(stormListModal(seen, await rows(deps, value, mostRows)));
  else await reply(unknownStormMessage());
}

/** With their cards as they are now. */
async function rows(
  { storms, alertCards }: StormActions,
  ...which: Parameters<Storms['items']>
): Promise<StormRow[]> {
  const items = await storms.items(...which);
  const found: StormRow[] = [];
  for (let from = 0; from < items.length; from += cardsAtOnce) {
    const some = items.slice(from, from + cardsAtOnce);
    // oxlint-disable-next-line no-await-in-loop -- some at a time, so that the store answers others in between
    const cards = await Promise.all(some.map(({ event }) => alertCards.read(event.key)));
    found.push(
      ...some.map((item, index) => ({ ...item, card: cards[index]?.card ?? ({ kind: 'open' } as const) })),
    );
  }
  return found;
}

/** Everything that is listed by now, as a file below the digest. */
async function csv(deps: StormActions, { value, reply }: Pressed): Promise<void> {
  const { storms, uploadFile } = deps;
  const [seen, place] = await Promise.all([storms.see(value), storms.place(value)]);
  if (!seen || !place) return await reply(unknownStormMessage());
  const all = await rows(deps, value);
  const many = gathered(seen.gathers, all.length);
  const outcome = await uploadFile(
    { channel: place.channel, threadTs: place.ts },
    {
      name: stormFileName(seen),
      title: `${many} of one digest`,
      text: stormCsv(seen.gathers, all),
      comment: `${many} of this digest, as they stand now`,
    },
  );
  await reply(csvMessage(outcome));
}
