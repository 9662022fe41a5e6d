import { setTimeout as rest } from 'node:timers/promises';
import {
  type Endless,
  oddBodies,
  residentMb,
  sendOdd,
  streamAlone,
  streamBeside,
  watchMemory,
} from './endless-bodies.ts';
import { eventText, paths, type Scene } from './scene.ts';

export type BodiesResult = {
  odd: number;
  endless: readonly Endless[];
  /** Wrong answers, and connections that were not closed. */
  wrong: string[];
  residentMb: number;
  /** The maximum growth of the bot's resident memory over its level after ordinary work. */
  grewMb: number;
};

export const mostGrowthMb = 32;
const rounds = 2;
/** Up to this many events and their work, a process's memory grows with any load. */
const eventsBefore = 1_500;
const workMs = 6_000;
/** On a busy machine the work takes longer: it is over once memory has not grown for this long. */
const calmMs = 2_000;
const longestWorkMs = 30_000;
const eventsAfter = 200;

/** Odd and endless bodies, sent to a bot that has done ordinary work, while its memory is measured. */
export async function runBodies(scene: Scene, megabytes: number): Promise<BodiesResult> {
  const pid = scene.pid();
  const atWork = watchMemory(pid);
  const wrong = await deliverOrdinary(scene, 'WARM', eventsBefore);
  await standsStill(pid);
  const before = atWork();
  const most = watchMemory(pid);
  for (let round = 0; round < rounds; round += 1) {
    wrong.push(...(await sendOddBodies(scene)));
  }
  const alone = await streamAlone(scene, megabytes);
  const endless = [...alone, ...(await streamBeside(scene, megabytes))];
  wrong.push(...notClosed(endless));
  wrong.push(...(await deliverOrdinary(scene, 'AFTER', eventsAfter)));
  const grewMb = most() - before;
  return { odd: oddBodies.length * rounds, endless, wrong, residentMb: before, grewMb };
}

/** Endless bodies that were not refused and closed. */
export function notClosed(endless: readonly Endless[]): string[] {
  return endless
    .filter(({ status, isClosed }) => status !== 413 || !isClosed)
    .map(({ name, status, isClosed }) => `${name}: ${status}, ${isClosed ? 'closed' : 'not closed'}`);
}

/** Sends each odd body once; returns the wrong answers. */
export async function sendOddBodies(scene: Scene, atOnce = 8): Promise<string[]> {
  const wrong: string[] = [];
  for (let from = 0; from < oddBodies.length; from += atOnce) {
    const some = oddBodies.slice(from, from + atOnce);
    const problems = await Promise.all(some.map((odd) => sendOdd(scene, odd)));
    wrong.push(...problems.filter((problem) => problem !== undefined));
  }
  return wrong;
}

async function standsStill(pid: number): Promise<void> {
  const startedAt = performance.now();
  let grewAt = startedAt;
  let most = residentMb(pid);
  for (let now = startedAt; now < startedAt + longestWorkMs; now = performance.now()) {
    if (now >= startedAt + workMs && now >= grewAt + calmMs) return;
    await rest(100);
    if (residentMb(pid) <= most + 0.5) continue;
    most = residentMb(pid);
    grewAt = performance.now();
  }
}

async function deliverOrdinary(scene: Scene, name: string, count: number): Promise<string[]> {
  const wrong: string[] = [];
  for (let number = 0; number < count; number += 1) {
    const body = eventText(`${name}-${number}`);
    const response = await fetch(`http://127.0.0.1:${scene.port}${paths.webhook}`, {
      method: 'POST',
      headers: scene.signed(body),
      body,
    });
    const receipt = await response.text();
    if (!receipt.includes(`${name}-${number}`) || !receipt.includes('"new"'))
      wrong.push(`${body}: ${receipt}`);
  }
  return wrong;
}
