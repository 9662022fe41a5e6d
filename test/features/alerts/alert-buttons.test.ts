import { describe, expect, it } from 'vitest';
import type { RetryVerdict } from '../../../src/domain/decline-reason.ts';
import type { OrderReference } from '../../../src/domain/order-reference.ts';
import type { KnownCard } from '../../../src/domain/card.ts';
import type { PaymentEvent } from '../../../src/domain/payment-event.ts';
import type { Transaction } from '../../../src/domain/transaction.ts';
import { alertActions, alertForm, type ButtonsNeeds } from '../../../src/features/alerts/alert-buttons.ts';
import type { SlackMessage } from '../../../src/slack/kit/message.ts';
import { SealBroken } from '../../../src/store/store.ts';
import { visibleText } from '../../support/visible-text.ts';
import { mayTry } from '../../../src/features/charge/card-history.ts';
import {
  type AlertsHouse,
  failed,
  openAlertsWorld,
  pressables,
  recordOf,
  startAlerts,
} from '../alerts-house.ts';

const dayMs = 86_400_000;
const [ada, bola] = ['U0ADA', 'U0BOLA'];
const jane: KnownCard = { id: 'card1', face: { lastFour: '4242' }, customerEmail: 'Jane@example.com' };
const other: KnownCard = { id: 'card2', face: { lastFour: '1881' }, customerEmail: 'jane@example.com.ng' };
const second = { ...other, customerEmail: 'jane@example.com' };

const declined = recordOf('ORDER-1', 'FAILED');
const isPaid = recordOf('ORDER-1', 'SUCCESS');

type Options = {
  event?: PaymentEvent;
  /** The service's record: `record` when the alert is posted, `now` when its button is pressed. */
  record?: Transaction | 'away';
  now?: Transaction | 'away' | 'hangs';
  isPosted?: false;
  /** Between event and press; a day, if absent. */
  afterMs?: number;
  /** What happens to the alert then. */
  before?: (house: AlertsHouse) => Promise<unknown>;
  cards?: KnownCard[];
  verdict?: RetryVerdict;
  /** The card whose history can't be read. */
  unreadable?: string;
  chargedCard?: string;
  /** The policy lets a second person approve a charge of a card on hold. */
  mayOverride?: boolean;
  mayReveal?: boolean;
};

/** A declined charge, a day later; other features answer as the options say. */
async function stage(options: Options = {}) {
  const { event = failed, record = declined, now = record, afterMs = dayMs, cards = [jane] } = options;
  const { chargedCard, verdict, mayOverride = false, mayReveal = false } = options;
  const world = openAlertsWorld();
  const { clock, service, routes } = world;
  world.settings.alertDetailsDays = 14;
  const replies: SlackMessage[] = [];
  const opened: Parameters<ButtonsNeeds['chargeForm']>[0][] = [];
  const links: Parameters<ButtonsNeeds['linkForm']>[0][] = [];
  const rule = { waitMs: dayMs, attempts: 3, forgetMs: 30 * dayMs };
  const reference = 'ORDER-1' as OrderReference;
  const house = startAlerts(world, undefined, {
    needs: {
      ledger: { search: async () => cards },
      async mayTry(card, outside) {
        if (card === options.unreadable) throw new SealBroken('a lost key');
        const history = outside ? [{ ...outside, reference, at: outside.atMs }] : [];
        return verdict ?? mayTry(history, rule, clock.nowMs);
      },
      chargeOf: async () => (chargedCard === undefined ? undefined : { card: chargedCard }),
      mayOverride: () => mayOverride,
      mayReveal: async () => mayReveal,
      async linkForm(filled) {
        links.push(filled);
        return alertForm('close', failed.key, routes);
      },
      chargeForm(filled) {
        opened.push(filled);
        return alertForm('close', failed.key, routes);
      },
    },
  });
  function says(said: Transaction | 'away' | 'hangs'): void {
    service.isAway = said === 'away';
    if (said === 'hangs') service.find = () => new Promise(() => undefined);
    else if (said !== 'away') world.records.set('ORDER-1', said);
  }
  const startedAtMs = clock.nowMs;
  says(record);
  await house.receive(event);
  if (options.isPosted !== false) await house.drain();
  clock.nowMs = startedAtMs + afterMs;
  await options.before?.(house);
  says(now);
  const { presses, modals } = house.verbs[0]!;
  const caller = { userId: ada };
  async function press(action: 'chargeAgain' | 'link', value = failed.key) {
    await presses
      ?.find(({ actionId }) => actionId === alertActions[action])
      ?.press({
        caller,
        value,
        openModal: async () => 'V1',
        updateModal: async () => undefined,
        reply: async (message) => void replies.push(message),
      });
    return { opened, links, said: JSON.stringify(replies) };
  }
  const assign = (to: string) =>
    modals
      ?.find(({ callbackId }) => callbackId === 'alert_assign')
      ?.submit({ caller, viewId: 'V1', privateMetadata: failed.key, values: { alert_assignee: to } });
  return { world, house, press, assign };
}

