import { describe, expect, it } from 'vitest';
import { replay, findingOf, type ChargeIntent } from '../../../src/features/charge/machine.ts';
import {
  asRead,
  abandoned,
  declined,
  hour,
  minute,
  money,
  otpRequired,
  paid,
  reference,
  start,
  story,
  untilConcluded,
} from '../../tapes/charge-story.ts';

const pending = { ...paid, status: 'PENDING' };

function lost() {
  const charge = story();
  charge.answered({ kind: 'unknown' });
  return charge;
}

describe('an event', () => {
  it('of success only makes it look', () => {
    const charge = declined();
    charge.on({ kind: 'payment_success' });
    expect(charge.now().state.kind).toBe('confirming');
    expect(charge.effect()?.kind).toBe('look_up');
    charge.found(paid);
    expect(charge.effect()).toMatchObject({ kind: 'give_value', corrects: 'declined' });
  });

  it('of success that is never proven becomes a case for a person, and is not sent again', () => {
    const charge = story();
    charge.on({ kind: 'payment_success' });
    while (charge.now().state.kind === 'confirming') {
      charge.found('not_found');
      if (charge.now().state.kind === 'confirming') charge.due();
    }
    expect(charge.now().state.kind).toBe('review');
    expect(charge.now().sends).toHaveLength(1);
  });

  it('of failure and a status known to be final are a decline at once', () => {
    const charge = lost();
    charge.on({ kind: 'payment_failed', why: 'Insufficient funds' });
    charge.found({ ...paid, status: 'FAILED' });
    expect(charge.now().state).toMatchObject({ kind: 'declined', why: 'Insufficient funds' });
  });

  for (const record of [pending, 'not_found'] as const) {
    it(`of failure and ${record === pending ? 'another status' : 'no record'} are one only when no code can be open`, () => {
      const charge = lost();
      charge.on({ kind: 'payment_failed', why: 'Insufficient funds' });
      charge.found(record);
      expect(charge.now().state.kind).toBe('confirming');
      untilConcluded(charge, record);
      expect(charge.now().state).toMatchObject({ kind: 'declined', why: 'Insufficient funds' });
      expect(charge.now().at).toBeGreaterThanOrEqual(start + 16 * minute);
      expect(charge.now().sends).toHaveLength(1);
    });
  }

  it('of failure after one of success decides nothing', () => {
    const charge = story();
    charge.on({ kind: 'payment_success' });
    charge.on({ kind: 'payment_failed' });
    charge.found('not_found');
    expect(charge.now().state.kind).toBe('confirming');
  });

  it('of failure corrects a charge that was called not sent', () => {
    const charge = abandoned();
    charge.on({ kind: 'told', what: 'abandoned' });
    charge.on({ kind: 'payment_failed', why: 'Insufficient funds' });
    charge.found({ ...paid, status: 'FAILED' });
    expect(charge.effect()).toMatchObject({ kind: 'tell', what: 'declined', corrects: 'abandoned' });
  });
});

describe('a charge whose answer was lost', () => {
  it('is expired 16 minutes later when its record shows no payment: it may have wanted a code', () => {
    const charge = lost();
    charge.found(pending);
    untilConcluded(charge, pending);
    expect(charge.effect()).toMatchObject({ kind: 'tell', what: 'expired' });
    expect(charge.now().at - start).toBeGreaterThanOrEqual(16 * minute);
    expect(charge.now().at - start).toBeLessThan(17 * minute);
    charge.on({ kind: 'told', what: 'expired' });
    charge.due();
    charge.found(paid);
    expect(charge.effect()).toMatchObject({ kind: 'give_value', corrects: 'expired' });
  });

  it('is expired, not declined, when it is called failed because the time for a code is over', () => {
    const charge = lost();
    charge.found(pending);
    charge.after(15 * minute).on({ kind: 'payment_failed' });
    untilConcluded(charge, { ...paid, status: 'FAILED' });
    expect(charge.now().state.kind).toBe('expired');
  });

  it('is declined once its own answer comes late, after a look-up without success', () => {
    const charge = lost();
    charge.found(pending);
    charge.answered({ kind: 'declined', why: 'Do not honour' });
    charge.found(pending);
    expect(charge.now().state).toMatchObject({ kind: 'declined', why: 'Do not honour' });
  });
});

describe('a charge that was called approved', () => {
  it('is a case for a person when its record says finally not paid', () => {
    const charge = story();
    charge.answered({ kind: 'approved' });
    charge.found({ ...paid, status: 'FAILED' });
    expect(charge.now().state.kind).toBe('review');
  });
});

