import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Person } from '../support/house.ts';
import { charges, reviews, shareDesk, type Message, type Typed } from '../support/desk.ts';

const minuteMs = 60_000;
const [ada, chidi] = ['4081', '6640'];
const at = shareDesk({
  clock: true,
  // A token's lock and similar times end by the clock, which runs ten times as fast as connections.
  env: { PAYMENTS_TIMEOUT_SECONDS: '5' },
  payments: { knownCards: true },
  policy: (policy) =>
    policy.replace(
      '- { what: retry }',
      [
        '- { what: retry }',
        '- { what: charge, currency: NGN, amount_from: 500000.00, needed: 2 }',
        '- { what: card_email }',
      ].join('\n    '),
    ),
});

beforeAll(() => at().settled());
// Each story has its own day: older requests have expired.
beforeEach(async () => {
  at().house.later(25 * 60 * minuteMs);
  await at().settled();
});

let naira = 100_000;

/** The person requests a large charge, and the window says that it waits. Returns its reference. */
async function asks(person: Person, typed: Partial<Typed> = {}): Promise<string> {
  naira += 1;
  const large = { card: ada, amount: `${naira}.00`, reason: 'Renewal, asked for by phone' };
  const reference = await charges(at(), person, { ...large, ...typed });
  await at().modalSays(person, ['🟡 Needs approval', 'Nothing is charged until it’s approved']);
  return reference;
}

const approve = (message: Message): string =>
  message.shown.buttons.find((label) => label.startsWith('Approve')) ?? 'no button that approves';

/** Every copy of the request: the channel's, the approvers' and the requester's. */
async function everywhere(reference: string, words: string, people: readonly Person[]): Promise<Message[]> {
  const desk = at();
  const own = people.map((person) => desk.reads(person, [words, reference], `${person}Dm` as const));
  return await Promise.all([desk.reads('onCall', [words, reference], 'payOps'), ...own]);
}

const taken = (reference: string): number => at().house.payments.stats().chargesByReference[reference] ?? 0;