async function chargeAgain(options?: Options, value?: string) {
  return await (await stage(options)).press('chargeAgain', value);
}

async function payByLink(options?: Options) {
  return await (await stage(options)).press('link');
}

describe('Charge again…', () => {
  it('fills in the only card of this e-mail, the amount, the customer and the alert', async () => {
    const { opened } = await chargeAgain({ cards: [jane, other] });
    const prefill = { amountMinor: 1_250_000, currency: 'NGN', customerId: 'cust-7' };
    expect(opened).toMatchObject([{ alert: failed.key, prefill: { ...prefill, card: { id: 'card1' } } }]);
  });

  it.each<[string, string | undefined, string | undefined]>([
    ['selects none', undefined, undefined],
    ['selects the one that the bot charged', 'card2', 'card2'],
    ['selects none if the charged one was deleted', 'gone', undefined],
  ])('of several cards %s', async (_what, chargedCard, card) => {
    const options = { cards: [jane, second], ...(chargedCard !== undefined && { chargedCard }) };
    const { opened } = await chargeAgain(options);
    expect(opened.map(({ prefill }) => prefill.card?.id)).toEqual([card]);
  });

  const nothing = { amountMinor: undefined, currency: undefined };
  it.each([
    ['the order’s amount if nothing was taken', { amountMinor: 0, orderAmountMinor: 700 }, 700, 'NGN'],
    [
      'the order’s amount if the record has no amount taken',
      { ...nothing, orderAmountMinor: 700, orderCurrency: 'USD' },
      700,
      'USD',
    ],
    ['the event’s amount if the record has none', nothing, 1_250_000, 'NGN'],
  ])('fills in %s', async (_what, told, amountMinor, currency) => {
    const { opened } = await chargeAgain({ record: { ...declined, ...told } as Transaction });
    expect(opened).toMatchObject([{ prefill: { amountMinor, currency } }]);
  });

  const payment = {
    reference: 'ORDER-2',
    isSameReference: false,
    money: { minor: 700, currency: 'USD' },
    afterMs: 60_000,
  };
  const onHold: RetryVerdict = { kind: 'on_hold', nextTryFrom: 2 * dayMs, attemptsLeft: 1 };
  const stopped: RetryVerdict = { kind: 'stopped', declines: 3, nextTryFrom: 30 * dayMs };
  const fraud = { ...failed, reason: 'Suspected fraud' };
  // The message may be outdated: its look-up is as old as the post, and its buttons stay until the next edit.
  it.each<[string, Options, string]>([
    [
      'a payment resolved it',
      { before: ({ alerts }) => alerts.move(failed.key, { kind: 'recover', payment }) },
      'Already resolved',
    ],
    [
      'somebody closed it',
      { before: ({ alerts }) => alerts.move(failed.key, { kind: 'close', by: bola, reason: 'cash' }) },
      'Already resolved',
    ],
    [
      'somebody charges it',
      { before: ({ claims }) => claims.claim(failed.key, { reference: 'pay-first', by: bola }) },
      'pay-first',
    ],
    [
      'the event is less than a day old, even of a charge made elsewhere',
      { afterMs: dayMs - 1 },
      'on hold until',
    ],
    ['the card is on hold for longer', { verdict: onHold }, 'on hold until'],
    [
      'the card that the bot charged is on hold',
      { verdict: onHold, cards: [jane, second], chargedCard: 'card2' },
      'on hold until',
    ],
    ['the card must be saved again', { verdict: { kind: 'save_again' } }, '3-D Secure'],
    ['no card of this address is known', { cards: [other] }, 'knows no saved card'],
    [
      'its details were erased',
      { afterMs: 14 * dayMs, before: (house) => house.drain(60_000) },
      'details were erased',
    ],
    ['money may have moved', { record: isPaid }, 'money may have moved'],
    ['a new look-up finds it paid', { now: isPaid }, 'money may have moved'],
    ['nothing was looked up', { isPosted: false, now: 'away' }, 'money may have moved'],
    ['the look-up had no answer', { record: 'away' }, 'money may have moved'],
  ])('opens no form if %s, and says so', async (_what, options, says) => {
    const { opened, said } = await chargeAgain(options);
    expect(opened).toEqual([]);
    expect(said).toContain(says);
  });

  it.each<[string, 'away' | 'hangs']>([
    ['is away', 'away'],
    ['does not answer in time', 'hangs'],
  ])('opens the form even if the service %s', async (_what, now) => {
    const { opened, said } = await chargeAgain({ now });
    expect([opened.length, said]).toEqual([1, '[]']);
  });

  it.each<[string, Options, number]>([
    ['on hold', { verdict: onHold, mayOverride: true }, 1],
    ['declined an hour ago by a charge made elsewhere', { afterMs: dayMs / 24, mayOverride: true }, 1],
    ['that is out of attempts', { verdict: { ...stopped }, mayOverride: true }, 0],
    ['suspected of fraud', { event: fraud, mayOverride: true }, 0],
  ])(
    'if a second person may approve, opens the form or not for a card %s: %#',
    async (_what, options, forms) => {
      expect((await chargeAgain(options)).opened).toHaveLength(forms);
    },
  );

  it('says so if the alert is forgotten', async () => {
    const { opened, said } = await chargeAgain({}, 'payment_failed/order/OLD');
    expect(opened).toEqual([]);
    expect(said).toContain('This alert is gone');
  });
});

