import type { RoutePlace } from '../../domain/alert-route.ts';
import type { Views, Words } from '../../messages/views.ts';
import { alertMessage } from './alert-message.ts';
import type { AlertPostDeps, AlertShown } from './alert-record.ts';
import {
  type AlertStepBodies,
  type AlertStepShown,
  alertDirectMessage,
  alertNoteMessage,
  alertNoteViews,
} from './alert-notes.ts';
import { prepareAlert } from './prepare-alert.ts';
import { stormMessage } from './storm/storm-message.ts';
import type { StormSeen } from './storm/storm.ts';
import type { DigestBodies } from './storm/storms.ts';
import { dailySummaryMessage } from './summary/daily-summary-message.ts';
import type { DailySummary, SummaryShown, SummarySpan } from './summary/daily-summary.ts';
import type { Environment } from '../../domain/alert.ts';
import { bold, context, person, plainText, words } from '../../slack/kit/blocks.ts';
import type { SlackMessage } from '../../slack/kit/message.ts';
import { noteMessage, posted } from '../../slack/kit/note.ts';
import { placeWords } from '../../slack/words/evidence.ts';

/** A test of one channel: who asked for it. */
export type TestAlertBodies = { test_alert: { askedBy: string } };

type Bodies = AlertStepBodies &
  TestAlertBodies &
  DigestBodies & { alert: unknown; daily_summary: SummarySpan };

type TestShown = TestAlertBodies['test_alert'] & { kind: 'test_alert' };

/** A storm’s digest, made of the storm as it is when it leaves. */
export type DigestShown = { kind: 'digest'; storm: StormSeen };

type Shown = AlertShown | AlertStepShown | TestShown | DigestShown | SummaryShown;

export type AlertViewDeps = AlertPostDeps & {
  /** What a channel is told of a day; see `summariseDay`. */
  summarise: (channel: string, time: SummarySpan) => Promise<DailySummary>;
};

/** What the messages of alerts show. */
export function alertViews(deps: AlertViewDeps): Views<Bodies, Shown> {
  return {
    alert: (_event, work, said) => prepareAlert(deps, work, said),
    ...alertNoteViews(deps),
    async digest({ storm: id }) {
      const storm = await deps.storms.see(id);
      return storm ? { kind: 'shown', post: { kind: 'digest', storm } } : { kind: 'nothing' };
    },
    test_alert: async ({ askedBy }) => ({ kind: 'shown', post: { kind: 'test_alert', askedBy } }),
    // Made when it leaves, behind the alerts that were before it in its channel.
    async daily_summary(span, { record: { channel } }) {
      return { kind: 'shown', post: { kind: 'daily_summary', summary: await deps.summarise(channel, span) } };
    },
  };
}

export function alertWords(place: RoutePlace): Words<Shown> {
  return {
    alert({ alert }) {
      const mention = alert.route?.mention;
      return { message: alertMessage(alert), calls: mention?.kind === 'person' ? [mention.id] : [] };
    },
    alert_note: (post) => ({ message: alertNoteMessage(post.step, post.alert, post) }),
    alert_direct: (post) => ({ message: alertDirectMessage(post.step, post.alert, post) }),
    test_alert: (post) => ({ message: testAlertMessage(post, place) }),
    daily_summary: (post) => ({ message: dailySummaryMessage(post, place) }),
    digest: (post) => ({ message: stormMessage(post.storm, post) }),
  };
}

/** Proof that alerts reach this channel, unmistakably no alert. */
export function testAlertMessage(
  test: { askedBy: string; key: string; mayBeRepeat: boolean },
  place: { environment: Environment; account: string },
): SlackMessage {
  const note = noteMessage({
    state: '🧪 TEST alert',
    about: ['no charge failed', 'alerts reach this channel'],
    body: [[bold('Asked for by: '), person(test.askedBy), words(' with /pay alerts')]],
    foot: context(plainText(placeWords(place.environment, place.account))),
  });
  return posted(note, 'payops_test_alert', test);
}
