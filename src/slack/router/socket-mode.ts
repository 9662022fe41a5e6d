import { SocketModeReceiver, type App, type Logger, type Receiver } from '@slack/bolt';
import { isJsonObject, parseJson } from '../../domain/json.ts';
import { asRequest, type Log } from '../../log.ts';
import { fixFor, readSlackError, slackErrorWord } from '../slack-error.ts';
import {
  backOffMs,
  clientOptions,
  slackAway,
  type SlackDown,
  type SlackHealth,
  type Wait,
} from '../workspace.ts';

/** Two connections: while one is renewed or dead, the other serves. */
const socketsPerProcess = 2;
/** Slack's limit of connections for one app, all processes together. */
const mostSockets = 10;

const openTimeoutMs = 10_000;
/** Slack says hello at once. Give up a socket that stays silent. */
const helloTimeoutMs = 15_000;
/** A connection that ends sooner counts as failed, to avoid a tight loop. */
const steadyMs = 10_000;
/** Slack says how many connections it counts only in its hello, so renew a socket to hear the number. */
const recountMs = 5 * 60_000;
/** Slack asks to renew a socket, and may go on using the old one until it closes it: closing earlier loses requests. */
const slackClosesMs = 30_000;
/** Slack's time for an acknowledgement: answer a socket's requests before closing the socket. */
const answerMs = 3_000;
/** A dead peer never answers the closing handshake; the library would wait half a minute. */
const closeMs = 2_000;
/** How often to check that a socket is alive. */
const aliveMs = 2_000;
const pollMs = 50;

type Client = SocketModeReceiver['client'];

export type SocketReceiver = Receiver & {
  /** One client a socket: during a renewal the old and the new socket are both open. */
  createClient: () => Client;
};

/**
 * Bolt's own reconnecting is off: if `apps.connections.open` fails for good meanwhile, its rejection is unhandled and ends
 * the process. `keepConnected` reconnects instead.
 */
export function createSocketReceiver(appToken: string, slackApiUrl: string, logger: Logger): SocketReceiver {
  let bolt: App;
  return {
    init: (app) => (bolt = app),
    start: () => Promise.resolve(),
    stop: () => Promise.resolve(),
    createClient() {
      const socket = new SocketModeReceiver({
        appToken,
        logger,
        autoReconnectEnabled: false,
        installerOptions: { clientOptions: clientOptions(slackApiUrl, logger, openTimeoutMs) },
      });
      socket.init(bolt);
      return socket.client;
    },
  };
}

export type SocketConnection = {
  health(): SlackHealth;
  /** Resolves when every socket is closed. Abort `signal` first. */
  stop(): Promise<void>;
};

type Options = {
  log: Log;
  wait: Wait;
  signal: AbortSignal;
  now: () => number;
  /** How many processes share the app token; default: Slack's limit. */
  processes?: number | undefined;
  /** Called with each request's seconds until its acknowledgement. */
  acknowledged?: ((seconds: number) => void) | undefined;
};

/**
 * Keeps all sockets connected until stopped. Never throws. `health` says why a socket can't connect, or that Slack counts more
 * connections than the bot's processes have: another program then gets some of the presses.
 */
export function keepConnected(createClient: () => Client, options: Options): SocketConnection {
  const { log, processes = mostSockets / socketsPerProcess } = options;
  const own = processes * socketsPerProcess;
  let surplus: SlackDown | undefined;
  let openSockets: Socket[] = [];
  let earlier: Promise<unknown> = Promise.resolve();
  /** Renews one socket at a time, even if Slack asks for all at once. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = earlier.then(work);
    earlier = done.catch(() => undefined);
    return done;
  }
  /** Slack's count may include sockets that it hasn't closed yet. */
  function isTooMany(count: number): boolean {
    openSockets = openSockets.filter((socket) => socket.isActive());
    const leaving = Math.max(0, openSockets.length + 1 - socketsPerProcess);
    surplus = count > own + leaving ? tooMany(count, own) : undefined;
    if (surplus) log('warn', surplus.detail, { fix: surplus.fix });
    return surplus !== undefined;
  }
  async function open(): Promise<Opened> {
    const opened = await openSocket(createClient(), { ...options, isTooMany });
    if (opened.kind === 'open') openSockets.push(opened.socket);
    return opened;
  }
  log(
    'info',
    `Socket Mode opens ${socketsPerProcess} connections; Slack allows ${mostSockets} for one app, so at most ${mostSockets / socketsPerProcess} processes`,
  );
  const sockets = Array.from({ length: socketsPerProcess }, () => keepSocket({ ...options, inTurn, open }));
  return {
    health() {
      const problem = sockets.map((socket) => socket.problem()).find((down) => down !== undefined);
      if (problem) return problem;
      if (!sockets.some((socket) => socket.isUp()))
        return slackAway('Socket Mode is not connected; connecting');
      return surplus ?? { state: 'ok' };
    },
    async stop() {
      await Promise.all(sockets.map((socket) => socket.stop()));
    },
  };
}

