import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import { z } from 'zod';
import { appId } from './cast.ts';
import type { Ids } from './ids.ts';

type EnvelopeKind = 'slash_commands' | 'interactive' | 'events_api';

export type Envelope = {
  kind: EnvelopeKind;
  payload: Record<string, unknown>;
};

type SocketAnswer = { kind: 'acknowledged'; body: unknown } | { kind: 'timeout' } | { kind: 'unreachable' };

const ackShape = z.object({ envelope_id: z.string(), payload: z.unknown().optional() });

export type SocketMode = ReturnType<typeof createSocketMode>;

export function createSocketMode(ids: Ids) {
  const server = new WebSocketServer({ noServer: true });
  const tickets = new Set<string>();
  const acks = createAcks();
  let connections: WebSocket[] = [];
  let turn = 0;

  function drop(connection: WebSocket): void {
    connections = connections.filter((other) => other !== connection);
  }

  function welcome(connection: WebSocket): void {
    connection.on('message', (data) => acks.take(data));
    connection.on('close', () => drop(connection));
    connection.on('error', () => drop(connection));
    connections = [...connections, connection];
    connection.send(
      JSON.stringify({
        type: 'hello',
        num_connections: connections.length,
        debug_info: { host: 'playground', approximate_connection_time: 18_060 },
        connection_info: { app_id: appId },
      }),
    );
  }

  return {
    /** How many connections take payloads now. */
    open: () => connections.length,
    /** The query of a fresh one-use address for `apps.connections.open`. */
    ticket() {
      const ticket = ids.secret(12);
      tickets.add(ticket);
      return ticket;
    },
    upgrade(request: IncomingMessage, socket: Duplex, head: Buffer) {
      const ticket = new URL(request.url ?? '', 'http://workspace').searchParams.get('ticket') ?? '';
      if (!tickets.delete(ticket)) {
        socket.end('HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n');
        return;
      }
      server.handleUpgrade(request, socket, head, welcome);
    },
    /** To one of the open connections, in turn. */
    async send(envelope: Envelope, timeoutMs: number): Promise<SocketAnswer> {
      const connection = connections[turn % Math.max(1, connections.length)];
      turn += 1;
      return connection === undefined
        ? { kind: 'unreachable' }
        : acks.deliver(connection, { ...envelope, id: ids.secret(16) }, timeoutMs);
    },
    /** Asks every client to come back on a new connection; the old ones get nothing more. */
    disconnect() {
      const retiring = connections;
      connections = [];
      for (const connection of retiring)
        connection.send(JSON.stringify({ type: 'disconnect', reason: 'refresh_requested' }));
    },
    /** Cuts every connection without a word. */
    cut() {
      for (const client of server.clients) client.terminate();
      connections = [];
    },
    close() {
      for (const client of server.clients) client.terminate();
      server.close();
    },
  };
}

/** Who waits for which acknowledgement. */
function createAcks() {
  const waiting = new Map<string, (answer: SocketAnswer) => void>();
  return {
    take(data: RawData) {
      const ack = ackShape.safeParse(json(data));
      if (ack.success) waiting.get(ack.data.envelope_id)?.({ kind: 'acknowledged', body: ack.data.payload });
    },
    deliver: (connection: WebSocket, envelope: Envelope & { id: string }, timeoutMs: number) =>
      new Promise<SocketAnswer>((resolve) => {
        function settle(answer: SocketAnswer): void {
          clearTimeout(timer);
          waiting.delete(envelope.id);
          connection.off('close', onClose);
          resolve(answer);
        }
        function onClose(): void {
          settle({ kind: 'unreachable' });
        }
        const timer = setTimeout(() => settle({ kind: 'timeout' }), timeoutMs);
        waiting.set(envelope.id, settle);
        connection.once('close', onClose);
        connection.send(JSON.stringify(frameOf(envelope)));
      }),
  };
}

function frameOf(envelope: Envelope & { id: string }): Record<string, unknown> {
  return {
    envelope_id: envelope.id,
    type: envelope.kind,
    accepts_response_payload: envelope.kind !== 'events_api',
    payload: envelope.payload,
  };
}

function json(data: RawData): unknown {
  try {
    return JSON.parse(Buffer.isBuffer(data) ? data.toString('utf8') : '');
  } catch {
    return undefined;
  }
}
