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
import { type TestAlertBodies, testAlertMessage } from './test-alert.ts';
import { stormMessage } from './storm/storm-message.ts';
import type { StormSeen } from './storm/storm.ts';
import type { DigestBodies } from './storm/storms.ts';
import { dailySummaryMessage } from './summary/daily-summary-message.ts';
import type { SummaryShown } from './summary/daily-summary.ts';

type Bodies = AlertStepBodies & TestAlertBodies & DigestBodies & { alert: unknown };

type TestShown = TestAlertBodies['test_alert'] & { kind: 'test_alert' };

/** A storm’s digest, made of the storm as it is when it leaves. */
export type DigestShown = { kind: 'digest'; storm: StormSeen };

type Shown = AlertShown | AlertStepShown | TestShown | DigestShown;

/** What the messages of alerts show, but for the daily summary. */
export function alertViews(deps: AlertPostDeps): Views<Bodies, Shown> {
  return {
    alert: (_event, work, said) => prepareAlert(deps, work, said),
    ...alertNoteViews(deps),
    async digest({ storm: id }) {
      const storm = await deps.storms.see(id);
      return storm ? { kind: 'shown', post: { kind: 'digest', storm } } : { kind: 'nothing' };
    },
    test_alert: async ({ askedBy }) => ({ kind: 'shown', post: { kind: 'test_alert', askedBy } }),
  };
}

export function alertWords(place: RoutePlace): Words<Shown | SummaryShown> {
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
