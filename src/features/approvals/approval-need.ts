import { formatMoney } from '../../domain/money.ts';
import type { ApprovalRule, ApprovalQuestion, ApprovalNeeded } from '../../domain/approval.ts';

/**
 * How many people must approve, and by which rule; undefined: nobody else is needed. Where several rules fit, the one
 * that asks for the most counts, and of those the one with the highest amount. A charge of a resting card is judged
 * as a charge too: an override is never an easier way to a large amount.
 */
export function needFor(
  rules: readonly ApprovalRule[],
  question: ApprovalQuestion,
): ApprovalNeeded | undefined {
  const fitting = rules.filter((rule) => isAbout(rule, question)).toSorted(strictestFirst);
  const [first] = fitting;
  return first && { rule: wordsOf(first), needed: first.needed };
}

function isAbout(rule: ApprovalRule, question: ApprovalQuestion): boolean {
  if (question.kind !== 'charge') return rule.what === question.kind;
  if (rule.what === 'retry') return question.overridesRest === true;
  const { minor, currency } = question.money;
  return rule.what === 'charge' && rule.currency === currency && minor >= rule.fromMinor;
}

function strictestFirst(one: ApprovalRule, other: ApprovalRule): number {
  const [from, otherFrom] = [one, other].map((rule) => (rule.what === 'charge' ? rule.fromMinor : Infinity));
  const isSame = one.needed === other.needed && from === otherFrom;
  if (isSame) return 0;
  return other.needed - one.needed || ((otherFrom ?? 0) > (from ?? 0) ? 1 : -1);
}

function wordsOf(rule: ApprovalRule): string {
  const who = rule.needed === 1 ? 'one approver' : `${rule.needed} different approvers`;
  switch (rule.what) {
    case 'charge': {
      const { currency, fromMinor: minor } = rule;
      return minor === 0
        ? `Charges in ${currency} need ${who}`
        : `Charges from ${formatMoney({ minor, currency })} need ${who}`;
    }
    case 'retry':
      return `Charging a card on hold needs ${who}`;
    case 'card_email':
      return `Changing a saved card’s e-mail needs ${who}`;
  }
}
