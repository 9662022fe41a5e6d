import { SocketModeReceiver, type App, type Logger, type Receiver } from '@slack/bolt';
import { isJsonObject } from '../../domain/json.ts';
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

/** If Slack renews one, or one is dead unnoticed, the other serves. */
const linesOfProcess = 2;
/** Slack's limit for one app, all processes together. */
const mostLines = 10;

const openTimeoutMs = 10_000;
/** Slack says hello at once; don't wait for ever for a silent socket. */
const helloTimeoutMs = 15_000;
/** A connection that ends sooner counts as failed, to avoid a tight loop. */
const steadyMs = 10_000;
/** Only Slack's hello counts connections: renew a line to hear it. */
const recountMs = 5 * 60_000;
/** Slack may use a line it asked to renew until it closes it; closing earlier loses requests. */
const slackClosesMs = 30_000;
/** Slack's time for an acknowledgement: answer a line's requests before closing it. */
const answerMs = 3_000;
/** A dead peer never says good-bye; the library would wait half a minute. */
const goodByeMs = 2_000;
const lookMs = 50;

type Client = SocketModeReceiver['client'];

export type SocketReceiver = Receiver & {
  /** For one line: during a renewal the old and the new one are open. */
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
      const line = new SocketModeReceiver({
        appToken,
        logger,
        autoReconnectEnabled: false,
        installerOptions: { clientOptions: clientOptions(slackApiUrl, logger, openTimeoutMs) },
      });
      line.init(bolt);
      return line.client;
    },
  };
}

export type SocketConnection = {
  health(): SlackHealth;
  /** Resolves when every line is closed; the signal starts that. */
  stop(): Promise<void>;
};

type Around = {
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
 * Keeps all lines connected until stopped. Never throws. `health` says why a line can't connect, or that Slack counts more
 * connections than the processes have: presses go to any of them.
 */
export function keepConnected(createClient: () => Client, around: Around): SocketConnection {
  const { log, processes = mostLines / linesOfProcess } = around;
  const own = processes * linesOfProcess;
  let surplus: SlackDown | undefined;
  let openLines: Line[] = [];
  let earlier: Promise<unknown> = Promise.resolve();
  /** One line at a time: Slack may ask for all at once. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = earlier.then(work);
    earlier = done.catch(() => undefined);
    return done;
  }
  /** Slack's count may include lines that it hasn't closed yet. */
  function isTooMany(count: number): boolean {
    openLines = openLines.filter((line) => line.isActive());
    const leaving = Math.max(0, openLines.length + 1 - linesOfProcess);
    surplus = count > own + leaving ? tooMany(count, own) : undefined;
    if (surplus) log('warn', surplus.detail, { fix: surplus.fix });
    return surplus !== undefined;
  }
  async function open(): Promise<Opened> {
    const opened = await openLine(createClient(), { ...around, isTooMany });
    if (opened.kind === 'open') openLines.push(opened.line);
    return opened;
  }
  log(
    'info',
    `Socket Mode opens ${linesOfProcess} connections; Slack allows ${mostLines} for one app, so at most ${mostLines / linesOfProcess} processes`,
  );
  const lines = Array.from({ length: linesOfProcess }, () => keepLine({ ...around, inTurn, open }));
  return {
    health() {
      const problem = lines.map((line) => line.problem()).find((down) => down !== undefined);
      if (problem) return problem;
      if (!lines.some((line) => line.isUp())) return slackAway('Socket Mode is not connected; connecting');
      return surplus ?? { state: 'ok' };
    },
    async stop() {
      await Promise.all(lines.map((line) => line.stop()));
    },
  };
}

type Opened = { kind: 'open'; line: Line } | { kind: 'down'; down: SlackDown; reason: string | undefined };

type LineAround = Around & { inTurn: <T>(work: () => Promise<T>) => Promise<T>; open: () => Promise<Opened> };

/** Opens the next line before closing the one to renew. */
function keepLine({ log, wait, signal, now, inTurn, open }: LineAround) {
  let problem: SlackDown | undefined;
  let line: Line | undefined;
  const leaving = new Set<Promise<void>>();

  async function renew(): Promise<Opened> {
    const opened = await open();
    const takesAll = opened.kind === 'down' && opened.reason === 'too_many_websockets';
    if (!takesAll || !line?.isActive()) return opened;
    await line.leave();
    return await open();
  }

  function leave(old: Line): void {
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
        if (line) leave(line);
        line = opened.line;
        const connectedAt = now();
        log('info', 'Socket Mode is connected');
        await line.untilOver();
        const hasHeld = line.isToRenew() || now() - connectedAt >= steadyMs;
        failures = hasHeld ? 0 : failures + 1;
      }
      if (failures > 0) await wait(backOffMs(failures), signal);
    }
    await Promise.all([...leaving, line?.leave()]);
  }

  const kept = keep();
  return { isUp: () => line?.isActive() === true, problem: () => problem, stop: () => kept };
}

