import { describe, expect, it } from 'vitest';
import type { PageMessage } from '../../src/simulators/protocol.ts';
import { openDesk, shareDesk, type Desk } from '../support/desk.ts';
import type { Person } from '../support/house.ts';

const pan = '4111 1111 1111 1111';
const lookUpHere = 'Look up reference here';
const singlePath = '/transactions/accounts/single';
/** Slack treats two presses of a button within two seconds as one. */
const doubleClickMs = 2_100;
const at = shareDesk({
  clock: true,
  env: { LOG_LEVEL: 'debug', PAYMENTS_TIMEOUT_SECONDS: '8' },
  workspace: { talks: true },
});

describe('/pay <reference>', () => {
  it('answers Paid (confirmed) only if all three proofs hold; else says which fails, and what to do', async () => {
    const desk = at();
    const paid = await desk.asks('agent', '/pay ORDER-1001', '✅ Paid (confirmed)');
    expect(paid.text).toBe('✅ Paid (confirmed) · NGN 12,500.00 · a***@example.com · ORDER-1001');
    expect(paid).toMatchObject({ ephemeral: true });
    expect(paid.shown.text).toMatch(/ proven checked /);
    expect(paid.shown.text).toContain('Lagos store');
    expect(paid.shown.buttons).toEqual(['Share to channel', 'Look up', 'Copy proof']);

    const open = await desk.asks('agent', '/pay ORDER-1002', '⚠️ Not confirmed');
    expect(open.shown.text).toMatch(/✗ status.*Next: don’t deliver yet. Look it up again later\./s);
    const less = await desk.asks('agent', '/pay ORDER-1003', '⚠️ Not confirmed');
    expect(less.shown.text).toMatch(/✓ status SUCCESS +✓ reference +✗ amount.*Compare the amount/s);
    const none = await desk.asks('agent', '/pay NOPE-1', '🔎 Not found');
    const spaced = await desk.asks('agent', '/pay NOPE 1', '🔎 Not found · NOPE');
    expect(spaced.shown.text).toContain('A reference with spaces goes in quotes');
    expect(none.shown.text).toContain('check the spelling');
    expect(desk.messages('lead', 'payDesk')).toEqual([]);
  });

  it('compares the payment with the expected amount; a reference with blanks needs quotes', async () => {
    const desk = at();
    await desk.asks('agent', '/pay lookup ORDER-1001 12,500.00', '✅ Paid (confirmed)');
    const other = await desk.asks('agent', '/pay lookup ORDER-1001 12,500.01', '⚠️ Not confirmed');
    expect(other.shown.text).toMatch(/✗ amount.*differs from the amount you gave/s);
    const refreshed = await desk.seesBy('agent', '✗ amount', () => desk.presses('agent', 'Look up', other));
    expect(refreshed.shown.text).toContain('differs from the amount you gave');
    await desk.asks('agent', '/pay lookup "ORDER 17 B"', 'ORDER 17 B');
    await desk.asks('agent', '/pay lookup ORDER 17 B', 'goes in quotes');
  });

  it('shows for a declined charge what its record says, as its alert does, and what to do', async () => {
    const desk = at();
    const reference = await desk.house.decline();
    const alert = await desk.sees('lead', reference, 'payAlerts');
    expect(alert.shown.text).toMatch(/Gateway:.*Insufficient funds.*Next:/s);
    const declined = await desk.asks('agent', `/pay ${reference}`, '❌ Declined by the bank');
    expect(declined.shown.text).toMatch(/Gateway:.*Insufficient funds.*Next:/s);
  });

  it('reads the record again at each Look up', async () => {
    const desk = at();
    const { payments } = desk.house;
    const order = { amount: '75.00', customerEmail: 'zoe@example.com', orderReference: 'LATER-1' };
    await payments.act({ kind: 'create_order', ...order });
    const before = await desk.asks('agent', '/pay LATER-1', 'Not confirmed');
    await payments.act({ kind: 'pay_order', orderReference: 'LATER-1', outcome: 'approved' });
    await desk.seesBy('agent', '✅ Paid (confirmed)', () => desk.presses('agent', 'Look up', before));
  });

  it('reports that the service gave no answer, and says nothing about the payment', async (test) => {
    const desk = await openDesk(test, { env: { PAYMENTS_TIMEOUT_SECONDS: '1' } });
    // Gets an access token first: otherwise the simulator would hold back the token, not the look-up.
    await desk.asks('agent', '/pay ORDER-1001', '✅ Paid (confirmed)');
    for (const [weather, words] of [
      ['hang', 'No answer from the payments service in time'],
      ['error_500', 'reports a fault of its own'],
      ['rate_limited', 'call limit is reached'],
      ['unauthorized', 'refused the bot’s access token'],
    ] as const) {
      await desk.house.payments.act({ kind: 'set_mode', mode: weather });
      const told = await desk.asks('agent', '/pay ORDER-1001', words);
      expect(told.shown.text).toContain('none was moved by this');
      expect(told.shown.text).not.toContain('Paid');
    }
  });

  it('refuses a card number wherever it is typed, and never repeats, logs or stores it', async () => {
    const desk = at();
    const calls = desk.calls(singlePath);
    await desk.asks('agent', `/pay ${pan}`, 'looks like a card number');
    await desk.asks('agent', `/pay lookup ${pan.replaceAll(' ', '')}`, 'looks like a card number');
    await desk.asks('agent', '/pay lookup 4111111111111112', 'Not found');
    expect(desk.calls(singlePath)).toBe(calls + 1);
    await writes(desk, 'onCall', `their card is ${pan}`, async (message) => {
      await desk.seesBy('agent', 'looks like a card number', () =>
        desk.shortcut('agent', lookUpHere, message),
      );
    });
    const mistyped = '4111111111111112';
    const kept = await desk.kept({ pan, compact: pan.replaceAll(' ', ''), tail: '1111 1111', mistyped });
    expect(kept).toEqual([]);
    expect(JSON.stringify(desk.messages('agent'))).not.toMatch(/4111 ?1111/);
  });
});