type Opened =
  | { kind: 'open'; socket: Socket }
  | { kind: 'down'; down: SlackDown; reason: string | undefined };

type SocketOptions = Options & {
  inTurn: <T>(work: () => Promise<T>) => Promise<T>;
  open: () => Promise<Opened>;
};

/** Keeps one of the connections: opens the next socket before it closes the old one. */
function keepSocket({ log, wait, signal, now, inTurn, open }: SocketOptions) {
  let problem: SlackDown | undefined;
  let socket: Socket | undefined;
  const leaving = new Set<Promise<void>>();

  async function renew(): Promise<Opened> {
    const opened = await open();
    const isFull = opened.kind === 'down' && opened.reason === 'too_many_websockets';
    if (!isFull || !socket?.isActive()) return opened;
    await socket.leave();
    return await open();
  }

  function leave(old: Socket): void {
    const left = old.leave().then(() => void leaving.delete(left));
    leaving.add(left);
  }

  async function keep(): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      const opened = await inTurn(async () => (signal.aborted ? undefined : await renew()));
      if (!opened) break;
      if (opened.kind === 'down') {
        if (signal.aborted) break;
        problem = opened.down;
        log('warn', problem.detail, { fix: problem.fix });
        failures += 1;
      } else {
        problem = undefined;
        if (socket) leave(socket);
        socket = opened.socket;
        const connectedAt = now();
        log('info', 'Socket Mode is connected');
        await socket.untilOver();
        const hasHeld = socket.isToRenew() || now() - connectedAt >= steadyMs;
        failures = hasHeld ? 0 : failures + 1;
      }
      if (failures > 0) await wait(backOffMs(failures), signal);
    }
    await Promise.all([...leaving, socket?.leave()]);
  }

  const kept = keep();
  return { isUp: () => socket?.isActive() === true, problem: () => problem, stop: () => kept };
}

type Socket = {
  isActive(): boolean;
  isToRenew(): boolean;
  /** Resolves when the socket has ended or must be renewed. */
  untilOver(): Promise<void>;
  /** Waits until Slack no longer uses the socket and all its requests are answered, then closes it. */
  leave(): Promise<void>;
};

