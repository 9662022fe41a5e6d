import { holdsCardNumber } from '../../domain/card-number.ts';
import type { Exchange } from '../protocol.ts';

/** A value, made readable here: at once, or, of a function, when somebody reads it, for what never changes any more. */
type Shown = object | string | number | boolean | null | (() => unknown);

/** How an exchange begins. */
type BegunExchange = {
  from: 'bot' | 'slack';
  to: 'bot' | 'slack';
  at: number;
  method: string;
  path: string;
  summary: string;
  request?: Shown | undefined;
};

/** How it ends; `status` 0: there was no answer. `outcome` is put behind the summary. */
export type ExchangeEnd = { status: number; outcome: string; response?: Shown | undefined };

/** `begin` is asked for only where somebody looks. */
export type Recorder = (begin: () => BegunExchange) => (end: ExchangeEnd) => void;

const maxTextLength = 2000;

/** Reports every exchange when it begins and, under the same id, when it is over; secrets are struck out. Ids count up from 1. */
export function createRecorder(onExchange: ((exchange: Exchange) => void) | undefined): Recorder {
  let lastId = 0;
  return function record(begin) {
    if (onExchange === undefined) return () => {};
    const { request, ...start } = begin();
    lastId += 1;
    const startedMs = performance.now();
    const told = { id: lastId, ...start, path: maskText(start.path), summary: maskText(start.summary) };
    const asked = textOf(request);
    onExchange(withText({ ...told }, 'request', asked));
    return ({ status, outcome, response }) => {
      const durationMs = Math.round(performance.now() - startedMs);
      const over = { ...told, status, durationMs, summary: `${told.summary}${outcome}` };
      onExchange(withText(withText(over, 'request', asked), 'response', textOf(response)));
    };
  };
}

function textOf(shown: Shown | undefined): (() => string) | undefined {
  if (shown === undefined) return undefined;
  if (typeof shown !== 'function') {
    const text = readable(shown);
    return () => text;
  }
  let text: string | undefined;
  return () => (text ??= readable(shown()));
}

function withText(
  exchange: Exchange,
  name: 'request' | 'response',
  text: (() => string) | undefined,
): Exchange {
  return text === undefined
    ? exchange
    : Object.defineProperty(exchange, name, { get: text, enumerable: true, configurable: true });
}

/** What a person types into a field with such a name is never shown: one-time passwords, card data, tokens. */
const secretName = /otp|token|(^|[_-])code($|[_-])|pan\b|cvv|card_?number|(^|[_-])pin($|[_-])|secret|passw/i;
const maskedValue = '••••';

function readable(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(masked(value, false), null, 2) ?? '');
  const clean = maskText(text);
  return clean.length <= maxTextLength
    ? clean
    : `${clean.slice(0, maxTextLength - 40)}\n… (${clean.length - maxTextLength + 40} characters more)`;
}

function masked(value: unknown, secret: boolean): unknown {
  if (Array.isArray(value)) return value.map((one: unknown) => masked(one, secret));
  if (typeof value !== 'object' || value === null) return value;
  const isSecret = secret || isSecretElement(value);
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      if (name === 'token' || (isSecret && typeof inner === 'string' && /^(initial_)?value$/.test(name))) {
        return [name, maskedValue];
      }
      return [name, masked(inner, isSecret || secretName.test(name))];
    }),
  );
}

function isSecretElement(value: object): boolean {
  return 'action_id' in value && typeof value.action_id === 'string' && secretName.test(value.action_id);
}

function maskText(text: string): string {
  return text
    .replace(/\d(?:[\s\p{Pd}\p{Cf}−_./]{0,3}\d){11,18}/gu, (digits) =>
      holdsCardNumber(digits) ? maskedValue : digits,
    )
    .replace(/\b(xox[a-z]|xapp)-[\w-]+/g, '$1-••••')
    .replace(/\/(commands|actions)\/(T\w+)\/\w+\/\w+/g, '/$1/$2/••••')
    .replace(/ticket=\w+/g, 'ticket=••••');
}
