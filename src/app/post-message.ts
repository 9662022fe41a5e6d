import type { Post } from '../messages/posts.ts';
import { alertDirectMessage, alertNoteMessage } from '../features/alerts/note-message.ts';
import { alertMessage } from '../features/alerts/alert-message.ts';
import { approvalMessage } from '../features/approvals/approval-message.ts';
import { approvalNoteMessage } from '../features/approvals/approval-note-message.ts';
import { stormDirectMessage, stormMessage } from '../features/alerts/storm/storm-message.ts';
import { chargeDirectMessage } from '../features/charge/charge-direct-message.ts';
import { chargeMessage } from '../features/charge/charge-message.ts';
import { chargeNoteMessage } from '../features/charge/charge-note-message.ts';
import type { ChargePlace } from '../slack/words/charge-place.ts';
import { dailySummaryMessage } from '../features/alerts/summary/daily-summary-message.ts';
import { linkMessage, linkNoteMessage } from '../features/links/link-message.ts';
import type { SlackMessage } from '../slack/kit/message.ts';
import { noticeMessage } from '../slack/words/notice-message.ts';
import { testAlertMessage } from '../features/alerts/test-alert-message.ts';

/**
 * The words of a post; the same post gives the same message. `whose` is said of what else would name no account;
 * undefined in a bot that knows one alone.
 */
export function postMessage(post: Post, place: ChargePlace, whose: string | undefined): SlackMessage {
  if (isOfCharge(post)) return chargePostMessage(post, place);
  switch (post.kind) {
    case 'alert':
      return alertMessage(post.alert);
    case 'notice':
      return noticeMessage({ ...post, place: whose });
    case 'alert_note':
    case 'alert_direct':
      return stepMessage(post);
    case 'digest':
      return digestMessage(post);
    case 'test_alert':
      return testAlertMessage(post, place);
    case 'daily_summary':
      return dailySummaryMessage(post, place);
    case 'link':
      return linkPostMessage(post, place);
    case 'approval':
      return approvalPostMessage(post, place);
  }
}

/** Whom a post calls on purpose, by their user ids; of everybody else it has the name. */
export function calledBy(post: Post): string[] {
  switch (post.kind) {
    case 'alert': {
      const mention = post.alert.route?.mention;
      return mention?.kind === 'person' ? [mention.id] : [];
    }
    case 'charge_note':
      return post.note.kind === 'handed_over' ? [post.note.from] : [];
    case 'link':
      return post.note === undefined ? [] : [post.link.by];
    default:
      return [];
  }
}

function digestMessage(post: Extract<Post, { kind: 'digest' }>): SlackMessage {
  return post.isDirect ? stormDirectMessage(post.storm, post) : stormMessage(post.storm, post);
}

function linkPostMessage(post: Extract<Post, { kind: 'link' }>, place: ChargePlace): SlackMessage {
  return post.note === undefined
    ? linkMessage(post.link, place, post)
    : linkNoteMessage(post.note, post.link, place, post);
}

function approvalPostMessage(post: Extract<Post, { kind: 'approval' }>, place: ChargePlace): SlackMessage {
  return post.note === undefined
    ? approvalMessage(post.approval, place, post)
    : approvalNoteMessage(post.note, post.approval, place, post);
}

function stepMessage(post: Extract<Post, { kind: 'alert_note' | 'alert_direct' }>): SlackMessage {
  return post.kind === 'alert_note'
    ? alertNoteMessage(post.step, post.alert, post)
    : alertDirectMessage(post.step, post.alert, post);
}

type ChargePost = Extract<Post, { kind: 'charge' | 'charge_note' | 'charge_direct' }>;

function isOfCharge(post: Post): post is ChargePost {
  return post.kind === 'charge' || post.kind === 'charge_note' || post.kind === 'charge_direct';
}

function chargePostMessage(post: ChargePost, place: ChargePlace): SlackMessage {
  switch (post.kind) {
    case 'charge':
      return chargeMessage(post.charge, place, post);
    case 'charge_note':
      return chargeNoteMessage(post.note, post.charge, place, post);
    case 'charge_direct':
      return chargeDirectMessage(post.what, post.charge, place, post);
  }
}
