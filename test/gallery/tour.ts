import { rightOtp } from '../../src/simulators/payments/bank.ts';
import type { PageMessage } from '../../src/simulators/protocol.ts';
import { charges, reviews, type Desk, type Message } from '../support/desk.ts';
import type { Person } from '../support/house.ts';

/** What people do in one part of the bot, so that all its screens are seen. */
export type Chapter = { name: string; play: (desk: Desk) => Promise<void> };

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** Slack takes two presses of a button within two seconds for one. */
const doubleClickMs = 2_100;
const [ada, bola, chidi, dayo] = ['4081', '1127', '6640', '9018'];
const form = 'You review it before anything is charged';

async function eachIn<T>(all: readonly T[], play: (one: T) => Promise<unknown>): Promise<void> {
  // oxlint-disable-next-line no-await-in-loop -- one hand
  for (const one of all) await play(one);
}

async function weather(desk: Desk, name: 'normal' | 'hang' | 'error_500' | 'rate_limited' | 'unauthorized') {
  await desk.house.payments.act({ kind: 'set_weather', weather: name });
}

/** Somebody's message in the desk's channel. */
async function writes(desk: Desk, text: string): Promise<PageMessage> {
  await desk.types('onCall', text);
  const { channels, users } = desk.house.workspace.ids;
  const all = desk.house.workspace.state(users.onCall).messages[channels.payDesk] ?? [];
  const message = all.findLast(({ authorIsBot }) => !authorIsBot);
  if (!message) throw new Error('It was not posted.');
  return message;
}

const approve = (message: Message): string =>
  message.shown.buttons.find((label) => label.startsWith('Approve')) ?? 'no button that approves';

async function pay(
  desk: Desk,
  orderReference: string,
  outcome: 'approved' | 'declined' = 'approved',
): Promise<void> {
  await desk.house.payments.act({ kind: 'pay_order', orderReference, outcome });
}

/** Another person's charge and everything that it says is over; a new day for every card. */
async function nextDay(desk: Desk): Promise<void> {
  await eachIn(['agent', 'lead', 'onCall'] as const, (person) => desk.closes(person));
  desk.house.later(25 * hourMs);
}

