import { createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Account } from '../../account.ts';
import type { ChargeSeen, Resend } from '../../domain/charge.ts';
import { StoreUnavailable } from '../../domain/failure.ts';
import { customerTried, isCodeOpen, readCode } from '../../domain/otp.ts';
import { fewLinesOf, newErrorId } from '../../log.ts';
import { wordsFor } from './page-words.ts';
import { newSubmitId, pageHeaders, refreshOf, renderPage, type Screen } from './page.ts';

/** What the page needs from charges. */
export type ForCodePage = {
  find: (reference: string) => Promise<ChargeSeen | undefined>;
  submitCode: (typed: {
    reference: string;
    link: string;
    code: string;
    triesLeft: number;
  }) => Promise<Answered>;
  resendCode: (wish: { reference: string; link: string }) => Promise<Answered>;
  refuseByCustomer: (wish: { reference: string; link: string }) => Promise<void>;
  /** Takes work that the page's answer doesn't wait for. */
  background: (work: Promise<void>) => void;
};

type Answered = { charge: ChargeSeen; carryOn?: () => Promise<void> } | undefined;

export const codePagePath = '/c/';
const token = /^[\w-]{22}$/;
/** Lifetime of a page: fifteen minutes to type the code, and half an hour to read the result. */
const pageMs = 45 * 60_000;
/** Every 404 takes this long, so that a dead link can't be told from one that never existed. */
const deadMs = 150;
const minuteMs = 60_000;
const perMinute = { get: 20, post: 6, unknown: 60 };

/**
 * A page's address. `link`: the hash of the link that the customer was sent. `shows`: `form` at that link. A submit leads to a
 * second address, which outlives the link: it shows the code's result (`result`) or thanks for *I did not ask for this*
 * (`stopped`).
 */
const stored = z.object({
  reference: z.string(),
  link: z.string(),
  shows: z.enum(['form', 'result', 'stopped']),
});
type Stored = z.infer<typeof stored>;

/** The store has only this hash, from which nobody can make a working link. */
function hashOf(secret: string): string {
  return createHash('sha256').update(`payops code link ${secret}`).digest('base64url');
}

/** Makes a link and stores its hash. It works once the caller has stored `link` with the charge. */
export async function makeCodeLink(
  { store }: Pick<Account, 'store'>,
  reference: string,
): Promise<{ secret: string; link: string }> {
  const secret = randomBytes(16).toString('base64url');
  const link = hashOf(secret);
  await keep(store, link, { reference, link, shows: 'form' });
  return { secret, link };
}

/** Stores a page under the hash of its address. An existing one stays as it is. */
async function keep(store: Account['store'], hash: string, value: Stored): Promise<void> {
  await store.create(codeLinkKey(hash), JSON.stringify(value), { ttlMs: pageMs });
}

function codeLinkKey(hash: string): string {
  return `code-link:${hash}`;
}

