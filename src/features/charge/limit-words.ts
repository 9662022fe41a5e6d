import { minorLeft, type OwnLimits, type LimitRefusal } from './charge-limits.ts';
import {
  bold,
  context,
  divider,
  header,
  moment,
  plainText,
  richText,
  words,
  type Run,
} from '../../slack/kit/blocks.ts';
import { type Note, noteModal } from '../../slack/kit/note.ts';
import { cut } from '../../slack/kit/text.ts';
import { word } from '../../slack/words/payment-words.ts';
import type { MessageBlock, Modal } from '../../slack/kit/message.ts';
import { amountWord, labelled, plain } from '../../slack/words/charge-facts.ts';
import { accountFoot, type ShownAccount } from '../../slack/words/account-foot.ts';

// Words about the limits on a person's charges, for forms, modals and the App Home.

type Over = Extract<LimitRefusal, { kind: 'over' }>;

/** The longest list of roles, and the most currencies, that people read at once. */
const longestNames = 150;
const mostCurrencies = 10;

/** Shown if limits refuse the charge at its submit. Nothing was sent. */
export function limitRefusalModal(refusal: LimitRefusal, account: ShownAccount): Modal {
  const state = refusal.kind === 'over' ? '⛔ Not charged: above your limit' : '⛔ Not charged';
  return notChargedModal({ state, body: [plain(limitProblem(refusal))] }, account);
}

/** Takes the place of the form or the review. */
export function notChargedModal(note: Note, account: ShownAccount): Modal {
  const window = { callbackId: 'charge_refused', title: 'Not charged' };
  return noteModal({ ...note, foot: accountFoot(account) }, window);
}

/**
 * Says which limit, what is left of it, until when, and who can charge the amount. Speaks to the agent (`your`), or to
 * the approvers about the requester.
 */
export function limitProblem(refusal: LimitRefusal, whose: 'your' | 'the requester’s' = 'your'): string {
  switch (refusal.kind) {
    case 'over':
      return `This is above ${whose} limit per ${perWords[refusal.limit]}: ${leftOfLimit(refusal)}. Who can: ${whoCan(refusal)}.`;
    case 'currency':
      return `None of ${whose} roles may charge ${word(refusal.currency) ?? ''}, only ${names(refusal.allowed)}. Who can: ${rolesWords(refusal.whoCan)}.`;
    case 'no_role':
      return `None of ${whose} roles may charge any more. Ask the owner of payops.yml.`;
    case 'roles_unknown':
      return 'Slack didn’t confirm your roles, so nothing was charged. Try again in a minute.';
  }
}

const perWords: Record<Over['limit'], string> = {
  per_charge: 'charge',
  per_agent_per_day: 'day',
  per_card_per_day: 'day for one card',
};

function leftOfLimit(refusal: Over): string {
  const limit = amountOf(refusal.limitMinor, refusal);
  const left = amountOf(refusal.leftMinor, refusal);
  if (refusal.isPast) return `${left} of ${limit} was left of the day it was asked for`;
  if (refusal.freesAtMs === undefined) return limit;
  return `${left} of ${limit} is left until midnight (${refusal.timeZone})`;
}

function amountOf(minor: number, { money }: Pick<Over, 'money'>): string {
  return amountWord({ minor, currency: money.currency });
}

function names(all: readonly string[]): string {
  return cut(all.flatMap((name) => word(name) ?? []).join(', '), longestNames);
}

/** Who can charge the amount. If only the person's own daily limit is used up, any colleague with enough left can. */
function whoCan({ limit, money, limitMinor, whoCan }: Over): string {
  const colleague = 'a colleague with enough left today';
  if (limit !== 'per_agent_per_day' || money.minor > limitMinor) return rolesWords(whoCan);
  return whoCan.length === 0 ? colleague : `${colleague}, or ${rolesWords(whoCan)}`;
}

function rolesWords(roles: readonly string[]): string {
  if (roles.length === 0) return 'nobody by payops.yml';
  return `people in the ${roles.length === 1 ? 'role' : 'roles'} ${names(roles)}`;
}

/** A section of the App Home; empty for people without limits. */
export function homeLimits(own: OwnLimits): MessageBlock[] {
  if (own.kind === 'none') return [];
  const title = header('Your limits');
  if (own.kind === 'unknown') {
    const line = 'Slack didn’t confirm your roles. Try again in a minute.';
    return [title, context(plainText(line)), divider()];
  }
  const { currencies, freesAtMs } = own;
  const more = currencies.length - mostCurrencies;
  return [
    title,
    richText(
      ...currencies.slice(0, mostCurrencies).map(currencyLine),
      ...(more > 0 ? [plain(`… and ${more} more currencies`)] : []),
      labelled('Resets', moment(freesAtMs, '{time}')),
    ),
    divider(),
  ];
}

type OwnCurrency = Extract<OwnLimits, { kind: 'limited' }>['currencies'][number];

function currencyLine({ currency, limits, usedMinor }: OwnCurrency): Run[] {
  const { per_charge: one, per_agent_per_day: day, per_card_per_day: card } = limits;
  const amount = (minor: number): string => amountWord({ minor, currency });
  const parts = [
    one === undefined ? [] : `at most ${amount(one)} per charge`,
    day === undefined ? [] : `${amount(minorLeft(day, usedMinor))} of ${amount(day)} left today`,
    card === undefined ? [] : `${amount(card)} per card and day`,
  ].flat();
  return [bold(`${word(currency) ?? ''}: `), words(parts.length === 0 ? 'no limit' : parts.join(' · '))];
}
