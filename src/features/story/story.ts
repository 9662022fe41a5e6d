import type { ActionsBlock } from '@slack/types';
import type { Account, Chapter, Feature } from '../../account.ts';
import { cleanAuditEntry } from '../../audit/audit-chain.ts';
import type { AuditEntry } from '../../records/shapes.ts';
import { csvFileName } from '../../csv.ts';
import type { ChargeSeen } from '../../domain/charge.ts';
import type { PaymentEvent, PaymentEventKind } from '../../domain/payment-event.ts';
import { findMessageRecord, messageName } from '../../messages/message-record.ts';
import { parseOrderReference, type OrderReference } from '../../domain/order-reference.ts';
import { parsed, problem, type Parsed, counted } from '../../domain/wording.ts';
import { withoutUndefined } from '../../domain/json.ts';
import { entriesCsv } from '../../audit/export-audit.ts';
import { defineCommand, wholeValue, type Pressed } from '../../slack/command.ts';
import {
  actions,
  button,
  context,
  moment,
  plainText,
  rich,
  richText,
  words,
  type Run,
} from '../../slack/kit/blocks.ts';
import type { SlackMessage } from '../../slack/kit/message.ts';
import { noteMessage } from '../../slack/kit/note.ts';
import { mrkdwnText } from '../../slack/kit/text.ts';
import type { UploadOutcome } from '../../slack/kit/upload-file.ts';
import { amountWord, chargeHead } from '../../slack/words/charge-facts.ts';
import { withOtherAccounts, checkedFoot, type ShownAccount } from '../../slack/words/account-foot.ts';
import {
  customerWord,
  lookUpWords,
  referenceWord,
  storyActionId,
  typedLookUpButton,
  typedReference,
} from '../../slack/words/payment-words.ts';
import { actorOf, isShown, sentenceOf, stateWord } from './story-words.ts';

/** The buttons of a story. Values are the words after the verb; for the file only the reference. */
const storyActions = { earlier: 'story_earlier', later: 'story_later', file: 'story_file' } as const;

/** Everything the bot knows and did about one reference, oldest first. */
type Story = {
  reference: string;
  charge?: ChargeSeen;
  link?: Chapter['link'];
  /** The newest event. Shown only for an order without a charge or link of the bot. */
  event?: Pick<PaymentEvent, 'kind' | 'amountMinor' | 'currency' | 'customerEmail'>;
  entries: readonly AuditEntry[];
};

/** Each feature's records of a reference. */
type Chapters = (reference: string) => Promise<readonly (Chapter | undefined)[]>;

type Question = { reference: OrderReference; page: number };

/** `/pay story <reference>`: everything the bot knows and did about one reference, in order, with who did it. */
export function createStory(account: Account, chapters: Chapters): Feature {
  const { shownAccount, now } = account;
  async function answer({ reference, page }: Question): Promise<SlackMessage> {
    const story = await readStory(account, chapters, reference);
    return story
      ? storyMessage(story, page, { shownAccount, nowMs: now() })
      : withOtherAccounts(noStoryMessage(reference), shownAccount);
  }
  const verb = defineCommand<Question>({
    verb: 'story',
    usage: '<reference>',
    summary: 'What happened',
    examples: ['story pay-mfrggzdfmztwq2lknnwg23tpob', 'story INV-2041', 'story "ORDER 17 B" 2'],
    permission: 'story',
    effect: 'none',
    buttons: [storyActions.earlier, storyActions.later].map((actionId) => ({ actionId, words: lookUpWords })),
    presses: [
      {
        actionId: storyActionId,
        about: wholeValue,
        async press({ value, reply }) {
          const reference = parseOrderReference(value);
          if (reference.ok) await reply(await answer({ reference: reference.value, page: 1 }));
        },
      },
      {
        actionId: storyActions.file,
        about: wholeValue,
        press: (pressed) => sendFile(account, chapters, pressed),
      },
    ],
    parse: parseQuestion,
    reference: ({ reference }) => reference,
    run: answer,
  });
  return { verbs: [verb] };
}

function parseQuestion([first = '', second, ...rest]: readonly string[]): Parsed<Question> {
  const reference = parseOrderReference(first);
  if (!reference.ok) return reference;
  if (second === undefined) return parsed({ reference: reference.value, page: 1 });
  if (rest.length > 0 || !/^[1-9]\d{0,5}$/.test(second)) {
    return problem(
      'Give one reference, and the number of a page if you like. A reference with spaces goes in quotes: "ORDER 17 B".',
    );
  }
  return parsed({ reference: reference.value, page: Number(second) });
}

