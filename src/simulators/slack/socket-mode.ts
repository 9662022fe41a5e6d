import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import { z } from 'zod';
import { parseJson } from '../../domain/json.ts';
import { appId } from './directory.ts';
import type { Ids } from './ids.ts';
import type { Quirks } from './quirks.ts';

type EnvelopeKind = 'slash_commands' | 'interactive' | 'events_api';

export type Envelope = {
  kind: EnvelopeKind;
  payload: Record<string, unknown>;
};

type SocketAnswer = { kind: 'acknowledged'; body: unknown } | { kind: 'timeout' } | { kind: 'unreachable' };

const ackShape = z.object({ envelope_id: z.string(), payload: z.unknown().optional() });

/** Slack's reason for ending a connection, or for a warning. */
type DisconnectReason = 'refresh_requested' | 'warning' | 'link_disabled' | 'too_many_websockets';

/** A registered connection that gets payloads in turn. */
type Line = {
  /** Absent for a connection that Slack still counts although its process is dead: its payloads are lost. */
  socket?: WebSocket;
  /** The network failed, and neither side knows yet. */
  isHalfOpen?: boolean;
  isToRenew?: boolean;
  /** Payloads it has not acknowledged. */
  given: Set<Promise<SocketAnswer>>;
};

/** From asking for a renewal to closing. Slack takes longer, but the tests ask every half a second. */
const renewMs = 500;

const mostLines = 10;

export type SocketMode = ReturnType<typeof createSocketMode>;

export function createSocketMode(ids: Ids, quirks: Quirks) {
  const server = new WebSocketServer({ noServer: true });
  const tickets = new Set<string>();
  const acks = createAcks();
  let lines: Line[] = [];
  let turn = 0;
  let unread = 0;
  let cutOff = 0;
  let isOff = false;

  function drop(line: Line): void {
    lines = lines.filter((other) => other !== line);
  }

  function open(): (Line & { socket: WebSocket })[] {
    return lines.filter(
      (line): line is Line & { socket: WebSocket } => line.socket !== undefined && line.isHalfOpen !== true,
    );
  }

  function closeLater(line: Line & { socket: WebSocket }): void {
    line.isToRenew = true;
    setTimeout(() => {
      drop(line);
      void Promise.all(line.given).then(() => line.socket.close());
    }, renewMs).unref();
  }

  function welcome(socket: WebSocket): void {
    const line: Line = { socket, given: new Set() };
    socket.on('message', (data) => acks.take(data));
    socket.on('close', () => drop(line));
    socket.on('error', () => drop(line));
    if (isOff) return tell(socket, 'link_disabled');
    if (lines.length >= mostLines) return tell(socket, 'too_many_websockets');
    lines = [...lines, line];
    socket.send(
      JSON.stringify({
        type: 'hello',
        num_connections: lines.length,
        debug_info: { host: 'playground', approximate_connection_time: 18_060 },
        connection_info: { app_id: appId },
      }),
    );
  }

  return {
    /** Connections that take payloads and have a living process. */
    open: () => open().length,
    /** Payloads sent to connections of dead processes. */
    unread: () => unread,
    /** Payloads unacknowledged when their connection was closed. */
    cutOff: () => cutOff,
    /** The query of a new one-use address for `apps.connections.open`. */
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
    /** Sends to the registered connections in turn, also to one whose process is dead. */
    async send(envelope: Envelope, timeoutMs: number): Promise<SocketAnswer> {
      const registered = lines.filter(
        ({ socket }) => socket === undefined || socket.readyState === socket.OPEN,
      );
      const line = registered[turn % Math.max(1, registered.length)];
      turn += 1;
      if (line === undefined) return { kind: 'unreachable' };
      const reader = line.isHalfOpen === true ? undefined : line.socket;
      if (reader === undefined) unread += 1;
      const answering = acks.deliver(reader, { ...envelope, id: ids.secret(16) }, timeoutMs);
      line.given.add(answering);
      const answer = await answering;
      line.given.delete(answering);
      if (answer.kind === 'unreachable') cutOff += 1;
      return answer;
    },
    /**
     * Sends this reason to every connection or only to the oldest. One that must be renewed gets no further payloads
     * (unless a quirk says so), and is closed after its acknowledgements arrived. A warning changes nothing.
     */
    disconnect(reason: DisconnectReason = 'refresh_requested', which: 'all' | 'oldest' = 'all') {
      const told = open()
        .filter(({ isToRenew }) => isToRenew !== true)
        .slice(0, which === 'all' ? undefined : 1);
      for (const line of told) {
        const isToRenew = reason === 'refresh_requested';
        const goesOn = isToRenew && quirks.renewedLinesGetMore === true;
        if (reason !== 'warning' && !goesOn) drop(line);
        if (isToRenew) closeLater(line);
        tell(line.socket, reason);
      }
    },
    /** Like an administrator in the app's settings. */
    turn(to: 'on' | 'off') {
      isOff = to === 'off';
      if (isOff) this.disconnect('link_disabled');
    },
    /** Registered connections of dead processes. */
    setGhosts(count: number) {
      const ghosts = Array.from({ length: count }, (): Line => ({ given: new Set() }));
      lines = [...lines.filter(({ socket }) => socket !== undefined), ...ghosts];
    },
    /** The oldest connection's network fails; Slack notices after this time. */
    halfOpen(foundOutMs: number) {
      const [line] = open();
      if (!line) return;
      Object.assign(line, { isHalfOpen: true });
      line.socket.pause();
      setTimeout(() => {
        drop(line);
        line.socket.terminate();
      }, foundOutMs).unref();
    },
    /** Cuts every connection without a message. */
    cut() {
      for (const client of server.clients) client.terminate();
      lines = [];
    },
    close() {
      for (const client of server.clients) client.terminate();
      server.close();
    },
  };
}

function tell(socket: WebSocket, reason: DisconnectReason): void {
  socket.send(JSON.stringify({ type: 'disconnect', reason, debug_info: { host: 'playground' } }));
}

/** Matches acknowledgements to the payloads that wait for them. */
function createAcks() {
  const waiting = new Map<string, (answer: SocketAnswer) => void>();
  return {
    take(data: RawData) {
      const ack = ackShape.safeParse(parseJson(Buffer.isBuffer(data) ? data.toString() : ''));
      if (ack.success) waiting.get(ack.data.envelope_id)?.({ kind: 'acknowledged', body: ack.data.payload });
    },
    deliver: (connection: WebSocket | undefined, envelope: Envelope & { id: string }, timeoutMs: number) =>
      new Promise<SocketAnswer>((resolve) => {
        function settle(answer: SocketAnswer): void {
          clearTimeout(timer);
          waiting.delete(envelope.id);
          connection?.off('close', onClose);
          resolve(answer);
        }
        function onClose(): void {
          settle({ kind: 'unreachable' });
        }
        const timer = setTimeout(() => settle({ kind: 'timeout' }), timeoutMs);
        waiting.set(envelope.id, settle);
        connection?.once('close', onClose);
        connection?.send(JSON.stringify(frameOf(envelope)));
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
