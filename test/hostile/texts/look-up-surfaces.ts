import { candidateReferences } from '../../../src/domain/candidate-references.ts';
import { confirm } from '../../../src/domain/transaction.ts';
import { ServiceFailure } from '../../../src/domain/failure.ts';
import { type OrderReference, parseOrderReference } from '../../../src/domain/order-reference.ts';
import { homeAlerts } from '../../../src/features/alerts/alert-message.ts';
import { openCodes, openDoubts } from '../../../src/features/charge/charge-list.ts';
import {
  type AnswerMay,
  answerMessage,
  lookingUpModal,
  noAnswerModal,
  transactionModal,
  wordsOfView,
} from '../../../src/features/lookup/answer-message.ts';
import { chooseModal, notSharedNote, sharedMessage } from '../../../src/features/lookup/lookup.ts';
import { noteMessage } from '../../../src/slack/kit/note.ts';
import { menuMessage } from '../../../src/features/help/menu.ts';
import { messageTexts } from '../../../src/slack/message-texts.ts';
import {
  notRevealedMessage,
  revealedMessage,
  revealingModal,
  revealModal,
} from '../../../src/features/lookup/reveal.ts';
import { fixFor } from '../../../src/slack/slack-error.ts';
import type { TransactionView } from '../../../src/slack/words/transaction-message.ts';
import { stateOf, eventOf, lookupOf, anAccount, recordOf } from './alert-surfaces.ts';
import { chargeOf } from './charge-surfaces.ts';
import { homeOf, messageOf, modalOf, type Outside, type Surface } from './surface.ts';
import type { AuditEntry } from '../../../src/records/shapes.ts';
import { noStoryMessage, storyFileMessage, storyMessage } from '../../../src/features/story/story.ts';

// Screens of a look-up other than its answer, and its parts of the menu and the App Home. The message with the reference
// is entirely outside words.

const at = Date.UTC(2026, 8, 14, 13, 37);
const channel = 'C0OWN00001';
const ada = 'U0OWN00001';

export const lookUpSurfaces: readonly Surface[] = [
  messageOf('the answer of a look-up', (outside) => answerMessage(viewOf(outside), mayOf(outside))),
  modalOf('the answer of a look-up in a modal', (outside) =>
    transactionModal(viewOf(outside), outside.random.chance(0.5) ? channel : undefined, mayOf(outside)),
  ),
  modalOf('a look-up under way in a modal', (outside) => lookingUpModal(outside.text(), anAccount(outside))),
  modalOf('a look-up without an answer', (outside) => {
    const { reference } = viewOf(outside);
    const failure = new ServiceFailure('malformed', outside.text());
    return noAnswerModal(failure, { reference, words: wordsOfView({ reference }) }, anAccount(outside));
  }),
  messageOf('a shared look-up', (outside) => sharedMessage(viewOf(outside), ada)),
  messageOf('an e-mail in full', (outside) => revealedMessage(outside.text(), outside.text())),
  messageOf('why an e-mail is not revealed', ({ random }) =>
    notRevealedMessage(random.pick(['no_address', 'not_on_record', 'no_place', 'closed'])),
  ),
  modalOf('an e-mail in full in a modal', (outside) =>
    revealModal(revealedMessage(outside.text(), outside.text())),
  ),
  modalOf('an e-mail that is being read', () => revealingModal()),
  messageOf('why a look-up is not shared', ({ text }) => {
    const slackError = text();
    const refused = {
      kind: 'refused',
      slackError,
      fix: fixFor(slackError, channel),
      about: 'channel',
    } as const;
    return noteMessage(notSharedNote(refused) ?? { state: '' });
  }),
  modalOf('the references of a message', (outside) => {
    const blocks = [
      { type: 'section', text: { type: 'mrkdwn', text: `“${outside.text()}1” ref: ${outside.text()}` } },
    ];
    const [first = 'REF-1' as OrderReference, ...rest] = candidateReferences(
      messageTexts({ text: outside.text(), blocks }),
    );
    return chooseModal([first, ...rest], { ...anAccount(outside), channelId: channel });
  }),
  homeOf('alerts in the App Home', (outside) => {
    const event = eventOf(outside);
    const evidence = { lookup: lookupOf(outside, event.orderReference), atMs: at };
    const alert = { event, receivedAtMs: at, state: stateOf(outside), evidence };
    return homeAlerts(
      Array.from({ length: 12 }, () => alert),
      anAccount(outside),
    );
  }),
  messageOf('the menu', (outside) => {
    const charges = [chargeOf(outside), chargeOf(outside)];
    const open = [openCodes(charges), openDoubts(charges)].filter((items) => items !== undefined);
    return menuMessage([{ verb: 'lookup' }], open);
  }),
];

function mayOf({ random }: Outside): AnswerMay {
  return { share: random.chance(0.5), reveal: random.chance(0.5) };
}

function viewOf(outside: Outside): TransactionView {
  // Only valid references are looked up.
  const typed = parseOrderReference(outside.text());
  const reference = typed.ok ? typed.value : ('REF-1' as OrderReference);
  const confirmation = confirm({ reference }, recordOf(outside, reference));
  const near = outside.random.chance(0.3) ? { near: reference } : {};
  return { reference, confirmation, ...anAccount(outside), checkedAtMs: at, amountMinor: 500, ...near };
}

// The story of a reference: outside words come from the bank, from events and from people's reasons; the reference is the
// merchant's own.

export const storySurfaces: readonly Surface[] = [
  messageOf('a story', (outside) =>
    storyMessage(
      {
        reference: outside.text(),
        event: {
          kind: 'payment_failed',
          amountMinor: 500,
          currency: outside.text(),
          customerEmail: outside.text(),
        },
        entries: kinds.map((what, index) => entryOf(outside, what, index)),
      },
      1,
      { shownAccount: anAccount(outside), nowMs: at },
    ),
  ),
  messageOf('an unknown story', ({ text }) => noStoryMessage(text())),
  messageOf('what became of a story’s file', ({ text }) =>
    storyFileMessage(text(), { kind: 'uploaded', fileId: 'F0FILE0001' }),
  ),
];

const kinds = ['command', 'press', 'form', 'decision', 'step', 'answer', 'reveal'] as const;

function entryOf({ random, text }: Outside, what: AuditEntry['what'], index: number): AuditEntry {
  return {
    id: String(index),
    atMs: at + index,
    who: random.pick([ada, 'payops', 'payments', 'operator']),
    what,
    verb: text(),
    reference: text(),
    before: text(),
    after: text(),
    result: text(),
    reason: text(),
  };
}
