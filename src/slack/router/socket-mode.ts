import { SocketModeReceiver, type App, type Logger, type Receiver } from '@slack/bolt';
import { isJsonObject } from '../../domain/json.ts';
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

/** While Slack renews one of them, or it is dead and nobody knows it yet, the other takes what comes. */
const linesOfProcess = 2;
/** What Slack allows one app, all processes together. */
const mostLines = 10;

const openTimeoutMs = 10_000;
/** Slack says hello at once. A socket that opens and stays silent would be waited for without end. */
const helloTimeoutMs = 15_000;
/** A connection that ends sooner counts as failed, so that one that never holds is not tried in a tight loop. */
const steadyMs = 10_000;
/** Slack says how many connections there are in its hello alone: a line is renewed to hear it again. */
const recountMs = 5 * 60_000;
/** Slack closes a line that it has asked to renew and may use it until then: what is on its way as we close is lost. */
const slackClosesMs = 30_000;
/** Slack's own time for an acknowledgement: what a line brought is answered before it is closed. */
const answerMs = 3_000;
/** A peer that is gone never says good-bye; the library would wait half a minute for it. */
const goodByeMs = 2_000;
const lookMs = 50;

type Client = SocketModeReceiver['client'];

export type SocketReceiver = Receiver & {
  /** For one line: when it is renewed, the old and the new one are open for a while. */
  createClient: () => Client;
};

/**
 * Bolt's own reconnecting is off: when `apps.connections.open` fails for good while it reconnects, the
 * rejection has no handler and ends the process. `keepConnected` does it instead.
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
  /** Resolves when every line is closed, which the signal has begun. */
  stop(): Promise<void>;
};

type Around = {
  log: Log;
  wait: Wait;
  signal: AbortSignal;
  now: () => number;
  /** How many processes connect with this app token; as many as Slack allows when absent. */
  processes?: number | undefined;
  /** Told how long each request waited for its acknowledgement. */
  acknowledged?: ((seconds: number) => void) | undefined;
};

/**
 * Keeps all lines connected until stopped. Never throws; `health` says what keeps a line from connecting, and when Slack
 * counts more connections than the processes have: presses go to any of them.
 */
export function keepConnected(createClient: () => Client, around: Around): SocketConnection {
  const { log, processes = mostLines / linesOfProcess } = around;
  const own = processes * linesOfProcess;
  let surplus: SlackDown | undefined;
  let openLines: Line[] = [];
  let earlier: Promise<unknown> = Promise.resolve();
  /** One line after the other: Slack may ask for all of them at once. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = earlier.then(work);
    earlier = done.catch(() => undefined);
    return done;
  }
  /** Lines that Slack has not closed yet may be in its count. */
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

/** Opens the next line before the one that Slack asks to renew is closed. */
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
  /** Resolves when the line is to be renewed or has ended. */
  untilOver(): Promise<void>;
  /** Answers all that the line has brought, and ends it. */
  leave(): Promise<void>;
};

/** What keeps the connection from being made, or the line once Slack has said hello. */
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
  /** When each came, by its id. */
  const unanswered = new Map<string, number>();
  const isActive = (): boolean => client.websocket?.isActive() === true;

  client.on('slack_event', ({ envelope_id: id }: Envelope) => unanswered.set(id, performance.now()));
  client.on('outgoing_message', ({ envelope_id: id }: Envelope) => {
    const cameMs = unanswered.get(id);
    if (unanswered.delete(id) && cameMs !== undefined) acknowledged?.((performance.now() - cameMs) / 1_000);
  });
  client.on('disconnected', () => over.abort());
  // The library closes a line the moment that Slack asks for a new one.
  const library = client.listeners('ws_message');
  client.removeAllListeners('ws_message');
  client.on('ws_message', (data: unknown, isBinary: unknown) => {
    const said = readSaid(data);
    if (said?.type === 'hello') isCountedAgain = isTooMany(said.connections);
    if (said?.type === 'disconnect') {
      reason = said.reason;
      // Slack goes on using the line after a warning, and says when it is to be renewed.
      if (reason === 'warning') return;
      if (reason === 'refresh_requested' && isUp) return asked.abort();
    }
    for (const listener of library) listener.call(client, data, isBinary);
  });

  /** In order, so that Slack knows it as closed; where the other side is silent, without it. */
  async function close(): Promise<void> {
    const closed = new AbortController();
    const closing = client.disconnect().then(() => closed.abort());
    await Promise.race([closing, wait(goodByeMs, closed.signal)]);
    // The second call does not wait for the other side.
    if (!closed.signal.aborted) await client.disconnect();
  }

  /** The library notices a dead network after seconds, and then waits half a minute for a good-bye. */
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
    isUp = await Promise.race([client.start().then(() => true), tooLong.then(() => false)]);
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

/** What Slack says of the connection itself; undefined of all that it brings. */
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

/** Slack's words before a hello, and what helps. */
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
