import { withDeadline } from '../deadline.ts';
import type { Log } from '../log.ts';
import { bringsToken, sendJson, type Route } from './server.ts';

export type Labels = Readonly<Record<string, string>>;
export type Sample = { value: number; labels?: Labels };

export type Counter = { add: (labels?: Labels, by?: number) => void };
export type Histogram = { observe: (seconds: number, labels?: Labels) => void };

/** Names by Prometheus' conventions: base units, a counter's name ends in `_total`. */
export type Registry = {
  counter: (name: string, help: string) => Counter;
  /** Of seconds. */
  histogram: (name: string, help: string) => Histogram;
  /** Read at each scrape, a counter that somebody else keeps among them. One that throws or takes longer than a second is left out of that answer. */
  gauge: (name: string, help: string, read: () => readonly Sample[] | Promise<readonly Sample[]>) => void;
  /** The text format, version 0.0.4. Never rejects. */
  expose: () => Promise<string>;
};

type Metric = {
  name: string;
  help: string;
  kind: 'counter' | 'gauge' | 'histogram';
  lines: () => readonly string[] | Promise<readonly string[]>;
};

/** Upper bounds in seconds, from a call of the store to what a person no longer waits for. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** `readWithinMs`: how long one may take to be read. */
export function createRegistry(log: Log, readWithinMs = 1_000): Registry {
  const metrics: Metric[] = [];

  return {
    counter(name, help) {
      const counts = new Map<string, number>();
      metrics.push({
        name,
        help,
        kind: 'counter',
        lines: () => Array.from(counts, ([labels, count]) => `${name}${labels} ${count}`),
      });
      return {
        add(labels, by = 1) {
          const key = written(labels);
          counts.set(key, (counts.get(key) ?? 0) + by);
        },
      };
    },
    histogram(name, help) {
      const series = new Map<string, { labels: Labels; counts: number[]; sum: number }>();
      metrics.push({
        name,
        help,
        kind: 'histogram',
        lines: () => Array.from(series.values()).flatMap((one) => histogramLines(name, one)),
      });
      return {
        observe(seconds, labels = {}) {
          const key = Object.values(labels).join('\n');
          let one = series.get(key);
          if (!one) {
            one = { labels, counts: Array.from({ length: buckets.length + 1 }, () => 0), sum: 0 };
            series.set(key, one);
          }
          const at = buckets.findIndex((bound) => seconds <= bound);
          const bucket = at < 0 ? buckets.length : at;
          one.counts[bucket] = (one.counts[bucket] ?? 0) + 1;
          one.sum += seconds;
        },
      };
    },
    gauge(name, help, read) {
      metrics.push({
        name,
        help,
        kind: name.endsWith('_total') ? 'counter' : 'gauge',
        lines: async () => (await read()).map(({ value, labels }) => `${name}${written(labels)} ${value}`),
      });
    },
    async expose() {
      const texts = await Promise.all(metrics.map((metric) => exposeOrLog(metric, log, readWithinMs)));
      return texts.join('');
    },
  };
}

function histogramLines(
  name: string,
  { labels, counts, sum }: { labels: Labels; counts: readonly number[]; sum: number },
): string[] {
  let count = 0;
  const lines = counts.map((inBucket, at) => {
    count += inBucket;
    return `${name}_bucket${written({ ...labels, le: String(buckets[at] ?? '+Inf') })} ${count}`;
  });
  return [...lines, `${name}_sum${written(labels)} ${sum}`, `${name}_count${written(labels)} ${count}`];
}

async function exposeOrLog(
  { name, help, kind, lines }: Metric,
  log: Log,
  readWithinMs: number,
): Promise<string> {
  try {
    const samples = await withDeadline(readWithinMs, lines);
    return [`# HELP ${name} ${help}`, `# TYPE ${name} ${kind}`, ...samples, ''].join('\n');
  } catch (error) {
    log('warn', `The metric ${name} could not be read`, {}, error);
    return '';
  }
}

function written(labels: Labels = {}): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

/** GET /metrics, for Prometheus. `token`: whoever does not bring it as a bearer token is answered 401. */
export function createMetricsRoute(registry: Pick<Registry, 'expose'>, token: string | undefined): Route {
  return {
    method: 'GET',
    path: '/metrics',
    async handle(request, response) {
      if (!bringsToken(request, token)) {
        response.setHeader('www-authenticate', 'Bearer');
        return sendJson(response, 401, { error: 'unauthorized' });
      }
      const body = await registry.expose();
      response.writeHead(200, {
        'content-type': 'text/plain; version=0.0.4; charset=utf-8',
        'content-length': Buffer.byteLength(body),
      });
      response.end(body);
    },
  };
}
