import type { Config } from '../../config/config.ts';
import { ServiceFailure } from '../../domain/failure.ts';
import { parseAmount } from '../../domain/money.ts';
import { parseOrderReference, type OrderReference } from '../../domain/order-reference.ts';
import { counted, type Parsed } from '../../domain/wording.ts';
import { createPaymentsClient, type PaymentsClient } from '../../payments/client.ts';
import { addressSetting } from '../../payments/failures.ts';
import { rawRecords } from '../../payments/lookups.ts';
import { clientSettings } from '../../payments/payments.ts';
import { savedCardShape } from '../../payments/saved-cards.ts';
import { issueToken, parentAccountOf } from '../../payments/tokens.ts';
import { serviceProblem } from '../ask-service.ts';
import { fieldLines, maskedFields } from '../masked-fields.ts';
import { agrees, type Conversation, type QuestionName } from './conversation.ts';
import { askSetting, type Changes, offer, type Step } from './draft.ts';
import { cardsWords, type FittingCards, listRequest, proposeCards } from './propose-cards.ts';
import type { KnownFacts } from './known-checks.ts';
import { holdsCredentials, proposeTokenBody, proposeTokenReading } from './propose-token.ts';
import { type KnownPayment, proposeTransaction } from './propose-transaction.ts';
import { parseShownRequest } from './shown-request.ts';

type ServiceStep = Step & { now: () => number };

/**
 * Connects the payments service: asks for credentials, a payment known as paid, and a customer with saved cards.
 * Returns the facts that fit.
 */
export async function connectService(step: ServiceStep): Promise<Pick<KnownFacts, 'paid' | 'cardsOf'>> {
  const { talk, draft } = step;
  const environment = await talk.ask({
    name: 'environment',
    form: ['sandbox', 'live'],
    proposal: draft.textOf('PAYMENTS_ENVIRONMENT') ?? 'sandbox',
  });
  if (environment !== undefined) draft.take({ PAYMENTS_ENVIRONMENT: environment });
  const address = await askSetting(step, 'address', addressSetting(draft.config()));
  const account = await askSetting(step, 'account', 'PAYMENTS_ACCOUNT_ID');
  if (address === undefined || account === undefined) return {};
  await askSetting(step, 'parent_account', 'PAYMENTS_PARENT_ACCOUNT_ID');
  const client = await connectToken(step);
  if (!client) return {};
  const paid = await connectPayment(step, client);
  const cardsOf = await connectCards(step, client);
  return { ...(paid && { paid }), ...(cardsOf === undefined ? {} : { cardsOf }) };
}

async function connectToken(step: ServiceStep): Promise<PaymentsClient | undefined> {
  const { talk, draft } = step;
  if (draft.textOf('PAYMENTS_STATIC_TOKEN') !== undefined)
    return clientOf(step, draft.config().paymentsStaticToken);
  for (;;) {
    await askSetting(step, 'client_id', 'PAYMENTS_CLIENT_ID', { isSecret: true });
    await askSetting(step, 'client_secret', 'PAYMENTS_CLIENT_SECRET', { isSecret: true });
    await askTokenBody(step);
    const token = await tryToken(step);
    if (token !== undefined) return clientOf(step, token);
    if (!(await agrees(talk, 'token_again', talk.isPerson ? 'yes' : 'no'))) return undefined;
    await askSetting(step, 'address', addressSetting(draft.config()));
  }
}

async function askTokenBody({ talk, draft }: Step): Promise<void> {
  const known = draft.textOf('PAYMENTS_TOKEN_ISSUE_BODY');
  const written = await talk.ask({
    name: 'token_request',
    form: 'lines',
    proposal: known,
    check: problemWith(parseShownRequest),
  });
  const shown = written === undefined || written === known ? undefined : parseShownRequest(written);
  if (!shown?.ok) return;
  const { paymentsClientId: clientId = '', paymentsClientSecret: clientSecret = '' } = draft.config();
  const { body: shownBody, headers, url } = shown.value;
  const body = proposeTokenBody(shownBody, {
    clientId,
    clientSecret,
    accountId: parentAccountOf(draft.config()),
  });
  const warnings = [
    ...(url !== undefined && !/\/v1\/auth\/token\/issue\/?(?:\?|$)/.test(url)
      ? ['The bot always uses the specification’s path, /v1/auth/token/issue.']
      : []),
    ...Object.keys(headers)
      .filter((name) => /id|key|secret|auth|user/i.test(name) && name !== 'accountid')
      .map((name) => `The bot sends no header ${name} with it: the specification knows accountId alone.`),
    ...(holdsCredentials(body)
      ? []
      : [
          'Not both credentials have a place in it: write {{CLIENT_ID}} and {{CLIENT_SECRET}} where they belong.',
        ]),
  ];
  if (warnings.length > 0) await talk.tell(warnings.map((line) => `⚠️ ${line}`).join('\n'));
  const answer = await talk.ask({
    name: 'token_body',
    proposal: JSON.stringify(body),
    check: (text) => draft.problemOf('PAYMENTS_TOKEN_ISSUE_BODY', text),
  });
  if (answer !== undefined) draft.take({ PAYMENTS_TOKEN_ISSUE_BODY: answer });
}

