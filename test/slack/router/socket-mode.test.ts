import { EventEmitter } from 'node:events';
import { expect, it, vi } from 'vitest';
import { requestId } from '../../../src/log.ts';
import { keepConnected } from '../../../src/slack/router/socket-mode.ts';

type Client = ReturnType<Parameters<typeof keepConnected>[0]>;

const askedToRenew = { type: 'disconnect', reason: 'refresh_requested' };

/** Fake clients of Slack's library, without a network. `slack.counts`: the number of connections in Slack's next hello. */
function createClients() {
  const slack = { counts: 2, allows: 10, starts: 0, saysGoodBye: true, renewsAtOnce: 0 };
  const requestIds: (string | undefined)[] = [];
  const sockets: {
    isActive: boolean;
    says: (said: object) => void;
    emit: (event: 'slack_event' | 'outgoing_message', envelope: object) => void;
  }[] = [];
  function createClient(): Client {
    const client = new EventEmitter();
    const says = (said: object): boolean => client.emit('ws_message', JSON.stringify(said), false);
    const emit = (event: string, envelope: object): boolean => client.emit(event, envelope);
    const socket = { isActive: false, says, emit };
    const disconnect = vi.fn<() => Promise<void>>(async () => {
      // A second call never waits for the other side.
      if (socket.isActive && !slack.saysGoodBye) {
        socket.isActive = false;
        await new Promise((resolve) => client.once('disconnected', resolve));
      }
      socket.isActive = false;
      client.emit('disconnected');
    });
    // The library closes a connection as soon as Slack asks to renew it.
    client.on('ws_message', (data: string) => {
      if (data.includes('envelope_id')) requestIds.push(requestId());
      if (data.includes('"disconnect"')) void disconnect();
    });
    async function start(): Promise<void> {
      slack.starts += 1;
      if (open().length === slack.allows) {
        says({ type: 'disconnect', reason: 'too_many_websockets' });
        throw new Error('ended before a hello');
      }
      socket.isActive = true;
      sockets.push(socket);
      says({ type: 'hello', num_connections: slack.counts });
      if (slack.renewsAtOnce === slack.starts) says(askedToRenew);
    }
    const websocket = { isActive: () => socket.isActive };
    return Object.assign(client, { start, disconnect, websocket }) as unknown as Client;
  }
  const open = () => sockets.filter(({ isActive }) => isActive);
  return { slack, open, createClient, requestIds };
}

/** Waits that end when the test says so. */
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

function connects(set: { renewsAtOnce?: number } = {}) {
  const { slack, open, createClient, requestIds } = createClients();
  Object.assign(slack, set);
  const { wait, pass } = createWaits();
  const stopping = new AbortController();
  let nowMs = 0;
  // A minute passes between two readings, so every connection counts as steady.
  const now = (): number => (nowMs += 60_000);
  const around = { log: vi.fn<() => void>(), wait, signal: stopping.signal, now, processes: 1 };
  return { slack, open, requestIds, stopping, pass, connection: keepConnected(createClient, around) };
}

it('reconnects after five minutes for a new count if Slack counts too many connections', async () => {
  const { slack, open, connection, pass, stopping } = connects();
  slack.counts = 3;
  await vi.waitFor(() => expect(slack.starts).toBe(2));
  await vi.waitFor(() => expect(connection.health()).toMatchObject({ state: 'degraded' }));
  slack.counts = 2;
  await vi.waitFor(() => {
    pass(5 * 60_000);
    expect(slack.starts).toBe(4);
  });
  await vi.waitFor(() => expect(connection.health()).toEqual({ state: 'ok' }));
  expect(open()).toHaveLength(2);
  stopping.abort();
  await connection.stop();
  expect(slack.starts).toBe(4);
  expect(open()).toEqual([]);
});

it('keeps a connection that Slack asks to renew for half a minute, beside the new one', async () => {
  const { slack, open, connection, pass, stopping } = connects();
  await vi.waitFor(() => expect(open()).toHaveLength(2));
  const [old] = open();
  // The one that leaves is still counted.
  slack.counts = 3;
  old?.says(askedToRenew);
  await vi.waitFor(() => expect(open()).toHaveLength(3));
  expect(open()).toContain(old);
  await vi.waitFor(() => {
    pass(30_000);
    expect(open()).not.toContain(old);
  });
  expect(connection.health()).toEqual({ state: 'ok' });
  expect(slack.starts).toBe(3);
  stopping.abort();
  await connection.stop();
  expect(open()).toEqual([]);
});

it('closes a connection to renew only once its requests are answered', async () => {
  const { open, connection, pass, stopping } = connects();
  await vi.waitFor(() => expect(open()).toHaveLength(2));
  const [old] = open();
  old?.emit('slack_event', { envelope_id: 'E1' });
  old?.says(askedToRenew);
  await vi.waitFor(() => expect(open()).toHaveLength(3));
  const passes = async (): Promise<void> => {
    for (let turn = 0; turn < 5; turn += 1) {
      pass(30_000);
      pass(50);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  await passes();
  expect(open()).toContain(old);
  old?.emit('outgoing_message', { envelope_id: 'E1' });
  await passes();
  expect(open()).not.toContain(old);
  stopping.abort();
  await connection.stop();
});

it('does so too if Slack asks to renew together with its hello', async () => {
  const { slack, open, connection, pass, stopping } = connects({ renewsAtOnce: 2 });
  await vi.waitFor(() => expect(slack.starts).toBe(3));
  expect(open()).toHaveLength(3);
  await vi.waitFor(() => {
    pass(30_000);
    expect(open()).toHaveLength(2);
  });
  expect(connection.health()).toEqual({ state: 'ok' });
  stopping.abort();
  await connection.stop();
  expect(open()).toEqual([]);
});

it('gives each request an id that all its log entries carry', async () => {
  const { open, requestIds, connection, stopping } = connects();
  await vi.waitFor(() => expect(open()).toHaveLength(2));
  for (const socket of open()) socket.says({ envelope_id: 'E1' });
  expect(requestIds).toEqual([
    expect.stringMatching(/^[0-9A-F]{8}$/),
    expect.stringMatching(/^[0-9A-F]{8}$/),
  ]);
  expect(new Set(requestIds).size).toBe(2);
  stopping.abort();
  await connection.stop();
});

it('closes the connection to renew first if Slack allows no further connection', async () => {
  const { slack, open, connection, pass, stopping } = connects();
  slack.allows = 2;
  await vi.waitFor(() => expect(open()).toHaveLength(2));
  const [old] = open();
  old?.says(askedToRenew);
  await vi.waitFor(() => {
    pass(30_000);
    expect(slack.starts).toBe(4);
  });
  expect(open()).toHaveLength(2);
  expect(open()).not.toContain(old);
  await vi.waitFor(() => expect(connection.health()).toEqual({ state: 'ok' }));
  stopping.abort();
  await connection.stop();
});

it('stops waiting for a peer that never answers the closing handshake', async () => {
  const { slack, open, connection, pass, stopping } = connects();
  await vi.waitFor(() => expect(open()).toHaveLength(2));
  // The library's state after a missing pong.
  for (const socket of open()) socket.isActive = false;
  await vi.waitFor(() => {
    pass(2_000);
    expect(slack.starts).toBe(4);
  });
  slack.saysGoodBye = false;
  stopping.abort();
  const stopped = connection.stop();
  await vi.waitFor(() => {
    pass(2_000);
    expect(open()).toEqual([]);
  });
  await stopped;
});
