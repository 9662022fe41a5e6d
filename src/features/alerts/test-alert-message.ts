import type { Environment } from '../../domain/alert.ts';
import { bold, context, headline, person, plainText, richText, words } from '../../slack/kit/blocks.ts';
import { placeWords } from '../../slack/words/evidence.ts';
import type { SlackMessage } from '../../slack/kit/message.ts';

const testEventType = 'payops_test_alert';

/** Proof that alerts reach this channel, unmistakably no alert. */
export function testAlertMessage(
  test: { askedBy: string; key: string; mayBeRepeat: boolean },
  place: { environment: Environment; account: string },
): SlackMessage {
  const { text, block } = headline('🧪 TEST alert', ['no charge failed', 'alerts reach this channel']);
  const asked = [bold('Asked for by: '), person(test.askedBy), words(' with /pay alerts')];
  const repeat = test.mayBeRepeat ? [words(' This may repeat an earlier test.')] : [];
  return {
    text,
    blocks: [
      block,
      richText([...asked, ...repeat]),
      context(plainText(placeWords(place.environment, place.account))),
    ],
    metadata: { event_type: testEventType, event_payload: { key: test.key } },
  };
}
