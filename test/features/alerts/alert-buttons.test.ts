import { describe, expect, it } from 'vitest';
import type { Account } from '../../../src/account.ts';
import type { AlertTaken, Lookup } from '../../../src/domain/alert.ts';
import { confirm } from '../../../src/domain/transaction.ts';
import type { RetryVerdict } from '../../../src/domain/decline-reason.ts';
import type { OrderReference } from '../../../src/domain/order-reference.ts';
import type { KnownCard } from '../../../src/domain/card.ts';
import {
  alertActions,
  alertButtons,
  type ButtonsNeeds,
  alertForm,
} from '../../../src/features/alerts/alert-buttons.ts';
import { createJudge } from '../../../src/features/alerts/charge-again.ts';
import type { FoundAlert } from '../../../src/features/alerts/alert-cards.ts';
import { outcomeAlone, withoutDetails, type CardMove } from '../../../src/features/alerts/alert.ts';
import type { SlackMessage } from '../../../src/slack/kit/message.ts';
import { mayTry } from '../../../src/features/charge/card-history.ts';
import type { Standing } from '../../../src/slack/people/role.ts';
import { failed, recordOf } from '../alerts-house.ts';

const dayMs = 86_400_000;
const [ada, bola] = ['U0ADA', 'U0BOLA'];
const jane: KnownCard = { id: 'card1', face: { lastFour: '4242' }, customerEmail: 'Jane@example.com' };
const other: KnownCard = { id: 'card2', face: { lastFour: '1881' }, customerEmail: 'jane@example.com.ng' };
const second = { ...other, customerEmail: 'jane@example.com' };

function lookedUp(status: string, told: object = {}): Lookup {
  return confirm({ reference: 'ORDER-1' as OrderReference }, { ...recordOf('ORDER-1', status), ...told });
}

function alertOf(lookup?: Lookup, event = failed): FoundAlert {
  const card = { kind: 'acknowledged', by: ada, at: 0 } as const;
  return { event, receivedAtMs: 0, card, ...(lookup && { evidence: { lookup, atMs: 0 } }) };
}

type Options = {
  alert?: FoundAlert;
  cards?: KnownCard[];
  verdict?: RetryVerdict;
  chargedCard?: string;
  nowMs?: number;
  taken?: AlertTaken;
  /** What the service says now; `hangs`: nothing. */
  now?: Lookup | 'hangs';
  standing?: Standing;
  /** The policy lets a second person decide that a card on hold is charged. */
  mayOverride?: boolean;
  mayReveal?: boolean;
};

/** A declined charge, a day later; everything behind its buttons is told what to say. */
function stage(options: Options = {}) {
  const { alert = alertOf(lookedUp('FAILED')), cards = [jane], nowMs = dayMs, now, chargedCard } = options;
  const place = { environment: 'live', account: 'Main shop' } as const;
  const account = {
    place,
    rules: { declines: { threeDSecureWords: [], waitMs: dayMs } },
    people: { standingOf: async () => options.standing ?? { kind: 'known', roles: [] } },
    now: () => nowMs,
  } as unknown as Account;
  const [moves, replies]: [CardMove[], SlackMessage[]] = [[], []];
  const opened: Parameters<ButtonsNeeds['chargeForm']>[0][] = [];
  const links: Parameters<ButtonsNeeds['linkForm']>[0][] = [];
  const rule = { waitMs: dayMs, attempts: 3, forgetMs: 30 * dayMs };
  const judging = createJudge(account, {
    ledger: { search: async () => cards },
    mayTry: async (_card, outside) =>
      options.verdict ??
      mayTry(
        outside ? [{ ...outside, reference: 'ORDER-1' as OrderReference, at: outside.atMs }] : [],
        rule,
        nowMs,
      ),
    chargeOf: async () => (chargedCard === undefined ? undefined : { card: chargedCard }),
    mayOverride: () => options.mayOverride ?? false,
  });
  const { presses, modals } = alertButtons(
    account,
    {
      find: async (id) => (id === failed.key ? alert : undefined),
      taken: async () => options.taken,
      lookUpNow: async () =>
        now === 'hangs'
          ? await new Promise<never>(() => undefined)
          : { ...alert, ...(now && { evidence: { lookup: now, atMs: nowMs } }) },
      async move(_id, move) {
        moves.push(move);
        return { kind: 'moved', card: alert.card, step: { kind: 'awake', at: nowMs } };
      },
    },
    judging,
    {
      mayReveal: async () => options.mayReveal ?? false,
      linkForm(filled) {
        links.push(filled);
        return alertForm('close', failed.key, place);
      },
      chargeForm(filled) {
        opened.push(filled);
        return alertForm('close', failed.key, place);
      },
    },
  );
  const caller = { userId: ada };
  async function press(action: 'chargeAgain' | 'link', value = failed.key) {
    await presses
      .find(({ actionId }) => actionId === alertActions[action])
      ?.press({
        caller,
        value,
        openModal: async () => 'V1',
        updateModal: async () => undefined,
        reply: async (message) => void replies.push(message),
      });
    return { opened, links, said: JSON.stringify(replies) };
  }
  const chargeAgain = (value?: string) => press('chargeAgain', value);
  const payByLink = () => press('link');
  const assign = (to: string) =>
    modals
      .find(({ callbackId }) => callbackId === 'alert_assign')
      ?.submit({ caller, viewId: 'V1', privateMetadata: failed.key, values: { alert_assignee: to } });
  return { moves, chargeAgain, payByLink, assign };
}

