/**
 * `npm run hostile -- --requests 200000 --texts 200000 [--megabytes n] [--sockets n] [--seed n]`: sends mutated signed
 * requests to the webhook endpoint, puts hostile texts through everything the bot shows, streams bodies of so many
 * megabytes and malformed ones at a bot of its own, and holds slow sockets open while events keep coming. The last line
 * is the verdict; the exit code is 0 only if no mutated request was accepted, no text became active or wrong, no
 * connection stayed open or delayed others, and memory stayed bounded. The seed repeats the same requests and texts.
 * Reads the bot's memory from /proc, so this part needs Linux.
 */
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { mostGrowthMb, runBodies, type BodiesResult } from '../test/hostile/bot/run-bot.ts';
import { openScene } from '../test/hostile/bot/scene.ts';
import { closedWithinMs, heldUp, runSlowSockets, type SlowResult } from '../test/hostile/bot/slow-sockets.ts';
import { runRequests, type RequestsResult } from '../test/hostile/requests/run-requests.ts';
import { runTexts, type TextsResult } from '../test/hostile/texts/run-texts.ts';
import { wholeNumber } from './whole-number.ts';

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '200000' },
    texts: { type: 'string', default: '200000' },
    megabytes: { type: 'string', default: '1024' },
    sockets: { type: 'string', default: '200' },
    seed: { type: 'string', default: String(randomInt(1_000_000_000)) },
  },
});
const requestCount = wholeNumber('requests', values.requests, { least: 1, most: 10_000_000 });
const textCount = wholeNumber('texts', values.texts, { least: 1, most: 10_000_000 });
const megabytes = wholeNumber('megabytes', values.megabytes, { least: 32, most: 100_000 });
const sockets = wholeNumber('sockets', values.sockets, { least: 1, most: 5_000 });
const seed = wholeNumber('seed', values.seed, { most: 1_000_000_000 });
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130));

console.log(`seed ${seed}`);
const requests = await runRequests({ count: requestCount, seed });
tellRequests(requests);
const texts = runTexts({ count: textCount, seed });
tellTexts(texts);
const { bodies, slow } = await runBot();
console.log(
  [
    `requests ${requests.forged}, accepted ${requests.wrong.length}`,
    `texts ${texts.texts}, unescaped ${texts.live.length + texts.unfit.length}`,
    `bodies ${bodies.odd + bodies.endless.length}, wrong ${bodies.wrong.length}, memory +${bodies.grewMb.toFixed(1)} MB`,
    `slow sockets ${slow.sockets}, open ${slow.open.length}, others ${heldUp(slow).length === 0 ? 'unaffected' : 'held up'}`,
  ].join('; '),
);
process.exit(isFine() ? 0 : 1);

async function runBot(): Promise<{ bodies: BodiesResult; slow: SlowResult }> {
  const scene = await openScene('deployed');
  try {
    const bodies = await runBodies(scene, megabytes);
    tellBodies(bodies);
    const slow = await runSlowSockets(scene, sockets);
    tellSlow(slow);
    return { bodies, slow };
  } finally {
    await scene.close();
  }
}

function isFine(): boolean {
  const problems = [requests.wrong, texts.live, texts.unfit, bodies.wrong, slow.open, heldUp(slow)];
  return problems.every((list) => list.length === 0) && bodies.grewMb < mostGrowthMb;
}

function tellRequests({ forged, statuses, same, genuine, overTcp, wrong }: RequestsResult): void {
  const answers = [...statuses].map(([status, times]) => `${status} ${times}`).join(', ');
  console.log(
    `${forged} forged requests, ${overTcp} over a real socket, answered ${answers}; of ${same.sent} mutated without a change to what is signed ${same.accepted} accepted, of ${genuine.sent} unchanged ${genuine.accepted}`,
  );
  show(wrong);
}

function tellTexts({ texts: count, shown, live, unfit }: TextsResult): void {
  console.log(`${count} texts in ${shown} messages, forms and parts of the App Home`);
  show([...live, ...unfit]);
}

function tellBodies({ odd, endless, wrong, residentMb, grewMb }: BodiesResult): void {
  for (const { name, status, sentMb, tookMs } of endless) {
    console.log(
      `${megabytes} MB to ${name}: ${status}, closed after ${sentMb.toFixed(1)} MB and ${Math.round(tookMs)} ms`,
    );
  }
  console.log(
    `${odd} odd bodies; resident memory ${residentMb.toFixed(1)} MB, at most ${grewMb.toFixed(1)} MB more`,
  );
  show(wrong);
}

function tellSlow({ sockets: count, open, slowestMs, before, during }: SlowResult): void {
  console.log(
    `${count} slow sockets, the last one closed after ${Math.round(slowestMs)} ms of ${closedWithinMs}; events before: p50 ${before.p50Ms.toFixed(1)} ms, p99 ${before.p99Ms.toFixed(1)} ms (${before.sent}, ${before.wrong} not 200); beside them: p50 ${during.p50Ms.toFixed(1)} ms, p99 ${during.p99Ms.toFixed(1)} ms (${during.sent}, ${during.wrong} not 200)`,
  );
  show([...open, ...heldUp({ before, during })]);
}

function show(problems: readonly string[]): void {
  for (const problem of problems.slice(0, 10)) console.log(problem);
}
