import { SocketModeReceiver, type Logger } from '@slack/bolt';
import type { Log } from '../../log.ts';
import { fixFor, readSlackError, slackErrorWord } from '../slack-error.ts';
import {
  backOffMs,
  clientOptions,
  slackAway,
  type SlackDown,
  type SlackHealth,
  type Wait,
} from '../workspace.ts';

const openTimeoutMs = 10_000;
/** Slack says hello at once. A socket that opens and stays silent would be waited for without end. */
const helloTimeoutMs = 15_000;
/** A connection that ends sooner counts as failed, so that one that never holds is not tried in a tight loop. */
const steadyMs = 10_000;

/**
 * Bolt's own reconnecting is off: when `apps.connections.open` fails for good while it reconnects, the
 * rejection has no handler and ends the process. `keepConnected` does it instead.
 */
export function createSocketReceiver(
  appToken: string,
  slackApiUrl: string,
  logger: Logger,
): SocketModeReceiver {
  return new SocketModeReceiver({
    appToken,
    logger,
    autoReconnectEnabled: false,
    installerOptions: { clientOptions: clientOptions(slackApiUrl, logger, openTimeoutMs) },
  });
}

export type SocketConnection = { health(): SlackHealth; stop(): Promise<void> };

/**
 * Connects, and connects again whenever the connection ends, until stopped: at once after one that held,
 * with back-off after one that did not. Never throws; what keeps it from connecting is told by `health`.
 */
export function keepConnected(
  client: SocketModeReceiver['client'],
  deps: { log: Log; wait: Wait; signal: AbortSignal; now: () => number },
): SocketConnection {
  let health: SlackHealth = slackAway('Socket Mode is not connected yet');

  /** What keeps the connection from being made; undefined when Slack has said hello. */
  async function open(): Promise<SlackDown | undefined> {
    const settled = new AbortController();
    const tooLong = deps.wait(helloTimeoutMs, AbortSignal.any([deps.signal, settled.signal]));
    try {
      const isOpen = await Promise.race([client.start().then(() => true), tooLong.then(() => false)]);
      if (isOpen) return undefined;
    } catch (error) {
      return socketProblem(error);
    } finally {
      settled.abort();
    }
    // The second call does not wait half a minute for the other side to say good-bye.
    await Promise.all([client.disconnect(), client.disconnect()]);
    return slackAway('Socket Mode opens a connection, but Slack does not say hello');
  }

  /** Whether the connection held for a while. */
  async function connectOnce(): Promise<boolean> {
    const down = await open();
    if (deps.signal.aborted) return true;
    if (down) {
      health = down;
      deps.log('warn', down.detail, { fix: down.fix });
      return false;
    }
    const connectedAt = deps.now();
    health = { state: 'ok' };
    deps.log('info', 'Socket Mode is connected');
    await new Promise<void>((resolve) => client.once('disconnected', () => resolve()));
    health = slackAway('The Socket Mode connection ended; connecting again');
    return deps.now() - connectedAt >= steadyMs;
  }

  async function keep(): Promise<void> {
    let failures = 0;
    while (!deps.signal.aborted) {
      failures = (await connectOnce()) ? 0 : failures + 1;
      if (failures > 0) await deps.wait(backOffMs(failures), deps.signal);
    }
    await client.disconnect();
  }

  const kept = keep();
  return {
    health: () => health,
    async stop() {
      await client.disconnect();
      await kept;
    },
  };
}

function socketProblem(error: unknown): SlackDown {
  const problem = readSlackError(error);
  const word = slackErrorWord(problem);
  if (problem.kind !== 'refused') return slackAway(`Socket Mode cannot connect: ${word}`);
  const isToken =
    /^(invalid_auth|not_authed|token_revoked|account_inactive|not_allowed_token_type|missing_scope)$/;
  return {
    state: 'degraded',
    detail: `Slack refuses the app-level token: ${word}`,
    fix: isToken.test(word)
      ? 'Make an app-level token (starts with xapp-) with the scope connections:write, put it into SLACK_APP_TOKEN, and restart.'
      : fixFor(word),
  };
}
