import { App } from '@slack/bolt';
import { asRequest, type Log } from '../../log.ts';
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

type Given = Omit<SlackSide, 'client' | 'identity' | keyof Times> &
  Partial<Times> & {
    clients: SlackClients;
    /** Told how long each request of Slack waited for its acknowledgement. */
    acknowledged?: (seconds: number) => void;
    /** In HTTP mode: whether each request bears Slack's signature, and if not, why. */
    checked?: (refused: RefusalCause | undefined) => void;
    /** Between attempts to reach Slack, and for its hello in Socket Mode; the real time when absent. */
    wait?: Wait;
  };

export type Slack = {
  /** For `POST /slack/events`, in HTTP mode only. */
  httpListener?: HttpReceiver['listener'];
  /** Begins to ask Slack who the bot is, and to connect in Socket Mode. Returns at once, whether Slack is there or not. */
  start(): void;
  /** Takes nothing more in (Socket Mode) and waits until everything acknowledged is answered. */
  stop(): Promise<void>;
  /** Resolves when everything acknowledged so far is answered. */
  drained(): Promise<void>;
  health(): SlackHealth;
  /** Who the bot is; undefined while Slack has not said. */
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
 * Slack's side of the process. Nothing here needs Slack to be there: without it requests are still verified,
 * acknowledged and, as far as response_urls work, answered; `health` says what is wrong.
 */
export function createSlack(settings: SlackSettings, given: Given): Slack {
  const stopping = new AbortController();
  const untilStopped = { log: given.log, wait: given.wait ?? wait, signal: stopping.signal, now: given.now };
  let identityCheck: IdentityCheck | undefined;
  let connection: SocketConnection | undefined;
  const identity = () => identityCheck?.identity();

  const receiver = createReceiver(settings, given);
  const app = createApp(settings, receiver, { log: given.log, identity });
  // Bolt does not wait for what is done after `ack`; this does.
  const { add, drained } = createWorkUnderWay();
  app.use(({ next }) => add(asRequest(next)));
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

function createReceiver(settings: SlackSettings, given: Given): Receiver {
  return settings.mode === 'http'
    ? createHttpReceiver(settings.signingSecret, given)
    : createSocketReceiver(settings.appToken, settings.slackApiUrl, createBoltLog(given.log));
}

/**
 * With `authorize` in place of `token` Bolt never calls `auth.test`, neither at start nor for each event:
 * the ids come from our own check, and are simply absent while Slack has not told them.
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
      // `respond` has no deadline of its own, and an answer may name customers: it goes where Slack said and nowhere else.
      fetch: (url, init) =>
        fetch(url, { signal: AbortSignal.timeout(respondTimeoutMs), redirect: 'error', ...init }),
    },
    convoStore: false,
    processBeforeResponse: false,
    attachFunctionToken: false,
  });
}