describe('a conclusion', () => {
  it('is told again until that is on record, always under one key', () => {
    const charge = story();
    charge.answered({ kind: 'declined', why: 'no' });
    const first = charge.effect();
    charge.due();
    expect(charge.effect()).toEqual(first);
    charge.on({ kind: 'told', what: 'declined' });
    charge.due();
    expect(charge.effect()?.kind).toBe('look_up');
  });

  it('is looked at once more after a day, and a late success corrects it', () => {
    const charge = declined();
    expect(charge.now().dueAt).toBe(start + 1 + 24 * hour);
    charge.due();
    expect(charge.now().state.kind).toBe('declined');
    charge.found(paid);
    expect(charge.effect()).toMatchObject({ kind: 'give_value', corrects: 'declined' });
  });

  it('that is told later than that is looked at once more all the same', () => {
    const charge = story();
    charge.answered({ kind: 'declined', why: 'no' });
    charge.after(25 * hour).due();
    charge.on({ kind: 'told', what: 'declined' });
    charge.due();
    expect(charge.effect()?.kind).toBe('look_up');
    charge.found('not_found');
    expect(charge.now().dueAt).toBeUndefined();
  });

  it('stays and is finished when the late look-up shows no success', () => {
    const charge = declined();
    charge.due();
    charge.found('failed');
    expect(charge.now().dueAt).toBeDefined();
    charge.due();
    charge.found({ ...paid, status: 'FAILED' });
    expect(charge.now().state.kind).toBe('declined');
    expect(charge.now().dueAt).toBeUndefined();
  });

  it('of "not sent" is in doubt again when the service turns out to have it', () => {
    const charge = abandoned();
    charge.on({ kind: 'told', what: 'abandoned' });
    charge.due();
    charge.found({ ...paid, status: 'PENDING' });
    expect(charge.now().state.kind).toBe('confirming');
  });

  it('can be looked at when a person asks, and is still told if it was not yet', () => {
    const charge = story();
    charge.answered({ kind: 'rejected', reason: 'invalid_token' });
    charge.on({ kind: 'look_up_asked', by: 'U2' });
    charge.found('not_found');
    charge.due();
    expect(charge.effect()).toMatchObject({ kind: 'tell', what: 'rejected' });
  });
});

describe('the history', () => {
  it('of a day in doubt stays small, says how often it was looked up, and replays to the stored state', () => {
    const charge = story();
    charge.answered({ kind: 'already_exists' });
    let lookUps = 0;
    while (charge.now().state.kind === 'confirming') {
      charge.found('not_found');
      lookUps += 1;
      if (charge.now().state.kind === 'confirming') charge.due();
    }
    const { history } = charge.now();
    expect(lookUps).toBeGreaterThan(250);
    expect(history.length).toBeLessThan(12);
    const counted = history.reduce((sum, { times = 0 }) => sum + times, 0);
    expect(counted).toBe(lookUps - 1);
    const stored = JSON.parse(JSON.stringify(charge.now())) as ChargeIntent;
    expect({ ...replay(stored.history), history }).toEqual(charge.now());
  });

  it('keeps the look-up that concluded, though the late one finds the same', () => {
    const charge = lost();
    charge.found(pending);
    untilConcluded(charge, pending);
    charge.on({ kind: 'told', what: 'expired' });
    charge.answered(otpRequired);
    charge.found('failed');
    for (let looks = 0; looks < 2; looks++) {
      charge.due();
      charge.found(pending);
    }
    const { history } = charge.now();
    expect({ ...replay(history), history }).toEqual(charge.now());
  });

  it('goes on when a clock steps back: time stands still', () => {
    const charge = story();
    charge.after(-hour).answered(otpRequired);
    expect(charge.now().at).toBe(start + 1);
    expect(charge.now().otp?.until).toBe(start + 15 * minute);
  });

  it('keeps of a transaction its verdict and its status, and nothing else', () => {
    const found = { ...paid, id: 'secret', customerEmail: 'a@example.com' };
    expect(findingOf({ reference, money }, found)).toEqual({ kind: 'paid', status: 'SUCCESS' });
    expect(findingOf({ reference, money }, undefined)).toEqual({ kind: 'not_found' });
  });
});

describe('a status that is not success', () => {
  const failed = { ...paid, status: 'FAILED' };

  it('ends nothing, unless it is known to be final', () => {
    expect(findingOf({ reference, money }, failed)).toEqual({ kind: 'pending', status: 'FAILED' });
    expect(findingOf({ reference, money }, asRead(failed))).toEqual({
      kind: 'final_not_paid',
      status: 'FAILED',
    });
  });

  it('ends nothing either when it is another reference’s', () => {
    const other = { ...failed, orderReference: 'another' };
    expect(findingOf({ reference, money }, asRead(other))).toEqual({ kind: 'pending', status: 'FAILED' });
  });
});
