import type { Button, RichTextBlock } from '@slack/types';
import { counted } from '../../../domain/wording.ts';
import type { AlertMute, EventAccount } from '../../../domain/alert.ts';
import type { GatheredKind } from '../../../domain/payment-event.ts';
import {
  type DigestBodies,
  isUnresolved,
  isWaiting,
  type Storm,
  type StormCount,
  type Storms,
} from './storm.ts';
import {
  actions,
  bold,
  button,
  fields,
  headline,
  moment,
  person,
  richText,
  words,
  type Run,
} from '../../../slack/kit/blocks.ts';
import { type PostAttempt, forPosting, noteMessage } from '../../../slack/kit/note.ts';
import { messageKey } from '../../../messages/message-record.ts';
import type { Renders } from '../../../messages/deliver.ts';
import { accountFoot } from '../../../slack/words/account-foot.ts';
import type { MessageBlock, SlackMessage } from '../../../slack/kit/message.ts';
import type { MessagePlace } from '../../../messages/delivery.ts';
import { longestTypedReason } from '../alert-buttons.ts';
import { linkTo } from '../alert-message.ts';
import { mentionedUsers, type Escalated } from '../alert.ts';
import { escalationFields, muteBlocks } from '../alert-rules-message.ts';
import { longestReason, sumWords } from '../tally.ts';
import { outsideText } from '../../../slack/kit/text.ts';

/** Action ids of a digest's buttons; each button's value is the storm's id. */
export const stormActions = {
  acknowledgeAll: 'storm_acknowledge_all',
  resolveAll: 'storm_resolve_all',
  showList: 'storm_show_list',
  /** In the list; the value is the storm's id, a space and the index of the page's first row. */
  back: 'storm_list_back',
  next: 'storm_list_next',
  csv: 'storm_csv',
} as const;

/** The digest counts the others together; the list has them all. */
const mostSums = 3;
const mostReasons = 3;
const minuteMs = 60_000;

export function stormRenders(
  storms: Pick<Storms, 'find'>,
  mutedNow: () => Promise<readonly AlertMute[]>,
  account: EventAccount,
): Renders<DigestBodies> {
  return {
    async digest({ storm: id }, _work, about) {
      const storm = await storms.find(id);
      if (!storm) return { kind: 'nothing' };
      const muted = (await mutedNow()).filter(({ channel }) => channel === storm.channel);
      return { kind: 'shown', message: stormMessage({ storm, muted, ...about }, account) };
    },
    async digest_note({ storm: id, step }, _work, about) {
      const storm = await storms.find(id);
      // Acknowledged or resolved before the note was posted.
      if (!storm || !isWaiting(storm)) return { kind: 'nothing' };
      const below = { key: messageKey('digest', id) };
      const message = stormNoteMessage({ storm, step, ...about }, account);
      return { kind: 'shown', message, calls: mentionedUsers(step.to), below };
    },
  };
}

/**
 * A storm's digest: how many alerts, how much money, from when to when. For failures also their reasons, and a button to
 * acknowledge them all; for payments, how many a look-up proved. It is edited until the storm is over. Its numbers are what the
 * events say, not proof. `muted`: the channel's current mutes.
 */
export function stormMessage(
  { storm, muted, ...about }: PostAttempt & { storm: Storm; muted: readonly AlertMute[] },
  { environment, account }: EventAccount,
): SlackMessage {
  const { id, gathers, counted: of, endedMs } = storm;
  const { count, sums, moreCurrencies, unsummed, confirmed } = of;
  const isPaid = gathers === 'payment_success';
  const isOn = endedMs === undefined;
  const message = noteMessage({
    state: stateOf(storm),
    about: [sumWords(of, mostSums).join(', '), isPaid ? 'as their events say' : ''],
    body: [
      ...nextLine(storm, muted),
      ...fields({
        Time: timeSpan(of),
        'By currency': sums.length + moreCurrencies > mostSums ? sumWords(of).join(', ') : undefined,
        'Amount not known': unsummed === 0 ? undefined : gathered(gathers, unsummed),
        ...(isPaid ? { 'Proven by look-up': `${confirmed} of ${count}` } : caseFields(storm)),
      }),
      ...(isPaid ? [] : [reasons(of)]),
      // Once it is over, nothing edits it when a mute ends.
      ...(isOn ? muteBlocks(muted) : []),
    ],
    buttons: [
      ...stormButtons(storm),
      button({ actionId: stormActions.showList, text: 'Show list', value: id }),
      button({ actionId: stormActions.csv, text: 'CSV', value: id }),
    ],
    foot: accountFoot({ environment, account }),
  });
  return forPosting(message, 'payops_storm', about);
}

