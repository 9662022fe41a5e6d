// A storm's buttons: acknowledge, resolve, its list in pages and as CSV, and the answers to the person who pressed.

import type { Account } from '../../../account.ts';
import { type CsvColumn, csvFileName, csvHead, csvRows } from '../../../csv.ts';
import type { AlertState, EventAccount } from '../../../domain/alert.ts';
import { formatMoney, wireFromMinor } from '../../../domain/money.ts';
import { findMessageRecord, messageKey } from '../../../messages/message-record.ts';
import type { AlertCases } from '../alert-cases.ts';
import { longestTypedReason, readReason, reasonInput } from '../alert-buttons.ts';
import { longestReason } from '../tally.ts';
import { gathered, stormActions } from './storm-message.ts';
import type { Storm, StormItem, Storms } from './storm.ts';
import type { ModalDefinition, Press, Pressed, Submission, ViewAnswer } from '../../../slack/command.ts';
import type { Button } from '@slack/types';
import {
  actions,
  bold,
  button,
  context,
  modal,
  moment,
  person,
  plainText,
  rich,
  richText,
  words,
} from '../../../slack/kit/blocks.ts';
import type { Modal, SlackMessage } from '../../../slack/kit/message.ts';
import { messageModal } from '../../../slack/kit/modals.ts';
import { noteMessage } from '../../../slack/kit/note.ts';
import { outsideText } from '../../../slack/kit/text.ts';
import { accountFoot, accountWords } from '../../../slack/words/account-foot.ts';
import { customerWord, referenceWord, word } from '../../../slack/words/payment-words.ts';

type StormRow = StormItem & { state: AlertState };

const listModalId = 'storm_list';

const pageSize = 10;

