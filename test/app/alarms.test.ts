import { describe, expect, it } from 'vitest';
import { filledPolicyFile } from '../support/filled-policy.ts';
import { createAlarms } from '../../src/app/alarms.ts';
import type { Kept } from '../../src/app/kept.ts';
import { readWebhooks } from '../../src/app/webhook-settings.ts';
import { readConfig } from '../../src/config/read-config.ts';
import { readOutboxRecord } from '../../src/messages/message-record.ts';
import { openBody } from '../../src/messages/posts.ts';
import { alarmPrefix } from '../../src/features/alerts/webhook-watch/webhook-watch.ts';
import { workOnce } from '../../src/records/work-once.ts';
import { signaturePresets, signDelivery } from '../../src/webhooks/signature.ts';
import { sealer } from '../features/house.ts';
import { memoryStore } from '../features/memory-store.ts';

const minute = 60_000;
const secret = 'canary-webhook-secret';
const body = Buffer.from(
  '{"event_type":"payment_failed","data":{"customer":{"email":"canary@example.com"}}}',
);

async function openRoom(more: Record<string, string> = {}) {
  const result = readConfig({
    SLACK_BOT_TOKEN: 'xoxb-token',
    SLACK_SIGNING_SECRET: 'ca4a2700ca4a2700ca4a2700ca4a2700',
    PAYMENTS_SANDBOX_URL: 'https://payments.test',
    PAYMENTS_ACCOUNT_ID: '8b0e2f74-16c9-4d3a-b5a7-90c4d1e26f38',
    PAYMENTS_TOKEN_ISSUE_BODY: '{}',
    PAYOPS_FILE: filledPolicyFile,
    WEBHOOK_SIGNATURE_PRESET: 'raw-body',
    WEBHOOK_SECRETS: `another,${secret}`,
    ...more,
  });
  if (result.kind === 'refused') throw new Error(result.problems.join('\n'));
  const { config } = result;
  const clock = { nowMs: Date.UTC(2026, 10, 21) };
  const store = memoryStore(clock);
  const lines: unknown[] = [];
  const { watch, seen } = createAlarms(
    { config, now: () => clock.nowMs, log: (...line) => void lines.push(line) },
    { kept: { store, sealer } as unknown as Kept, webhooks: readWebhooks(config), wake: () => undefined },
  );
  watch.start();
  await watch.stop();
  async function pass(minutes: number): Promise<void> {
    for (let passed = 0; passed < minutes; passed += 1) {
      clock.nowMs += minute;
      await watch.flush();
      const kinds = [
        { prefix: alarmPrefix, work: watch.work },
        { prefix: 'outbox:', work: () => Promise.resolve() },
      ];
      while (await workOnce({ store, leaseMs: 45_000, kinds }));
    }
  }
  async function contents(): Promise<{ key: string; value: string }[]> {
    const entries = await Promise.all(store.keys().map((key) => store.read(key)));
    return entries.filter((entry) => entry !== undefined);
  }
  async function notices(): Promise<unknown[]> {
    return (await contents())
      .filter(({ key }) => key.startsWith('outbox:notice:'))
      .map((entry) => openBody('notice', sealer, { entry, record: readOutboxRecord(entry.value) }));
  }
  return { clock, watch, seen, pass, contents, notices, lines };
}

describe('the alarms of the app', () => {
  it('tell of refusals the header, scheme and time seen, and keep nothing of the delivery', async () => {
    const { clock, seen, pass, contents, notices, lines } = await openRoom();
    const theirs = { ...signaturePresets['raw-body'], algorithm: 'sha512' } as const;
    const headers = signDelivery(theirs, secret, body, clock.nowMs);
    for (let count = 0; count < 5; count += 1)
      seen.refused({ headers, body }, 'the signature is not one of ours', clock.nowMs);
    await pass(3);
    expect(await notices()).toMatchObject([
      {
        kind: 'deliveries_refused',
        refusals: 5,
        cause:
          'The signature is not one of ours. Header: x-webhook-signature. Scheme: HMAC sha256 in hex over {body}; the secret is read as utf8. Time: not checked.',
      },
    ]);
    const kept = JSON.stringify([await contents(), lines]);
    for (const hidden of ['canary', ...Object.values(headers)]) expect(kept).not.toContain(hidden);
  });

  it('ask for a charge’s event only where its reference is signed', async () => {
    const all = await openRoom();
    await all.watch.processed({ reference: 'pay-1', outcome: 'approved', hasEvent: false });
    await all.pass(70);
    expect(await all.notices()).toMatchObject([{ kind: 'events_missing' }, { kind: 'webhooks_silent' }]);
    const some = await openRoom({
      WEBHOOK_SIGNATURE_PRESET: 'field-concatenation',
      WEBHOOK_SIGNED_TEMPLATE: '{json:/event_type}:{json:/id}',
      WEBHOOK_TIMESTAMP_SOURCE: 'none',
    });
    await some.watch.processed({ reference: 'pay-1', outcome: 'approved', hasEvent: false });
    await some.pass(70);
    expect(await some.notices()).toMatchObject([{ kind: 'webhooks_silent' }]);
  });

  it('wait for no webhook while none could be accepted', async () => {
    const { watch, pass, notices } = await openRoom({ WEBHOOK_SIGNATURE_PRESET: '', WEBHOOK_SECRETS: '' });
    await watch.processed({ reference: 'pay-1', outcome: 'approved', hasEvent: false });
    await pass(90);
    expect(await notices()).toEqual([]);
  });
});