describe('Share to channel', () => {
  it('posts the verdict once, masked and with the sharer’s name; Look up answers only the permitted person who presses', async () => {
    const desk = at();
    const answer = await desk.asks('agent', '/pay ORDER-1001', 'Paid (confirmed)');
    await desk.presses('agent', 'Share to channel', answer);
    const shared = await desk.reads('onCall', ['✅ Paid (confirmed)', 'Shared by'], 'payDesk');
    expect(shared.shown.text).toContain(`Shared by ${desk.named('agent')}`);
    expect(shared.shown.text).toContain('a***@example.com');
    expect(desk.posts('onCall', 'payDesk')).toHaveLength(1);

    await desk.seesBy('outsider', 'Not allowed', () => desk.presses('outsider', 'Look up', shared));
    const own = await desk.seesBy('onCall', '✅ Paid (confirmed)', () =>
      desk.presses('onCall', 'Look up', shared),
    );
    expect(own).toMatchObject({ ephemeral: true });
    const { passed } = desk.house.slackGate;
    const posted = passed.filter(({ path }) => path === '/api/chat.postMessage');
    for (const { request } of posted) expect(request).toMatch(/unfurl_links=false.*unfurl_media=false/);
  });

  it.each(['twoPeople', 'oneself', 'group'] as const)(
    'answers in a conversation without the bot (%s), and says why sharing is impossible there',
    async (place) => {
      const desk = at();
      const answer = await desk.asks('agent', '/pay ORDER-1001', 'Paid (confirmed)', place);
      expect(answer).toMatchObject({ ephemeral: true });
      await desk.asks('agent', '/pay help', '/pay', place);
      const isShared = answer.shown.buttons.includes('Share to channel');
      expect(isShared).toBe(place === 'group');
      if (!isShared) return;
      const refused = await desk.seesBy('agent', 'isn’t in this conversation', () =>
        desk.presses('agent', 'Share to channel', answer),
      );
      expect(refused.shown.text).toContain('copy the answer');
      expect(refused.shown.text).not.toContain('payops.yml');
    },
  );

  it('tells how to invite the bot into the channel, and shares after the invitation', async () => {
    const desk = at();
    const answer = await desk.asks('onCall', '/pay ORDER-1001', 'Paid (confirmed)', 'privateRoom');
    const refused = await desk.seesBy('onCall', '/invite @pay', () =>
      desk.presses('onCall', 'Share to channel', answer),
    );
    expect(refused.shown.text).toContain('the bot isn’t in this conversation');
    expect(refused.shown.text).not.toContain('payops.yml');
    await desk.types('onCall', '/invite @pay', 'privateRoom');
    desk.house.later(doubleClickMs);
    await desk.presses('onCall', 'Share to channel', answer);
    await desk.reads('onCall', ['Paid (confirmed)', 'Shared by'], 'privateRoom');
    expect(desk.posts('onCall', 'privateRoom')).toHaveLength(1);
  });
});

