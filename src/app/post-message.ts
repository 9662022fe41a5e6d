import type { Notice } from '../domain/notice.ts';
import type { AlertShown } from '../features/alerts/alert-post.ts';
import type { AlertStepShown } from '../features/alerts/prepare-alert-note.ts';
import type { TestAlertBodies } from '../features/alerts/send-test-alert.ts';
import type { DigestShown } from '../features/alerts/storm/prepare-digest.ts';
import type { SummaryShown } from '../features/alerts/summary/summarise-day.ts';
import {
  type ApprovalPost,
  approvalMessage,
  approvalNoteMessage,
} from '../features/approvals/approval-screens.ts';
import {
  type ChargeShown,
  chargeDirectMessage,
  chargeMessage,
  chargeNoteMessage,
} from '../features/charge/charge-messages.ts';
import { type LinkShown, linkMessage, linkNoteMessage } from '../features/links/link-message.ts';
import type { MuteShown } from '../features/mute/mute-case.ts';
import { muteMessage } from '../features/mute/mute-views.ts';
import type { Said } from '../messages/views.ts';
import { alertDirectMessage, alertNoteMessage } from '../features/alerts/note-message.ts';
import { alertMessage } from '../features/alerts/alert-message.ts';
import { stormDirectMessage, stormMessage } from '../features/alerts/storm/storm-message.ts';
import type { ChargePlace } from '../slack/words/charge-place.ts';
import { dailySummaryMessage } from '../features/alerts/summary/daily-summary-message.ts';
import type { SlackMessage } from '../slack/kit/message.ts';
import { noticeMessage } from '../slack/words/notice-message.ts';
import { testAlertMessage } from '../features/alerts/test-alert-message.ts';

/** What is said, before it is put into words. */
export type Shown =
  | AlertShown
  | AlertStepShown
  | (TestAlertBodies['test_alert'] & { kind: 'test_alert' })
  | SummaryShown
  | DigestShown
  | ChargeShown
  | LinkShown
  | ApprovalPost
  | MuteShown
  | { kind: 'notice'; notice: Notice };

export type Post = Shown & Said;

/**
 * The words of a post; the same post gives the same message. `whose` is said of what else would name no account;
 * undefined in a bot that knows one alone.
 */
export function postMessage(post: Post, place: ChargePlace, whose: string | undefined): SlackMessage {
  switch (post.kind) {
    case 'alert':
      return alertMessage(post.alert);
    case 'alert_note':
      return alertNoteMessage(post.step, post.alert, post);
    case 'alert_direct':
      return alertDirectMessage(post.step, post.alert, post);
    case 'test_alert':
      return testAlertMessage(post, place);
    case 'daily_summary':
      return dailySummaryMessage(post, place);
    case 'digest':
      return post.isDirect ? stormDirectMessage(post.storm, post) : stormMessage(post.storm, post);
    case 'charge':
      return chargeMessage(post.charge, place, post);
    case 'charge_note':
      return chargeNoteMessage(post.note, post.charge, place, post);
    case 'charge_direct':
      return chargeDirectMessage(post.what, post.charge, place, post);
    case 'link':
      if (post.note === undefined) return linkMessage(post.link, place, post);
      return linkNoteMessage(post.note, post.link, place, post);
    case 'approval':
      if (post.note === undefined) return approvalMessage(post, place, post);
      return approvalNoteMessage(post.note, post, place, post);
    case 'mute':
      return muteMessage(post, place);
    case 'notice':
      return noticeMessage({ ...post, place: whose });
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
