import { hash, createHmac } from 'node:crypto';
import { readJson } from '../../src/webhooks/json.ts';
import { isSame, isTextSource } from '../../src/webhooks/signature-template.ts';
import { keyBytes } from '../../src/webhooks/signature.ts';
import { signedBytes, type SignatureScheme } from '../../src/webhooks/signed-delivery.ts';

/**
 * The headers that sign `body` by this scheme: with the time if the scheme has one, and an id made from the body in any
 * other signed header.
 */
export function signDelivery(
  scheme: SignatureScheme,
  secret: string,
  body: Buffer,
  nowMs: number,
): Record<string, string> {
  const { algorithm, encoding, place, template, timestamp } = scheme;
  const [name = ''] = scheme.headers;
  const headers: Record<string, string> = {};
  const pairs = new Map<string, [string]>();
  const id = `msg_${hash('sha256', body).slice(0, 24)}`;
  for (const part of template) {
    if (!isTextSource(part) || part.kind === 'json') continue;
    const isTime = timestamp && isSame(timestamp.source, part);
    const value = isTime ? writeTime(timestamp.unit, nowMs) : id;
    if (part.kind === 'header') headers[part.name] = value;
    else pairs.set(part.name, [value]);
  }
  const signed = signedBytes(template, { headers, pairs, body, document: readJson(body) });
  if (!signed.ok) throw new Error(`Cannot sign: ${signed.problem}.`);
  const signature =
    algorithm === 'none'
      ? secret
      : createHmac(algorithm, keyBytes(scheme, secret)).update(Buffer.concat(signed.value)).digest(encoding);
  if (place.kind === 'whole') return { ...headers, [name]: signature };
  if (place.kind === 'list') return { ...headers, [name]: `${place.version},${signature}` };
  const beside = [...pairs].map(([key, [value]]) => `${key}=${value}`);
  return { ...headers, [name]: [...beside, `${place.key}=${signature}`].join(',') };
}

function writeTime(unit: 'iso' | 's' | 'ms', nowMs: number): string {
  if (unit === 'iso') return new Date(nowMs).toISOString();
  return String(unit === 's' ? Math.floor(nowMs / 1000) : nowMs);
}