/** Sends the story as a file to the requester alone: others in the channel may not have the permission. */
async function sendFile(
  account: Account,
  chapters: Chapters,
  { value, caller, reply }: Pressed,
): Promise<void> {
  const reference = parseOrderReference(value);
  const story = reference.ok ? await readStory(account, chapters, reference.value) : undefined;
  if (!story) return await reply(noStoryMessage(value));
  const placed = await account.slack.uploadFile(
    { channel: caller.userId },
    {
      name: csvFileName('story', account.now()),
      title: 'Story',
      of: referenceWord(story.reference),
      text: entriesCsv(story.entries),
      comment: mrkdwnText(
        `Story of ${story.reference}: ${counted(story.entries.length, 'entry', 'entries')}`,
        500,
      ),
    },
  );
  await reply(storyFileMessage(story.reference, placed));
}

/**
 * The audit's entries about the reference, and from the records what has no entry yet, each once: steps of an open
 * charge, events, and posted messages. Undefined: the bot knows nothing of the reference. Throws StoreUnavailable.
 */
async function readStory(
  account: Account,
  chapters: Chapters,
  reference: OrderReference,
): Promise<Story | undefined> {
  const [audited, found] = await Promise.all([account.audit.ofReference(reference), chapters(reference)]);
  const known = found.filter((chapter) => chapter !== undefined);
  const [charge] = known.flatMap((chapter) => chapter.charge ?? []);
  const [link] = known.flatMap((chapter) => chapter.link ?? []);
  const received = known.flatMap(({ events = [] }) => events);
  const posts = known.flatMap((chapter) => chapter.posts);
  const missing = [
    ...known.flatMap(({ entries = [] }) => entries),
    // A charge or link has a step of its own for each event.
    ...(charge || link ? [] : received.map((event) => eventEntry(reference, event))),
    ...(await Promise.all(posts.map((key) => readPost(account, reference, key)))).flat(),
  ];
  const entries = merged(audited, missing.map(cleanAuditEntry));
  const last = received.toSorted((one, other) => one.receivedAtMs - other.receivedAtMs).at(-1);
  if (!charge && !link && !last && entries.every(isStoryRequest)) return undefined;
  return {
    reference,
    entries,
    ...withoutUndefined({ charge, link }),
    ...(last ? { event: last.event } : {}),
  };
}

/** A request for the story is an entry, too, but says nothing about the reference. */
function isStoryRequest({ verb }: AuditEntry): boolean {
  return verb === 'story';
}

/**
 * Joins both without repeats: the same step at the same time is one entry. Entries of the same millisecond: first the
 * records', then the audit's, because people act on what the records say.
 */
function merged(audited: readonly AuditEntry[], recorded: readonly AuditEntry[]): AuditEntry[] {
  const known = new Set(audited.map(identityOf));
  const missing = recorded.filter((entry) => !known.has(identityOf(entry)));
  return [...missing, ...audited].toSorted((one, other) => one.atMs - other.atMs);
}

function identityOf({ atMs, who, what, result = '' }: AuditEntry): string {
  return JSON.stringify([atMs, who, what, result]);
}

function eventEntry(
  reference: string,
  { event: { key, kind, reason }, receivedAtMs }: { event: PaymentEvent; receivedAtMs: number },
): AuditEntry {
  return {
    id: `event:${key}`,
    atMs: receivedAtMs,
    who: 'payments',
    what: 'answer',
    reference,
    result: `event_${kind}`,
    ...(reason === undefined ? {} : { reason }),
  };
}

/** Where and when the message was posted, by Slack's timestamp. */
async function readPost({ store }: Account, reference: string, key: string): Promise<AuditEntry[]> {
  const { posted } = (await findMessageRecord(store, key)) ?? {};
  if (!posted) return [];
  const { channel, ts } = posted;
  return [
    {
      id: `post:${key}`,
      atMs: Math.round(Number(ts) * 1_000),
      who: 'payops',
      what: 'step',
      reference,
      where: channel,
      result: `posted_${messageName(key)}`,
    },
  ];
}

/** So many lines fit in one message, even with the longest words. */
const linesPerPage = 12;

/**
 * One page of a reference's history, oldest first: when, who, what, the new state and why. `page` counts from 1; beyond
 * the last page it shows the last.
 */
