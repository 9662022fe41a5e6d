import { randomUUID } from 'node:crypto';
import type { Environment } from '../../domain/alert.ts';
import { messageKey } from '../../messages/message-record.ts';
import { type Messages, type MessagesDeps, createMessages } from '../../messages/messages.ts';
import { bold, context, person, plainText, words } from '../../slack/kit/blocks.ts';
import { noteMessage, posted } from '../../slack/kit/note.ts';
import type { SlackMessage } from '../../slack/kit/message.ts';
import { placeWords } from '../../slack/words/evidence.ts';

/** A test of one channel: who asked for it. */
export type TestAlertBodies = { test_alert: { askedBy: string } };

/** Long enough to find again what may have arrived. */
const rememberMs = 86_400_000;

/**
 * Sends a test alert to a channel the way alerts go, through the outbox: one for each call. Durable once resolved;
 * throws StoreUnavailable. It is posted within ten minutes or not at all.
 */
export function createTestAlerts(
  deps: Omit<MessagesDeps, 'rememberMs'>,
): (channel: string, askedBy: string) => Promise<void> {
  const messages: Messages<TestAlertBodies> = createMessages({ ...deps, rememberMs });
  return (channel, askedBy) =>
    messages.post(messageKey('test_alert', randomUUID()), { kind: 'test_alert', channel, body: { askedBy } });
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
