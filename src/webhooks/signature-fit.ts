import { createHmac } from 'node:crypto';
import { signaturePresetNames, type SignaturePreset } from '../domain/signature-preset.ts';
import { changedBodies } from './changed-bodies.ts';
import {
  changesTo,
  plainChanges,
  wordsOfTemplate,
  type FoundSignature,
  type SettingChange,
} from './setting-changes.ts';
import { exactBytes } from './signature-bytes.ts';
import { keyBytes, signaturePresets, type SignatureScheme } from './signature.ts';
import type { SignatureTemplate } from './signature-template.ts';
import { readDelivery, readPairs, signedBytes, type SignedRequest } from './signed-delivery.ts';

/** Under what the delivery does verify. */
export type SignatureFit = {
  /** Which of our secrets, from 0. */
  secret: number;
  changes: readonly SettingChange[];
  /** What happened to the body on its way, if anything. */
  bodyChange?: string;
};

/** Bodies above this are tried only as they came. */
const mostVariedBytes = 256 * 1024;

/**
 * The fewest changes (other settings, or a body as it may have been before somebody rewrote it) under which
 * one of our secrets makes the signature that came; undefined when none was found. The time is not judged. It
 * hashes some hundred times at most, and nothing at all when no header holds anything like a signature.
 */
export function findFit(
  scheme: SignatureScheme,
  secrets: readonly string[],
  request: SignedRequest,
  variedBytes: number = mostVariedBytes,
): SignatureFit | undefined {
  const plain = findPlain(scheme, secrets, request);
  if (plain) return plain;
  const received = receivedIn(scheme, request);
  if (received.size === 0) return undefined;
  const bodies =
    request.body.length > variedBytes
      ? []
      : changedBodies(request.body).map(({ how, body }) => ({ bodyChange: how, body }));
  const fits: SignatureFit[] = [];
  for (const varied of [{ body: request.body }, ...bodies]) {
    for (const signing of signings(
      scheme,
      { ...request, body: varied.body },
      received,
      'bodyChange' in varied,
    )) {
      const fit = fitOf(scheme, secrets, signing, received);
      if (fit) fits.push('bodyChange' in varied ? { ...fit, bodyChange: varied.bodyChange } : fit);
    }
  }
  return fits.toSorted((a, b) => weight(a) - weight(b))[0];
}

/** A body that was changed is a bigger thing to claim than any setting. */
function weight({ changes, bodyChange }: SignatureFit): number {
  return changes.length + (bodyChange === undefined ? 0 : 2);
}

type Received = FoundSignature['match'];

type Algorithm = FoundSignature['algorithm'];
const algorithms = { sha256: 32, sha512: 64, sha1: 20, sha384: 48 } as const satisfies Record<
  Algorithm,
  number
>;
const algorithmNames = Object.keys(algorithms) as Algorithm[];
const mostHeaders = 64;

/** Everything in the headers that could be a signature, by its digest in hex; where it stands twice, where we look. */
function receivedIn({ headers }: SignatureScheme, request: SignedRequest): Map<string, Received> {
  const found = new Map<string, Received>();
  const all = Object.entries(request.headers).slice(0, mostHeaders);
  const sought = all.filter(([name]) => headers.includes(name));
  for (const [header, held] of [...sought, ...all]) {
    for (const value of typeof held === 'string' ? [held] : (held ?? [])) {
      for (const [place, text] of textsIn(value)) {
        for (const { encoding, digest } of digestsOf(text)) {
          if (!found.has(digest)) found.set(digest, { header, place, encoding });
        }
      }
    }
  }
  return found;
}

function textsIn(value: string): [SignatureScheme['place'], string][] {
  const pairs = [...readPairs(value)].flatMap(([key, texts]) =>
    texts.map((text): [SignatureScheme['place'], string] => [{ kind: 'pair', key }, text]),
  );
  const listed = value.split(' ').flatMap((item): [SignatureScheme['place'], string][] => {
    const [, version, text] = /^([^,\s]+),(.+)$/.exec(item) ?? [];
    return version === undefined || text === undefined ? [] : [[{ kind: 'list', version }, text]];
  });
  return [[{ kind: 'whole' }, value.trim()], ...pairs, ...listed];
}