describe('Charge again…', () => {
  it('begins the form with the only card of exactly this address, the amount, the customer and the alert', async () => {
    const { opened } = await stage({ cards: [jane, other] }).chargeAgain();
    const prefill = { amountMinor: 1_250_000, currency: 'NGN', customerId: 'cust-7' };
    expect(opened).toMatchObject([{ alert: failed.key, prefill: { ...prefill, card: { id: 'card1' } } }]);
  });

  it.each<[string, string | undefined, string | undefined]>([
    ['leaves it to be chosen', undefined, undefined],
    ['begins with the very card that the bot charged', 'card2', 'card2'],
    ['leaves it to be chosen where that was deleted since', 'gone', undefined],
  ])('of several cards %s', async (_what, chargedCard, card) => {
    const options = { cards: [jane, second], ...(chargedCard !== undefined && { chargedCard }) };
    const { opened } = await stage(options).chargeAgain();
    expect(opened.map(({ prefill }) => prefill.card?.id)).toEqual([card]);
  });

  const nothing = { amountMinor: undefined, currency: undefined };
  it.each([
    ['the order’s amount, where nothing was taken', { amountMinor: 0, orderAmountMinor: 700 }, 700, 'NGN'],
    [
      'the order’s amount, where the record says nothing of what was taken',
      { ...nothing, orderAmountMinor: 700, orderCurrency: 'USD' },
      700,
      'USD',
    ],
    ['the event’s amount, where the record names none', nothing, 1_250_000, 'NGN'],
  ])('begins with %s', async (_what, told, amountMinor, currency) => {
    const { opened } = await stage({ alert: alertOf(lookedUp('FAILED', told)) }).chargeAgain();
    expect(opened).toMatchObject([{ prefill: { amountMinor, currency } }]);
  });

  const payment = {
    reference: 'ORDER-2',
    isSameReference: false,
    money: { minor: 700, currency: 'USD' },
    afterMs: 60_000,
  };
  const charge = { reference: 'pay-first', by: bola, at: dayMs };
  const resting: RetryVerdict = { kind: 'on_hold', nextTryFrom: 2 * dayMs, attemptsLeft: 1 };
  const stopped: RetryVerdict = { kind: 'stopped', declines: 3, nextTryFrom: 30 * dayMs };
  const fraud = { ...failed, reason: 'Suspected fraud' };
  const erased = alertOf(outcomeAlone(lookedUp('FAILED')), withoutDetails(failed));
  // The look-up that the message shows is as old as the rest, and the button stands there until the message is edited.
  it.each<[string, Options, string]>([
    [
      'a payment resolved it',
      { taken: { kind: 'ended', card: { kind: 'recovered', at: 0, payment } } },
      'Already resolved',
    ],
    [
      'somebody closed it',
      { taken: { kind: 'ended', card: { kind: 'closed', at: 0, by: bola, reason: 'cash' } } },
      'Already resolved',
    ],
    ['somebody charges it', { taken: { kind: 'charging', charge } }, 'pay-first'],
    ['a day has not passed since the event, whoever made that charge', { nowMs: dayMs - 1 }, 'on hold until'],
    ['the card rests for longer', { verdict: resting }, 'on hold until'],
    [
      'the card that the bot charged rests',
      { verdict: resting, cards: [jane, second], chargedCard: 'card2' },
      'on hold until',
    ],
    ['the card must be saved again', { verdict: { kind: 'save_again' } }, '3-D Secure'],
    ['no card of this address is known', { cards: [other] }, 'knows no saved card'],
    ['its details are gone', { alert: erased }, 'details were erased'],
    ['money may have moved', { alert: alertOf(lookedUp('SUCCESS')) }, 'money may have moved'],
    ['the service calls it paid by now', { now: lookedUp('SUCCESS') }, 'money may have moved'],
    ['nothing was looked up', { alert: alertOf() }, 'money may have moved'],
    [
      'the look-up had no answer',
      { alert: alertOf({ kind: 'unchecked', failure: 'timeout' }) },
      'money may have moved',
    ],
  ])('opens no form where %s, and says so', async (_what, options, says) => {
    const { opened, said } = await stage(options).chargeAgain();
    expect(opened).toEqual([]);
    expect(said).toContain(says);
  });

  it.each<[string, Lookup | 'hangs']>([
    ['cannot be asked', { kind: 'unchecked', failure: 'network' }],
    ['does not answer while Slack waits', 'hangs'],
  ])('opens the form all the same where the service %s', async (_what, now) => {
    const { opened, said } = await stage({ now }).chargeAgain();
    expect([opened.length, said]).toEqual([1, '[]']);
  });

  it.each<[string, Options, number]>([
    ['on hold', { verdict: resting, mayOverride: true }, 1],
    ['declined an hour ago by another charge than the bot’s', { nowMs: dayMs / 24, mayOverride: true }, 1],
    ['that is out of attempts', { verdict: { ...stopped }, mayOverride: true }, 0],
    ['that is stolen', { alert: alertOf(lookedUp('FAILED'), fraud), mayOverride: true }, 0],
  ])('where a second person may decide, opens the form of a card %s: %#', async (_what, options, forms) => {
    expect((await stage(options).chargeAgain()).opened).toHaveLength(forms);
  });

  it('says so when the alert is forgotten', async () => {
    const { opened, said } = await stage().chargeAgain('payment_failed/order/OLD');
    expect(opened).toEqual([]);
    expect(said).toContain('This alert is gone');
  });
});

describe('Payment link', () => {
  const terms = { amountMinor: 1_250_000, currency: 'NGN', customerId: 'cust-7' };
  it.each([
    ['with its e-mail, to whoever may read that', true, { ...terms, customerEmail: 'jane@example.com' }],
    ['without its e-mail to anybody else', false, terms],
  ])('begins the form with the amount and the customer, %s', async (_what, mayReveal, filled) => {
    const { links } = await stage({ mayReveal, nowMs: 0 }).payByLink();
    expect(links).toEqual([filled]);
  });

  it('opens nothing for what may be paid', async () => {
    const { links, said } = await stage({ now: lookedUp('SUCCESS') }).payByLink();
    expect(links).toEqual([]);
    expect(said).toContain('money may have moved');
  });
});

it('an alert is assigned all the same while Slack does not say who is in a role', async () => {
  const { assign, moves } = stage({ standing: { kind: 'unknown' } });
  expect(await assign(bola)).toEqual({ kind: 'close' });
  expect(moves).toEqual([{ kind: 'assign', by: ada, to: bola }]);
});
