import { afterEach, describe, expect, it } from 'vitest';
import { createReadinessRoute } from '../../src/http/health.ts';
import { createMetricsRoute, createRegistry, type Registry } from '../../src/http/metrics.ts';
import { createHttpServer, type HttpServer, type Route } from '../../src/http/server.ts';

const open: HttpServer[] = [];
const logged: string[] = [];
const log = (_level: string, message: string): void => void logged.push(message);

afterEach(async () => {
  logged.length = 0;
  for (const server of open.splice(0)) await server.close(0);
});

async function get(route: Route, authorization?: string) {
  const server = createHttpServer({ routes: [route], log });
  open.push(server);
  const port = await server.listen(0, '127.0.0.1');
  const headers = authorization === undefined ? {} : { authorization };
  const response = await fetch(`http://127.0.0.1:${port}${route.path}`, { headers });
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() };
}

function registry(): Registry {
  return createRegistry(log, 50);
}

describe('GET /metrics', () => {
  it('exposes counters, gauges and histograms in the Prometheus text format', async () => {
    const metrics = registry();
    const webhooks = metrics.counter('payops_webhooks_total', 'Deliveries by result.');
    webhooks.add({ result: 'duplicate' }, 0);
    webhooks.add({ result: 'new' });
    webhooks.add({ result: 'new' });
    metrics.gauge('payops_depth', 'Work not done yet.', async () => [
      { value: 3 },
      { value: 0.5, labels: { lane: 'a"b\\c\nd', kind: 'x' } },
    ]);
    metrics.gauge('process_cpu_seconds_total', 'Time.', () => [{ value: 7 }]);
    const calls = metrics.histogram('payops_call_seconds', 'Calls.');
    calls.observe(0.001, { result: 'ok' });
    calls.observe(0.3, { result: 'ok' });
    calls.observe(90, { result: 'ok' });
    const { type, text } = await get(createMetricsRoute(metrics, undefined));
    expect(type).toBe('text/plain; version=0.0.4; charset=utf-8');
    const lines = text.split('\n');
    expect(lines.slice(0, 9)).toEqual([
      '# HELP payops_webhooks_total Deliveries by result.',
      '# TYPE payops_webhooks_total counter',
      'payops_webhooks_total{result="duplicate"} 0',
      'payops_webhooks_total{result="new"} 2',
      '# HELP payops_depth Work not done yet.',
      '# TYPE payops_depth gauge',
      'payops_depth 3',
      String.raw`payops_depth{lane="a\"b\\c\nd",kind="x"} 0.5`,
      '# HELP process_cpu_seconds_total Time.',
    ]);
    expect(lines).toContain('# TYPE process_cpu_seconds_total counter');
    expect(lines).toContain('# TYPE payops_call_seconds histogram');
    expect(lines).toContain('payops_call_seconds_bucket{result="ok",le="0.001"} 1');
    expect(lines).toContain('payops_call_seconds_bucket{result="ok",le="0.25"} 1');
    expect(lines).toContain('payops_call_seconds_bucket{result="ok",le="0.5"} 2');
    expect(lines).toContain('payops_call_seconds_bucket{result="ok",le="30"} 2');
    expect(lines).toContain('payops_call_seconds_bucket{result="ok",le="+Inf"} 3');
    expect(lines).toContain('payops_call_seconds_count{result="ok"} 3');
    expect(lines).toContain('payops_call_seconds_sum{result="ok"} 90.301');
  });

  it.each<[string, () => never | Promise<never>]>([
    [
      'throws',
      () => {
        throw new Error('store away');
      },
    ],
    ['rejects', () => Promise.reject(new Error('store away'))],
    ['hangs', () => new Promise<never>(() => {})],
  ])('leaves out a metric whose reading %s, and logs which', async (_name, read) => {
    const metrics = registry();
    metrics.gauge('bad', 'h', read);
    metrics.gauge('good', 'h', () => [{ value: 1 }]);
    const { text } = await get(createMetricsRoute(metrics, undefined));
    expect(text).toContain('good 1');
    expect(text).not.toContain('bad');
    expect(logged).toEqual(['The metric bad could not be read']);
  });
});

describe('a bearer token', () => {
  const token = 'metrics-token-of-the-test';

  it('is wanted for /metrics where one is set', async () => {
    const metrics = registry();
    metrics.gauge('good', 'h', () => [{ value: 1 }]);
    const route = createMetricsRoute(metrics, token);
    expect(await get(route)).toMatchObject({ status: 401, text: '{"error":"unauthorized"}' });
    expect(await get(route, `Bearer ${token}x`)).toMatchObject({ status: 401 });
    expect(await get(route, `Bearer ${token}`)).toMatchObject({
      status: 200,
      text: expect.stringContaining('good 1'),
    });
  });

  it('is wanted for the parts of /readyz, and not for its status', async () => {
    const checks = [{ name: 'store', check: () => ({ state: 'down', detail: 'away' }) as const }];
    const route = createReadinessRoute({ checks, log, token });
    expect(await get(route)).toMatchObject({ status: 503, text: '{"state":"down"}' });
    expect(await get(route, `Bearer ${token}`)).toMatchObject({
      status: 503,
      text: expect.stringContaining('"detail":"away"'),
    });
  });
});