function digestsOf(text: string): { encoding: Received['encoding']; digest: string }[] {
  const standard = text.replaceAll('-', '+').replaceAll('_', '/');
  const readings = [
    { encoding: 'hex' as const, bytes: exactBytes(text, 'hex') },
    { encoding: 'base64' as const, bytes: exactBytes(text, 'base64') },
    { encoding: 'base64url' as const, bytes: standard === text ? noBytes : exactBytes(standard, 'base64') },
  ];
  const lengths = new Set<number>(Object.values(algorithms));
  return readings
    .filter(({ bytes }) => lengths.has(bytes.length))
    .map(({ encoding, bytes }) => ({ encoding, digest: bytes.toString('hex') }));
}

const noBytes = Buffer.alloc(0);

/** One way of putting the delivery together that the sender may have signed. */
type Signing = {
  template: SignatureTemplate;
  templateWords: string;
  header: string | undefined;
  bytes: Buffer[];
};

/** A changed body matters only where the body is part of what is signed. */
function signings(
  scheme: SignatureScheme,
  request: SignedRequest,
  received: ReadonlyMap<string, Received>,
  isVaried: boolean,
): Signing[] {
  const headers = [...new Set([...received.values()].map(({ header }) => header))].slice(0, 5);
  const templates = [scheme.template, ...signaturePresetNames.map(templateOfPreset)];
  const signed = new Map<string, Signing>();
  for (const template of templates.filter((parts) => parts.length > 0)) {
    if (isVaried && !template.some(({ kind }) => kind === 'body')) continue;
    const readsPair = template.some(({ kind }) => kind === 'pair');
    for (const header of readsPair ? headers : [headers[0] ?? '']) {
      const parts = readDelivery({ headers: [header], place: { kind: 'whole' }, template }, request);
      const bytes = parts.ok ? signedBytes(template, parts.value) : parts;
      const templateWords = wordsOfTemplate(template);
      const name = `${templateWords} ${header}`;
      if (!bytes.ok || signed.has(name)) continue;
      signed.set(name, {
        template,
        templateWords,
        header: readsPair ? header : undefined,
        bytes: bytes.value,
      });
    }
  }
  return [...signed.values()];
}

function templateOfPreset(preset: SignaturePreset): SignatureTemplate {
  return signaturePresets[preset].template;
}

const secretEncodings = ['utf8', 'hex', 'base64', 'whsec'] as const;

function fitOf(
  scheme: SignatureScheme,
  secrets: readonly string[],
  signing: Signing,
  received: ReadonlyMap<string, Received>,
): SignatureFit | undefined {
  const lengths = new Set([...received.keys()].map((digest) => digest.length / 2));
  const fits: SignatureFit[] = [];
  for (const algorithm of algorithmNames.filter((name) => lengths.has(algorithms[name]))) {
    for (const [secret, text] of secrets.entries()) {
      for (const [secretEncoding, key] of keysOf(scheme, text)) {
        const hmac = createHmac(algorithm, key);
        for (const bytes of signing.bytes) hmac.update(bytes);
        const match = received.get(hmac.digest('hex'));
        if (!match || (signing.header !== undefined && match.header !== signing.header)) continue;
        fits.push({ secret, changes: changesTo(scheme, { algorithm, secretEncoding, ...signing, match }) });
      }
    }
  }
  return fits.toSorted((a, b) => weight(a) - weight(b))[0];
}

/** Ours first; each key once, whatever it is called. */
function keysOf(
  scheme: SignatureScheme,
  secret: string,
): [encoding: SignatureScheme['secretEncoding'], key: Buffer][] {
  const encodings = [scheme.secretEncoding, ...secretEncodings];
  const keys = new Map<string, [SignatureScheme['secretEncoding'], Buffer]>();
  for (const secretEncoding of encodings) {
    const key = keyBytes({ algorithm: 'sha256', secretEncoding }, secret);
    const name = key.toString('hex');
    if (key.length > 0 && !keys.has(name)) keys.set(name, [secretEncoding, key]);
  }
  return [...keys.values()];
}

/** A header that holds one of our secrets as it is, where the settings do not look for it. */
function findPlain(
  scheme: SignatureScheme,
  secrets: readonly string[],
  { headers }: SignedRequest,
): SignatureFit | undefined {
  for (const [header, held] of Object.entries(headers).slice(0, mostHeaders)) {
    for (const value of typeof held === 'string' ? [held] : (held ?? [])) {
      const bare = value.trim().replace(/^(?:Bearer|Basic|Token)\s+/i, '');
      const secret = secrets.indexOf(bare);
      if (secret >= 0) return { secret, changes: plainChanges(scheme, header, bare !== value) };
    }
  }
  return undefined;
}
