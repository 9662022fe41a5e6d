import { withDeadline } from '../deadline.ts';
import type { Log } from '../log.ts';
import type { Route } from './server.ts';

export type Sample = { value: number; labels?: Readonly<Record<string, string>> };

/** One metric of the text format. `name` must be a Prometheus name; a counter's ends in `_total`. */
export type Metric = {
  name: string;
  help: string;
  kind: 'counter' | 'gauge';
  read: () => readonly Sample[] | Promise<readonly Sample[]>;
};

/**
 * A counter with one label. Every value of the label is there from the start, at 0, so that the first
 * failure is an increase to whoever watches.
 */
export function createCounter<Value extends string>(
  about: { name: string; help: string; label: string },
  values: readonly Value[],
): { metric: Metric; add: (value: Value) => void } {
  const counts = new Map<Value, number>(values.map((value) => [value, 0]));
  return {
    metric: {
      name: about.name,
      help: about.help,
      kind: 'counter',
      read: () => [...counts].map(([value, count]) => ({ value: count, labels: { [about.label]: value } })),
    },
    add: (value) => void counts.set(value, (counts.get(value) ?? 0) + 1),
  };
}

/**
 * GET /metrics in the Prometheus text format, version 0.0.4. A metric that throws or takes longer than a
 * second is left out, and `payops_metrics_unreadable` says how many were.
 */
export function createMetricsRoute(deps: {
  metrics: readonly Metric[];
  log: Log;
  deadlineMs?: number;
}): Route {
  return {
    method: 'GET',
    path: '/metrics',
    handle: async (_request, response) => {
      const texts = await Promise.all(deps.metrics.map((metric) => exposeOrLog(metric, deps)));
      const read = texts.filter((text) => text !== undefined);
      const unreadable = expose(unreadableMetric, [{ value: texts.length - read.length }]);
      const body = [...read, unreadable].join('');
      response.writeHead(200, {
        'content-type': 'text/plain; version=0.0.4; charset=utf-8',
        'content-length': Buffer.byteLength(body),
      });
      response.end(body);
    },
  };
}

const unreadableMetric = {
  name: 'payops_metrics_unreadable',
  help: 'Metrics left out of this answer because they could not be read.',
  kind: 'gauge',
} as const;

async function exposeOrLog(
  metric: Metric,
  deps: { log: Log; deadlineMs?: number },
): Promise<string | undefined> {
  try {
    return expose(metric, await withDeadline(deps.deadlineMs ?? 1_000, metric.read));
  } catch (error) {
    deps.log('warn', `The metric ${metric.name} could not be read`, {}, error);
    return undefined;
  }
}

function expose(metric: Omit<Metric, 'read'>, samples: readonly Sample[]): string {
  const help = metric.help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  const lines = [`# HELP ${metric.name} ${help}`, `# TYPE ${metric.name} ${metric.kind}`];
  for (const { value, labels = {} } of samples) {
    const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(text)}"`);
    lines.push(`${metric.name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}`);
  }
  return `${lines.join('\n')}\n`;
}

function escapeLabel(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
