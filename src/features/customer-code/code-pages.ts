import { hash } from 'node:crypto';
import { z } from 'zod';
import type { Account } from '../../account.ts';
import type { ChargeSeen, Resend } from '../../domain/charge.ts';
import { StoreUnavailable } from '../../domain/failure.ts';
import { customerTried, isCodeOpen, readCode } from '../../domain/otp.ts';
import { fewLinesOf, newErrorId } from '../../log.ts';
import { wordsFor } from './page-words.ts';
import { newSecret, pageHeaders, refreshOf, renderPage, type Screen } from './page-html.ts';

/** What the page needs from charges. `link`: the hash of the customer's link. */
export type PageCharges = {
  find: (reference: string) => Promise<ChargeSeen | undefined>;
  submitCode: (typed: {
    reference: string;
    link: string;
    code: string;
    /** As the page showed it, so that a form that is sent twice uses one try. */
    triesLeft: number;
  }) => Promise<Answered>;
  resendCode: (request: { reference: string; link: string }) => Promise<Answered>;
  refuseByCustomer: (request: { reference: string; link: string }) => Promise<void>;
  /** Runs work that the page's answer doesn't wait for. */
  background: (work: Promise<void>) => void;
};

/** `carryOn`: what is left to do once the customer has the answer. */
type Answered = { charge: ChargeSeen; carryOn?: () => Promise<void> } | undefined;

export const codePagePath = '/c/';
const secretFormat = /^[\w-]{22}$/;
/** Lifetime of a page: fifteen minutes to type the code, and half an hour to read the result. */
const pageMs = 45 * 60_000;
/** Every 404 takes this long, so that a dead link can't be told from one that never existed. */
const deadMs = 150;
const minuteMs = 60_000;
/** Most requests per minute and replica: `get` for each address, `post` for each link, `unknown` for each IP address. */
const perMinute = { get: 20, post: 6, unknown: 60 };

/**
 * One address of the page, stored under the hash of its secret. `shows`: the `form` at the link that the customer was
 * sent; the `result` of a typed code, at an address of its own that outlives the link; `stopped`, the thanks for *I did
 * not ask for this*. `link`: the hash of the sent link's secret.
 */
const pageShape = z.object({
  reference: z.string(),
  link: z.string(),
  shows: z.enum(['form', 'result', 'stopped']),
});
type StoredPage = z.infer<typeof pageShape>;

/** The store has only this hash: nobody can make a working link from it. */
function hashOf(secret: string): string {
  return hash('sha256', `payops code link ${secret}`, 'base64url');
}

/** Makes a link and stores its hash. It works once the caller has stored `link` with the charge. */
export async function makeCodeLink(
  { store }: Pick<Account, 'store'>,
  reference: string,
): Promise<{ secret: string; link: string }> {
  const secret = newSecret();
  const link = hashOf(secret);
  await storePage(store, link, { reference, link, shows: 'form' });
  return { secret, link };
}

/** Does nothing if the page is already stored. */
async function storePage(store: Account['store'], hash: string, page: StoredPage): Promise<void> {
  await store.create(codeLinkKey(hash), JSON.stringify(page), { ttlMs: pageMs });
}

function codeLinkKey(hash: string): string {
  return `code-link:${hash}`;
}

/** Counts the calls per key in the current minute. Keys are only in memory, and forgotten in the next minute. */
function createMinuteCounts(now: () => number) {
  let minute = 0;
  let counts = new Map<string, number>();
  return (key: string): number => {
    const current = Math.floor(now() / minuteMs);
    if (current !== minute) [minute, counts] = [current, new Map()];
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    return count;
  };
}

type PageRequest = {
  method: string;
  /** The path after the prefix: the secret, if it is a page's address. */
  tail: string;
  ip: string;
  /** The `Accept-Language` header. */
  languages: string;
  /** Undefined if the body is no form, is too large or was cut off. */
  form: () => Promise<URLSearchParams | undefined>;
};

type Reply = { status: number; screen: Screen } | { status: 303; to: string };

/** Answers a request for one of an account's pages. Undefined: the account has no such page, or its link is dead. */
export type AnswerCodePage = (request: PageRequest) => Promise<Reply | undefined>;