/** One page of the list; `from`: the index of its first row. */
export function stormListModal(
  { id, gathers, counted: { count } }: Storm,
  { rows, from }: { rows: readonly StormRow[]; from: number },
  { environment, account }: EventAccount,
): Modal {
  const of = count > rows.length ? ` · ${from + 1} to ${from + rows.length}` : '';
  const pageButton = (actionId: string, text: string, first: number): Button =>
    button({ actionId, text, value: `${id} ${first}` });
  const pageButtons = [
    ...(from > 0 ? [pageButton(stormActions.back, 'Back', Math.max(0, from - pageSize))] : []),
    ...(from + rows.length < count && rows.length > 0
      ? [pageButton(stormActions.next, 'Next', from + pageSize)]
      : []),
  ];
  return modal({
    callbackId: listModalId,
    title: gathers === 'payment_failed' ? 'Storm of failures' : 'Many payments',
    blocks: [
      richText([bold(`${gathered(gathers, count)}${of}`)]),
      ...rows.map((row, index) => richText(...rowLines(row, stateOf(row).words, from + index + 1))),
      ...(pageButtons.length === 0 ? [] : [actions(...pageButtons)]),
      context(
        plainText('Amounts and reasons as the events say.'),
        plainText(accountWords(environment, account)),
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

/** A failure's state is its alert's; a payment's, whether a look-up proved it. */
function stateOf({ event, state, isConfirmed }: StormRow): { words: string; cell: string } {
  if (event.kind === 'payment_failed') {
    const isSnoozed = state.kind === 'acknowledged' && state.snoozedUntil !== undefined;
    return { words: isSnoozed ? '💤 Snoozed' : stateWords[state.kind], cell: state.kind };
  }
  return isConfirmed
    ? { words: '✅ Proven by look-up', cell: 'confirmed' }
    : { words: 'By its event alone', cell: 'event_alone' };
}

const stateWords: Record<AlertState['kind'], string> = {
  open: 'Open',
  acknowledged: '👀 Acknowledged',
  recovered: '✅ Resolved',
  closed: '☑️ Resolved',
};

/** Texts are masked as in the list; times are UTC. */
const csvColumns: readonly CsvColumn<StormRow>[] = [
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
  { head: 'state', cell: (row) => stateOf(row).cell },
  {
    head: 'recovered_by',
    cell: ({ state }) => (state.kind === 'recovered' ? referenceWord(state.payment.reference) : ''),
  },
];

/** For the second person who pressed *Acknowledge all*. */
function alreadyAcknowledgedMessage(
  { by, at, isOver }: { by: string; at: number; isOver: boolean },
  askedBy: string,
): SlackMessage {
  const isSelf = by === askedBy;
  const state = isSelf
    ? '👀 You already acknowledged this storm'
    : '👀 Somebody else acknowledged this storm first';
  const who = isSelf ? words('You') : person(by);
  const more = isOver ? ', ' : ', new ones too, ';
  return noteMessage({
    state,
    body: [[who, words(` acknowledged all of it${more}`), moment(at), words('.')]],
  });
}

/** For the second person who resolved all, or if payments did. */
function alreadyResolvedMessage({ closed }: Storm, askedBy: string): SlackMessage {
  const who = closed?.by === askedBy ? words('You') : person(closed?.by ?? '');
  const line = closed
    ? rich`${who} resolved all of it ${moment(closed.at)}: “${outsideText(closed.reason, longestTypedReason)}”.`
    : [words('Payments resolved all of it.')];
  return noteMessage({ state: '☑️ Already resolved', body: [line] });
}

function unknownStormMessage(): SlackMessage {
  const next = words('You can still look up each reference.');
  return noteMessage({ state: 'This storm is too old', body: [[next]] });
}

export function csvMessage(
  outcome: { kind: 'uploaded' } | { kind: 'failed'; why: string; fix: string },
): SlackMessage {
  if (outcome.kind === 'uploaded') return noteMessage({ state: 'The CSV is in the digest’s thread' });
  const why = [words(`${outcome.why} `), bold('Next: '), words(outcome.fix)];
  return noteMessage({ state: '⚠️ The CSV couldn’t be put into the thread', body: [why] });
}

const readsAtOnce = 50;

const resolveForm = { callbackId: 'storm_resolve', field: 'storm_resolve_reason' } as const;

export function stormButtons(
  { store, slack, shownAccount }: Account,
  storms: Storms,
  alerts: Pick<AlertCases, 'read'>,
): { presses: Press[]; modals: ModalDefinition[] } {
  /** A page, or all, with the alerts' present states. */
  async function rows(id: string, page?: { from: number }): Promise<StormRow[]> {
    const all = await storms.items(id, page && page.from + pageSize);
    const items = all.slice(page?.from ?? 0);
    const found: StormRow[] = [];
    for (let from = 0; from < items.length; from += readsAtOnce) {
      const some = items.slice(from, from + readsAtOnce).map(async (item) => {
        const { state } = await alerts.read(item.event.key);
        return { ...item, state };
      });
      found.push(...(await Promise.all(some)));
    }
    return found;
  }

  /** The digest shows the result; only a second person gets an answer. */
  async function acknowledgeAll({ value, caller, reply }: Pressed): Promise<void> {
    const result = await storms.acknowledge(value, caller.userId);
    if (!result) await reply(unknownStormMessage());
    else if (!result.isFirst) await reply(alreadyAcknowledgedMessage(result, caller.userId));
  }

  async function askReason({ value, caller, openModal, reply }: Pressed): Promise<void> {
    const storm = await storms.find(value);
    if (!storm) return await reply(unknownStormMessage());
    const left = storm.counted.count - storm.counted.recovered;
    if (storm.closed || left === 0) return await reply(alreadyResolvedMessage(storm, caller.userId));
    const what = `This resolves the ${gathered(storm.gathers, left)} that no payment has resolved.`;
    await openModal(
      modal({
        callbackId: resolveForm.callbackId,
        title: 'Resolve storm',
        submit: 'Resolve all',
        privateMetadata: value,
        blocks: [
          richText([words(`${what} No money moves; their payment links can still be paid.`)]),
          reasonInput(resolveForm.field, undefined, 'The bank works again; customers retry'),
          accountFoot(shownAccount),
        ],
      }),
    );
  }

  async function resolveAll({ values, caller, privateMetadata }: Submission): Promise<ViewAnswer> {
    const { field } = resolveForm;
    const read = readReason(values[field] ?? '', caller.userId);
    if (!read.ok) return { kind: 'errors', errors: { [field]: read.problem } };
    const result = await storms.close(privateMetadata, read.value.by, read.value.reason);
    if (result?.isMoved) return { kind: 'close' };
    const message = result ? alreadyResolvedMessage(result.state, caller.userId) : unknownStormMessage();
    return { kind: 'update', modal: messageModal('Not changed', message) };
  }

  async function showList({ value, openModal, reply }: Pressed): Promise<void> {
    const storm = await storms.find(value);
    if (storm) await openModal(await pageOf(storm, 0));
    else await reply(unknownStormMessage());
  }

  async function turnPage({ value, updateModal }: Pressed): Promise<void> {
    const [, id = '', first = '0'] = /^(.*) (\d+)$/su.exec(value) ?? [];
    const storm = await storms.find(id);
    await updateModal(
      storm ? await pageOf(storm, Number(first)) : messageModal('Storm of failures', unknownStormMessage()),
    );
  }

  async function pageOf(storm: Storm, from: number): Promise<Modal> {
    return stormListModal(storm, { rows: await rows(storm.id, { from }), from }, shownAccount);
  }

  /** Posts the whole list as a file in the digest's thread. */
  async function csv({ value, reply }: Pressed): Promise<void> {
    const [storm, digest] = await Promise.all([
      storms.find(value),
      findMessageRecord(store, messageKey('digest', value)),
    ]);
    if (!storm || !digest?.posted) return await reply(unknownStormMessage());
    const all = await rows(value);
    const many = gathered(storm.gathers, all.length);
    const outcome = await slack.uploadFile(
      { channel: digest.posted.channel, threadTs: digest.posted.ts },
      {
        name: csvFileName(storm.gathers === 'payment_failed' ? 'storm' : 'payments', storm.counted.firstMs),
        title: `${many} of one digest`,
        text: csvHead(csvColumns) + csvRows(csvColumns, all),
        comment: `${many} of this digest, as they stand now`,
      },
    );
    await reply(csvMessage(outcome));
  }

  return {
    presses: [
      { actionId: stormActions.acknowledgeAll, press: acknowledgeAll },
      { actionId: stormActions.resolveAll, opensForm: true, press: askReason },
      { actionId: stormActions.showList, opensForm: true, press: showList },
      { actionId: stormActions.back, press: turnPage },
      { actionId: stormActions.next, press: turnPage },
      { actionId: stormActions.csv, press: csv },
    ],
    modals: [
      {
        callbackId: resolveForm.callbackId,
        effect: 'none',
        ifNoAnswer: 'If none comes, look at the digest: it shows what was done. Nothing was charged.',
        submit: resolveAll,
      },
    ],
  };
}