/** Returns `open` once Slack has said hello, else `down` with the reason. */
async function openSocket(
  client: Client,
  { wait, signal, acknowledged, isTooMany }: Options & { isTooMany: (count: number) => boolean },
): Promise<Opened> {
  let mustRecount = false;
  let reason: string | undefined;
  let isUp = false;
  const renewal = new AbortController();
  const over = new AbortController();
  const stoppedOrOver = AbortSignal.any([signal, over.signal]);
  /** When each unanswered request arrived, by its id. */
  const unanswered = new Map<string, number>();
  const isActive = (): boolean => client.websocket?.isActive() === true;

  client.on('slack_event', ({ envelope_id: id }: Envelope) => unanswered.set(id, performance.now()));
  client.on('outgoing_message', ({ envelope_id: id }: Envelope) => {
    const cameMs = unanswered.get(id);
    if (unanswered.delete(id) && cameMs !== undefined) acknowledged?.((performance.now() - cameMs) / 1_000);
  });
  client.on('disconnected', () => over.abort());
  // The library would close a socket as soon as Slack asks for a new one, so read Slack's messages first.
  const library = client.listeners('ws_message');
  client.removeAllListeners('ws_message');
  client.on('ws_message', (data: unknown, isBinary: unknown) => {
    const said = readSaid(data);
    if (said?.type === 'hello') {
      // Set here, because `client.start()` resolves later, and Slack may ask to renew in the same packet.
      isUp = true;
      mustRecount = isTooMany(said.connections);
    }
    if (said?.type === 'disconnect') {
      reason = said.reason;
      // After a warning Slack goes on using the socket, and asks later to renew it.
      if (reason === 'warning') return;
      if (reason === 'refresh_requested' && isUp) return renewal.abort();
    }
    // Wraps all of Bolt, so that the log entries of `app.error` carry the request's id too.
    asRequest(() => library.forEach((listener) => listener.call(client, data, isBinary)));
  });

  /** Closes with a handshake, or without one if the peer is silent. */
  async function close(): Promise<void> {
    const closed = new AbortController();
    const closing = client.disconnect().then(() => closed.abort());
    await Promise.race([closing, wait(closeMs, closed.signal)]);
    // A second call of `disconnect` does not wait for the peer.
    if (!closed.signal.aborted) await client.disconnect();
  }

  /** The library notices a dead network after seconds, but says so only half a minute later. */
  async function untilDead(either: AbortSignal): Promise<void> {
    while (!either.aborted && isActive()) await wait(aliveMs, either);
  }

  const socket: Socket = {
    isActive,
    isToRenew: () => renewal.signal.aborted,
    async untilOver() {
      const either = AbortSignal.any([stoppedOrOver, renewal.signal]);
      await Promise.race([untilDead(either), ...(mustRecount ? [wait(recountMs, either)] : [])]);
    },
    async leave() {
      if (renewal.signal.aborted && isActive()) await wait(slackClosesMs, stoppedOrOver);
      for (let leftMs = answerMs; leftMs > 0 && unanswered.size > 0 && isActive(); leftMs -= pollMs)
        await wait(pollMs, over.signal);
      await close();
    },
  };

  const opening = new AbortController();
  const tooLong = wait(helloTimeoutMs, AbortSignal.any([signal, opening.signal]));
  try {
    await Promise.race([client.start(), tooLong]);
    if (isUp) return { kind: 'open', socket };
  } catch (error) {
    return { kind: 'down', down: socketProblem(error, reason), reason };
  } finally {
    opening.abort();
  }
  await close();
  const down = slackAway('Socket Mode opens a connection, but Slack does not say hello');
  return { kind: 'down', down, reason };
}

type Envelope = { envelope_id: string };

/** What Slack says about the connection; undefined for requests. */
function readSaid(data: unknown): { type: unknown; reason?: string; connections: number } | undefined {
  if (typeof data !== 'string' || data.includes('"envelope_id"')) return undefined;
  const said = parseJson(data);
  if (!isJsonObject(said)) return undefined;
  const { type, reason, num_connections: connections } = said;
  return {
    type,
    ...(typeof reason === 'string' ? { reason } : {}),
    connections: typeof connections === 'number' ? connections : 0,
  };
}

function tooMany(count: number, own: number): SlackDown {
  return {
    state: 'degraded',
    detail: `Slack counts ${count} Socket Mode connections, and the bot has ${own}: the others get presses that are then lost`,
    fix: 'Stop other copies of the bot that use SLACK_APP_TOKEN. Slack forgets the connections of a dead process after some minutes. With more processes set SLACK_SOCKET_PROCESSES.',
  };
}

/** Slack's errors before a hello, and their fixes. */
const refusals: Readonly<Record<string, Omit<SlackDown, 'state'>>> = {
  link_disabled: {
    detail: 'Socket Mode is turned off in the app’s settings',
    fix: 'Turn it on at api.slack.com/apps › Socket Mode, or set SLACK_MODE=http. The bot connects by itself.',
  },
  too_many_websockets: {
    detail: 'All the Socket Mode connections that Slack allows are taken',
    fix: `Stop other copies of the bot that use SLACK_APP_TOKEN: at most ${mostSockets / socketsPerProcess} processes can. Slack forgets the connections of a dead process after some minutes, and the bot connects by itself.`,
  },
};

function socketProblem(error: unknown, reason: string | undefined): SlackDown {
  const refusal = reason === undefined ? undefined : refusals[reason];
  if (refusal) return { state: 'degraded', ...refusal };
  const problem = readSlackError(error);
  const word = slackErrorWord(problem);
  if (problem.kind !== 'refused') return slackAway(`Socket Mode cannot connect: ${reason ?? word}`);
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