describe('Payment link', () => {
  const terms = { amountMinor: 1_250_000, currency: 'NGN', customerId: 'cust-7' };
  it.each([
    ['and the e-mail for people who may see it', true, { ...terms, customerEmail: 'jane@example.com' }],
    ['without the e-mail for others', false, terms],
  ])('fills in the amount and the customer, %s', async (_what, mayReveal, filled) => {
    const { links } = await payByLink({ mayReveal, afterMs: 0 });
    expect(links).toEqual([filled]);
  });

  it('opens no form if the order may be paid', async () => {
    const { links, said } = await payByLink({ now: isPaid });
    expect(links).toEqual([]);
    expect(said).toContain('money may have moved');
  });
});

it('the form that resolves the alert of a link’s failed try names that link, listed by its first alert', async () => {
  const world = openAlertsWorld();
  const reference = 'pay-link-1';
  const key = `payment_failed/order/${reference}`;
  const link = { reference, by: bola, atMs: world.clock.nowMs, outcome: 'unpaid' } as const;
  const house = startAlerts(world, undefined, {
    needs: { openLinks: async (alert) => (alert === failed.key ? [link] : []) },
  });
  world.charges.set(reference, { agent: bola, alert: failed.key });
  await house.receive({ ...failed, key, orderReference: reference });
  await house.drain();
  const opened: string[] = [];
  await house.verbs[0]?.presses
    ?.find(({ actionId }) => actionId === alertActions.close)
    ?.press({
      caller: { userId: ada },
      value: key,
      async openModal(modal) {
        opened.push(visibleText(modal.blocks));
        return 'V1';
      },
      updateModal: async () => undefined,
      reply: async () => undefined,
    });
  expect(opened).toEqual([expect.stringMatching(/isn’t settled yet[^]*pay-link-1/u)]);
});

it('an alert can be assigned while Slack does not say who has a role', async () => {
  const { world, house, assign } = await stage({
    before: ({ alerts }) => alerts.move(failed.key, { kind: 'acknowledge', by: ada }),
  });
  world.roles = { kind: 'unknown' };
  expect(await assign(bola)).toEqual({ kind: 'close' });
  expect((await house.alerts.read(failed.key)).state).toMatchObject({ by: ada, assignee: bola });
});

it('an alert is posted, and offers the customer’s other card, if a card’s history can’t be read', async () => {
  const { house } = await stage({ cards: [jane, second], unreadable: jane.id, mayOverride: true });
  expect(pressables(house.parents()[0]!)).toContain('Charge again…');
});

it('the Home shows the other alerts if one can’t be read', async () => {
  const world = openAlertsWorld();
  const { sealer } = world;
  world.sealer = {
    ...sealer,
    open(context: string, text: string) {
      if (context === 'message:alert:payment_failed/order/LOST') throw new SealBroken('a lost key');
      return sealer.open(context, text);
    },
  };
  const orders = ['LOST', 'ORDER-1', 'ORDER-2'];
  const house = startAlerts(openAlertsWorld());
  const open = startAlerts({ ...world, store: house.store, clock: house.clock });
  for (const orderReference of orders) {
    await house.receive({ ...failed, key: `payment_failed/order/${orderReference}`, orderReference });
  }
  await house.drain();
  for (const order of ['LOST', 'ORDER-1']) {
    await house.alerts.move(`payment_failed/order/${order}`, { kind: 'acknowledge', by: ada });
  }
  const { home } = open.verbs[0]!;
  const shown = visibleText((await home?.({ userId: ada })) ?? []);
  expect(shown).toMatch(/Assigned to you[^]*ORDER-1[^]*Open alerts[^]*ORDER-2/);
});