describe('a charge that a second person decides', () => {
  it('keeps its reference while it waits: no payment link gets it', async () => {
    const desk = at();
    const reference = await asks('agent');
    await desk.closes('agent');
    await desk.opens('agent', '/pay link 150.00');
    const typed = { 'Customer’s e-mail': 'olu@example.com', 'Our reference': reference };
    const form = await desk.submits('agent', typed);
    expect(form?.problems['Our reference']).toContain('A charge or another link has this reference');
  });

  it('says so on the review, goes to everybody who can decide, and is charged once it is approved', async () => {
    const desk = at();
    const review = await reviews(desk, 'agent', { card: ada, amount: '150,000.00', reason: 'Renewal' });
    expect(review.submit).toBe('Ask for approval');
    expect(review.shown.text).toContain('Needs approval: Charges from NGN 100,000.00 need one approver');
    await desk.closes('agent');

    const reference = await asks('agent');
    const copies = await everywhere(reference, '🟡 Needs approval', ['lead', 'onCall']);
    for (const { shown } of copies) {
      expect(shown.text).toContain(`NGN ${naira.toLocaleString('en')}.00 · a***@example.com`);
      expect(shown.text).toContain('Charges from NGN 100,000.00 need one approver');
      expect(shown.text).toContain('Renewal, asked for by phone');
      expect(shown.text).not.toContain('ada.obi@example.com');
      expect(shown.buttons).toEqual([`Approve NGN ${naira.toLocaleString('en')}.00`, 'Refuse…']);
    }
    await desk.sees('agent', ['Sent to the approvers', reference], 'agentDm');
    expect(taken(reference)).toBe(0);
    await desk.settled('soon');
    const [post] = copies as [Message, ...Message[]];
    expect(post.shown.text).toContain(`Asked by ${desk.named('agent')}`);
    // Posted with its final words: no edit follows.
    const edits = desk.house.slackGate.passed.filter(({ path }) => path === '/api/chat.update');
    expect(edits.filter(({ request }) => request.includes(post.ts))).toEqual([]);

    await desk.seesBy('lead', '🔵 Approved, starting', () => desk.presses('lead', approve(post), post));
    await desk.modalSays('agent', ['✅ Paid (confirmed)', reference]);
    expect(taken(reference)).toBe(1);
    const ends = await everywhere(reference, '✅ Paid (confirmed)', ['agent', 'lead', 'onCall']);
    for (const { shown, channel } of ends) {
      const lead = channel.startsWith('D') ? `<@${desk.id('lead')}>` : desk.named('lead');
      expect(shown.text).toContain(`Approved by ${lead}`);
      expect(shown.buttons).toEqual([]);
    }
    await desk.reads('onCall', `By ${desk.named('lead')}`, post);

    // The thread's note has the name as text.
    const late = ['☑️ Approved, charge started', `Approved by <@${desk.id('lead')}>`];
    await desk.seesBy('onCall', late, () => desk.presses('onCall', approve(post), post));
    expect(taken(reference)).toBe(1);
    expect(await desk.kept({ 'the address': 'ada.obi@example.com' })).toEqual([]);
  });

  it('is refused with a reason that the requester reads, and nothing is charged', async () => {
    const desk = at();
    const reference = await asks('agent');
    const card = await desk.reads('lead', ['🟡 Needs approval', reference], 'leadDm');
    await desk.presses('lead', 'Refuse…', card);
    await desk.modalSays('lead', 'Nobody can approve it after that');
    const without = await desk.submits('lead');
    expect(without?.problems['Reason']).toBeDefined();
    await desk.submits('lead', { Reason: 'The order was cancelled' });
    await desk.modalSays('lead', 'You refused it');
    await everywhere(reference, '🚫 Refused', ['agent', 'lead', 'onCall']);
    await desk.sees('agent', ['🚫 Refused', 'Nothing was charged', 'The order was cancelled'], 'agentDm');
    await desk.seesBy('lead', ['🚫 Refused', 'Refused by'], () => desk.presses('lead', approve(card), card));
    expect(taken(reference)).toBe(0);
  });

  it('is never decided by its requester, who can withdraw it', async () => {
    const desk = at();
    const reference = await asks('lead');
    const post = await desk.reads('onCall', ['🟡 Needs approval', reference], 'payOps');
    await desk.seesBy('lead', '⛔ You asked for this, so somebody else decides', () =>
      desk.presses('lead', approve(post), post),
    );
    const own = await desk.reads('lead', ['🟡 Needs approval', reference], 'leadDm');
    expect(own.shown.buttons).toEqual(['Withdraw']);
    await desk.presses('lead', 'Withdraw', own);
    await everywhere(reference, '↩️ Withdrawn', ['lead', 'onCall']);
    await desk.seesBy('onCall', '↩️ Withdrawn', () => desk.presses('onCall', approve(post), post));
    expect(taken(reference)).toBe(0);
  });

  it('takes as many different people as the rule says', async () => {
    const desk = at();
    const reference = await asks('agent', { amount: '500,000.00' });
    const post = await desk.reads('lead', ['🟡 Needs approval', reference], 'payOps');
    await desk.presses('lead', approve(post), post);
    const [half] = await everywhere(reference, '🟡 1 of 2 approved', ['agent', 'lead', 'onCall']);
    // Within the same second it would count as one press.
    await desk.settled('soon');
    desk.house.later(5_000);
    await desk.seesBy('lead', '🟡 You already approved this', () =>
      desk.presses('lead', approve(post), half),
    );
    expect(taken(reference)).toBe(0);
    await desk.presses('onCall', approve(post), await desk.reads('onCall', reference, 'onCallDm'));
    await desk.modalSays('agent', ['✅ Paid (confirmed)', reference]);
    expect(taken(reference)).toBe(1);
  });

  it('is announced before it expires, and is not called refused then', async () => {
    const desk = at();
    const reference = await asks('agent');
    await desk.closes('agent');
    await desk.settled('soon');
    desk.house.later(181 * minuteMs);
    await desk.sees('lead', ['⏰ Expires soon', reference], 'leadDm');
    await desk.sees('agent', ['⏰ Expires soon', reference], 'agentDm');
    desk.house.later(60 * minuteMs);
    await everywhere(reference, '⌛ Expired, nobody decided', ['agent', 'lead', 'onCall']);
    expect(taken(reference)).toBe(0);
  });

  it('of a card on hold after a decline says why now, and is charged only after the approval', async () => {
    const desk = at();
    await charges(desk, 'agent', { card: chidi, amount: '900.00' });
    await desk.modalSays('agent', 'Declined by the bank');
    await desk.closes('agent');
    const review = await reviews(desk, 'agent', { card: chidi, amount: '900.00' });
    expect(review.shown.text).toContain('Card on hold until');
    expect(review.submit).toBe('Ask for approval');
    await desk.submits('agent', { 'Why now': 'The limit was raised' });
    const waits = await desk.modalSays('agent', 'Needs approval');
    const card = await desk.reads(
      'lead',
      ['🟡 Needs approval', 'NGN 900.00', 'on hold', 'The limit was raised'],
      'leadDm',
    );
    expect(waits.shown.text).toContain('NGN 900.00');
    await desk.house.payments.act({ kind: 'set_next_charge', next: 'approve' });
    await desk.presses('lead', approve(card), card);
    await desk.modalSays('agent', ['✅ Paid (confirmed)', 'NGN 900.00']);
  });

  it('of a card on hold after an earlier charge of the same amount says that too', async () => {
    const desk = at();
    await desk.house.payments.act({ kind: 'set_next_charge', next: 'approve' });
    await charges(desk, 'agent', { card: chidi, amount: '902.00' });
    await desk.modalSays('agent', '✅ Paid (confirmed)');
    await desk.closes('agent');
    await charges(desk, 'agent', { card: chidi, amount: '903.00' });
    await desk.modalSays('agent', 'Declined by the bank');
    await desk.closes('agent');
    const review = await reviews(desk, 'agent', { card: chidi, amount: '902.00' });
    expect(review.shown.text).toMatch(/Same card and amount were charged [^]*Card on hold until/);
    await desk.submits('agent', { 'Why now': 'It is owed twice' });
    await desk.modalSays('agent', 'Needs approval');
  });

  it('is stopped if a condition no longer holds, and says which', async () => {
    const desk = at();
    const reference = await asks('agent');
    const card = await desk.reads('lead', ['🟡 Needs approval', reference], 'leadDm');
    await desk.restarts({}, (policy) =>
      policy.replace('may: [lookup, find, charge, otp, link', 'may: [lookup, find, otp, link'),
    );
    await desk.presses('lead', approve(card), card);
    const [stopped] = await everywhere(reference, '🛑 Approved, but not charged', [
      'agent',
      'lead',
      'onCall',
    ]);
    expect(stopped?.shown.text).toContain(`<@${desk.id('agent')}> may not charge any more`);
    expect(taken(reference)).toBe(0);
    await desk.restarts({}, (policy) =>
      policy.replace('may: [lookup, find, otp, link', 'may: [lookup, find, charge, otp, link'),
    );
  });

  it('is decided and shows its charge’s end, also after its rule is gone from the policy', async () => {
    const desk = at();
    const reference = await asks('agent');
    const card = await desk.reads('lead', ['🟡 Needs approval', reference], 'leadDm');
    let before = '';
    await desk.restarts({}, (policy) => {
      before = policy;
      return policy.replace(/^approvals:\n[^]*/m, '');
    });
    await desk.presses('lead', approve(card), card);
    await desk.modalSays('agent', ['✅ Paid (confirmed)', reference]);
    await everywhere(reference, '✅ Paid (confirmed)', ['agent', 'lead', 'onCall']);
    expect(taken(reference)).toBe(1);
    await desk.restarts({}, () => before);
  });

  it('asks its approver about later charges of the same card and amount until they have seen each, and then charges', async () => {
    const desk = at();
    const waits = await asks('agent');
    const same = { amount: `${naira}.00` };
    async function chargesTheSame(by: Person, approver: Person): Promise<string> {
      const other = await asks(by, same);
      const card = await desk.reads(approver, ['🟡 Needs approval', other], `${approver}Dm`);
      await desk.presses(approver, approve(card), card);
      await desk.modalSays(by, ['✅ Paid (confirmed)', other]);
      return other;
    }
    const first = await chargesTheSame('lead', 'onCall');
    desk.house.later(20 * minuteMs);

    const card = await desk.reads('onCall', ['🟡 Needs approval', waits], 'payOps');
    await desk.presses('onCall', approve(card), card);
    const window = await desk.modalSays('onCall', [
      'Same card and amount were charged 20 minutes ago',
      first,
    ]);
    expect(window.shown.text).toContain(`by <@${desk.id('lead')}> (Paid)`);
    expect(window.submit).toBe('Approve');

    const second = await chargesTheSame('agent', 'lead');
    await desk.submits('onCall');
    await desk.modalSays('onCall', ['were charged 2 times', first, second]);
    expect(taken(waits)).toBe(0);
    await desk.submits('onCall');
    await desk.sees('agent', ['✅ Paid (confirmed)', waits], 'agentDm');
    expect(taken(waits)).toBe(1);
  });

  it('can’t be decided by a person who lost the role after the request was posted', async () => {
    const desk = at();
    const reference = await asks('agent');
    const card = await desk.reads('lead', ['🟡 Needs approval', reference], 'leadDm');
    const [both, others] = ['users: [U0LEAD0001, U0ONCALL01]', 'users: [U0OUTSIDE1, U0ONCALL01]'];
    await desk.restarts({}, (policy) => policy.replace(both, others));
    await desk.seesBy('lead', '⛔ Not allowed', () => desk.presses('lead', approve(card), card));
    await desk.restarts({}, (policy) => policy.replace(others, both));
    expect(taken(reference)).toBe(0);
    await desk.reads('onCall', ['🟡 Needs approval', reference], 'onCallDm');
  });
});