export const chapters: readonly Chapter[] = [
  {
    name: 'Menu, help and refusals',
    async play(desk) {
      await desk.asks('agent', '/pay', 'Nothing waits for you');
      await desk.asks('lead', '/pay', 'Nothing waits for you');
      await desk.asks('lead', '/pay help', 'What you can do with /pay');
      await desk.asks('agent', '/pay help', 'What you can do with /pay');
      await desk.asks('onCall', '/pay unmute', 'payops.yml');
      await desk.asks('onCall', '/pay mute', 'No alerts come here', 'payDesk');
      await desk.asks('agent', '/pay help lookup', 'For example');
      await desk.asks('agent', '/pay help lokup', 'lookup');
      await desk.asks('agent', '/pay lokup ORDER-1001', 'lookup ORDER-1001');
      await desk.asks('agent', '/pay refund now please', 'refund');
      await desk.asks('agent', '/pay 4111 1111 1111 1111', 'card number');
      await desk.asks('agent', '/pay lookup', '/pay lookup INV-2041');
      await desk.asks('agent', '/pay otp 246810', 'pay-');
      await desk.asks('outsider', '/pay', 'Not allowed');
      await desk.asks('onCall', '/pay link', 'Not allowed');
      await desk.asks('agent', '/pay undelivered', 'Not allowed');
      await desk.home('outsider', 'Not allowed');
      await desk.home('agent', '/pay help');
      await desk.asks('lead', '/pay doctor', '');
      await desk.home('lead', 'Nothing waits for you');
      const menu = await desk.asks('lead', '/pay', 'Nothing waits for you');
      await eachIn(['Charge a card', 'Payment link', 'Change a card’s e-mail'], async (label) => {
        await desk.presses('lead', label, menu);
        await desk.modalSays('lead', '');
        await desk.closes('lead');
      });
      await eachIn(
        ['Enter a code', 'Doubts', 'Terminals', 'Accounts', 'Approvals', 'Alerts here'],
        async (label) => {
          const again = await desk.asks('lead', '/pay', 'Nothing waits for you');
          await desk.seesBy('lead', '', () => desk.presses('lead', label, again));
        },
      );
      await desk.shortcut('outsider', 'Charge a saved card');
      await desk.modalSays('outsider', 'Not allowed');
      await desk.closes('outsider');
    },
  },
  {
    name: 'Look-up',
    async play(desk) {
      const paid = await desk.asks('agent', '/pay ORDER-1001', '✅ Paid (confirmed)');
      await desk.presses('agent', 'Refresh', paid);
      await desk.presses('agent', 'Share to channel', paid);
      const shared = await desk.reads('onCall', 'Shared by', 'payDesk');
      desk.house.later(doubleClickMs);
      await desk.presses('onCall', 'Refresh', shared);
      await desk.asks('agent', '/pay ORDER-1002', '⚠️ Not confirmed');
      await desk.asks('agent', '/pay ORDER-1003', '⚠️ Not confirmed');
      await desk.asks('agent', '/pay lookup ORDER-1001 12,500.01', '⚠️ Not confirmed');
      await desk.asks('agent', '/pay NOPE-1', '🔎 Not found');
      await desk.asks('agent', '/pay INV-2041', '🔎 Not found');
      const reference = await desk.house.decline();
      await desk.reads('lead', reference, 'payAlerts');
      await desk.asks('agent', `/pay ${reference}`, '❌ Declined by the bank');
      const whole = await desk.asks('lead', '/pay ORDER-1001', 'Paid (confirmed)');
      await desk.seesBy('lead', 'ada.obi@example.com', () => desk.presses('lead', 'Reveal e-mail', whole));
      await eachIn(['error_500', 'rate_limited', 'unauthorized', 'hang'] as const, async (how) => {
        await weather(desk, how);
        await desk.asks('agent', '/pay ORDER-1001', '⚠️');
      });
      await weather(desk, 'normal');
      const here = 'Look up reference here';
      const one = await writes(desk, 'thanks, I will look at 14:33');
      await desk.seesBy('agent', 'No reference', () => desk.shortcut('agent', here, one));
      await desk.shortcut('agent', here, await writes(desk, 'ORDER-1001 and ORDER-1002'));
      const choose = await desk.modalSays('agent', 'ORDER-1002');
      await desk.submits('agent', { [choose.fields[0] ?? '']: 'ORDER-1002' });
      await desk.modalSays('agent', 'Not confirmed');
      await weather(desk, 'error_500');
      await desk.presses('agent', 'Refresh');
      await desk.modalSays('agent', '⚠️');
      await weather(desk, 'normal');
      await desk.presses('agent', 'Refresh');
      await desk.modalSays('agent', 'Not confirmed');
      await desk.presses('agent', 'Share to channel');
      await desk.modalSays('agent', 'hared');
      await desk.closes('agent');
      const elsewhere = await desk.asks('onCall', '/pay ORDER-1001', 'Paid (confirmed)', 'privateRoom');
      await desk.seesBy('onCall', '/invite', () => desk.presses('onCall', 'Share to channel', elsewhere));
    },
  },
  {
    name: 'Charge',
    async play(desk) {
      await desk.asks('agent', '/pay charge lots', 'amount');
      await desk.opens('agent', '/pay charge');
      await desk.presses('agent', 'More fields');
      await desk.modalSays('agent', 'token key');
      await desk.submits('agent', { Amount: '12,50' });
      await desk.closes('agent');
      await charges(desk, 'agent', {
        card: ada ?? '',
        amount: '12,500.00',
        reason: 'Renewal, asked for by phone',
      });
      await desk.modalSays('agent', 'Paid (confirmed)');
      await desk.closes('agent');
      const twin = await reviews(desk, 'lead', { card: ada ?? '', amount: '12,500.00' });
      if (!twin.submit?.includes('gain')) throw new Error(twin.shown.text);
      await desk.presses('lead', 'Change');
      await desk.modalSays('lead', form);
      await nextDay(desk);
      await reviews(desk, 'agent', { card: ada ?? '', amount: '300.00' });
      desk.house.later(31 * minuteMs);
      await desk.submits('agent');
      await eachIn(
        ['Insufficient funds', 'Do not honour', 'Suspected fraud', 'Invalid OTP', 'No reason'],
        async (reason) => {
          await nextDay(desk);
          await desk.house.payments.act({ kind: 'order_next_charge', next: 'decline', reason });
          await charges(desk, 'agent', { card: ada ?? '', amount: '1,000.00' });
          await desk.modalSays('agent', '❌ Declined by the bank');
          await desk.closes('agent');
        },
      );
      const onHold = await reviews(desk, 'agent', { card: ada ?? '', amount: '1,001.00' });
      if (onHold.submit !== 'Ask for approval') throw new Error(onHold.shown.text);
      await nextDay(desk);
      await charges(desk, 'agent', { card: dayo ?? '', amount: '1,300.00' });
      await desk.modalSays('agent', 'Declined by the bank');
      await desk.presses('agent', 'Payment link');
      await desk.modalSays('agent', 'The customer pays on the payments service’s page');
      await desk.closes('agent');
      await desk.closes('agent');
      await reviews(desk, 'agent', { card: dayo ?? '', amount: '1,301.00' });
      await eachIn(
        ['1,000.14', '1,000.15', '1,000.16', '1,000.17', '1,000.18', '2,000.12', '2,000.13'],
        async (amount) => {
          await nextDay(desk);
          await charges(desk, 'agent', { card: ada ?? '', amount });
          await desk.modalSays(
            'agent',
            amount.startsWith('1') ? 'Not sent' : amount.endsWith('2') ? 'Needs review' : 'Paid (confirmed)',
          );
        },
      );
      await nextDay(desk);
      await charges(desk, 'agent', { token: 'tok-bola-otp', email: 'bola@example.com', amount: '1,500.00' });
      await desk.modalSays('agent', 'Not sent');
      await desk.presses('agent', 'Change the linked e-mail');
      await desk.modalSays('agent', 'Current e-mail');
      await nextDay(desk);
      const reference = await charges(desk, 'agent', { card: ada ?? '', amount: '2,000.19' });
      await desk.modalSays('agent', '❔ In doubt, checking');
      await desk.closes('agent');
      await desk.sees('onCall', ['In doubt, checking', reference], 'payDesk');
      const list = await desk.asks('onCall', '/pay doubt', reference);
      await desk.home('agent', reference);
      await desk.presses('agent', 'Show it', 'home');
      await desk.modalSays('agent', 'In doubt');
      await desk.closes('agent');
      await desk.asks('agent', '/pay', 'without a known outcome');
      const lookUps = desk.calls('/v1/transactions/accounts/single');
      desk.house.later(8 * minuteMs);
      await desk.house.until('it has looked', () => desk.calls('/v1/transactions/accounts/single') > lookUps);
      desk.house.later(10 * minuteMs);
      await desk.sees('agent', ['⌛ Expired', reference], 'agentDm');
      await pay(desk, reference);
      await desk.presses('onCall', 'Check now', list);
      await desk.sees('agent', ['✅ Paid (confirmed)', reference], 'agentDm');
      await desk.asks('lead', '/pay doubt', 'known outcome');
      await desk.home('agent', 'Your last charges');
      await desk.presses('agent', 'Look up', 'home');
      await desk.modalSays('agent', 'Look-up');
      await desk.closes('agent');
    },
  },
  {
    name: 'The bank’s code',
    async play(desk) {
      await nextDay(desk);
      await desk.asks('agent', '/pay otp', 'No charge waits');
      const waits = async (amount: string): Promise<string> => {
        const reference = await charges(desk, 'agent', { card: bola ?? '', amount, reason: 'Renewal' });
        await desk.modalSays('agent', '3 of 3 tries left');
        return reference;
      };
      const first = await waits('100.00');
      await desk.submits('agent', { 'Code from the bank': '12' });
      await desk.submits('agent', { 'Code from the bank': '999999' });
      await desk.modalSays('agent', '2 of 3 tries left');
      await desk.presses('agent', 'Resend code (no extra time)');
      await desk.modalSays('agent', 'on its way');
      await desk.presses('agent', 'Resend code (no extra time)');
      await desk.modalSays('agent', 'Another code: on its way');
      const post = await desk.reads('lead', ['🔑 Needs OTP', first], 'payDesk');
      await desk.presses('lead', 'Enter code', post);
      await desk.modalSays('lead', 'can enter the code');
      await desk.presses('lead', 'Take over');
      await desk.modalSays('lead', 'Code from the bank');
      await desk.reads('onCall', '🤝 Taken over', post);
      await desk.modalSays('agent', 'can enter the code');
      await desk.submits('lead', { 'Code from the bank': rightOtp });
      await desk.modalSays('lead', 'Paid (confirmed)');
      await desk.settled('soon');
      const story = await desk.asks('lead', `/pay story ${first}`, 'page 1 of 2');
      const later = await desk.seesBy('lead', 'page 2 of 2', () => desk.presses('lead', 'Later', story));
      await desk.seesBy('lead', 'page 1 of 2', () => desk.presses('lead', 'Earlier', later));
      await desk.seesBy('lead', 'as a file', () => desk.presses('lead', 'CSV'));
      await nextDay(desk);
      await waits('200.00');
      await desk.closes('agent');
      await waits('201.00');
      await desk.closes('agent');
      await desk.asks('agent', '/pay otp', '2 charges wait');
      await desk.home('agent', 'Waiting for a code');
      await desk.presses('agent', 'Enter code', 'home');
      await desk.modalSays('agent', '3 of 3 tries left');
      await eachIn(['999999', '999998', '999997'], async (code) => {
        await desk.modalSays('agent', 'Code from the bank');
        await desk.submits('agent', { 'Code from the bank': code });
      });
      await desk.modalSays('agent', 'Code wrong three times');
      await desk.presses('agent', 'Charge again');
      await desk.modalSays('agent', form);
      await nextDay(desk);
      await waits('300.00');
      desk.house.later(17 * minuteMs);
      await desk.modalSays('agent', '⌛ Expired');
      await desk.asks('agent', '/pay otp pay-mfrggzdfmztwq2lknnwg23tpob', 'No such charge here');
    },
  },
  {
    name: 'Approvals',
    async play(desk) {
      await nextDay(desk);
      const asks = async (person: Person, amount: string): Promise<string> => {
        const reference = await charges(desk, person, {
          card: ada ?? '',
          amount,
          reason: 'Renewal, asked for by phone',
        });
        await desk.modalSays(person, '🟡 Needs approval');
        return reference;
      };
      await desk.asks('lead', '/pay approvals', 'Nothing waits');
      const first = await asks('agent', '150,000.00');
      const card = await desk.reads('lead', ['🟡 Needs approval', first], 'payOps');
      await desk.asks('agent', '/pay approvals', first);
      await desk.asks('lead', '/pay approvals', first);
      await desk.home('lead', first);
      await desk.home('agent', first);
      await desk.asks('lead', '/pay', 'waits for your decision');
      await desk.seesBy('lead', 'Approved', () => desk.presses('lead', approve(card), card));
      await desk.modalSays('agent', 'Paid (confirmed)');
      await desk.seesBy('onCall', 'lready approved', () => desk.presses('onCall', approve(card), card));
      await nextDay(desk);
      const second = await asks('agent', '150,001.00');
      const refused = await desk.reads('lead', ['🟡 Needs approval', second], 'leadDm');
      await desk.presses('lead', 'Refuse…', refused);
      await desk.modalSays('lead', 'Nobody can approve it after that');
      await desk.submits('lead');
      await desk.submits('lead', { Reason: 'The order was cancelled' });
      await desk.modalSays('lead', 'You refused it');
      await desk.sees('agent', ['🚫 Refused', second], 'agentDm');
      await desk.seesBy('lead', 'lready refused', () => desk.presses('lead', approve(refused), refused));
      await nextDay(desk);
      const own = await asks('lead', '150,002.00');
      const post = await desk.reads('onCall', ['🟡 Needs approval', own], 'payOps');
      await desk.seesBy('lead', 'You asked for this', () => desk.presses('lead', approve(post), post));
      await desk.presses('lead', 'Withdraw');
      await desk.modalSays('lead', '↩️ Withdrawn');
      await desk.seesBy('onCall', 'lready withdrawn', () => desk.presses('onCall', approve(post), post));
      await nextDay(desk);
      const two = await asks('agent', '500,000.00');
      const half = await desk.reads('lead', ['🟡 Needs approval', two], 'payOps');
      await desk.presses('lead', approve(half), half);
      const now = await desk.reads('lead', ['🟡 1 of 2 approved', two], 'payOps');
      await desk.settled('soon');
      desk.house.later(5_000);
      await desk.seesBy('lead', 'You already approved this', () => desk.presses('lead', approve(now), now));
      await desk.settled('soon');
      desk.house.later(181 * minuteMs);
      await desk.sees('onCall', ['⏰ Expires soon', two], 'onCallDm');
      desk.house.later(hourMs);
      await desk.sees('agent', ['⌛ Expired', two], 'agentDm');
      await desk.closes('agent');
      await nextDay(desk);
      await charges(desk, 'agent', { card: chidi ?? '', amount: '900.00' });
      await desk.modalSays('agent', 'Declined by the bank');
      await desk.closes('agent');
      await reviews(desk, 'agent', { card: chidi ?? '', amount: '901.00' });
      await desk.submits('agent', { 'Why now': 'The limit was raised' });
      await desk.modalSays('agent', 'Needs approval');
      await desk.reads('lead', ['🟡 Needs approval', 'NGN 901.00'], 'leadDm');
      await desk.closes('agent');
    },
  },
  {
    name: 'Alerts',
    async play(desk) {
      await nextDay(desk);
      const says = (reference: string, ...words: string[]) =>
        desk.reads('lead', [reference, ...words], 'payAlerts');
      const fails = async (customerEmail: string, amount = '5000.00'): Promise<[string, Message]> => {
        const reference = await desk.house.decline({ customerEmail, amount });
        return [reference, await says(reference, 'Acknowledge')];
      };
      const [one, alert] = await fails('one@example.com');
      await desk.presses('lead', 'Acknowledge', alert);
      await desk.presses('onCall', 'Acknowledge', alert);
      await desk.sees('onCall', 'somebody else first', 'payAlerts');
      const taken = await says(one, '👀 Acknowledged');
      await desk.presses('lead', 'Assign…', taken);
      await desk.modalSays('lead', 'Assign alert');
      await desk.submits('lead', { 'Assign to': desk.id('outsider') });
      await desk.submits('lead', { 'Assign to': desk.id('onCall') });
      await desk.reads('onCall', 'Assigned to you', 'onCallDm');
      await desk.home('onCall', 'Assigned to you');
      await desk.asks('onCall', '/pay', 'assigned to you');
      await desk.presses('lead', 'Snooze…', taken);
      await desk.modalSays('lead', 'Snooze alert');
      await desk.submits('lead', { 'For how long': '1 hour' });
      const snoozed = await says(one, '💤 Snoozed');
      desk.house.later(61 * minuteMs);
      await desk.reads('lead', '⏰ The snooze is over', snoozed);
      await desk.presses('lead', 'Reveal e-mail', snoozed);
      await desk.sees('lead', 'one@example.com', 'payAlerts');
      await desk.presses('agent', 'Look up', snoozed);
      await desk.sees('agent', ['Declined', one], 'payAlerts');
      await desk.presses('lead', 'Close…', snoozed);
      await desk.modalSays('lead', 'Close alert');
      await desk.submits('lead', { Reason: 'Paid in cash' });
      await says(one, '☑️ Closed');
      const [two, second] = await fails('two@example.com');
      await desk.presses('lead', 'Acknowledge', second);
      await says(two, '👀 Acknowledged');
      await desk.house.approve({ amount: '75.50', customerEmail: 'two@example.com' });
      await desk.reads('lead', 'Another payment', second);
      desk.house.later(65 * minuteMs);
      await desk.house.approve({ amount: '5000.00', customerEmail: 'two@example.com' });
      await says(two, '✅ Resolved by another payment');
      await desk.reads('lead', ['✅ Resolved', two], 'leadDm');
      const [three, third] = await fails('chidi.eze@example.com');
      await desk.presses('lead', 'Acknowledge', third);
      const again = await says(three, '👀 Acknowledged');
      await desk.presses('lead', 'Charge again…', again);
      await desk.sees('lead', 'on hold', 'payAlerts');
      desk.house.later(25 * hourMs);
      await desk.presses('lead', 'Charge again…', again);
      await desk.modalSays('lead', 'Charge a card');
      await desk.closes('lead');
      const event = (name: string, orderReference: string, amount = '5000.00') =>
        desk.house.sendEvent({
          event: name,
          data: { order: { orderReference, amount, currency: 'NGN', customerEmail: 'x@example.com' } },
        });
      await event('payment_failed', 'UNKNOWN-1');
      await says('UNKNOWN-1', 'Not found');
      await event('payment_failed', 'ORDER-1004', '3250.50');
      await says('ORDER-1004', 'Paid (confirmed)');
      await event('payment_success', 'ORDER-1002');
      await desk.reads('lead', ['ORDER-1002', 'Not confirmed'], 'general');
      await weather(desk, 'error_500');
      await event('payment_failed', 'ORDER-1005');
      await says('ORDER-1005', 'not checked');
      await weather(desk, 'normal');
      await event('payment_failed', 'UNKNOWN-1');
      await desk.house.sendEvent({
        event: 'payment_failed',
        data: { order: { orderReference: 'UNKNOWN-1', amount: '1.00', currency: 'NGN' } },
      });
      await desk.reads('lead', 'differs', 'payOps');
      await desk.house.sendEvent({ event: 'refund_made', data: {} });
      await desk.reads('lead', 'unknown kind', 'payOps');
      await desk.asks('onCall', '/pay alerts', 'This channel gets alerts', 'payAlerts');
      await desk.seesBy('onCall', 'est', () => desk.presses('onCall', 'Send a test alert'));
      await desk.reads('onCall', 'TEST alert', 'payAlerts');
      await desk.opens('onCall', '/pay mute', 'payAlerts');
      const muted = { 'Bank’s reason contains': 'insufficient funds', Why: 'The bank is down until 16:00' };
      await desk.submits('onCall', muted);
      await desk.modalSays('onCall', '🔕 Muted');
      await desk.closes('onCall');
      await desk.reads('lead', ['🔕 Muted', 'The bank is down'], 'payAlerts');
      await desk.settled('soon');
      desk.house.later(6_000);
      const kept = await desk.house.decline({ reason: 'Insufficient funds' });
      await desk.settled('soon');
      await desk.asks('onCall', '/pay alerts', kept, 'payAlerts');
      await desk.opens('onCall', '/pay mute', 'payAlerts');
      await desk.presses('onCall', 'End mute');
      await desk.closes('onCall');
      await desk.reads('onCall', ['🔕 Muted', 'Ended'], 'payAlerts');
      desk.house.later(6_000);
      await desk.reads('onCall', ['🔔 Mute is over', kept], 'payAlerts');
      await desk.asks('onCall', '/pay alerts', 'gets no alerts', 'payDesk');
      await desk.house.approve({ customerEmail: 'paid@example.com' });
      await desk.settled('soon');
    },
  },
  {
    name: 'Payment links',
    async play(desk) {
      await nextDay(desk);
      const filled = { Amount: '150.00', 'Customer’s e-mail': 'zainab.link@example.com' };
      const makes = async (reference: string, more: Record<string, string> = {}): Promise<void> => {
        await desk.opens('agent', '/pay link');
        await desk.submits('agent', { ...filled, 'Our reference': reference, ...more });
      };
      await makes('LINK-1');
      await desk.modalSays('agent', 'Payment link, not paid yet');
      const card = await desk.reads('lead', ['Payment link, not paid yet', 'LINK-1'], 'payDesk');
      await desk.presses('agent', 'Check now', card);
      await desk.opens('lead', '/pay link');
      await desk.submits('lead', { ...filled, 'Our reference': 'LINK-6' });
      await desk.modalSays('lead', 'Payment link, not paid yet');
      await desk.closes('lead');
      await desk.home('lead', 'payment links');
      await desk.presses('lead', 'Show it', 'home');
      await desk.modalSays('lead', 'LINK-6');
      await desk.closes('lead');
      await pay(desk, 'LINK-1');
      await desk.reads('lead', ['✅ Paid (confirmed)', 'LINK-1'], 'payDesk');
      await makes('ORDER-1001');
      await desk.modalSays('agent', 'has an order with this reference');
      await desk.closes('agent');
      await makes('LINK-5');
      await desk.modalSays('agent', 'Payment link, not paid yet');
      await desk.closes('agent');
      desk.house.later(73 * hourMs);
      const aged = await desk.reads('agent', ['No payment came', 'LINK-5'], 'payDesk');
      await desk.presses('agent', 'New link', aged);
      await desk.modalSays('agent', 'Payment link');
      await desk.submits('agent');
      await desk.modalSays('agent', 'Payment link, not paid yet');
      await desk.closes('agent');
    },
  },
  {
    name: 'Saved cards and their e-mail',
    async play(desk) {
      await nextDay(desk);
      await desk.asks('agent', '/pay cards', 'e-mail');
      await desk.asks('agent', '/pay cards nobody@example.com', 'No saved cards');
      const listed = await desk.asks('lead', '/pay cards dayo.bello@example.com', '1 saved card');
      await desk.presses('lead', 'Charge this card', listed);
      await desk.modalSays('lead', 'Charge a card');
      await desk.closes('lead');
      await desk.presses('lead', 'Change its e-mail', listed);
      await desk.modalSays('lead', 'Current e-mail');
      await desk.closes('lead');
      const other = await desk.asks('lead', '/pay cards dayo.bello@example.com', '1 saved card');
      await desk.seesBy('lead', 'Card deleted', () => desk.presses('lead', 'Delete…', other));
      const gone = await desk.seesBy('lead', 'lready gone', () => desk.presses('lead', 'Delete…', listed));
      await desk.seesBy('lead', 'No saved cards', () => desk.presses('lead', 'List again', gone));
      const customerEmail = 'many.cards@example.com';
      await eachIn([...Array(13).keys()], async (number) => {
        const orderReference = `MANY-${number}`;
        const order = { kind: 'create_order', amount: '50.00', orderReference, customerEmail } as const;
        await desk.house.payments.act(order);
        await pay(desk, orderReference);
      });
      await desk.settled('soon');
      await desk.asks('lead', `/pay cards ${customerEmail}`, 'which don’t fit here');
      await desk.opens('lead', '/pay card-email');
      await desk.submits('lead', { 'Saved card': '6640', 'New e-mail': 'chidi.new@example.com' });
      await desk.presses('lead', 'Change');
      await desk.modalSays('lead', 'New e-mail');
      await desk.submits('lead');
      await desk.submits('lead');
      await desk.modalSays('lead', 'Needs approval');
      await desk.closes('lead');
      const asked = await desk.reads('onCall', ['🟡 Needs approval', 'c***@example.com'], 'onCallDm');
      await desk.seesBy('onCall', 'pproved', () => desk.presses('onCall', approve(asked), asked));
      await desk.sees('lead', 'The e-mail was changed', 'leadDm');
    },
  },
  {
    name: 'Terminals and accounts',
    async play(desk) {
      const first = await desk.asks('agent', '/pay terminals', 'Terminals 1–50');
      await desk.seesBy('agent', 'Terminals 51', () => desk.presses('agent', 'Next', first));
      await desk.seesBy('agent', 'Terminals 1', () => desk.presses('agent', 'Back'));
      await desk.seesBy('agent', 'CSV', () => desk.presses('agent', 'CSV'));
      await desk.asks('agent', '/pay terminals nothing-like-it', 'nothing-like-it');
      await desk.seesBy('agent', '', () => desk.presses('agent', 'Reload'));
      await desk.asks('agent', '/pay accounts', 'Accounts 1–50');
      await desk.seesBy('agent', 'Accounts 51', () => desk.presses('agent', 'Next'));
      await desk.seesBy('agent', 'Accounts 1', () => desk.presses('agent', 'Back'));
      await desk.asks('agent', '/pay accounts nothing-like-it', 'nothing-like-it');
      await desk.seesBy('agent', '', () => desk.presses('agent', 'Reload'));
      const some = await desk.asks('agent', '/pay accounts Surulere', 'Surulere');
      await desk.seesBy('agent', 'CSV', () => desk.presses('agent', 'CSV', some));
      await desk.asks('agent', '/pay terminals', 'Terminals 1–50');
      await desk.asks('agent', '/pay terminals yaba', 'searched 5 of the pages');
      await desk.seesBy('agent', 'searched all', () => desk.presses('agent', 'Search all'));
      await desk.asks('agent', '/pay accounts', 'Accounts 1–50');
      await weather(desk, 'rate_limited');
      await desk.asks('agent', '/pay accounts PLAYGROUND', 'searched 1 of the pages');
      await weather(desk, 'normal');
      await desk.seesBy('agent', 'searched all', () => desk.presses('agent', 'Go on searching'));
      await desk.asks('agent', '/pay account PLAYGROUND-SUB-00003', 'Surulere');
      await desk.asks('agent', '/pay account NOBODYS-ACCOUNT-0001', 'Not found');
      await desk.asks('agent', '/pay account short', '20 characters');
      await desk.opens('lead', '/pay account new');
      await desk.submits('lead', { 'Account name': 'x', Reference: 'short', 'E-mail': 'no', BVN: '1' });
      await desk.closes('lead');
      const kiosk = {
        'Account name': 'Akoka Kiosk',
        'E-mail': 'akoka@example.com',
        'Phone number': '08031234567',
        BVN: '22345678901',
      };
      const empty = await desk.opens('lead', '/pay account new');
      const fit = Object.fromEntries(Object.entries(kiosk).filter(([field]) => empty.fields.includes(field)));
      await desk.submits('lead', { ...fit, Reference: 'PLAYGROUND-SUB-00003' });
      await desk.modalSays('lead', 'not created');
      await desk.presses('lead', 'Correct and try again');
      await desk.modalSays('lead', 'Account name');
      await desk.closes('lead');
      await desk.opens('lead', '/pay account new');
      await desk.submits('lead', fit);
      await desk.modalSays('lead', 'Account created');
      await desk.closes('lead');
      await desk.opens('lead', '/pay account new');
      await weather(desk, 'hang');
      await desk.submits('lead', { ...fit, 'Account name': 'Yaba Kiosk' });
      await desk.modalSays('lead', 'In doubt');
      await weather(desk, 'normal');
      await desk.seesBy('lead', 'Not found', () => desk.presses('lead', 'Look it up'));
      await desk.closes('lead');
    },
  },
  {
    name: 'Story and what Slack refuses',
    async play(desk) {
      const reference = await charges(desk, 'agent', { card: ada ?? '', amount: '7,000.00' });
      await desk.modalSays('agent', 'Paid (confirmed)');
      await desk.closes('agent');
      await desk.settled('soon');
      await desk.asks('lead', `/pay story ${reference}`, reference);
      await desk.asks('lead', '/pay story ORDER-1001', 'ORDER-1001');
      const { workspace } = desk.house;
      const { payAlerts } = workspace.ids.channels;
      await desk.asks('onCall', '/pay undelivered', 'elivered');
      workspace.setChannel(payAlerts, { archived: true });
      await desk.house.decline({ customerEmail: 'refused@example.com' });
      desk.house.later(6 * minuteMs);
      await desk.reads('lead', 'Slack refuses', 'payOps');
      await desk.asks('onCall', '/pay undelivered', 'refuses');
      await desk.settled('soon').catch(() => undefined);
      desk.house.later(25 * hourMs);
      await desk.house.until('it is given up', async () => {
        return (await desk.asks('onCall', '/pay undelivered', '')).shown.buttons.includes('Deliver again');
      });
      workspace.setChannel(payAlerts, { archived: false });
      await desk.presses('onCall', 'Deliver again');
      await desk.sees('onCall', 'on the way again');
    },
  },
];

