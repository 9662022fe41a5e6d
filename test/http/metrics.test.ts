import { expect, it } from 'vitest';
import { createMetrics } from '../../src/http/metrics.ts';
import { StoreUnavailable } from '../../src/domain/failure.ts';
import type { SignatureScheme } from '../../src/webhooks/signed-delivery.ts';
import { createVerifier } from '../../src/webhooks/signature.ts';
import { presetScheme } from '../../src/webhooks/webhook-settings.ts';
import { memoryStore } from '../features/memory-store.ts';
import { signDelivery } from '../support/sign-delivery.ts';

const labels = { webhookResults: [], signatureRefusals: [], asideReasons: [], slackRefusalCauses: [] };

it('reports that the store is away, and counts the calls that failed with it', async () => {
  const clock = { nowMs: 1_000_000 };
  const metrics = createMetrics({ ...labels, log: () => undefined, now: () => clock.nowMs });
  const whole = memoryStore(clock);
  const store = metrics.measured(whole);
  await store.create('a', '', { delayMs: 0 });
  clock.nowMs += 7_000;
  const well = await metrics.expose();
  expect(well).toContain('payops_store_up 1\n');
  expect(well).toContain('payops_work_oldest_due_seconds 7\n');
  expect(well).toContain('payops_work_due{lane="free"} 1\n');
  expect(well).toContain('payops_store_request_duration_seconds_count{operation="create",result="ok"} 1\n');
  await whole.close();
  await expect(store.read('a')).rejects.toThrow(StoreUnavailable);
  const away = await metrics.expose();
  expect(away).toContain('payops_store_up 0\n');
  expect(away).toContain(
    'payops_store_request_duration_seconds_count{operation="read",result="unavailable"} 1\n',
  );
  expect(away).not.toMatch(/^payops_work_/m);
});

it.each<[string, () => Promise<never>]>([
  ['fails', () => Promise.reject(new Error('store away'))],
  ['hangs', () => new Promise(() => undefined)],
])(
  'leaves out a metric whose reading %s, logs the failure, and keeps the other metrics',
  async (_name, openCharges) => {
    const logged: string[] = [];
    const metrics = createMetrics({
      ...labels,
      log: (_level, message) => void logged.push(message),
      now: () => 0,
    });
    metrics.of('main').watch({
      openCharges,
      openAlerts: async () => [{ severity: 'high', count: 2, oldestAtMs: -5_000 }],
      undelivered: async () => 3,
    });
    const text = await metrics.expose();
    expect(text).not.toMatch(/^payops_charges_in_doubt/m);
    expect(text).toContain('payops_undelivered_messages{account="main"} 3\n');
    expect(text).toContain('payops_alerts_open{account="main",severity="high"} 2\n');
    expect(text).toContain('payops_alerts_open_oldest_seconds{account="main",severity="high"} 5\n');
    expect(logged.toSorted()).toEqual([
      'The metric payops_charge_codes_open could not be read',
      'The metric payops_charges_in_doubt could not be read',
      'The metric payops_charges_in_doubt_oldest_seconds could not be read',
    ]);
  },
);

it('reads each list once a scrape, however many metrics are made of it', async () => {
  const metrics = createMetrics({ ...labels, log: () => undefined, now: () => 0 });
  const read: string[] = [];
  const store = memoryStore({ nowMs: 0 });
  metrics.measured({ ...store, backlog: () => store.backlog().finally(() => read.push('backlog')) });
  function reads<T>(name: string, answer: T): () => Promise<T> {
    return async () => {
      read.push(name);
      return answer;
    };
  }
  metrics.of('main').watch({
    openCharges: reads('charges', []),
    openAlerts: reads('alerts', []),
    undelivered: reads('undelivered', 0),
    forwards: reads('forwards', { waiting: 0, abandoned: 0 }),
  });
  await metrics.expose();
  expect(read.toSorted()).toEqual(['alerts', 'backlog', 'charges', 'forwards', 'undelivered']);
  await metrics.expose();
  expect(read).toHaveLength(10);
});

const scheme = presetScheme('standard-webhooks');
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const body = Buffer.from('{}');
const headers = signDelivery(scheme, secret, body, 0);
it.each<
  [string, Partial<{ by: SignatureScheme | undefined; secrets: string[]; sent: object; nowMs: number }>]
>([
  ['not_set_up', { by: undefined }],
  ['not_set_up', { secrets: [] }],
  ['not_set_up', { secrets: ['whsec_!'] }],
  ['no_signature', { sent: {} }],
  ['mismatch', { sent: signDelivery(scheme, secret.replace('M', 'A'), body, 0) }],
  ['time', { nowMs: 86_400_000 }],
  ['malformed', { sent: { ...headers, 'webhook-id': '' } }],
])('counts a delivery that the verifier refuses as %s', async (cause, changed) => {
  const metrics = createMetrics({ ...labels, log: () => undefined, now: () => 0 });
  const { by, secrets, sent, nowMs } = { by: scheme, secrets: [secret], sent: headers, nowMs: 0, ...changed };
  const verdict = createVerifier(by, secrets)({ headers: { ...sent }, body }, nowMs);
  if (verdict.kind === 'valid') throw new Error('the delivery is valid');
  metrics.of('main').refused(verdict.cause);
  expect(await metrics.expose()).toContain(
    `payops_webhook_refusals_total{account="main",cause="${cause}"} 1\n`,
  );
});
