import {
  array,
  assert,
  constantFrom,
  dictionary,
  integer,
  option,
  property,
  record,
  subarray,
} from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  limitsOfRoles,
  minorLeft,
  limitsFor,
  overLimit,
  rolesThatCould,
} from '../../../src/features/charge/charge-limits.ts';
import type { ChargingRoles, CurrencyLimits } from '../../../src/domain/charge.ts';
import type { HeldRoles } from '../../../src/slack/people/role.ts';
import { withoutUndefined } from '../../../src/domain/json.ts';

const agent = { NGN: { per_charge: 5_000, per_agent_per_day: 50_000, per_card_per_day: 10_000 } };
const senior = { NGN: { per_charge: 20_000, per_card_per_day: 20_000 }, USD: { per_charge: 100 } };
const tight = { NGN: { per_charge: 1_000, per_agent_per_day: 60_000 } };
const roles: ChargingRoles = {
  agent: { limits: agent },
  senior: { limits: senior },
  tight: { limits: tight },
  lead: {},
};
const naira = (minor: number) => ({ minor, currency: 'NGN' });
const has = (...names: string[]): HeldRoles => ({ kind: 'known', roles: names });

describe('the limits of several roles', () => {
  it.each<[string, HeldRoles, string, CurrencyLimits | undefined]>([
    ['one role’s own', has('agent'), 'NGN', agent.NGN],
    ['none for a role without limits', has('lead'), 'NGN', undefined],
    ['none with a second role without limits', has('agent', 'lead'), 'NGN', undefined],
    [
      'the higher of two, for each kind',
      has('agent', 'tight'),
      'NGN',
      { per_charge: 5_000, per_agent_per_day: 60_000 },
    ],
    [
      'none of a kind that one role leaves unlimited',
      has('agent', 'senior'),
      'NGN',
      { per_charge: 20_000, per_card_per_day: 20_000 },
    ],
    ['those of a currency that only one role names', has('agent', 'senior'), 'USD', { per_charge: 100 }],
    ['not changed by a role that may not charge', has('agent', 'on-call'), 'NGN', agent.NGN],
  ])('are %s', (_, heldRoles, currency, limits) => {
    expect(limitsFor(roles, limitsOfRoles(roles, heldRoles), { minor: 1, currency })).toEqual({
      kind: 'found',
      limits,
    });
  });

  it.each<[string, HeldRoles, string, object]>([
    [
      'a currency that no role names',
      has('agent'),
      'USD',
      { kind: 'currency', currency: 'USD', allowed: ['NGN'], whoCan: ['senior', 'lead'] },
    ],
    [
      'a currency named like a member of every object',
      has('agent'),
      'constructor',
      { kind: 'currency', allowed: ['NGN'] },
    ],
    ['a person whose roles may not charge', has('on-call'), 'NGN', { kind: 'no_role' }],
    ['a person with a role named like a member of every object', has('toString'), 'NGN', { kind: 'no_role' }],
    ['a person without a role', has(), 'NGN', { kind: 'no_role' }],
    ['a person whose roles Slack can’t say now', { kind: 'unknown' }, 'NGN', { kind: 'roles_unknown' }],
  ])('refuse %s', (_, heldRoles, currency, refusal) => {
    expect(limitsFor(roles, limitsOfRoles(roles, heldRoles), { minor: 1, currency })).toMatchObject(refusal);
  });

  it('never get tighter with another role', () => {
    const limits = option(
      dictionary(
        constantFrom('NGN', 'USD'),
        record({
          per_charge: option(integer({ min: 1, max: 9 }), { nil: undefined }),
          per_agent_per_day: option(integer({ min: 1, max: 9 }), { nil: undefined }),
          per_card_per_day: option(integer({ min: 1, max: 9 }), { nil: undefined }),
        }).map((one) => withoutUndefined(one)),
        { minKeys: 1 },
      ),
      { nil: undefined },
    );
    const all = array(limits, { minLength: 1, maxLength: 4 }).chain((some) =>
      subarray(
        some.map((_, index) => `role${index}`),
        { minLength: 1 },
      ).map((held) => ({ some, held })),
    );
    assert(
      property(all, integer({ min: 1, max: 9 }), ({ some, held }, minor) => {
        const known: ChargingRoles = Object.fromEntries(
          some.map((one, index) => [`role${index}`, one ? { limits: one } : {}]),
        );
        const used = { per_agent_per_day: 2, per_card_per_day: 1 };
        const allowed = (names: readonly string[]): boolean => {
          const found = limitsFor(known, limitsOfRoles(known, { kind: 'known', roles: names }), naira(minor));
          return found.kind === 'found' && !overLimit(found.limits ?? {}, naira(minor), used);
        };
        // An amount that one of the roles allows must be allowed by all of them together.
        expect(allowed(held) || held.every((name) => !allowed([name]))).toBe(true);
      }),
    );
  });
});

describe('an amount', () => {
  it.each([
    [5_000, 0, 0, undefined],
    [5_001, 0, 0, { limit: 'per_charge', limitMinor: 5_000, leftMinor: 5_000 }],
    [5_000, 45_000, 0, undefined],
    [5_000, 45_001, 0, { limit: 'per_agent_per_day', limitMinor: 50_000, leftMinor: 4_999 }],
    [5_000, 0, 5_000, undefined],
    [1, 0, 10_000, { limit: 'per_card_per_day', limitMinor: 10_000, leftMinor: 0 }],
    [1, 99_999, 99_999, { limit: 'per_agent_per_day', limitMinor: 50_000, leftMinor: 0 }],
  ])('of %i with %i of the agent and %i of the card', (minor, usedMinor, cardMinor, over) => {
    const used = { per_agent_per_day: usedMinor, per_card_per_day: cardMinor };
    expect(overLimit(agent.NGN, naira(minor), used)).toEqual(over);
  });

  it('is checked as one charge, and for the days whose use is given', () => {
    expect(overLimit(agent.NGN, naira(4_000), { per_card_per_day: 10_000 })?.limit).toBe('per_card_per_day');
    expect(overLimit(agent.NGN, naira(4_000), {})).toBeUndefined();
    expect(overLimit(agent.NGN, naira(9_000), {})?.limit).toBe('per_charge');
    expect(overLimit({}, naira(9_000), { per_card_per_day: 10_000 })).toBeUndefined();
  });

  it('never leaves a negative remainder', () => {
    expect(minorLeft(5, 7)).toBe(0);
  });

  it('names the other roles that could charge it with what the card has left', () => {
    const asked = { money: naira(8_000), cardMinor: 0 };
    expect(rolesThatCould(roles, ['agent'], asked)).toEqual(['senior', 'lead']);
    expect(rolesThatCould(roles, ['agent'], { ...asked, cardMinor: 12_001 })).toEqual(['lead']);
    expect(
      rolesThatCould(roles, ['agent'], { money: { minor: 101, currency: 'USD' }, cardMinor: 0 }),
    ).toEqual(['lead']);
  });
});
