import { App } from '@slack/bolt';
import type { Log } from '../../log.ts';
import { createWorkUnderWay } from '../../under-way.ts';
import { createHttpReceiver, type HttpReceiver, type RefusalCause } from './receiver.ts';
import { addListeners } from './listeners.ts';
import type { SlackSide, Times } from '../answer.ts';
import {
  createSocketReceiver,
  keepConnected,
  type SocketConnection,
  type SocketReceiver,
} from './socket-mode.ts';
import {
  clientOptions,
  createBoltLog,
  startIdentityCheck,
  wait,
  type Identity,
  type IdentityCheck,
  type SlackClients,
  type SlackHealth,
  type Wait,
  type WorkspaceSettings,
} from '../workspace.ts';

type SlackSettings = WorkspaceSettings &
  (
    | { mode: 'http'; signingSecret: string }
    | { mode: 'socket'; appToken: string; processes?: number | undefined }
  );

type SlackOptions = Omit<SlackSide, 'client' | 'identity' | keyof Times> &
  Partial<Times> & {
    clients: SlackClients;
    /** Called with each request's seconds until its acknowledgement. */
    acknowledged?: (seconds: number) => void;
    /** HTTP mode: called for each request, with why its signature doesn't hold; undefined if it does. */
    checked?: (refused: RefusalCause | undefined) => void;
    /** Waits between attempts to reach Slack, and for Slack's hello in Socket Mode; default: real time. */
    wait?: Wait;
  };

export type Slack = {
  /** For `POST /slack/events`, in HTTP mode only. */
  httpListener?: HttpReceiver['listener'];
  /** Starts asking Slack who the bot is, and the Socket Mode connection. Returns at once. */
  start(): void;
  /** Stops taking requests (Socket Mode), and waits until all acknowledged requests are answered. */
  stop(): Promise<void>;
  /** Resolves when all requests acknowledged so far are answered. */
  drained(): Promise<void>;
  health(): SlackHealth;
  /** Undefined while Slack has not said who the bot is. */
  identity(): Identity | undefined;
};

const usualTimes: Times = {
  ackMs: 1_000,
  patienceMs: 1_500,
  openMs: 500,
  submitMs: 2_300,
  resultMs: 1_000,
  suggestMs: 2_000,
};
const respondTimeoutMs = 5_000;

/**
 * The Slack side of the process. Works while Slack's Web API is away: requests are verified, acknowledged and answered
 * through their response_urls; `health` says what is wrong.
 */
export function createSlack(settings: SlackSettings, given: SlackOptions): Slack {
  const stopping = new AbortController();
  const untilStopped = { log: given.log, wait: given.wait ?? wait, signal: stopping.signal, now: given.now };
  let identityCheck: IdentityCheck | undefined;
  let connection: SocketConnection | undefined;
  const identity = () => identityCheck?.identity();

  const receiver = createReceiver(settings, given);
  const app = createApp(settings, receiver, { log: given.log, identity });
  // Bolt does not wait for work after `ack`, so `drained` does.
  const { add, drained } = createWorkUnderWay();
  app.use(({ next }) => add(next()));
  addListeners(app, { ...usualTimes, ...given, client: given.clients.interactive, identity });

  return {
    ...('listener' in receiver ? { httpListener: receiver.listener } : {}),
    start() {
      identityCheck = startIdentityCheck(given.clients.interactive, untilStopped);
      if (!('createClient' in receiver)) return;
      const processes = settings.mode === 'socket' ? settings.processes : undefined;
      connection = keepConnected(receiver.createClient, {
        ...untilStopped,
        processes,
        acknowledged: given.acknowledged,
      });
    },
    async stop() {
      stopping.abort();
      await connection?.stop();
      await drained();
    },
    drained,
    identity,
    health() {
      const problems = [identityCheck?.health() ?? notStarted, connection?.health()];
      return problems.find((health) => health?.state === 'degraded') ?? { state: 'ok' };
    },
  };
}

const notStarted: SlackHealth = {
  state: 'degraded',
  detail: 'Slack is not started',
  fix: 'None needed: the process is starting.',
};

type Receiver = HttpReceiver | SocketReceiver;

function createReceiver(settings: SlackSettings, given: SlackOptions): Receiver {
  return settings.mode === 'http'
    ? createHttpReceiver(settings.signingSecret, given)
    : createSocketReceiver(settings.appToken, settings.slackApiUrl, createBoltLog(given.log));
}

/**
 * With `authorize` instead of `token` Bolt never calls `auth.test`. The bot's ids come from `startIdentityCheck`, and are
 * absent until Slack has answered it.
 */
function createApp(
  settings: WorkspaceSettings,
  receiver: Receiver,
  deps: { log: Log; identity: SlackSide['identity'] },
): App {
  const logger = createBoltLog(deps.log);
  return new App({
    receiver,
    logger,
    authorize: async () => ({ botToken: settings.botToken, ...deps.identity() }),
    clientOptions: {
      ...clientOptions(settings.slackApiUrl, logger, respondTimeoutMs),
      // `respond` has no deadline. Don't follow redirects: an answer may name customers.
      fetch: (url, init) =>
        fetch(url, { signal: AbortSignal.timeout(respondTimeoutMs), redirect: 'error', ...init }),
    },
    convoStore: false,
    processBeforeResponse: false,
    attachFunctionToken: false,
  });
}