/** GET and HEAD change nothing. The path is the only credential, so never put it into a log or an error. */
export function createCodePages(
  { store, now, shownAccount }: Account,
  merchant: string,
  timeZone: string,
  charges: PageCharges,
): AnswerCodePage {
  const count = createMinuteCounts(now);

  /** Undefined: no page has this address, or the link was replaced or ended. */
  async function find(secret: string) {
    const entry = secretFormat.test(secret) ? await store.read(codeLinkKey(hashOf(secret))) : undefined;
    const page = entry && pageShape.parse(JSON.parse(entry.value));
    if (page?.shows === 'stopped') return { ...page, charge: undefined };
    const charge = page && (await charges.find(page.reference));
    return page && charge?.customer?.link === page.link ? { ...page, charge } : undefined;
  }

  type Found = NonNullable<Awaited<ReturnType<typeof find>>>;

  /** Undefined: the charge takes no code now, so the link is dead. */
  function screenOf({ charge, shows }: Found): Screen | undefined {
    if (shows === 'stopped') return { kind: 'notice', notice: 'stopped' };
    if (!charge) return undefined;
    const { state, otp, terms, resends, heard, alertNews } = charge;
    const isOpen = otp !== undefined && isCodeOpen(otp, now());
    if (state.kind === 'otp' && isOpen) {
      const { until: untilMs, triesLeft, lastCode } = otp;
      if (lastCode === 'time_over') return { kind: 'notice', notice: 'tooLate' };
      return {
        kind: 'form',
        merchant,
        money: terms.money,
        lastFour: terms.card.lastFour,
        untilMs,
        triesLeft,
        // The sandbox can't send another code.
        mayResend: shownAccount.environment === 'live',
        resend: resendResult(resends.at(-1)),
        mayBePaid: alertNews !== undefined,
        problem: customerTried(charge) ? lastCode && problemOf[lastCode] : undefined,
        nowMs: now(),
        timeZone,
        id: newSecret(),
      };
    }
    if (state.kind === 'otp_checking') return { kind: 'notice', notice: 'checking' };
    // The code's answer was lost. If the bank didn't get the code, the form comes back, so the link must live on.
    const mayReopen = state.kind === 'confirming' && isOpen && !heard.includes('paid');
    return mayReopen || shows === 'result' ? { kind: 'notice', notice: outcomeOf(charge) } : undefined;
  }

  async function show(secret: string): Promise<Reply | undefined> {
    const found = await find(secret);
    const screen = found && screenOf(found);
    if (!screen) return undefined;
    return count(`get ${hashOf(secret)}`) > perMinute.get ? tooFast : { status: 200, screen };
  }

  /**
   * Handles a submit. The form sends `id`, the secret of the address that will show the result. So a double tap, or a
   * repeat after a lost answer, leads to the same result, even when the link is dead by then.
   */
  async function submit(request: PageRequest, secret: string): Promise<Reply | undefined> {
    const [found, form] = await Promise.all([find(secret), request.form()]);
    const id = form?.get('id') ?? '';
    const action = form?.get('do');
    const screen = found && screenOf(found);
    // *I did not ask for this* counts in every state: somebody else may have typed the code.
    const isAccepted = (screen && found.charge?.state.kind === 'otp') || action === 'not_mine';
    // A repeat of an earlier submit leads to its result; anything else to the page as it is now.
    if (!found?.charge || !isAccepted) return (await find(id)) ? { status: 303, to: id } : await show(secret);
    if (count(`post ${found.link}`) > perMinute.post) return tooFast;
    if (!form || !secretFormat.test(id)) return screen && { status: 400, screen };
    const { reference, link } = found;
    switch (action) {
      case 'resend':
        carryOn(await charges.resendCode({ reference, link }));
        return { status: 303, to: secret };
      case 'not_mine':
        await storePage(store, hashOf(id), { reference, link, shows: 'stopped' });
        await charges.refuseByCustomer({ reference, link });
        return { status: 303, to: id };
      default:
        return screen && (await submitCode(found, screen, form, id));
    }
  }

  async function submitCode(
    { reference, link }: Found,
    screen: Screen,
    form: URLSearchParams,
    id: string,
  ): Promise<Reply> {
    const code = readCode(form.get('code') ?? '');
    const triesLeft = Number(form.get('try'));
    if (screen.kind !== 'form') return { status: 422, screen };
    if (code === undefined) return { status: 422, screen: { ...screen, problem: 'notACode' } };
    // The page is older than the last try. A result page would call this code wrong, although it was never sent.
    if (triesLeft !== screen.triesLeft) return { status: 422, screen: { ...screen, problem: 'outdated' } };
    await storePage(store, hashOf(id), { reference, link, shows: 'result' });
    carryOn(await charges.submitCode({ reference, link, code, triesLeft }));
    return { status: 303, to: id };
  }

  function carryOn(answered: Answered): void {
    if (answered?.carryOn) charges.background(answered.carryOn());
  }

  return (request) => (request.method === 'POST' ? submit(request, request.tail) : show(request.tail));
}