describe('/pay approvals', () => {
  it('lists requests to decide and own requests, like the menu and the Home, and decides there', async () => {
    const desk = at();
    const reference = await asks('agent');
    const asked = await desk.asks('agent', '/pay approvals', 'Nothing waits for your decision');
    expect(asked.shown.text).toContain(reference);
    expect(asked.shown.buttons).toContain('Withdraw');
    await desk.asks('outsider', '/pay approvals', '⛔ Not allowed: /pay approvals');
    const menu = await desk.asks('lead', '/pay', '1 request waits for your decision');
    const failed = await desk.house.decline({ customerEmail: 'home@example.com' });
    await desk.reads('lead', failed, 'payAlerts');
    const home = (await desk.home('lead', 'Open alerts')).text;
    expect(home).toMatch(new RegExp(`Waiting for your decision[^]*${reference}[^]*Open alerts[^]*${failed}`));
    await desk.home('agent', 'Asked by you, not decided yet');
    const waiting = await desk.seesBy('lead', '🟡 1 request waits for your decision', () =>
      desk.presses('lead', 'Approvals', menu),
    );
    const answer = await desk.seesBy('lead', 'You approved it', () =>
      desk.presses('lead', approve(waiting), waiting),
    );
    const card = await desk.reads('lead', reference, 'leadDm');
    const place = `https://slack.com/archives/${card.channel}/p${card.ts.replace('.', '')}`;
    expect(JSON.stringify(answer)).toContain(`<${place}|Its message> says how it ends`);
    await desk.modalSays('agent', ['✅ Paid (confirmed)', reference]);

    desk.house.later(3 * 24 * 3_600_000);
    const paid = await desk.asks('agent', '/pay approvals', reference);
    const [before = ''] = paid.shown.text.split(reference);
    expect(before.slice(before.lastIndexOf('Paid'))).toContain('Paid (confirmed)');
    expect(paid.shown.text).not.toContain('charge started');
    await desk.closes('agent');
    await desk.presses('agent', 'Look up', paid);
    await desk.modalSays('agent', ['✅ Paid (confirmed)', reference]);
    await desk.closes('agent');
  });
});

