// Every message of an event, a look-up and an alert's steps, with outside words wherever possible. Events are parsed from
// signed JSON, records by the service's client.

import {
  type AlertStep,
  outcomeAlone,
  withoutDetails,
  type Alert,
  type AlertStatus,
} from '../../../src/features/alerts/alert.ts';
import type { AlertState, Recovery, Lookup, AlertMute } from '../../../src/domain/alert.ts';
import { confirm, type Transaction } from '../../../src/domain/transaction.ts';
import type { DailySummary } from '../../../src/features/alerts/summary/daily-summary.ts';
import type { OrderReference } from '../../../src/domain/order-reference.ts';
import type { PaymentEvent } from '../../../src/domain/payment-event.ts';
import { type StormItem, type Storm } from '../../../src/features/alerts/storm/storm.ts';
import { alertForm, lookedUpMessage, refusedMessage } from '../../../src/features/alerts/alert-buttons.ts';
import { csvMessage, stormListModal } from '../../../src/features/alerts/storm/storm-list.ts';
import { stormMessage } from '../../../src/features/alerts/storm/storm-message.ts';
import { createTally } from '../../../src/features/alerts/tally.ts';
import {
  alertDirectMessage,
  alertMessage,
  alertNoteMessage,
} from '../../../src/features/alerts/alert-message.ts';
import { dailySummaryMessage } from '../../../src/features/alerts/summary/daily-summary-message.ts';
import { fixFor } from '../../../src/slack/slack-error.ts';
import { outsideText } from '../../../src/slack/kit/text.ts';
import { noteMessage } from '../../../src/slack/kit/note.ts';
import { lookingUpNote, transactionNote } from '../../../src/slack/words/transaction-message.ts';
import { defaultEventPointers, parseEvent } from '../../../src/webhooks/event.ts';
import { modalOf, messageOf, type Outside, type Surface } from './surface.ts';

const at = Date.UTC(2026, 8, 14, 13, 37);
const [ada, bola] = ['U0OWN00001', 'U0OWN00002'];
const earlier = { channel: 'C0OWN00001', ts: '1700000000.000100' };

export const alertSurfaces: readonly Surface[] = [
  messageOf('an event that nobody acts on', (outside) => alertMessage(alertOf(outside, undefined))),
  messageOf('an old alert', (outside) => {
    const { event, lookup, ...alert } = alertOf(outside, statusOf(outside));
    return alertMessage({ ...alert, event: withoutDetails(event), lookup: outcomeAlone(lookup) });
  }),
  messageOf('an alert', (outside) => alertMessage(alertOf(outside, statusOf(outside)))),
  messageOf('a note in an alert’s thread', (outside) =>
    alertNoteMessage(stepOf(outside), alertOf(outside, statusOf(outside)), aboutOf(outside)),
  ),
  messageOf('a direct message about an alert', (outside) =>
    alertDirectMessage(stepOf(outside), alertOf(outside, statusOf(outside)), {
      ...aboutOf(outside),
      to: outside.random.pick([ada, bola]),
      place: earlier,
    }),
  ),
  messageOf('an answer to a press', (outside) =>
    refusedMessage(
      outside.random.pick(['acknowledged', 'ended', 'not_acknowledged', 'nothing_new']),
      stateOf(outside),
      outside.random.pick([ada, bola]),
    ),
  ),
  messageOf('a look-up from a card', (outside) =>
    lookedUpMessage({ lookup: lookupOf(outside), atMs: at }, outside.text(), {
      ...anAccount(outside),
      mayReveal: outside.random.chance(0.5),
    }),
  ),
  messageOf('a look-up', (outside) => {
    const reference = outside.text() as OrderReference;
    const confirmation = confirm(
      { reference, amount: { minor: 500, currency: outside.text(), source: 'person' } },
      recordOf(outside, reference),
    );
    const about = { reference, confirmation, ...anAccount(outside), checkedAtMs: at };
    return noteMessage(transactionNote({ ...about, amountMinor: 500 }));
  }),
  messageOf('a look-up under way', (outside) => noteMessage(lookingUpNote(outside.text()))),
  messageOf('the digest of a storm', (outside) => {
    const muted = [muteOf(outside), muteOf(outside)];
    return stormMessage({ storm: stormOf(outside), muted, ...aboutOf(outside) }, anAccount(outside));
  }),
  modalOf('the list of a storm', (outside) => {
    const storm = stormOf(outside);
    const rows = stormItems(outside).map((item) => ({ ...item, state: stateOf(outside) }));
    return stormListModal(storm, { rows, from: 10 * outside.random.below(3) }, anAccount(outside));
  }),
  messageOf('what became of the CSV of a storm', ({ random, text }) => {
    const slackError = text();
    return csvMessage(
      random.pick([
        { kind: 'uploaded', fileId: 'F0FILE0001' },
        {
          kind: 'failed',
          why: `Slack says “${outsideText(slackError, 80)}”.`,
          fix: fixFor(slackError),
        },
      ]),
    );
  }),
  messageOf('a daily summary', (outside) =>
    dailySummaryMessage(
      {
        summary: summaryOf(outside),
        muted: Array.from({ length: 7 }, () => muteOf(outside)),
        key: 'message:summary:1',
        mayBeRepeat: outside.random.chance(0.5),
      },
      anAccount(outside),
    ),
  ),
  modalOf('a card’s forms', ({ random, ...outside }) =>
    alertForm(
      random.pick(['close', 'assign', 'snooze'] as const),
      'payment_failed/order/REF-1',
      anAccount({ random, ...outside }),
    ),
  ),
];

