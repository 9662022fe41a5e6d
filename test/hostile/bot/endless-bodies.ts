import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connectRaw } from '../../http/raw-client.ts';
import { head, paths, statusIn, type Path, type Scene } from './scene.ts';

export type Endless = { name: string; status: number; sentMb: number; tookMs: number; isClosed: boolean };

const megabyte = 1_048_576;
const piece = Buffer.alloc(64 * 1_024, 'x');
const chunk = Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')]);

const kinds = Object.values(paths).flatMap((path) =>
  [true, false].map((isChunked) => ({
    path,
    isChunked,
    name: `${path}, ${isChunked ? 'in chunks' : 'by its length'}`,
  })),
);

/** As much as it takes, with and without a length, to the door of events alone. */
export async function streamAlone(scene: Scene, megabytes: number): Promise<Endless[]> {
  const all: Endless[] = [];
  for (const kind of kinds.filter(({ path }) => path === paths.webhook)) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other first
    all.push(await stream(scene, kind, megabytes));
  }
  return all;
}

/** The same to both doors at once; that of Slack closes them when a request has lasted too long. */
export function streamBeside(scene: Scene, megabytes: number): Promise<Endless[]> {
  return Promise.all(
    kinds.map((kind) => stream(scene, { ...kind, name: `${kind.name}, beside others` }, megabytes)),
  );
}

/** Reads its answer only when nothing more can be sent, as a sender does that means harm. */
async function stream(
  scene: Scene,
  { path, isChunked, name }: { path: Path; isChunked: boolean; name: string },
  megabytes: number,
): Promise<Endless> {
  const startedAt = performance.now();
  const client = await connectRaw(scene.port);
  const { socket } = client;
  const bytes = megabytes * megabyte;
  const length: Record<string, string> = isChunked
    ? { 'transfer-encoding': 'chunked' }
    : { 'content-length': String(bytes) };
  const type = path === paths.webhook ? 'application/json' : 'application/x-www-form-urlencoded';
  client.write(head(path, { 'content-type': type, ...length }));
  const part = isChunked ? chunk : piece;
  const closed = once(socket, 'close').catch(() => undefined);
  let sent = 0;
  while (sent < bytes && !socket.destroyed) {
    sent += piece.length;
    if (!socket.write(part)) {
      // oxlint-disable-next-line no-await-in-loop -- as fast as it is taken
      await Promise.race([once(socket, 'drain').catch(() => undefined), closed]);
    }
  }
  const answer = await Promise.race([client.receiveAll(), after(12_000)]);
  const isClosed = socket.destroyed;
  socket.destroy();
  const tookMs = performance.now() - startedAt;
  return { name, status: statusIn(answer ?? ''), sentMb: sent / megabyte, tookMs, isClosed };
}

function after(ms: number): Promise<undefined> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(undefined), ms).unref();
  });
}

/** Resident memory of a process in megabytes, as the system counts it. */
export function residentMb(pid: number): number {
  const found = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(found?.[1]) / 1_024;
}

/** Looks every few milliseconds until it is asked for the most it saw. */
export function watchMemory(pid: number): () => number {
  let most = residentMb(pid);
  const timer = setInterval(() => {
    most = Math.max(most, residentMb(pid));
  }, 20);
  return () => {
    clearInterval(timer);
    return Math.max(most, residentMb(pid));
  };
}
