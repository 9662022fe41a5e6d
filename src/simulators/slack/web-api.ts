import { z } from 'zod';
import {
  granted,
  missingScope,
  refused,
  type ApiAnswer,
  type ApiArguments,
  type Method,
} from './api-answer.ts';
import type { Credentials } from './directory.ts';
import { chatMethods } from './chat-methods.ts';
import { directoryMethods } from './directory-methods.ts';
import { fileMethods } from './files.ts';
import { historyMethods } from './history-methods.ts';
import { parsedJson } from './message-content.ts';
import { viewMethods } from './views.ts';
import type { World } from './world.ts';

type WebApiDeps = {
  world: World;
  credentials: Credentials;
  url: string;
  /** A fresh Socket Mode address. */
  openSocketUrl: () => string;
};

const titled = z.looseObject({ title: z.looseObject({ text: z.string() }) });

function titleOf(view: unknown): string {
  const read = titled.safeParse(parsedJson(view));
  return read.success ? ` "${read.data.title.text}"` : '';
}

/** The token as sent: in the header, or as a field of a form. */
type GivenToken = { bearer: string | undefined; form: string | undefined };

export type WebApi = ReturnType<typeof createWebApi>;

/** The methods by name, behind Slack's own checks: method, token, kind of token, scope. */
export function createWebApi(deps: WebApiDeps) {
  const { world, credentials } = deps;
  const methods = new Map<string, Method>(
    Object.entries({
      ...directoryMethods(deps.url),
      ...historyMethods,
      ...chatMethods,
      ...viewMethods,
      ...fileMethods(deps.url),
      'apps.connections.open': { token: 'app', run: () => granted({ url: deps.openSocketUrl() }) },
    }),
  );

  function refusalOfToken(method: Method, { bearer, form }: GivenToken): ApiAnswer | undefined {
    // Users report `invalid_auth` for an app token in the body, even with one in the header.
    if (method.token === 'app' && form !== undefined) return refused('invalid_auth');
    const token = bearer ?? form;
    if (token === undefined) return refused('not_authed');
    const isKnown = token === credentials.botToken || token === credentials.appToken;
    if (!isKnown) return refused('invalid_auth');
    const wanted = method.token === 'bot' ? credentials.botToken : credentials.appToken;
    return token === wanted ? undefined : refused('not_allowed_token_type');
  }

  /** Counts the call for the rate limit without carrying it out; returns the refusal if it exceeds the limit. */
  function tooSoon(name: string, given: ApiArguments): ApiAnswer | undefined {
    const retryAfterS = methods.get(name)?.pace?.(world, given);
    return retryAfterS === undefined ? undefined : { ...refused('ratelimited'), retryAfterS };
  }

  return {
    tooSoon,
    call(name: string, token: GivenToken, given: ApiArguments) {
      const method = methods.get(name);
      if (method === undefined) return refused('unknown_method');
      const refusal = refusalOfToken(method, token);
      if (refusal !== undefined) return refusal;
      if (method.scope !== undefined && !world.app.scopes.has(method.scope)) {
        return missingScope(world, method.scope);
      }
      return tooSoon(name, given) ?? method.run(world, given);
    },
    /** The call in a newcomer's words: "chat.postMessage to #pay-alerts". */
    summary(name: string, given: ApiArguments) {
      const place = given['channel'] ?? given['user_id'] ?? given['user'];
      if (typeof place !== 'string') return `${name}${titleOf(given['view'])}`;
      const user = world.directory.user(place);
      return user !== undefined && given['channel'] === undefined
        ? `${name} for ${user.realName}`
        : `${name} to ${world.directory.label(place)}`;
    },
  };
}
