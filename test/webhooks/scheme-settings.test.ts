import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { readSignatureScheme } from '../../src/webhooks/scheme-settings.ts';
import { signaturePresets, signDelivery, verifySignature } from '../../src/webhooks/signature.ts';

describe('readSignatureScheme', () => {
  it('is the preset when nothing is set', () => {
    expect(readSignatureScheme('standard-webhooks', {})).toEqual({
      ok: true,
      value: signaturePresets['standard-webhooks'],
    });
  });

  it('makes a neighbour’s recipe of settings alone', () => {
    const scheme = readSignatureScheme('field-concatenation', {
      headers: ['X-Sender-Signature'],
      algorithm: 'sha512',
      encoding: 'hex',
      template: '{json:/event}|{json:/requestId}|{json:/data/transaction/id}|{header:X-Sent-At}',
      timestampSource: 'header:X-Sent-At',
      timestampUnit: 'ms',
      toleranceSeconds: 60,
    });
    if (!scheme.ok) throw new Error(scheme.problem);
    const body = Buffer.from('{"event":"payment_success","requestId":"r1","data":{"transaction":{"id":7}}}');
    const headers = signDelivery(scheme.value, 'secret', body, 1_000);
    expect(Object.keys(headers).toSorted()).toEqual(['x-sender-signature', 'x-sent-at']);
    expect(verifySignature(scheme.value, ['secret'], { headers, body }, 2_000)).toEqual({
      kind: 'valid',
      covers: 'fields',
      pointers: ['/event', '/requestId', '/data/transaction/id'],
      atMs: 1_000,
    });
  });

  it('drops the time check on request, and takes one where the preset has none', () => {
    const without = readSignatureScheme('standard-webhooks', { timestampSource: 'none' });
    expect(without.ok && without.value.timestamp).toBeUndefined();
    const withTime = readSignatureScheme('raw-body', {
      timestampSource: 'json:/sentAt',
      timestampUnit: 'iso',
    });
    expect(withTime.ok && withTime.value.timestamp).toEqual({
      source: { kind: 'json', pointer: '/sentAt' },
      unit: 'iso',
      toleranceSeconds: 300,
    });
  });

  it('reads a signature led by its algorithm: the sender’s own published example', () => {
    const scheme = readSignatureScheme('raw-body', {
      headers: ['X-Hub-Signature-256'],
      place: 'pair:sha256',
    });
    if (!scheme.ok) throw new Error(scheme.problem);
    const headers = {
      'x-hub-signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
    };
    const request = { headers, body: Buffer.from('Hello, World!') };
    expect(verifySignature(scheme.value, ["It's a Secret to Everybody"], request, 0).kind).toBe('valid');
    const whole = readSignatureScheme('raw-body', { headers: ['X-Hub-Signature-256'] });
    if (!whole.ok) throw new Error(whole.problem);
    expect(verifySignature(whole.value, ["It's a Secret to Everybody"], request, 0).kind).toBe('invalid');
  });

  it('reads a signature beside its time under any key', () => {
    const scheme = readSignatureScheme('timestamped-pairs', { place: 'pair:s' });
    if (!scheme.ok) throw new Error(scheme.problem);
    const body = Buffer.from('{"a":1}');
    const signature = createHmac('sha256', 'secret').update('1700000000.').update(body).digest('hex');
    const headers = { 'x-signature': `t=1700000000,s=${signature}` };
    expect(verifySignature(scheme.value, ['secret'], { headers, body }, 1_700_000_000_000).kind).toBe(
      'valid',
    );
  });

  it.each([
    ['raw-body', 'whole', /^[0-9a-f]{64}$/],
    ['raw-body', 'pair:sha512', /^sha512=[0-9a-f]{64}$/],
    ['raw-body', 'list:v2', /^v2,[0-9a-f]{64}$/],
    ['static-token', 'pair:token', /^token=secret$/],
  ] as const)('lets %s stand at %s', (preset, place, written) => {
    const scheme = readSignatureScheme(preset, { headers: ['x-signature'], place });
    if (!scheme.ok) throw new Error(scheme.problem);
    const body = Buffer.from('{"a":1}');
    const headers = signDelivery(scheme.value, 'secret', body, 1_000);
    expect(headers['x-signature']).toMatch(written);
    expect(verifySignature(scheme.value, ['secret'], { headers, body }, 1_000).kind).toBe('valid');
  });

  it('keeps a static token a static token', () => {
    const scheme = readSignatureScheme('static-token', { algorithm: 'sha512' });
    expect(scheme.ok && scheme.value.algorithm).toBe('none');
  });

  it.each([
    [{ template: '{bodi}' }, 'write {body}'],
    [{ timestampSource: 'header' }, 'write none, header:NAME'],
    [{ timestampSource: 'json:at' }, 'write none, header:NAME'],
    [{ place: 'pair' }, 'write whole, pair:KEY or list:VERSION'],
    [{ place: 'pair:a=b' }, 'write whole, pair:KEY or list:VERSION'],
  ])('says what to change in %o', (settings, words) => {
    const scheme = readSignatureScheme('raw-body', settings);
    expect(scheme.ok ? '' : scheme.problem).toContain(words);
  });
});