/** Counts per minute. The first call of another minute forgets all keys; no IP address is stored. */
function createCounts(now: () => number) {
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

/** A request from the HTTP server. `form`: undefined if the body is no form, too large, or broke off. */
type PageRequest = {
  method: string;
  tail: string;
  address: string;
  /** The `Accept-Language` header. */
  languages: string;
  form: () => Promise<URLSearchParams | undefined>;
};

type Reply = { status: number; screen: Screen } | { status: 303; to: string };

/** Answers requests for one merchant account's pages. Undefined: the address is none of them. */
export type CodeDoor = (request: PageRequest) => Promise<Reply | undefined>;

/** GET and HEAD change nothing. The path is the only credential, so never put it into a log or an error. */
export function createCodeDoor(
  { store, now, place }: Account,
  merchant: string,
  timeZone: string,
  desk: ForCodePage,
): CodeDoor {
  const count = createCounts(now);

  async function find(secret: string) {
    const entry = token.test(secret) ? await store.read(codeLinkKey(hashOf(secret))) : undefined;
    const known = entry && stored.parse(JSON.parse(entry.value));
    if (known?.shows === 'stopped') return { ...known, charge: undefined };
    const charge = known && (await desk.find(known.reference));
    return known && charge?.customer?.link === known.link ? { ...known, charge } : undefined;
  }

  type Found = NonNullable<Awaited<ReturnType<typeof find>>>;

  /** Undefined: the link is dead in the charge's present state. */
  function screenOf({ charge, shows }: Found): Screen | undefined {
    if (shows === 'stopped') return { kind: 'said', what: 'stopped' };
    if (!charge) return undefined;
    const { state, otp, terms, resends, heard } = charge;
    const isOpen = otp !== undefined && isCodeOpen(otp, now());
    if (state.kind === 'otp' && isOpen) {
      const { money, card } = terms;
      const { until: untilMs, triesLeft, lastCode } = otp;
      if (lastCode === 'time_over') return { kind: 'said', what: 'tooLate' };
      const problem = customerTried(charge) ? lastCode && problemOf[lastCode] : undefined;
      const resend = resends.length === 0 ? undefined : askedFor(resends.at(-1)?.answer);
      const shown = { merchant, money, lastFour: card.lastFour, untilMs, triesLeft };
      // The sandbox can't send another code.
      const asked = { ...shown, mayResend: place.environment === 'live', resend };
      return { kind: 'form', asked, problem, nowMs: now(), timeZone, id: newSubmitId() };
    }
    if (state.kind === 'otp_checking') return { kind: 'said', what: 'checking' };
    // The code's answer was lost: keep the link alive, the form may come back.
    const isBetween = state.kind === 'confirming' && isOpen && !heard.includes('paid');
    return isBetween || shows === 'result' ? { kind: 'said', what: outcomeOf(charge) } : undefined;
  }

  async function show(secret: string): Promise<Reply | undefined> {
    const found = await find(secret);
    const screen = found && screenOf(found);
    if (!screen) return undefined;
    return count(`get ${hashOf(secret)}`) > perMinute.get ? tooFast : { status: 200, screen };
  }

  /**
   * Handles a submit. `id` is generated with the page and sent by its form; the result is shown at that address. So a double
   * tap, or a repeat after a lost answer, leads to the same result, even when the link is dead by then.
   */
  async function take(request: PageRequest, secret: string): Promise<Reply | undefined> {
    const [found, form] = await Promise.all([find(secret), request.form()]);
    const id = form?.get('id') ?? '';
    const wish = form?.get('do');
    const screen = found && screenOf(found);
    // *I did not ask for this* counts even while a code is checked: somebody else may have typed it.
    const isTaken = found?.charge?.state.kind === 'otp' || wish === 'not_mine';
    if (!screen || !isTaken) return (await find(id)) ? { status: 303, to: id } : await show(secret);
    if (count(`post ${found.link}`) > perMinute.post) return tooFast;
    if (!form || !token.test(id)) return { status: 400, screen };
    const { reference, link } = found;
    switch (wish) {
      case 'resend':
        carryOn(await desk.resendCode({ reference, link }));
        return { status: 303, to: secret };
      case 'not_mine':
        await keep(store, hashOf(id), { reference, link, shows: 'stopped' });
        await desk.refuseByCustomer({ reference, link });
        return { status: 303, to: id };
      default: {
        const code = readCode(form.get('code') ?? '');
        if (code === undefined && screen.kind === 'form') {
          return { status: 422, screen: { ...screen, problem: 'notACode' } };
        }
        if (code === undefined) return { status: 422, screen };
        await keep(store, hashOf(id), { reference, link, shows: 'result' });
        carryOn(await desk.submitCode({ reference, link, code, triesLeft: Number(form.get('try')) }));
        return { status: 303, to: id };
      }
    }
  }

  function carryOn(answered: Answered): void {
    if (answered?.carryOn) desk.background(answered.carryOn());
  }

  return (request) => (request.method === 'POST' ? take(request, request.tail) : show(request.tail));
}

/** Serves the pages of all accounts. Unknown addresses are answered like dead links, as slowly. */
export function answerCodePages(
  doors: readonly CodeDoor[],
  { log, now, wait }: Pick<Account, 'log' | 'now' | 'wait'>,
) {
  const count = createCounts(now);
  const logFew = fewLinesOf(log);

  async function ask(request: PageRequest): Promise<Reply> {
    const startedAt = performance.now();
    try {
      for (const door of doors) {
        const known = await door(request);
        if (known) return known;
      }
    } catch (error) {
      if (error instanceof StoreUnavailable) {
        logFew('warn', 'a customer’s page was not shown: the store is away');
        const what = request.method === 'POST' ? 'notTaken' : 'away';
        return { status: 503, screen: { kind: 'said', what } };
      }
      // A record that can't be read: no customer is shown the server's own JSON.
      logFew('error', 'a customer’s page was not shown', { errorId: newErrorId() }, error);
      return { status: 500, screen: { kind: 'said', what: 'away' } };
    }
    const isFlood = count(request.address) > perMinute.unknown;
    await wait(Math.max(0, deadMs - (performance.now() - startedAt)));
    return isFlood ? tooFast : { status: 404, screen: { kind: 'said', what: 'gone' } };
  }

  return async function answer(request: PageRequest) {
    const { form } = request;
    // Several doors may ask for the body, which can be read only once.
    let read: ReturnType<typeof form> | undefined;
    const reply = await ask({ ...request, form: () => (read ??= form()) });
    const isMoved = 'to' in reply;
    const more = isMoved ? { location: reply.to } : refreshOf(reply.screen);
    const headers: Record<string, string> = { ...pageHeaders, ...more };
    return {
      status: reply.status,
      headers,
      body: isMoved ? '' : renderPage(reply.screen, wordsFor(request.languages)),
    };
  };
}

const tooFast: Reply = { status: 429, screen: { kind: 'said', what: 'tooFast' } };

function askedFor(answer: Resend['answer']): 'resent' | 'notResent' {
  return answer === 'refused' || answer === 'not_made' ? 'notResent' : 'resent';
}

const problemOf = { refused: 'wrong', unanswered: 'unanswered' } as const;

/** Which page shows how the charge ended. Never in the service's words. */
function outcomeOf({ state, heard, otp }: ChargeSeen) {
  switch (state.kind) {
    case 'approved':
      return 'paid';
    case 'confirming':
      return heard.includes('paid') ? 'accepted' : 'doubt';
    case 'wrong_codes':
      return otp?.isClosed ? 'notPaid' : 'tooMany';
    case 'expired':
    case 'otp':
      // A code whose answer was lost may have been accepted: the customer must not pay again meanwhile.
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