export function storyMessage(
  story: Story,
  page: number,
  { shownAccount, nowMs }: { shownAccount: ShownAccount; nowMs: number },
): SlackMessage {
  const entries = story.entries.filter(isShown);
  const pages = Math.max(1, Math.ceil(entries.length / linesPerPage));
  const number = Math.min(Math.max(1, page), pages);
  const lines = entries.slice((number - 1) * linesPerPage, number * linesPerPage);
  const which = pages === 1 ? '' : ` · page ${number} of ${pages}`;
  const foot = `Oldest first${which}`;
  const { text, blocks } = noteMessage({
    ...headOf(story),
    body: [...(lines.length === 0 ? [] : [richText(...lines.map(lineOf))]), context(plainText(foot))],
    foot: checkedFoot(shownAccount, nowMs),
  });
  return { text, blocks: [...blocks, ...storyButtons(story, number, pages)] };
}

function lineOf(entry: AuditEntry): Run[] {
  return [
    moment(entry.atMs, '{date_short_pretty} {time_secs}'),
    words('  '),
    actorOf(entry),
    words(' '),
    ...sentenceOf(entry),
  ];
}

/** State, amount, customer and reference, as in the message of the charge, link or alert. */
function headOf(story: Story): { state: string; about: string[] } {
  const { charge, link, event, reference } = story;
  if (charge) return chargeHead(charge);
  if (link) {
    const { terms, state } = link;
    const about = [amountWord(terms.money), customerWord(terms.customerEmail), referenceWord(reference)];
    return { state: `📄 ${stateWord(`link_${state.kind}`)}`, about };
  }
  const { amountMinor, currency, customerEmail } = event ?? {};
  const amount =
    amountMinor === undefined ? '' : amountWord({ minor: amountMinor, currency: currency ?? '' });
  return { state: eventState(story), about: [amount, customerWord(customerEmail), referenceWord(reference)] };
}

/** The alert's last state; without an alert, what the event says. */
function eventState({ event, entries }: Story): string {
  const last = entries.findLast(({ result = '' }) => Object.hasOwn(alertStates, result))?.result;
  if (last !== undefined) return alertStates[last] ?? '';
  return event ? eventStates[event.kind] : '📄 Story';
}

const eventStates: Record<PaymentEventKind, string> = {
  payment_failed: '❌ Failed, by its event',
  payment_success: '📄 Paid, by its event',
  payment_given_back: '↩️ Given back, by its event',
};

const alertStates: Readonly<Record<string, string>> = {
  alert_acknowledged: '👀 Acknowledged',
  alert_assigned: '👀 Acknowledged',
  alert_snoozed: '💤 Snoozed',
  alert_awake: '👀 Acknowledged',
  alert_closed: '☑️ Resolved',
  alert_recovered: '✅ Resolved',
};

function storyButtons({ reference }: Story, page: number, pages: number): ActionsBlock[] {
  const file = button({ actionId: storyActions.file, text: 'CSV', value: reference });
  // Only a reference that the press can parse goes in a button.
  if (!parseOrderReference(reference).ok) return [];
  if (pages === 1) return [actions(file)];
  const turn = (actionId: string, text: string, to: number) =>
    button({ actionId, text, value: JSON.stringify([reference, String(to)]) });
  return [
    actions(
      ...(page > 1 ? [turn(storyActions.earlier, 'Earlier', page - 1)] : []),
      ...(page < pages ? [turn(storyActions.later, 'Later', page + 1)] : []),
      file,
    ),
  ];
}

/** The bot has no record of the reference; the service may have one. */
export function noStoryMessage(reference: string): SlackMessage {
  return noteMessage({
    state: 'The bot has nothing on this reference',
    about: [typedReference(reference)],
    body: [rich`The payments service itself may know it.`],
    buttons: typedLookUpButton('Look up', reference),
  });
}

/** Says where the file was sent. */
export function storyFileMessage(reference: string, placed: UploadOutcome): SlackMessage {
  const about = [referenceWord(reference)];
  return placed.kind === 'failed'
    ? noteMessage({
        state: '⚠️ The file couldn’t be put into Slack',
        about,
        body: [rich`${placed.why} Next: ${placed.fix}`],
      })
    : noteMessage({
        state: '📄 The whole story as a file',
        about,
        body: [rich`It is in your direct messages with the bot.`],
      });
}