/** Requests a token, shows the answer masked, and proposes settings that find the token in it. */
async function tryToken(step: ServiceStep): Promise<string | undefined> {
  const { talk, draft, now } = step;
  let answer: unknown;
  const request = (): Promise<string | undefined> =>
    resultOf(step, async () => {
      const issued = issueToken(clientOf(step), draft.config(), now(), (body) => (answer = body));
      // If an answer came, the token may be elsewhere in it, and the proposed settings find it: report no failure.
      const token = await issued.catch((error: unknown) => {
        if (answer === undefined || !(error instanceof ServiceFailure)) throw error;
      });
      return token?.accessToken;
    });
  const token = await request();
  if (answer === undefined) return undefined;
  await talk.tell(fieldLines(maskedFields(answer)).join('\n'), 'The answer, values masked');
  const reading = proposeTokenReading(answer, draft.config(), now());
  if (!reading) {
    await talk.tell('❌ Nothing in it is called a token. Set PAYMENTS_ACCESS_TOKEN_POINTERS by hand.');
    return token;
  }
  const { lifetimeMs } = reading;
  const lifetime = lifetimeMs === undefined ? 'not known' : lifetimeWords(lifetimeMs);
  await talk.tell(`A token came. Its lifetime: ${lifetime}.`);
  await offer(step, 'token_settings', reading.changes);
  return token ?? (await request());
}

function lifetimeWords(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 120)
    return minutes < 2 ? counted(Math.round(ms / 1_000), 'second') : counted(minutes, 'minute');
  return minutes < 2_880
    ? counted(Math.round(minutes / 60), 'hour')
    : counted(Math.round(minutes / 1_440), 'day');
}

async function connectPayment(step: ServiceStep, client: PaymentsClient): Promise<KnownPayment | undefined> {
  const { talk, draft } = step;
  for (;;) {
    const reference = await askParsed(talk, 'paid_reference', parseOrderReference);
    const minor = reference && (await askParsed(talk, 'paid_amount', parseAmount));
    if (reference === undefined || minor === undefined) return undefined;
    const known = { reference, minor };
    const records = await resultOf(step, () => recordsOf(client, draft.config(), reference));
    if (!records) return undefined;
    if (records.length > 0) {
      const lines = fieldLines(maskedFields(records.length === 1 ? records[0] : records, known));
      await talk.tell(lines.join('\n'), 'Its record, values masked');
    }
    const found = proposeTransaction(records, known, draft.config());
    if (found.kind === 'fits') {
      return (await offer(step, 'payment_settings', found.changes)) ? known : undefined;
    }
    await talk.tell(`❌ ${found.why}`);
    if (!talk.isPerson) return undefined;
  }
}

async function connectCards(step: ServiceStep, client: PaymentsClient): Promise<string | undefined> {
  const { talk, draft } = step;
  for (;;) {
    const email = await talk.ask({
      name: 'cards_of',
      check: (text) => (text.includes('@') ? undefined : 'must be an e-mail'),
    });
    if (email === undefined) return undefined;
    const config = draft.config();
    const found = await resultOf(step, () =>
      proposeCards(listRequest(client, config), email, savedCardShape(config)),
    );
    if (!found) return undefined;
    if (found.kind === 'fits') {
      await talk.tell(cardsWords(found));
      const live = await liveSettings(step, found);
      return (await offer(step, 'cards_settings', { ...live, ...found.changes })) ? email : undefined;
    }
    await talk.tell(`❌ ${found.why}`);
    if (!talk.isPerson) return undefined;
  }
}

/** In live no setting about saved cards has a default, so all of them are written. */
async function liveSettings({ talk, draft }: Step, found: FittingCards): Promise<Changes> {
  const config = draft.config();
  if (config.paymentsEnvironment !== 'live') return {};
  const deleteBody = config.savedCardsDeleteBody
    ? undefined
    : await talk.ask({
        name: 'card_delete_body',
        proposal: '{"tokenKey":"{{TOKEN_KEY}}"}',
        check: (text) => draft.problemOf('SAVED_CARDS_DELETE_BODY', text),
      });
  return {
    ...(config.savedCardsQuery === undefined ? { SAVED_CARDS_QUERY: found.query } : {}),
    ...(config.savedCardsListPointers === undefined ? { SAVED_CARDS_LIST_POINTERS: found.list } : {}),
    ...(config.savedCardsHeaders === undefined ? { SAVED_CARDS_HEADERS: 'Authorization,accountId' } : {}),
    ...(deleteBody === undefined ? {} : { SAVED_CARDS_DELETE_BODY: deleteBody }),
  };
}

function recordsOf(client: PaymentsClient, config: Config, orderReference: OrderReference) {
  return rawRecords(client, config.paymentsAccountId ?? '', { orderReference });
}

/** The answer as parsed; undefined: skipped. */
async function askParsed<T>(
  talk: Conversation,
  name: QuestionName,
  parse: (text: string) => Parsed<T>,
): Promise<T | undefined> {
  const text = await talk.ask({ name, check: problemWith(parse) });
  const read = text === undefined ? undefined : parse(text);
  return read?.ok ? read.value : undefined;
}

function problemWith(parse: (text: string) => Parsed<unknown>) {
  return (text: string): string | undefined => {
    const read = parse(text);
    return read.ok ? undefined : `cannot be used. ${read.problem}`;
  };
}

/** A client with this token; without one, for the request that gets a token. */
function clientOf({ draft, now }: ServiceStep, token = ''): PaymentsClient {
  const get = (): Promise<string> => Promise.resolve(token);
  return createPaymentsClient({
    ...clientSettings(draft.config()),
    accessToken: { current: get, replace: get },
    now,
  });
}

/** The call's result; undefined after a failure, which is reported with its fix. */
async function resultOf<T>({ talk, draft }: Step, call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof ServiceFailure)) throw error;
    await talk.tell(`❌ ${serviceProblem(draft.config(), error)}`);
    return undefined;
  }
}
