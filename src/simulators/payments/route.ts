import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import { minorFromWire } from '../../domain/money.ts';
import type { Exchange } from '../protocol.ts';
import type { World } from './world.ts';

/** One request, read and parsed. `body` is undefined when there was none or it was not JSON. */
export type Call = {
  headers: IncomingHttpHeaders;
  query: URLSearchParams;
  params: Record<string, string>;
  body: unknown;
  /** The account the call acts for; the route's access rule has checked it. */
  accountId: string;
};

/**
 * Who may call. `account`: the accountId header alone (token issue). `parent`: a bearer token with the
 * parent's accountId. `merchant`: a bearer token with the accountId of the parent or of a sub account.
 *
 * Spec: Authentication.
 */
export type Access = 'open' | 'account' | 'parent' | 'merchant';

/** Handlers are synchronous, so that "is this reference used?" and "use it" can never be parted by another request. */
export type Route = {
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  label: string;
  access: Access;
  from: Exchange['from'];
  /** The 200 response carries the X-Rate-Limit headers. Spec: Limits. */
  tellsLimit?: boolean;
  answer: (world: World, call: Call) => Answer;
};

export const parent = { access: 'parent', from: 'bot', tellsLimit: true } as const;
export const merchant = { access: 'merchant', from: 'bot' } as const;

export type Found =
  | { kind: 'route'; route: Route; params: Record<string, string> }
  | { kind: 'wrong_method' }
  | { kind: 'unknown' };

export function findRoute(routes: readonly Route[], method: string, path: string): Found {
  let pathKnown = false;
  for (const route of routes) {
    const params = matchPath(route.path, path);
    if (!params) continue;
    if (route.method === method) return { kind: 'route', route, params };
    pathKnown = true;
  }
  return { kind: pathKnown ? 'wrong_method' : 'unknown' };
}

function matchPath(template: string, path: string): Record<string, string> | undefined {
  const wanted = template.split('/');
  const given = path.split('/');
  if (wanted.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const value = given[index] ?? '';
    if (part.startsWith(':')) params[part.slice(1)] = value;
    else if (part !== value) return undefined;
  }
  return params;
}

/**
 * What a route answers, and how the exchange is told in one line. The three without a status are the
 * accidents a client has to survive: no answer at all, a cut connection, an answer nobody can read.
 */
export type Answer =
  | {
      kind: 'json';
      status: number;
      body: unknown;
      note: string;
      headers?: Record<string, string>;
      /** Sent so much later. */
      afterMs?: number;
    }
  | { kind: 'page'; status: number; html: string; note: string }
  | { kind: 'redirect'; location: string; note: string }
  | { kind: 'unreadable'; note: string }
  | { kind: 'silence'; note: string }
  | { kind: 'reset'; note: string };

export function answered(body: unknown, note: string): Answer {
  return { kind: 'json', status: 200, body, note };
}

/** The envelope of most responses. Spec: Response envelope. */
export function enveloped(data: unknown, note: string): Answer {
  return answered({ code: '00', description: 'Success', data }, note);
}

/** The checkout endpoints' envelope, which carries the request's status beside the code. */
export function checkoutEnveloped(data: unknown, note: string): Answer {
  return answered({ code: '00', description: 'Success', status: true, data }, note);
}

/** An HTTP error. Spec: Errors (body fields: not shown; the playground sends a code and a description). */
export function refusal(status: number, description: string): Answer {
  return { kind: 'json', status, body: { code: String(status), description }, note: description };
}

/** Reads the body strictly, as a service does; otherwise HTTP 400 with the field's name and never its value. */
export function readBody<T>(
  schema: z.ZodType<T>,
  call: Call,
): { ok: true; value: T } | { ok: false; answer: Answer } {
  const read = schema.safeParse(call.body);
  if (read.success) return { ok: true, value: read.data };
  const issue = read.error.issues[0];
  const field = issue?.path.join('.') ?? '';
  return { ok: false, answer: refusal(400, `${field === '' ? 'The body' : field}: ${issue?.message ?? ''}`) };
}

/** Minor units of "5000.00": exactly two decimals, above zero. Spec: Online checkout (amount). */
export const amount = z
  .string()
  .regex(/^\d{1,13}\.\d{2}$/, 'must be a string with two decimal places')
  .transform((text) => minorFromWire(text) ?? 0)
  .refine((minor) => minor > 0, 'must be more than zero');

export const currency = z.string().regex(/^[A-Z]{3}$/, 'must be a currency code');

/** Spec: Limits (orderReference length). */
export const orderReference = z
  .string()
  .min(1)
  .refine((text) => [...text].length <= 50, 'must have at most 50 characters');

export const email = z.email();
