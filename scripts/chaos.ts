/**
 * `npm run chaos -- --events 10000 --kills 100 --store redis|sqlite [--seed n] [--compress n] [--channels n] [--quirk
 * NAME,…]`: sends events, 30 % of them twice, to bots that are repeatedly killed with SIGKILL (their Redis too, with
 * `--store redis`), while Slack answers 1 % of the posts with 500 and loses 1 % of its answers. Time passes `--compress`
 * times as fast for the bots and for Slack's rate limit, 10 by default; 1 is real time. The last line is the verdict; the
 * exit code is 0 only if nothing was lost, doubled, out of order or refused with 429, and all kills took place.
 *
 * Quirks are those of `src/simulators/slack/quirks.ts`. With `editsNeedMembership` the bot is in only half of the
 * channels until all is posted, every alert is acknowledged meanwhile, and each must show that in the end. A low
 * `--compress` shows best how near the bots come to Slack's limit: their own work takes real time.
 */
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { runChaos, type ChaosResult } from '../test/chaos/run-chaos.ts';
import { bundleOf } from '../test/support/bot-bundle.ts';
import { readQuirks } from '../src/simulators/slack/quirks.ts';
import { wholeNumber } from './whole-number.ts';

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'redis' },
    events: { type: 'string', default: '10000' },
    kills: { type: 'string', default: '100' },
    channels: { type: 'string', default: '50' },
    compress: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(randomInt(1_000_000_000)) },
    quirk: { type: 'string', default: '' },
  },
});
const { store } = values;
if (store !== 'redis' && store !== 'sqlite') {
  console.error('--store is redis or sqlite.');
  process.exit(2);
}
const compress = wholeNumber('compress', values.compress, { least: 1, most: 100 });
const channels = wholeNumber('channels', values.channels, { least: 1, most: 1_000 });
const events = wholeNumber('events', values.events, { least: 1, most: 1_000_000 });
const kills = wholeNumber('kills', values.kills, { most: 100_000 });
const seed = wholeNumber('seed', values.seed, { most: 1_000_000_000 });

const quirks = readQuirks(values.quirk);
console.log(`seed ${seed}: ${events} events and their repeats, ${kills} kills, on ${store}`);
console.log(`time passes ${compress} times as fast: Slack’s pace is one post in ${1_000 / compress} ms`);
const bundle = await bundleOf('chaos');
process.on('exit', () => bundle.remove());
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130));
const result = await runChaos({
  store,
  events,
  kills,
  seed,
  compress,
  channels,
  bundle,
  quirks,
  progress: (words) => console.log(words),
});
tell(result);
const killed = result.kills.bots + result.kills.redis;
const { rateLimitedPosts } = result.slack;
console.log(
  `lost ${result.lost.length}, doubled ${result.doubled.length}, kills ${killed}, 429s ${rateLimitedPosts}`,
);
process.exit(isFine() ? 0 : 1);

function isFine(): boolean {
  const wrong = [result.lost, result.doubled, result.misplaced, result.strangers, result.overtaken];
  return (
    wrong.every((keys) => keys.length === 0) &&
    rateLimitedPosts === 0 &&
    result.unacknowledged.length === 0 &&
    (quirks.editsNeedMembership !== true || result.edits > 0) &&
    killed >= kills &&
    result.kills.endedByThemselves === 0 &&
    result.workLeft === 0 &&
    result.audit.exitCode === 0 &&
    result.audit.entries > 0 &&
    result.acknowledged === events
  );
}

function tell(found: ChaosResult): void {
  const { slack, sender, kills: killing } = found;
  const refused = [...sender.refused].map(
    ([status, times]) => `${status === 0 ? 'no answer' : status} ${times}`,
  );
  console.log(`${(found.tookMs / 1_000).toFixed(0)} s, ${found.channels} channels`);
  console.log(
    `${found.deliveries} deliveries of ${found.acknowledged} events acknowledged; before that ${refused.join(', ') || 'none refused'}; slowest answer ${sender.slowestAnswerMs.toFixed(0)} ms`,
  );
  console.log(
    `${found.posts} alerts and ${found.notices} notices in Slack, which answered 500 to ${slack.faults['error_500'] ?? 0}, lost ${slack.faults['answer_lost'] ?? 0} answers and was asked for a history ${slack.historyReads} times; the closest two posts of a channel were ${Math.round(slack.closestPostsMs)} ms apart by its clock`,
  );
  console.log(
    `killed: bots ${killing.bots}, Redis ${killing.redis}; ended by themselves ${killing.endedByThemselves}; records left ${found.workLeft}`,
  );
  console.log(`out of order ${found.overtaken.length}`);
  if (quirks.editsNeedMembership === true)
    console.log(
      `${found.edits} edits tried; alerts acknowledged and not saying so ${found.unacknowledged.length}`,
    );
  console.log(found.audit.words.trim());
  const names = ['lost', 'doubled', 'misplaced', 'strangers', 'overtaken', 'unacknowledged'] as const;
  for (const name of names) {
    for (const reference of found[name].slice(0, 10)) {
      console.log(`${name}: ${reference}`);
      for (const line of found.linesAbout(reference)) console.log(`    ${line.slice(0, 400)}`);
    }
  }
}
