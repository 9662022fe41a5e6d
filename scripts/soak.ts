/**
 * `npm run soak -- --minutes 60 --events 20 --commands 2`: one bot on a Redis of its own under that many events and
 * commands a second, looked at from outside. The exit code is 0 only when memory does not grow beyond noise (of what a
 * garbage collection leaves; judged from 3 minutes on), descriptors stay as many, every event was told once and nothing is
 * due for longer than its pace.
 */
import { parseArgs } from 'node:util';
import { runSoak } from '../test/load/soak.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    events: { type: 'string', default: '20' },
    commands: { type: 'string', default: '2' },
  },
});
const [minutes, eventsPerSecond, commandsPerSecond] = [values.minutes, values.events, values.commands].map(
  Number,
);
if (!minutes || !eventsPerSecond || commandsPerSecond === undefined || !(commandsPerSecond >= 0)) {
  console.error('--minutes and --events are numbers above 0, --commands a number.');
  process.exit(2);
}

const soaked = await runSoak({
  seconds: minutes * 60,
  eventsPerSecond,
  commandsPerSecond,
  progress: (words) => console.log(words),
});
const { samples, sent, growth, wrongs } = soaked;
const heading = `${minutes} minutes, ${eventsPerSecond} events and ${commandsPerSecond} commands a second`;
console.log(`${heading}: webhooks ${told(sent.webhooks)}; ${sent.commands()} commands`);
console.log(
  `memory ${growth.megabytesPerHour.toFixed(1)} ± ${growth.errorPerHour.toFixed(1)} MB an hour in the second half, ${samples.at(-1)?.residentMegabytes.toFixed(0)} MB at the end; ${samples.at(-1)?.descriptors} descriptors`,
);
for (const wrong of wrongs) console.log(`wrong: ${wrong}`);
if (wrongs.length === 0) console.log('nothing lost, doubled or late');
process.exit(wrongs.length === 0 ? 0 : 1);

function told(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([answer, times]) => `${answer} ${times}`).join(', ') || 'none';
}