describe('other requests for approval', () => {
  it('are changes of a card’s e-mail: masked in messages, whole for the approver, with an audit entry', async () => {
    const desk = at();
    await desk.opens('agent', '/pay card-email');
    await desk.submits('agent', { 'Saved card': '1127', 'New e-mail': 'bola.new@example.com' });
    await desk.modalSays('agent', 'Change the e-mail of');
    await desk.submits('agent');
    await desk.modalSays('agent', ['Needs approval', 'Nothing is changed until it’s approved']);
    const card = await desk.reads(
      'lead',
      ['🟡 Needs approval', 'b***@example.com → another b***@example.com'],
      'leadDm',
    );
    expect(card.shown.text).not.toContain('bola.new@example.com');
    const saved = () => desk.house.payments.state().cards.find(({ tokenKey }) => tokenKey === 'tok-bola-otp');
    await desk.presses('lead', 'Approve the new e-mail…', card);
    const whole = await desk.modalSays('lead', ['bola.ade@example.com', 'bola.new@example.com']);
    expect(whole.shown.text).toContain('The audit trail says that you saw both addresses');
    expect(saved()?.customerEmail).toBe('bola.ade@example.com');
    const { stdout } = await desk.runs(['audit', 'export', '--format', 'csv']);
    expect(stdout).toMatch(/reveal.*apr-/);
    await desk.submits('lead');
    await desk.sees('agent', 'The e-mail was changed', 'agentDm');
    expect(saved()?.customerEmail).toBe('bola.new@example.com');
  });
});
