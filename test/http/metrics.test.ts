import { afterEach, describe, expect, it } from 'vitest';
import { createCounter, createMetricsRoute, type Metric } from '../../src/http/metrics.ts';
import { createHttpServer, type HttpServer } from '../../src/http/server.ts';

const open: HttpServer[] = [];

afterEach(async () => {
  for (const server of open.splice(0)) await server.close(0);
});

async function scrape(metrics: readonly Metric[]) {
  const logged: string[] = [];
  const log = (_level: string, message: string) => void logged.push(message);
  const server = createHttpServer({ routes: [createMetricsRoute({ metrics, log, deadlineMs: 50 })], log });
  open.push(server);
  const port = await server.listen(0, '127.0.0.1');
  const response = await fetch(`http://127.0.0.1:${port}/metrics`);
  return { type: response.headers.get('content-type'), text: await response.text(), logged };
}

describe('GET /metrics', () => {
  it('exposes counters and gauges in the Prometheus text format', async () => {
    const webhooks = createCounter(
      { name: 'payops_webhooks_total', help: 'Deliveries by result.', label: 'result' },
      ['new', 'duplicate'],
    );
    webhooks.add('new');
    webhooks.add('new');
    const depth: Metric = {
      name: 'payops_outbox_depth',
      help: 'Work not done yet.\nSecond \\ line',
      kind: 'gauge',
      read: async () => [{ value: 3 }, { value: 0.5, labels: { lane: 'a"b\\c\nd', kind: 'x' } }],
    };
    const { type, text } = await scrape([webhooks.metric, depth]);
    expect(type).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(text).toBe(
      [
        '# HELP payops_webhooks_total Deliveries by result.',
        '# TYPE payops_webhooks_total counter',
        'payops_webhooks_total{result="new"} 2',
        'payops_webhooks_total{result="duplicate"} 0',
        String.raw`# HELP payops_outbox_depth Work not done yet.\nSecond \\ line`,
        '# TYPE payops_outbox_depth gauge',
        'payops_outbox_depth 3',
        String.raw`payops_outbox_depth{lane="a\"b\\c\nd",kind="x"} 0.5`,
        '# HELP payops_metrics_unreadable Metrics left out of this answer because they could not be read.',
        '# TYPE payops_metrics_unreadable gauge',
        'payops_metrics_unreadable 0',
        '',
      ].join('\n'),
    );
  });

  it.each<[string, Metric['read']]>([
    [
      'throws',
      () => {
        throw new Error('store away');
      },
    ],
    ['rejects', () => Promise.reject(new Error('store away'))],
    ['hangs', () => new Promise<never>(() => {})],
  ])('leaves out a metric whose reading %s, and says that one is missing', async (_name, read) => {
    const good: Metric = { name: 'good', help: 'h', kind: 'gauge', read: () => [{ value: 1 }] };
    const { text, logged } = await scrape([{ name: 'bad', help: 'h', kind: 'gauge', read }, good]);
    expect(text).toContain('good 1');
    expect(text).not.toContain('bad');
    expect(text).toContain('payops_metrics_unreadable 1');
    expect(logged).toEqual(['The metric bad could not be read']);
  });
});
