import { describe, expect, it } from 'vitest';
import { step } from '../../../src/features/charge/machine.ts';
import type { Transaction } from '../../../src/domain/transaction.ts';
import {
  abandoned,
  hour,
  minute,
  money,
  otpRequired,
  paid,
  reference,
  second,
  start,
  story,
} from '../../tapes/charge-story.ts';

describe('a charge', () => {
  it('is an intent with a timer and a deadline before it is sent', () => {
    const charge = story();
    expect(charge.now()).toMatchObject({ state: { kind: 'charging' }, dueAt: start + 30 * second });
    expect(charge.effect()).toEqual({
      kind: 'charge',
      reference,
      send: 1,
      leaveBy: start + 25 * second,
      giveUpAt: start + 30 * second,
    });
  });

  it('is not submitted a second time', () => {
    expect(story().on({ kind: 'submitted', reference, money, by: 'U2' })).toBe(false);
  });

  it('changes nothing when there is no intent', () => {
    expect(step(undefined, { kind: 'due' }, start)).toBeUndefined();
    expect(step(undefined, { kind: 'payment_success' }, start)).toBeUndefined();
  });

  it('that was approved is looked up, and gives value only with proof', () => {
    const charge = story();
    charge.answered({ kind: 'approved' });
    expect(charge.effect()?.kind).toBe('look_up');
    charge.found(paid);
    expect(charge.now().state.kind).toBe('approved');
    expect(charge.effect()).toMatchObject({ kind: 'give_value' });
  });

  it('that was declined is told with the bank’s words', () => {
    const charge = story();
    charge.answered({ kind: 'declined', why: 'Insufficient funds' });
    expect(charge.now().state).toMatchObject({ kind: 'declined', why: 'Insufficient funds' });
    expect(charge.effect()).toMatchObject({ kind: 'tell', what: 'declined' });
  });

  it('that was rejected at its only send is over: nothing was sent to the bank', () => {
    const charge = story();
    charge.answered({ kind: 'rejected', reason: 'invalid_token' });
    charge.on({ kind: 'told', what: 'rejected' });
    expect(charge.now().state).toMatchObject({ kind: 'rejected', reason: 'invalid_token' });
    expect(charge.now().dueAt).toBeUndefined();
  });

  it('is repeated under the same reference when it is not found', () => {
    const charge = story();
    charge.answered({ kind: 'unknown' });
    charge.found('not_found');
    expect(charge.effect()).toMatchObject({ kind: 'charge', reference, send: 2 });
  });

  it('cut off by a crash is looked up first, then repeated', () => {
    const charge = story();
    charge.due();
    expect(charge.effect()?.kind).toBe('look_up');
    charge.found('not_found');
    expect(charge.effect()).toMatchObject({ kind: 'charge', reference, send: 2 });
  });

  it('is not repeated two minutes after the click', () => {
    const charge = story();
    charge.after(2 * minute).due();
    charge.found('not_found');
    expect(charge.now().state.kind).toBe('abandoned');
  });

  it('that "already exists" is never sent again and never called not sent', () => {
    const charge = story();
    charge.answered({ kind: 'already_exists' });
    while (charge.now().state.kind === 'confirming') {
      charge.found('not_found');
      expect(charge.effect()?.kind).not.toBe('charge');
      if (charge.now().state.kind === 'confirming') charge.due();
    }
    expect(charge.now().state.kind).toBe('review');
    expect(charge.now().at - start).toBeGreaterThan(24 * hour - 1);
  });

  it('that a late answer says exists is not sent again', () => {
    const charge = story();
    charge.due();
    charge.answered({ kind: 'already_exists' }, 1);
    charge.found('not_found');
    expect(charge.now().state.kind).toBe('confirming');
    expect(charge.now().sends).toHaveLength(1);
  });

  it('whose repeat is refused is not called rejected while the first send may be on its way', () => {
    const charge = story();
    charge.answered({ kind: 'unknown' });
    charge.found('not_found');
    charge.answered({ kind: 'rejected', reason: 'invalid_token' });
    charge.found('not_found');
    expect(charge.now().state.kind).toBe('confirming');
    charge.after(minute + second).due();
    charge.found('not_found');
    expect(charge.now().state).toMatchObject({ kind: 'rejected', reason: 'invalid_token' });
    charge.on({ kind: 'told', what: 'rejected' });
    expect(charge.now().dueAt).toBe(charge.now().at - 1 + 24 * hour);
  });

  it('that no send of ever arrived is called not sent, a minute after the last one at the earliest', () => {
    const charge = abandoned();
    expect(charge.now().state.kind).toBe('abandoned');
    expect(charge.now().sends).toHaveLength(3);
    expect(charge.now().at).toBeGreaterThanOrEqual((charge.now().sends.at(-1) ?? 0) + minute);
  });
});

describe('proof', () => {
  const wrongs: [what: string, record: Transaction][] = [
    ['amount', { ...paid, amountMinor: 1_249_999 }],
    ['currency', { ...paid, currency: 'USD' }],
    ['reference', { ...paid, orderReference: 'another' }],
    ['readable amount', { status: 'SUCCESS', orderReference: reference, currency: 'NGN' }],
  ];
  for (const [what, record] of wrongs) {
    it(`with another ${what} is a case for a person, loudly`, () => {
      const charge = story();
      charge.answered({ kind: 'approved' });
      charge.found(record);
      expect(charge.now().state.kind).toBe('review');
      expect(charge.effect()).toMatchObject({ kind: 'tell', what: 'review' });
    });
  }

  it('is not a status that is not SUCCESS, however long it stands there', () => {
    const charge = story();
    charge.answered({ kind: 'approved' });
    const waits: number[] = [];
    while (charge.now().state.kind === 'confirming') {
      charge.found({ ...paid, status: 'PENDING' });
      waits.push((charge.now().dueAt ?? charge.now().at) - charge.now().at);
      if (charge.now().state.kind === 'confirming') charge.due();
    }
    expect(charge.now().state.kind).toBe('review');
    expect(waits[0]).toBe(second);
    expect(Math.max(...waits)).toBe(5 * minute);
  });

  it('counts from a look-up that nobody waits for any more', () => {
    const charge = story();
    charge.answered(otpRequired);
    charge.on({ kind: 'looked_up', askedAt: 1, finding: { kind: 'paid' } });
    expect(charge.now().state.kind).toBe('approved');
  });

  it('is final: nothing changes an approved charge', () => {
    const charge = story();
    charge.answered({ kind: 'approved' });
    charge.found(paid);
    charge.on({ kind: 'told', what: 'approved' });
    expect(charge.now().dueAt).toBeUndefined();
    expect(charge.on({ kind: 'payment_failed' })).toBe(false);
    expect(charge.on({ kind: 'due' })).toBe(false);
    expect(charge.found('not_found')).toBe(false);
    expect(charge.answered({ kind: 'declined', why: 'late' })).toBe(false);
  });
});
