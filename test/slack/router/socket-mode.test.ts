import { EventEmitter } from 'node:events';
import { expect, it, vi } from 'vitest';
import { keepConnected } from '../../../src/slack/router/socket-mode.ts';

type Client = Parameters<typeof keepConnected>[0][number];

/** A client of Slack's library without a network; Slack counts so many connections at its next hello. */
function createClient() {
  const slack = { counts: 2, starts: 0, isActive: false, saysGoodBye: true };
  const client = new EventEmitter();
  const disconnect = vi.fn<() => Promise<void>>(async () => {
    // The second call never waits for the other side.
    if (slack.isActive && !slack.saysGoodBye) {
      slack.isActive = false;
      await new Promise((resolve) => client.once('disconnected', resolve));
    }
    slack.isActive = false;
    client.emit('disconnected');
  });
  async function start(): Promise<void> {
    Object.assign(slack, { isActive: true, starts: slack.starts + 1 });
    client.emit('ws_message', JSON.stringify({ type: 'hello', num_connections: slack.counts }), false);
  }
  const websocket = { isActive: () => slack.isActive };
  return { slack, client: Object.assign(client, { start, disconnect, websocket }) as unknown as Client };
}

/** Time that passes when it is told to. */
function createWaits() {
  const waits = new Set<{ ms: number; end: () => void }>();
  const wait = (ms: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const one = { ms, end: () => resolve() };
      waits.add(one);
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve());
    });
  const pass = (ms: number): void => [...waits].filter((one) => one.ms === ms).forEach(({ end }) => end());
  return { wait, pass };
}

function connects() {
  const { slack, client } = createClient();
  const { wait, pass } = createWaits();
  const stopping = new AbortController();
  let nowMs = 0;
  // Every connection has held for a minute.
  const now = (): number => (nowMs += 60_000);
  const around = { log: vi.fn<() => void>(), wait, signal: stopping.signal, now, processes: 1 };
  return { slack, stopping, pass, connection: keepConnected([client], around) };
}

it('counts again after five minutes where Slack counts more connections than the processes have', async () => {
  const { slack, connection, pass, stopping } = connects();
  slack.counts = 3;
  await vi.waitFor(() => expect(slack.starts).toBe(1));
  await vi.waitFor(() => expect(connection.health()).toMatchObject({ state: 'degraded' }));
  slack.counts = 2;
  await vi.waitFor(() => {
    pass(5 * 60_000);
    expect(slack.starts).toBe(2);
  });
  await vi.waitFor(() => expect(connection.health()).toEqual({ state: 'ok' }));
  stopping.abort();
  await connection.stop();
  expect(slack).toMatchObject({ starts: 2, isActive: false });
});

it('gives up a connection that is being closed and whose other side says no good-bye', async () => {
  const { slack, connection, pass, stopping } = connects();
  await vi.waitFor(() => expect(connection.health()).toEqual({ state: 'ok' }));
  // As the library leaves it when no pong comes.
  slack.isActive = false;
  await vi.waitFor(() => {
    pass(2_000);
    expect(slack.starts).toBe(2);
  });
  slack.saysGoodBye = false;
  stopping.abort();
  const stopped = connection.stop();
  await vi.waitFor(() => {
    pass(2_000);
    expect(slack.isActive).toBe(false);
  });
  await stopped;
});