export function anAccount({ random, text }: Outside): { environment: 'live' | 'sandbox'; account: string } {
  return { environment: random.pick(['live', 'sandbox']), account: text() };
}

function alertOf(outside: Outside, status: AlertStatus | undefined): Alert {
  const { random, text } = outside;
  const event = eventOf(outside);
  return {
    event,
    lookup: lookupOf(outside, event.orderReference),
    ...anAccount(outside),
    receivedAtMs: at,
    mayBeRepeat: random.chance(0.5),
    ...(status ? { status } : {}),
    ...(random.chance(0.5)
      ? {
          route: {
            rule: text(),
            severity: random.pick(['low', 'normal', 'high']),
            mention: random.pick([
              { kind: 'person', id: ada },
              { kind: 'group', id: 'S0OWN00001' },
            ]),
          },
        }
      : {}),
  };
}

/** Parsed from the bytes that a sender signs, so that everything JSON can carry gets in. */
export function eventOf({ random, text }: Outside): PaymentEvent {
  const kind = random.pick(['payment_failed', 'payment_success']);
  const order = {
    orderReference: random.chance(0.5) ? text() : 'REF-1',
    orderId: text(),
    customerId: text(),
    customerEmail: text(),
    amount: random.pick(['5000.00', '0.01', text()]),
    currency: random.pick(['NGN', text()]),
    isTokenizedCardPayment: random.pick([true, false, text()]),
  };
  const body = {
    event_type: kind,
    data: { order, transaction: { gatewayMessage: text(), transactionId: text() } },
  };
  const found = parseEvent(Buffer.from(JSON.stringify(body)), defaultEventPointers, { covers: 'body' });
  if (found.kind !== 'event') throw new Error(`A body that was made to be an event is ${found.kind}.`);
  return found.event;
}

export function lookupOf(outside: Outside, reference = 'REF-1'): Lookup {
  const asked = reference as OrderReference;
  return outside.random.pick([
    () => confirm({ reference: asked }, recordOf(outside, reference)),
    () =>
      confirm(
        { reference: asked, amount: { minor: 700, currency: outside.text(), source: 'event' } },
        recordOf(outside, reference),
      ),
    () => ({ kind: 'not_found' }) as const,
    () => ({ kind: 'no_reference' }) as const,
    () => ({ kind: 'unchecked', failure: 'malformed' }) as const,
  ])();
}

export function recordOf({ random, text }: Outside, reference: string): Transaction {
  return {
    id: text(),
    status: random.pick(['SUCCESS', 'FAILED', text()]),
    amountMinor: 500,
    currency: random.pick(['NGN', text()]),
    source: text(),
    type: text(),
    gatewayMessage: text(),
    entryType: text(),
    orderId: text(),
    orderReference: random.chance(0.7) ? reference : text(),
    orderAmountMinor: random.pick([500, 900]),
    orderCurrency: random.pick(['NGN', text()]),
    customerEmail: random.pick([text(), `${text()}@${text()}`]),
    paymentMethod: text(),
  };
}

