// The bot's messages about itself, its channels and its rules. Outside words come from Slack's answers, from keys and
// kinds of events, from payops.yml and from typed text.

import type { AlertRule, RoutePlan } from '../../../src/domain/alert.ts';
import { readMerchantWords } from '../../../src/features/help/command-set.ts';
import { undeliveredMessage, deliveringAgainMessage } from '../../../src/features/undelivered/undelivered.ts';
import {
  bugMessage,
  refusalMessage,
  serviceFailureNote,
  unknownVerbMessage,
  usageMessage,
} from '../../../src/slack/words/error-message.ts';
import { ServiceFailure } from '../../../src/domain/failure.ts';
import { noticeMessage } from '../../../src/messages/notices.ts';
import { accountWords } from '../../../src/slack/words/account-foot.ts';
import { differingNotice } from '../../../src/features/alerts/receive-event.ts';
import { noteMessage } from '../../../src/slack/kit/note.ts';
import { routesMessage, testAlertMessage } from '../../../src/features/alerts/alert-rules-message.ts';
import { fixFor } from '../../../src/slack/slack-error.ts';
import { muteOf, anAccount } from './alert-surfaces.ts';
import { messageOf, type Outside, type Surface } from './surface.ts';

const at = Date.UTC(2026, 8, 14, 13, 37);
const channel = 'C0OWN00001';
const ada = 'U0OWN00001';

export const botSurfaces: readonly Surface[] = [
  messageOf('a notice', ({ random, text }) =>
    noticeMessage({
      notice: differingNotice(text(), text()),
      key: 'message:notice:1',
      mayBeRepeat: random.chance(0.5),
      ...(random.chance(0.5) ? { place: accountWords('live', text()) } : {}),
    }),
  ),
  messageOf('an unknown account', ({ text }) => {
    const read = readMerchantWords(`charge --account ${text().replaceAll(/[\s"“”„«»]/g, '')}x`, [
      'lagos',
      'abuja',
    ]);
    return usageMessage(read.ok ? text() : read.problem, '/pay charge --account lagos');
  }),
  messageOf('what is undelivered', ({ random, text }) => {
    const slackError = text();
    const where = random.pick([channel, ada]);
    return undeliveredMessage(
      [{ channel: where, messages: 7, sinceMs: at, slackError, fix: fixFor(slackError, where) }],
      [],
    );
  }),
  messageOf('what is delivered again', ({ random }) => deliveringAgainMessage(channel, random.below(3))),
  messageOf('what a channel gets', (outside) =>
    routesMessage({
      plan: planOf(outside),
      channel,
      nowMs: at,
    }),
  ),
  messageOf('a test alert', (outside) =>
    testAlertMessage(
      { askedBy: ada, mutes: [muteOf(outside)], key: 'message:test:1', mayBeRepeat: true },
      anAccount(outside),
    ),
  ),
  messageOf('a usage line', ({ text }) =>
    usageMessage(`“${text()}” is no amount. Write it so.`, '/pay lookup REF-1'),
  ),
  messageOf('an unknown verb', ({ random, text }) =>
    unknownVerbMessage(text(), random.chance(0.5) ? 'lookup' : undefined),
  ),
  messageOf('a refusal', ({ text }) => refusalMessage({ what: text(), rule: 'The rule', whoCan: 'leads' })),
  messageOf('a broken outside', ({ text }) =>
    noteMessage(
      serviceFailureNote(new ServiceFailure('malformed', text()), {
        reference: text(),
        moneyMayHaveMoved: true,
      }),
    ),
  ),
  messageOf('a bug', ({ text }) => bugMessage('e-123', { reference: text(), moneyMayHaveMoved: true })),
];

function planOf(outside: Outside): RoutePlan {
  const rules = [ruleOf(outside), ruleOf(outside)];
  return { rules, environment: 'live', account: outside.text(), failures: channel, successes: undefined };
}

function ruleOf({ random, text }: Outside): AlertRule {
  return {
    name: text(),
    match: {
      event: 'payment_failed',
      currency: 'NGN',
      customer: { kind: random.pick(['exact', 'prefix']), text: text() },
      emailDomain: text(),
      reasonPart: text(),
    },
    channels: [channel],
    mention: { kind: 'person', id: ada },
    continues: random.chance(0.5),
  };
}