/** In a house where three failures, or payments, are many; with rules and a daily summary. */
export const stormChapters: readonly Chapter[] = [
  {
    name: 'Storms, rules and the daily summary',
    async play(desk) {
      const { house } = desk;
      await house.decline({ reason: 'Suspected fraud', customerEmail: 'fraud@example.com' });
      await desk.reads('lead', 'by rule fraud', 'payOps');
      await house.payments.act({ kind: 'send_failures', count: 30 });
      const digest = await desk.reads('lead', ['Storm', 'failed charges'], 'payAlerts');
      await desk.settled('soon');
      await desk.presses('onCall', 'Show list', digest);
      await desk.modalSays('onCall', 'failed charges');
      await desk.closes('onCall');
      await desk.presses('lead', 'Acknowledge all', digest);
      await desk.presses('onCall', 'Acknowledge all', digest);
      await desk.sees('onCall', 'acknowledged', 'payAlerts');
      await desk.asks('lead', '/pay alerts', 'This channel gets alerts', 'payAlerts');
      await desk.asks('lead', '/pay alerts', 'This channel gets alerts', 'payOps');
      await desk.seesBy('lead', 'CSV', () => desk.presses('lead', 'CSV', digest));
      await eachIn([0, 1, 2, 3, 4, 5], (number) =>
        house.approve({ amount: '100.00', customerEmail: `payer.${number}@example.com` }),
      );
      await desk.reads('lead', 'Many payments', 'general');
      await desk.settled('soon');
      house.later(6 * minuteMs);
      await desk.reads('lead', 'Storm over', 'payAlerts');
      house.later(24 * hourMs);
      await desk.reads('lead', 'Daily summary', 'payOps');
    },
  },
];