function stormItems({ random, text }: Outside): StormItem[] {
  return Array.from({ length: 4 }, (_, index) => ({
    event: {
      kind: 'payment_failed',
      key: `payment_failed/order/O-${index}`,
      orderReference: text(),
      customerEmail: text(),
      amountMinor: random.pick([500, 900_000_000]),
      currency: random.pick(['NGN', text()]),
      reason: text(),
    },
    receivedAtMs: at + index,
    addedAtMs: at + index,
    isConfirmed: false,
  }));
}

function stormOf(outside: Outside): Storm {
  const { random } = outside;
  const tally = createTally();
  for (const { event } of stormItems(outside)) tally.add(event);
  return {
    id: `C0OWN00001/${at}`,
    channel: 'C0OWN00001',
    gathers: random.pick(['payment_failed', 'payment_success']),
    number: at,
    sinceMs: at,
    groups: [''],
    counted: {
      ...tally.total(),
      firstMs: at,
      lastMs: at + 3,
      calmSinceMs: at,
      confirmed: 0,
      recovered: random.below(3),
    },
    isQuiet: true,
    ...(random.chance(0.5) ? { endedMs: at } : {}),
    ...(random.chance(0.5) ? { taken: { by: ada, at } } : {}),
  };
}

export function muteOf({ text }: Outside): AlertMute {
  const match = { reasonPart: text(), customer: { kind: 'prefix', text: text() } } as const;
  const span = { fromMs: at, untilMs: at + 60_000 };
  return {
    id: 'V1',
    channel: 'C0OWN00001',
    rule: text(),
    match,
    why: text(),
    by: ada,
    ...span,
    isOver: false,
  };
}

function summaryOf({ random, text }: Outside): DailySummary {
  const counted = {
    count: 3,
    sums: [{ minor: 500, currency: text() }],
    moreCurrencies: 0,
    unsummed: random.below(3),
    reasons: [{ reason: text(), count: 2 }],
    otherReasons: 0,
    noReason: 1,
  };
  return {
    fromMs: at - 86_400_000,
    untilMs: at,
    failed: counted,
    paid: { ...counted, sums: [{ minor: 7, currency: 'NGN' }] },
    givenBack: counted,
    proven: 2,
    disputed: { failed: 1, paid: 2, givenBack: 1 },
    postedHere: 3,
    alerts: {
      open: [
        { orderReference: text(), receivedAtMs: at, money: { minor: 5, currency: text() } },
        { receivedAtMs: at },
      ],
      acknowledged: 1,
      snoozed: 1,
      leftOut: 0,
    },
    nowMs: at,
  };
}

function statusOf(outside: Outside): AlertStatus {
  const { random } = outside;
  return {
    id: 'payment_failed/order/REF-1',
    state: stateOf(outside),
    ...(random.chance(0.7) ? { again: random.pick(['charge', 'link'] as const) } : {}),
    ...(random.chance(0.3) ? { lookedUpAtMs: at } : {}),
    ...(random.chance(0.3) ? { replaced: earlier } : {}),
  };
}

export function stateOf(outside: Outside): AlertState {
  const { random, text } = outside;
  const acknowledged = { kind: 'acknowledged', by: ada, at, assignee: bola, snoozedUntil: at + 1 } as const;
  return random.pick<() => AlertState>([
    () => ({ kind: 'open' }),
    () => acknowledged,
    () => ({ kind: 'recovered', at, payment: recoveryOf(outside), acknowledged }),
    () => ({ kind: 'closed', at, by: bola, reason: text(), acknowledged }),
  ])();
}

function stepOf(outside: Outside): AlertStep {
  return outside.random.pick<() => AlertStep>([
    () => ({ kind: 'acknowledged', by: ada, at }),
    () => ({ kind: 'assigned', by: ada, to: bola, at }),
    () => ({ kind: 'snoozed', by: ada, until: at, at }),
    () => ({ kind: 'awake', at }),
    () => ({ kind: 'escalated', about: '', afterMs: 1, to: { kind: 'person', id: ada }, at }),
    () => ({ kind: 'closed', by: ada, reason: outside.text(), at }),
    () => ({ kind: 'recovered', payment: recoveryOf(outside), at }),
  ])();
}

function recoveryOf({ random, text }: Outside): Recovery {
  return {
    reference: text(),
    isSameReference: random.chance(0.5),
    money: { minor: 500, currency: text() },
    afterMs: random.pick([-5, 90_000, 90 * 86_400_000]),
  };
}

function aboutOf({ random }: Outside): { key: string; mayBeRepeat: boolean } {
  return { key: 'message:alert-note:1', mayBeRepeat: random.chance(0.5) };
}
