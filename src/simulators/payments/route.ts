import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import { parseJson } from '../../domain/json.ts';
import { minorFromWire } from '../../domain/money.ts';
import type { Exchange } from '../protocol.ts';
import type { Asked, Reply } from '../simulator.ts';
import type { World } from './world.ts';

/** One parsed request. `body` is undefined if absent or not JSON. */
export type Call = {
  headers: IncomingHttpHeaders;
  query: URLSearchParams;
  params: Record<string, string>;
  body: unknown;
  /** The account of the call; the access rule has checked it. */
  accountId: string;
};

/**
 * Who may call. `account`: the accountId header alone (token issue). `parent`: a bearer token with the
 * parent's accountId. `merchant`: a bearer token with the accountId of the parent or of a sub account.
 *
 * Spec: Authentication.
 */
type Access = 'open' | 'account' | 'parent' | 'merchant';

/** Handlers are synchronous: no request comes between checking a reference and using it. */
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

export type Found = { kind: 'route'; route: Route; params: Record<string, string> } | { kind: 'unknown' };

export function findRoute(routes: readonly Route[], method: string, path: string): Found {
  for (const route of routes) {
    const params = matchPath(route.path, path);
    if (params && route.method === method) return { kind: 'route', route, params };
  }
  return { kind: 'unknown' };
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

/** A route's answer, and its one-line summary. Without an answer: an accident that clients must survive. */
export type Answer = Reply;

export function answered(body: object, outcome: string): Answer {
  return { kind: 'answer', status: 200, body, outcome };
}

/** The envelope of most responses. Spec: Response envelope. */
export function enveloped(data: unknown, outcome: string): Answer {
  return answered({ code: '00', description: 'Success', data }, outcome);
}

/** The checkout endpoints' envelope, with the request's status beside the code. */
export function checkoutEnveloped(data: unknown, outcome: string): Answer {
  return answered({ code: '00', description: 'Success', status: true, data }, outcome);
}

/** An HTTP error. Spec: Errors (body fields: not shown; the playground sends a code and a description). */
export function refusal(status: number, description: string, headers: Record<string, string> = {}): Answer {
  const body = { code: String(status), description };
  return { kind: 'answer', status, headers, body, outcome: description };
}

/** A request's body for a `Call`; `isJson` false: neither JSON nor a form. */
export function parseBody({ request, body }: Asked): { isJson: boolean; value?: unknown } {
  if (body === '') return { isJson: true };
  const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (type === 'application/x-www-form-urlencoded')
    return { isJson: true, value: Object.fromEntries(new URLSearchParams(body)) };
  const value = type === 'application/json' ? parseJson(body) : undefined;
  return value === undefined ? { isJson: false } : { isJson: true, value };
}

/** Reads the body strictly, like a service; otherwise HTTP 400 with the field's name, never its value. */
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
