import type { Config } from '../../config/config.ts';
import { ServiceFailure } from '../../domain/failure.ts';
import { listed } from '../../domain/wording.ts';
import { failedCall } from '../../features/doctor/account-checks.ts';
import {
  ok,
  problem,
  skippedFor,
  warning,
  type Check,
  type CheckResult,
} from '../../features/doctor/checks.ts';
import { rawRecords } from '../../payments/lookups.ts';
import type { Payments } from '../../payments/payments.ts';
import { savedCardShape } from '../../payments/saved-cards.ts';
import type { SignedRequest } from '../../webhooks/signed-delivery.ts';
import { changeLines, type Changes } from './draft.ts';
import { listRequest, type CardsProposal, cardsWords, proposeCards } from './propose-cards.ts';
import { proposeTokenReading } from './propose-token.ts';
import { type KnownPayment, proposeTransaction } from './propose-transaction.ts';
import { proposeWebhook } from './propose-webhook.ts';

/** Facts that a person gives because the bot can't find them out. */
export type KnownFacts = {
  paid?: KnownPayment;
  /** The e-mail of a customer with saved cards. */
  cardsOf?: string;
  /** A genuine delivery; it may be old. */
  delivery?: SignedRequest;
};

type CheckedAccount = {
  config: Config;
  payments: Pick<Payments, 'ask' | 'savedCards'>;
  /** The doctor's own request for a new token; rejects with its failure. */
  token: () => Promise<unknown>;
  /** The service's whole answer to that request. */
  tokenAnswer: () => unknown;
  now: () => number;
};

/**
 * Checks that the settings read facts that the person knows from the service's answers. A finding names each wrong
 * setting with the right value.
 */
export function knownChecks(account: CheckedAccount, { paid, cardsOf, delivery }: KnownFacts): Check[] {
  const { config } = account;
  const name = config.merchant?.name;
  const checks: Check[] = [
    { part: 'Payments token answer', look: () => lookAtTokenAnswer(account) },
    ...(paid
      ? [{ part: 'Known payment', look: () => afterToken(account, () => lookAtPayment(account, paid)) }]
      : []),
    ...(cardsOf === undefined
      ? []
      : [
          { part: 'Known saved cards', look: () => afterToken(account, () => lookAtCards(account, cardsOf)) },
        ]),
    ...(delivery ? [{ part: 'Captured delivery', look: () => lookAtDelivery(config, delivery) }] : []),
  ];
  return checks.map((check) => ({ ...check, account: name }));
}

async function lookAtTokenAnswer({ config, token, tokenAnswer, now }: CheckedAccount): Promise<CheckResult> {
  if (config.paymentsStaticToken !== undefined) return ok('None is asked for: PAYMENTS_STATIC_TOKEN is used');
  const isUsable = await token().then(
    () => true,
    () => false,
  );
  const answer = tokenAnswer();
  if (answer === undefined) return skippedFor('Payments token');
  const { changes = {} } = proposeTokenReading(answer, config, now()) ?? {};
  const { PAYMENTS_ACCESS_TOKEN_POINTERS: access, ...others } = changes;
  if (!isUsable) {
    const fix = access === undefined ? {} : { fix: fixOf({ PAYMENTS_ACCESS_TOKEN_POINTERS: access }) };
    return { ...skippedFor('Payments token'), ...fix };
  }
  if (Object.keys(others).length === 0) return ok('The settings find in it what it says');
  return warning(
    'It says how long the token lives, or what refreshes it, where the settings do not look',
    fixOf(others),
  );
}

async function lookAtPayment({ config, payments }: CheckedAccount, paid: KnownPayment): Promise<CheckResult> {
  const records = await payments.ask((client, accountId) =>
    rawRecords(client, accountId, { orderReference: paid.reference }),
  );
  const found = proposeTransaction(records, paid, config);
  if (found.kind === 'none')
    return problem(
      found.why,
      'Check the reference and its amount, then PAYMENTS_PAID_STATUSES and PAYMENTS_AMOUNT_POINTER.',
    );
  return Object.keys(found.changes).length === 0
    ? ok('It is confirmed as paid')
    : problem('It is not confirmed as paid', fixOf(found.changes));
}

async function lookAtCards({ config, payments }: CheckedAccount, email: string): Promise<CheckResult> {
  if (payments.savedCards.kind === 'missing') {
    return problem('Cards cannot be listed', `Set ${listed(payments.savedCards.settings, 'and')}.`);
  }
  const shape = savedCardShape(config);
  const found = await payments.ask(async (client): Promise<CardsProposal> => {
    try {
      return await proposeCards(listRequest(client, config), email, shape);
    } catch (error) {
      const isRefused = error instanceof ServiceFailure && /unauthorized|forbidden/.test(error.kind);
      if (!isRefused || shape.savedCardsHeaders.length === 2) throw error;
      return { kind: 'none', why: 'The service refuses the list, for which the settings leave a header out' };
    }
  });
  if (found.kind === 'none')
    return problem(found.why, 'Check SAVED_CARDS_QUERY, SAVED_CARDS_LIST_POINTERS and SAVED_CARDS_HEADERS.');
  if (Object.keys(found.changes).length > 0) {
    return problem('The settings do not list what the service does', fixOf(found.changes));
  }
  return found.paging === 'stuck'
    ? warning(cardsWords(found), 'Set SAVED_CARDS_CURSOR_QUERY.')
    : ok(cardsWords(found));
}

function lookAtDelivery(config: Config, delivery: SignedRequest): CheckResult {
  const found = proposeWebhook(config, delivery);
  if (found.kind === 'none')
    return problem(found.why, 'Capture another one, as docs/troubleshooting.md says.');
  if (Object.keys(found.changes).length > 0)
    return problem('It does not verify, or is not read, with these settings', fixOf(found.changes));
  return found.lacks === undefined
    ? ok('It verifies as of its own time, and its event is read')
    : problem(found.lacks.says, `Set ${found.lacks.setting}, as docs/settings.md shows.`);
}

/** The changes as one sentence; a blank value means to remove the setting. */
function fixOf(changes: Changes): string {
  const out = Object.entries(changes).flatMap(([name, value]) => (value === '' ? [name] : []));
  const set = changeLines(Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== '')));
  const parts = [
    ...(set.length > 0 ? [`Set ${set.join(', ')}`] : []),
    ...(out.length > 0 ? [`${set.length > 0 ? 'take' : 'Take'} out ${listed(out, 'and')}`] : []),
  ];
  return `${parts.join('; ')}.`;
}

/** Looks once the doctor has its new token: a second request for one could revoke the first. */
async function afterToken(
  { config, token }: CheckedAccount,
  look: () => Promise<CheckResult>,
): Promise<CheckResult> {
  try {
    await token();
  } catch {
    return skippedFor('Payments token');
  }
  try {
    return await look();
  } catch (error) {
    if (!(error instanceof ServiceFailure)) throw error;
    return failedCall(error, config);
  }
}