type Line = {
  isActive(): boolean;
  isToRenew(): boolean;
  /** Resolves when the line ended or must be renewed. */
  untilOver(): Promise<void>;
  /** Answers all requests of the line, and closes it. */
  leave(): Promise<void>;
};

/** Fails with the reason for no connection, or gives the line once Slack said hello. */
async function openLine(
  client: Client,
  { wait, signal, acknowledged, isTooMany }: Around & { isTooMany: (count: number) => boolean },
): Promise<Opened> {
  let isCountedAgain = false;
  let reason: string | undefined;
  let isUp = false;
  const asked = new AbortController();
  const over = new AbortController();
  const stoppedOrOver = AbortSignal.any([signal, over.signal]);
  /** Arrival times by id. */
  const unanswered = new Map<string, number>();
  const isActive = (): boolean => client.websocket?.isActive() === true;

  client.on('slack_event', ({ envelope_id: id }: Envelope) => unanswered.set(id, performance.now()));
  client.on('outgoing_message', ({ envelope_id: id }: Envelope) => {
    const cameMs = unanswered.get(id);
    if (unanswered.delete(id) && cameMs !== undefined) acknowledged?.((performance.now() - cameMs) / 1_000);
  });
  client.on('disconnected', () => over.abort());
  // The library closes a line as soon as Slack asks for a new one.
  const library = client.listeners('ws_message');
  client.removeAllListeners('ws_message');
  client.on('ws_message', (data: unknown, isBinary: unknown) => {
    const said = readSaid(data);
    if (said?.type === 'hello') {
      // Known here, and not when the library's promise resolves: Slack may ask to renew in the same packet.
      isUp = true;
      isCountedAgain = isTooMany(said.connections);
    }
    if (said?.type === 'disconnect') {
      reason = said.reason;
      // After a warning Slack goes on using the line, and says later when to renew.
      if (reason === 'warning') return;
      if (reason === 'refresh_requested' && isUp) return asked.abort();
    }
    // Around all of Bolt, so that the lines of `app.error` too carry the request's id.
    asRequest(() => library.forEach((listener) => listener.call(client, data, isBinary)));
  });

  /** In order, so Slack sees it closed; without that if the peer is silent. */
  async function close(): Promise<void> {
    const closed = new AbortController();
    const closing = client.disconnect().then(() => closed.abort());
    await Promise.race([closing, wait(goodByeMs, closed.signal)]);
    // The second call does not wait for the peer.
    if (!closed.signal.aborted) await client.disconnect();
  }

  /** The library notices a dead network after seconds, then waits half a minute. */
  async function untilDead(either: AbortSignal): Promise<void> {
    while (!either.aborted && isActive()) await wait(goodByeMs, either);
  }

  const line: Line = {
    isActive,
    isToRenew: () => asked.signal.aborted,
    async untilOver() {
      const either = AbortSignal.any([stoppedOrOver, asked.signal]);
      await Promise.race([untilDead(either), ...(isCountedAgain ? [wait(recountMs, either)] : [])]);
    },
    async leave() {
      if (asked.signal.aborted && isActive()) await wait(slackClosesMs, stoppedOrOver);
      for (let leftMs = answerMs; leftMs > 0 && unanswered.size > 0 && isActive(); leftMs -= lookMs)
        await wait(lookMs, over.signal);
      await close();
    },
  };

  const opening = new AbortController();
  const tooLong = wait(helloTimeoutMs, AbortSignal.any([signal, opening.signal]));
  try {
    await Promise.race([client.start(), tooLong]);
    if (isUp) return { kind: 'open', line };
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

/** Slack's words about the connection itself; undefined for requests. */
function readSaid(data: unknown): { type: unknown; reason?: string; connections: number } | undefined {
  if (typeof data !== 'string' || data.includes('"envelope_id"')) return undefined;
  try {
    const said: unknown = JSON.parse(data);
    if (!isJsonObject(said)) return undefined;
    const { type, reason, num_connections: connections } = said;
    return {
      type,
      ...(typeof reason === 'string' ? { reason } : {}),
      connections: typeof connections === 'number' ? connections : 0,
    };
  } catch {
    return undefined;
  }
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
    fix: `Stop other copies of the bot that use SLACK_APP_TOKEN: at most ${mostLines / linesOfProcess} processes can. Slack forgets the connections of a dead process after some minutes, and the bot connects by itself.`,
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