function nextLine({ gathers, endedMs, closed }: Storm, muted: readonly AlertMute[]): Run[][] {
  const { overNext, liveNext } = gathers === 'payment_success' ? paymentWords : failureWords;
  if (endedMs === undefined) return [[words(liveNext)]];
  return closed || muted.length > 0 ? [] : [[words(overNext)]];
}

function stormButtons(storm: Storm): Button[] {
  const { id, gathers, taken, endedMs } = storm;
  if (gathers === 'payment_success') return [];
  if (!taken) {
    const text = 'Acknowledge all';
    return [button({ actionId: stormActions.acknowledgeAll, text, value: id, style: 'primary' })];
  }
  if (endedMs === undefined || !isUnresolved(storm)) return [];
  return [button({ actionId: stormActions.resolveAll, text: 'Resolve all…', value: id })];
}

function stateOf({ gathers, counted: { count }, endedMs, closed }: Storm): string {
  const isPaid = gathers === 'payment_success';
  const { over, live } = isPaid ? paymentWords : failureWords;
  const state = closed ? '☑️ Storm resolved' : endedMs === undefined ? live : over;
  return `${state}: ${isPaid ? count : gathered(gathers, count)}`;
}

/** A storm on the App Home. `place`: its digest's. */
export function stormItem(storm: Storm, place: MessagePlace | undefined): MessageBlock[] {
  const { count, recovered } = storm.counted;
  const parts = [sumWords(storm.counted, mostSums).join(', '), `${count - recovered} not resolved`];
  const { block } = headline(stateOf(storm), parts);
  const row = stormButtons(storm);
  return [block, ...linkTo('the digest', place), ...(row.length > 0 ? [actions(...row)] : [])];
}

/** An escalation step, in the digest's thread. */
function stormNoteMessage(
  { storm, step, ...about }: PostAttempt & { storm: Storm; step: Escalated },
  { environment, account }: EventAccount,
): SlackMessage {
  const { gathers, counted: of } = storm;
  const message = noteMessage({
    state: '📣 Nobody has acknowledged this storm',
    about: [gathered(gathers, of.count), sumWords(of, mostSums).join(', ')],
    body: escalationFields(step),
    foot: accountFoot({ environment, account }),
  });
  return forPosting(message, 'payops_storm_note', about);
}

const failureWords = {
  live: '🚨 Storm',
  liveNext: 'Counting here until it calms down.',
  over: '☑️ Storm over',
  overNext: 'New failures are posted one by one again.',
};
const paymentWords = {
  live: '📥 Many payments',
  liveNext: 'Nothing is wrong. Counting here until it calms down.',
  over: '☑️ Many payments, ended',
  overNext: 'New payments are posted one by one again.',
};

function caseFields({ taken, closed, endedMs, counted: { recovered } }: Storm): Parameters<typeof fields>[0] {
  const more = words(endedMs === undefined ? ', new ones too' : '');
  return {
    'Acknowledged by': taken && [person(taken.by), words(' '), moment(taken.at, '{time}'), more],
    Resolved: recovered === 0 ? undefined : `${recovered} by payment`,
    'Resolved by': closed && [person(closed.by), words(' '), moment(closed.at, '{time}')],
    Reason: closed && outsideText(closed.reason, longestTypedReason),
  };
}

function reasons({ reasons: all, otherReasons, noReason }: StormCount): RichTextBlock {
  const others = all.slice(mostReasons).reduce((sum, { count }) => sum + count, otherReasons);
  return richText(
    ...all
      .slice(0, mostReasons)
      .map(({ reason, count }) => line(count, outsideText(reason, longestReason) || '–')),
    ...(others === 0 ? [] : [line(others, 'other reasons')]),
    ...(noReason === 0 ? [] : [line(noReason, 'no reason given')]),
  );
}

function line(count: number, text: string): Run[] {
  return [bold(`${count}×`), words(`  ${text}`)];
}

/** "12 failed charges", "12 payments". */
export function gathered(gathers: GatheredKind, count: number): string {
  return counted(count, gathers === 'payment_failed' ? 'failed charge' : 'payment');
}

/** From the first to the last; one time if both are in the same minute. */
function timeSpan({ firstMs, lastMs }: StormCount): Run[] {
  const isOneMinute = Math.floor(firstMs / minuteMs) === Math.floor(lastMs / minuteMs);
  return isOneMinute ? [moment(firstMs)] : [moment(firstMs), words(' to '), moment(lastMs)];
}
