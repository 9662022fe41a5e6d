import { setTimeout as sleep } from 'node:timers/promises';
import { LogLevel, type Logger } from '@slack/bolt';
import { WebClient, type AuthTestResponse } from '@slack/web-api';
import { growingDelayMs } from '../deadline.ts';
import { withoutUndefined } from '../domain/json.ts';
import type { Log } from '../log.ts';
import {
  awayFix,
  fixFor,
  readSlackError,
  slackErrorWord,
  usersReadFix,
  type SlackProblem,
} from './slack-error.ts';

export type WorkspaceSettings = {
  botToken: string;
  /** Base URL of Slack's Web API, with or without a slash at its end. */
  slackApiUrl: string;
  /** Deadline of one post or history read; default 10 s. */
  deliveryTimeoutMs?: number;
};

/**
 * Two clients, so a 429 or a slow answer to one doesn't hold up the other: `interactive` answers people, `delivery` posts
 * from the outbox.
 */
export type SlackClients = { interactive: WebClient; delivery: WebClient };

const interactiveTimeoutMs = 2_500;
const usualDeliveryTimeoutMs = 10_000;

/** For our clients and Bolt's: no retries (a repeated post is a double alert), no waiting for a 429. */
export function clientOptions(slackApiUrl: string, logger: Logger, timeoutMs: number) {
  return {
    slackApiUrl,
    logger,
    timeout: timeoutMs,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
  };
}

const longestLine = 200;

/**
 * The logger of every @slack package. Their debug and info lines hold bodies and socket frames, OTPs included: dropped at
 * any level. Warnings and errors keep only their words, without quoted snippets and URL queries.
 */
export function createBoltLog(log: Log): Logger {
  function pass(level: 'warn' | 'error', said: readonly unknown[]): void {
    log(level, `Slack library: ${said.map(words).join(' ').slice(0, longestLine)}`);
  }
  return {
    debug: () => {},
    info: () => {},
    warn: (...said) => pass('warn', said),
    error: (...said) => pass('error', said),
    setLevel: () => {},
    // Some packages build debug lines only if debug is on.
    getLevel: () => LogLevel.WARN,
    setName: () => {},
  };
}

function words(said: unknown): string {
  const text = said instanceof Error ? `${said.name}: ${said.message}` : typeof said === 'string' ? said : '';
  return text.replace(/"[^"]*"/g, '"…"').replace(/\?[^\s"']+/g, '?…');
}

/** Called after each call of Slack, with its method, `ok` or how it failed, and its duration. */
type SlackCalled = (method: string, result: 'ok' | SlackProblem['kind'], seconds: number) => void;

/** Measures every call: all methods of a WebClient go through `apiCall`. */
class MeasuredClient extends WebClient {
  called: SlackCalled | undefined;

  override async apiCall(...[method, options]: Parameters<WebClient['apiCall']>) {
    const startedMs = performance.now();
    const end = (result: Parameters<SlackCalled>[1]): void =>
      this.called?.(method, result, (performance.now() - startedMs) / 1_000);
    try {
      const answer = await super.apiCall(method, options);
      end('ok');
      return answer;
    } catch (error) {
      end(readSlackError(error).kind);
      throw error;
    }
  }
}

/** The clients keep the present `globalThis.fetch`: a test must replace it first. */
export function createClients(settings: WorkspaceSettings, log: Log, called?: SlackCalled): SlackClients {
  const logger = createBoltLog(log);
  const client = (timeoutMs: number): WebClient =>
    Object.assign(
      new MeasuredClient(settings.botToken, clientOptions(settings.slackApiUrl, logger, timeoutMs)),
      { called },
    );
  return {
    interactive: client(interactiveTimeoutMs),
    delivery: client(settings.deliveryTimeoutMs ?? usualDeliveryTimeoutMs),
  };
}

/** The app-level token goes in the header alone: Slack refuses `apps.connections.open` with it in the body too. */
export function createAppClient(appToken: string, slackApiUrl: string, log: Log): WebClient {
  return new WebClient(appToken, clientOptions(slackApiUrl, createBoltLog(log), interactiveTimeoutMs));
}

/** Who the bot is, as Slack says. */
export type Identity = { teamId?: string; enterpriseId?: string; botId?: string; botUserId?: string };

/** Why Slack can't be used. `fix`: what a person must do, or that nothing is needed. */
export type SlackDown = { state: 'degraded'; detail: string; fix: string };
export type SlackHealth = { state: 'ok' } | SlackDown;

/** Waits `ms`, or until the signal aborts; never rejects. */
export type Wait = (ms: number, signal: AbortSignal) => Promise<void>;

export async function wait(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal, ref: false }).catch(() => {});
}

const firstRetryMs = 1_000;
/** An answer older than this is asked for again when health is read. */
const freshMs = 60_000;
const longestRetryMs = 60_000;

/** The wait after so many failures in a row: 1 s, 2 s, 4 s … one minute. */
export function backOffMs(failures: number): number {
  return growingDelayMs(firstRetryMs, failures - 1, longestRetryMs);
}

export type IdentityCheck = ReturnType<typeof startIdentityCheck>;

/**
 * Asks Slack who the bot is until it answers, and again when `health` is read later, because the app may be uninstalled.
 * Never throws: if Slack is away or refuses the token, `health` says so, and the bot continues to serve.
 */
export function startIdentityCheck(
  client: WebClient,
  deps: { log: Log; wait: Wait; signal: AbortSignal; now: () => number },
) {
  let identity: Identity | undefined;
  let health: SlackHealth = slackAway('Slack has not answered yet');
  let askedAtMs = deps.now();

  /** Returns 0 if Slack answered, else the least ms to wait before the next try. */
  async function check(): Promise<number> {
    try {
      const answer = await client.auth.test();
      identity = identityOf(answer);
      if (health.state === 'ok') return 0;
      const scopes = answer.response_metadata?.scopes;
      health = { state: 'ok' };
      if (scopes && !scopes.includes('users:read')) {
        deps.log('error', 'Nobody is let through: the bot may not ask Slack who is a guest', {
          fix: usersReadFix,
        });
      }
      deps.log('info', 'Slack knows the bot');
      return 0;
    } catch (error) {
      const problem = readSlackError(error);
      const slackError = slackErrorWord(problem);
      const down: SlackDown =
        problem.kind === 'refused'
          ? {
              state: 'degraded',
              detail: `Slack refuses the bot token: ${slackError}`,
              fix: fixFor(slackError),
            }
          : slackAway(`Slack does not answer: ${slackError}`);
      health = down;
      deps.log('warn', down.detail, { slackError, fix: down.fix });
      return problem.kind === 'rate_limited' ? problem.retryAfterMs : 1;
    }
  }

  async function keepAsking(): Promise<void> {
    for (let failures = 1; !deps.signal.aborted; failures += 1) {
      const atLeastMs = await check();
      if (atLeastMs === 0) return;
      await deps.wait(Math.max(atLeastMs, backOffMs(failures)), deps.signal);
    }
  }

  void keepAsking();
  return {
    identity: (): Identity | undefined => identity,
    health(): SlackHealth {
      if (health.state === 'ok' && deps.now() - askedAtMs >= freshMs) {
        askedAtMs = deps.now();
        void keepAsking();
      }
      return health;
    },
  };
}

export function slackAway(detail: string): SlackDown {
  return { state: 'degraded', detail, fix: awayFix };
}

export function identityOf(answer: AuthTestResponse): Identity {
  const { team_id: teamId, enterprise_id: enterpriseId, bot_id: botId, user_id: botUserId } = answer;
  return withoutUndefined({ teamId, enterpriseId, botId, botUserId });
}