describe('Look up a payment', () => {
  it('asks for the reference in a modal, from a shortcut or /pay lookup, and answers in the modal', async () => {
    const desk = at();
    await desk.shortcut('agent', 'Look up a payment');
    await desk.modalSays('agent', 'Look up a payment');
    await desk.submits('agent', { Reference: 'ORDER-1003', Amount: '15,000' });
    await desk.modalSays('agent', ['Not confirmed', '✗ amount']);
    await desk.closes('agent');
    const form = await desk.opens('agent', '/pay lookup');
    expect(form.fields).toEqual(['Reference', 'Amount']);
    await desk.submits('agent', { Reference: 'ORDER-1001' });
    const shown = await desk.modalSays('agent', 'Paid (confirmed)');
    expect(shown.shown.buttons).toEqual(['Share to channel', 'Look up', 'Copy proof']);
    await desk.shortcut('outsider', 'Look up a payment');
    await desk.modalSays('outsider', 'Not allowed: Look up a payment');
  });

  it('looks up text typed into the App Home’s field', async () => {
    const desk = at();
    await desk.home('agent', 'Look up a payment');
    await desk.enters('agent', 'Look up a payment', 'ORDER-1001');
    await desk.modalSays('agent', ['Paid (confirmed)', 'ORDER-1001']);
    await desk.closes('agent');
    desk.house.later(doubleClickMs);
    await desk.home('agent', 'Look up a payment');
    await desk.enters('agent', 'Look up a payment', 'ORDER-1001 ORDER-1002');
    await desk.modalSays('agent', ['An amount is digits', 'Reference']);
    await desk.closes('agent');
    desk.house.later(doubleClickMs);
    await desk.enters('agent', 'Look up a payment', '4242 4242 4242 4242');
    await desk.sees('agent', 'That looks like a card number');
  });
});

