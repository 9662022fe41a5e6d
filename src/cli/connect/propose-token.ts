import { isJsonObject, type JsonObject, plainLeavesOf, valueAtFirst } from '../../domain/json.ts';
import { lifetimeInToken, readLifetimeMs } from '../../payments/tokens.ts';
import type { Changes } from './draft.ts';

type Credentials = { clientId: string; clientSecret: string; accountId: string };

/**
 * The request body with a placeholder for each credential, which is recognised by its value, if that is the person's
 * own, or by its field's name. Everything else, like a grant type, stays.
 */
export function proposeTokenBody(shown: JsonObject, own: Credentials): JsonObject {
  const fill = (leaf: unknown, name: string): unknown => {
    if (Array.isArray(leaf)) return leaf.map((item) => fill(item, name));
    if (isJsonObject(leaf)) return proposeTokenBody(leaf, own);
    return typeof leaf === 'string' ? (placeholderFor(leaf, name, own) ?? leaf) : leaf;
  };
  return Object.fromEntries(Object.entries(shown).map(([name, leaf]) => [name, fill(leaf, name)]));
}

function placeholderFor(value: string, name: string, own: Credentials): string | undefined {
  if (/^\{\{[A-Z_]+\}\}$/.test(value)) return value;
  if (value === own.clientSecret) return '{{CLIENT_SECRET}}';
  if (value === own.clientId) return '{{CLIENT_ID}}';
  if (value === own.accountId) return '{{ACCOUNT_ID}}';
  const plain = name.replace(/[^a-z]/gi, '');
  if (/secret|password|passphrase|private/i.test(plain)) return '{{CLIENT_SECRET}}';
  if (/account|merchantid/i.test(plain)) return '{{ACCOUNT_ID}}';
  return /client|key|user|login|appid|consumer/i.test(plain) ? '{{CLIENT_ID}}' : undefined;
}

/** Whether the body has placeholders for both credentials. */
export function holdsCredentials(body: JsonObject): boolean {
  const text = JSON.stringify(body);
  return text.includes('{{CLIENT_ID}}') && text.includes('{{CLIENT_SECRET}}');
}

type TokenPointers = {
  paymentsAccessTokenPointers: readonly string[];
  paymentsRefreshTokenPointers: readonly string[];
  paymentsTokenExpiryPointers: readonly string[];
  paymentsTokenLifetimeSeconds: number;
};

type TokenReading = {
  /** Settings to change; empty if the current ones fit. */
  changes: Changes;
  /** The token's lifetime as these settings read it; undefined: unknown. */
  lifetimeMs: number | undefined;
};

/** Finds token, refresh token and lifetime in an answer; undefined: nothing looks like a token. */
export function proposeTokenReading(
  answer: unknown,
  current: TokenPointers,
  nowMs: number,
): TokenReading | undefined {
  const leaves = plainLeavesOf(answer);
  const texts = leaves.filter(([, value]) => typeof value === 'string' && /^[\x21-\x7e]{8,}$/.test(value));
  const refresh = best(texts, (name) => (/refresh/i.test(name) && !isLifetime(name) ? 1 : 0));
  const access = best(texts, (name, value) => {
    if (/refresh|type|scope|id$/i.test(name) || isLifetime(name)) return 0;
    return (/access|bearer/i.test(name) ? 2 : 0) + (/token|jwt/i.test(name) ? 2 : 0) + (isJwt(value) ? 1 : 0);
  });
  if (!access) return undefined;
  const lifetimes = leaves.filter(
    ([pointer, value]) =>
      isLifetime(nameAt(pointer)) && (readLifetimeMs(value, nowMs) ?? 0) > 0 && typeof value !== 'boolean',
  );
  const lifetime = best(lifetimes, (name) =>
    /refresh/i.test(name) ? 0 : /expire?s?.?in|ttl|life/i.test(name) ? 2 : 1,
  );
  const bySettings = readLifetimeMs(valueAtFirst(answer, current.paymentsTokenExpiryPointers), nowMs);
  const byName = lifetime && readLifetimeMs(lifetime[1], nowMs);
  const inToken = lifetimeInToken(String(access[1]), nowMs);
  const isElsewhere = lifetime !== undefined && bySettings === undefined;
  // Only if the answer has no lifetime: the one that the token itself says.
  const isOnlyInToken = lifetime === undefined && bySettings === undefined && inToken !== undefined;
  const seconds = isOnlyInToken ? Math.floor(inToken / 1_000) : undefined;
  return {
    changes: {
      ...moved('PAYMENTS_ACCESS_TOKEN_POINTERS', answer, current.paymentsAccessTokenPointers, access),
      ...(refresh &&
        moved('PAYMENTS_REFRESH_TOKEN_POINTERS', answer, current.paymentsRefreshTokenPointers, refresh)),
      ...(isElsewhere ? { PAYMENTS_TOKEN_EXPIRY_POINTERS: lifetime[0] } : {}),
      ...(seconds === undefined || seconds === current.paymentsTokenLifetimeSeconds || seconds < 30
        ? {}
        : { PAYMENTS_TOKEN_LIFETIME_SECONDS: String(seconds) }),
    },
    lifetimeMs: bySettings ?? byName ?? inToken,
  };
}

type Leaf = readonly [pointer: string, value: unknown];

/** Sets the setting to the pointer, unless the current pointers lead to the same value. */
function moved(name: string, answer: unknown, current: readonly string[], [pointer, value]: Leaf): Changes {
  return valueAtFirst(answer, current) === value ? {} : { [name]: pointer };
}

/** The leaf with the highest weight above 0. */
function best(leaves: readonly Leaf[], weigh: (name: string, value: unknown) => number): Leaf | undefined {
  const weighed = leaves.map((leaf) => ({ leaf, weight: weigh(nameAt(leaf[0]), leaf[1]) }));
  const found = weighed.filter(({ weight }) => weight > 0).toSorted((a, b) => b.weight - a.weight);
  return found[0]?.leaf;
}

function nameAt(pointer: string): string {
  return pointer.slice(pointer.lastIndexOf('/') + 1);
}

function isLifetime(name: string): boolean {
  return /expir|ttl|life|valid/i.test(name);
}

function isJwt(value: unknown): boolean {
  return typeof value === 'string' && /^eyJ[\w-]+\.[\w-]+\.[\w-]*$/.test(value);
}
