/**
 * `npm run soak -- --minutes 60 --events 20 --commands 2 --out soak.svg`: one bot on a Redis of its own under so many
 * events and commands a second, measured from outside. Draws memory, descriptors, the delay of the oldest due record and
 * the webhook answer times into the file. The exit code is 0 only if memory (after a garbage collection, from 3 minutes
 * on) does not grow beyond noise, descriptors stay constant, every event was posted once, and no record is due for longer
 * than its rate limit explains.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { runSoak, type Sample } from '../test/load/soak.ts';

/** One chart's size, in pixels. */
const width = 860;
const height = 170;
const left = 60;
const right = 20;
const top = 34;
const bottom = 26;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    events: { type: 'string', default: '20' },
    commands: { type: 'string', default: '2' },
    out: { type: 'string', default: 'soak.svg' },
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
writeFileSync(
  values.out,
  plot(heading, [
    { title: 'Memory', unit: 'MB resident', points: pointsOf('residentMegabytes') },
    { title: 'Kept after garbage collection', unit: 'MB', points: pointsOf('keptMegabytes') },
    { title: 'Open descriptors', unit: 'count', points: pointsOf('descriptors') },
    { title: 'Oldest due record', unit: 'seconds', points: pointsOf('oldestDueSeconds') },
    { title: 'Webhook answered, p99', unit: 'ms', points: pointsOf('answerMs') },
  ]),
);
console.log(`${heading}: webhooks ${told(sent.webhooks)}; ${sent.commands()} commands`);
console.log(
  `memory ${growth.megabytesPerHour.toFixed(1)} ± ${growth.errorPerHour.toFixed(1)} MB an hour in the second half, ${samples.at(-1)?.residentMegabytes.toFixed(0)} MB at the end; ${samples.at(-1)?.descriptors} descriptors; plot in ${values.out}`,
);
for (const wrong of wrongs) console.log(`wrong: ${wrong}`);
if (wrongs.length === 0) console.log('nothing lost, doubled or late');
process.exit(wrongs.length === 0 ? 0 : 1);

function pointsOf(name: Exclude<keyof Sample, 'atSeconds'>): [number, number][] {
  return samples.map((sample) => [sample.atSeconds / 60, sample[name]]);
}

function told(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([answer, times]) => `${answer} ${times}`).join(', ') || 'none';
}

type Line = { title: string; unit: string; points: readonly (readonly [x: number, y: number])[] };

/** An SVG of charts below each other over the same time in minutes, each starting at 0. */
function plot(heading: string, lines: readonly Line[]): string {
  const all = lines.length * height + 40;
  const charts = lines.map(
    (line, at) => `<g transform="translate(0 ${40 + at * height})">${chart(line)}</g>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${all}" font-family="sans-serif" font-size="12">
<rect width="100%" height="100%" fill="#fff"/>
<text x="${left}" y="24" font-size="15" font-weight="bold">${heading}</text>
${charts.join('\n')}
</svg>
`;
}

function chart({ title, unit, points }: Line): string {
  const lastX = Math.max(...points.map(([x]) => x));
  const { highest, step } = scaleFor(Math.max(...points.map(([, y]) => y)));
  const x = (minutes: number): number => left + ((width - left - right) * minutes) / lastX;
  const y = (value: number): number => top + (height - top - bottom) * (1 - value / highest);
  const rules = Array.from({ length: Math.round(highest / step) + 1 }, (_, at) => at * step).map(
    (value) =>
      `<path d="M${left} ${y(value).toFixed(1)}H${width - right}" stroke="#ddd"/><text x="${left - 6}" y="${(y(value) + 4).toFixed(1)}" text-anchor="end">${Number(value.toFixed(3))}</text>`,
  );
  const times = [0, 0.25, 0.5, 0.75, 1].map(
    (share) =>
      `<text x="${x(lastX * share).toFixed(1)}" y="${height - 8}" text-anchor="middle">${(lastX * share).toFixed(lastX < 8 ? 1 : 0)} min</text>`,
  );
  const path = points.map(([minutes, value]) => `${x(minutes).toFixed(1)},${y(value).toFixed(1)}`).join(' ');
  return `<text x="${left}" y="${top - 12}" font-weight="bold">${title}, ${unit}</text>
${rules.join('')}${times.join('')}
<polyline points="${path}" fill="none" stroke="#1264a3" stroke-width="1.5"/>`;
}

/** A round number above the highest value, and a step that divides it into a few parts. */
function scaleFor(most: number): { highest: number; step: number } {
  const power = 10 ** Math.floor(Math.log10(Math.max(most, 0.001)));
  const step = [0.2, 0.5, 1, 2].map((part) => part * power).find((one) => most / one <= 5) ?? 2 * power;
  return { highest: Math.max(1, Math.ceil(most / step)) * step, step };
}