describe('Look up reference here', () => {
  it('looks up a message’s only reference, and answers in its channel, to the requester alone', async () => {
    const desk = at();
    await writes(desk, 'onCall', 'Is *ORDER-1001* paid? They wrote at 14:32.', async (message) => {
      const answer = await desk.seesBy('agent', 'ORDER-1001', () =>
        desk.shortcut('agent', lookUpHere, message),
      );
      expect(answer).toMatchObject({ ephemeral: true });
      await desk.seesBy('outsider', 'Not allowed', () => desk.shortcut('outsider', lookUpHere, message));
    });
    // Slack sends emoji by name.
    await writes(desk, 'onCall', '✅ thanks 💳, I will look at 14:33', async (message) => {
      await desk.seesBy('agent', 'No reference found in that message', () =>
        desk.shortcut('agent', lookUpHere, message),
      );
    });
  });

  it('answers in the thread of the chosen reply', async () => {
    const desk = at();
    await writes(desk, 'onCall', 'A customer asks', async (first) => {
      const { workspace } = desk.house;
      const { channels, users } = workspace.ids;
      await workspace.act(users.onCall, {
        kind: 'send_message',
        channel: channels.payDesk,
        text: 'It is ORDER-1001',
        threadTs: first.ts,
      });
      const all = workspace.state(users.agent).messages[channels.payDesk] ?? [];
      const written = all.findLast(({ threadTs }) => threadTs === first.ts);
      if (!written) throw new Error('It was not posted.');
      const answer = await desk.seesBy('agent', 'ORDER-1001', () =>
        desk.shortcut('agent', lookUpHere, written),
      );
      expect(answer).toMatchObject({ ephemeral: true, threadTs: first.ts });
    });
  });

  it('offers a choice of several references, answers in the modal, and shares from it', async () => {
    const desk = at();
    await writes(desk, 'onCall', 'ORDER-1001 and ORDER-1002, NGN 5,000.00 each', async (message) => {
      await desk.shortcut('agent', lookUpHere, message);
    });
    const choice = await desk.modalSays('agent', 'The message names several references');
    expect(choice.shown.buttons).toEqual(['ORDER-1001', 'ORDER-1002']);
    await desk.presses('agent', 'ORDER-1002');
    await desk.modalSays('agent', 'Not confirmed');
    await desk.house.payments.act({ kind: 'set_mode', mode: 'error_500' });
    await desk.presses('agent', 'Look up');
    await desk.modalSays('agent', 'fault of its own');
    await desk.house.payments.act({ kind: 'set_mode', mode: 'normal' });
    await desk.presses('agent', 'Look up');
    await desk.modalSays('agent', 'Not confirmed');
    desk.house.workspace.setFaults({ kind: 'answer_lost', method: 'chat.postMessage', times: 1 });
    await desk.presses('agent', 'Share to channel');
    const unsure = await desk.modalSays('agent', 'press Share to channel again');
    expect(unsure.shown.buttons).toEqual(['Look up', 'Share to channel']);
    await desk.presses('agent', 'Share to channel');
    expect((await desk.modalSays('agent', 'Shared to the channel.')).shown.buttons).toEqual(['Look up']);
    await desk.reads('lead', 'ORDER-1002', 'payDesk');
  });

  it('finds the reference in an alert of the bot', async () => {
    const desk = at();
    const reference = await desk.house.decline();
    const alert = await desk.reads('lead', reference, 'payAlerts');
    const answer = await desk.seesBy('lead', reference, () => desk.shortcut('lead', lookUpHere, alert));
    expect(answer).toMatchObject({ ephemeral: true, channel: alert.channel });
  });
});

describe('Reveal e-mail', () => {
  it('shows the address only to the permitted person, with an audit entry; it is in no other message, log or store', async () => {
    const desk = at();
    const email = 'ada.obi@example.com';
    const agent = await desk.asks('agent', '/pay ORDER-1001', 'Paid (confirmed)');
    expect(agent.shown.buttons).not.toContain('Reveal e-mail');
    const answer = await desk.asks('lead', '/pay ORDER-1001', 'Paid (confirmed)');
    const shown = await desk.seesBy('lead', email, () => desk.presses('lead', 'Reveal e-mail', answer));
    expect(shown).toMatchObject({ ephemeral: true });
    for (const other of ['agent', 'onCall', 'outsider'] as const) {
      expect(JSON.stringify(desk.messages(other))).not.toContain(email);
    }
    expect(await desk.kept({ email })).toEqual([]);
    const { stdout } = await desk.runs(['audit', 'export']);
    const entries = stdout.split('\n').filter((line) => line.includes('"reveal"'));
    expect(entries).toEqual([expect.stringContaining(desk.id('lead'))]);
    expect(stdout).not.toContain(email);
  });
});

/** A person's message in the desk's channel. */
async function writes(
  desk: Desk,
  person: Person,
  text: string,
  then: (message: PageMessage) => Promise<void>,
): Promise<void> {
  await desk.types(person, text);
  const { channels, users } = desk.house.workspace.ids;
  const all = desk.house.workspace.state(users[person]).messages[channels.payDesk] ?? [];
  const message = all.findLast(({ authorIsBot }) => !authorIsBot);
  if (!message) throw new Error('It was not posted.');
  await then(message);
}