/** Answers for all accounts. An unknown address gets the same answer as a dead link, after the same time. */
export function answerCodePages(
  accounts: readonly AnswerCodePage[],
  { log, now, wait }: Pick<Account, 'log' | 'now' | 'wait'>,
) {
  const count = createMinuteCounts(now);
  const logFew = fewLinesOf(log);

  async function replyTo(request: PageRequest): Promise<Reply> {
    const startedAt = performance.now();
    try {
      for (const answerIn of accounts) {
        const reply = await answerIn(request);
        if (reply) return reply;
      }
    } catch (error) {
      if (error instanceof StoreUnavailable) {
        logFew('warn', 'a customer’s page was not shown: the store is away');
        const notice = request.method === 'POST' ? 'notTaken' : 'away';
        return { status: 503, screen: { kind: 'notice', notice } };
      }
      // For example a record that can't be parsed. The customer gets a page, not the server's JSON.
      logFew('error', 'a customer’s page was not shown', { errorId: newErrorId() }, error);
      return { status: 500, screen: { kind: 'notice', notice: 'away' } };
    }
    const isFlood = count(request.ip) > perMinute.unknown;
    await wait(Math.max(0, deadMs - (performance.now() - startedAt)));
    return isFlood ? tooFast : { status: 404, screen: { kind: 'notice', notice: 'gone' } };
  }

  return async function answer(request: PageRequest) {
    const { form } = request;
    // Several accounts may ask for the body, but it can be read only once.
    let read: ReturnType<typeof form> | undefined;
    const reply = await replyTo({ ...request, form: () => (read ??= form()) });
    const isRedirect = 'to' in reply;
    const more = isRedirect ? { location: reply.to } : refreshOf(reply.screen);
    const headers: Record<string, string> = { ...pageHeaders, ...more };
    return {
      status: reply.status,
      headers,
      body: isRedirect ? '' : renderPage(reply.screen, wordsFor(request.languages)),
    };
  };
}

const tooFast: Reply = { status: 429, screen: { kind: 'notice', notice: 'tooFast' } };

function resendResult(last: Resend | undefined): 'resent' | 'notResent' | undefined {
  if (!last) return undefined;
  const { answer } = last;
  return answer === 'refused' || answer === 'not_made' ? 'notResent' : 'resent';
}

const problemOf = { refused: 'wrong', unanswered: 'unanswered' } as const;

/** The notice for a charge that takes no code. */
function outcomeOf({ state, heard, otp, alertNews }: ChargeSeen) {
  switch (state.kind) {
    case 'approved':
      return alertNews ? 'paidAgain' : 'paid';
    case 'confirming':
      return heard.includes('paid') ? 'accepted' : 'doubt';
    case 'wrong_codes':
      return otp?.isClosed ? 'notPaid' : 'tooMany';
    case 'expired':
    case 'otp':
      // The bank may have accepted a code whose answer was lost: the customer must not pay again meanwhile.
      return otp?.answerLost ? 'doubt' : 'tooLate';
    case 'declined':
    case 'rejected':
    case 'abandoned':
      return 'notPaid';
    case 'given_back':
      return 'givenBack';
    default:
      return 'doubt';
  }
}
