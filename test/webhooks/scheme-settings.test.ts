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

  it('keeps a static token a static token', () => {
    const scheme = readSignatureScheme('static-token', { algorithm: 'sha512' });
    expect(scheme.ok && scheme.value.algorithm).toBe('none');
  });

  it.each([
    [{ template: '{bodi}' }, 'write {body}'],
    [{ timestampSource: 'header' }, 'write none, header:NAME'],
    [{ timestampSource: 'json:at' }, 'write none, header:NAME'],
  ])('says what to change in %o', (settings, words) => {
    const scheme = readSignatureScheme('raw-body', settings);
    expect(scheme.ok ? '' : scheme.problem).toContain(words);
  });
});
