import { parsed, problem, type Parsed } from '../domain/parsed.ts';
import type { SignaturePreset } from '../config/webhook-settings.ts';
import { signaturePresets, type SignatureScheme } from './signature.ts';
import { parseSignatureTemplate, parseTextSource } from './signature-template.ts';

/** What replaces a preset's own, each as a person writes it. `place` is `whole`, `pair:KEY` or `list:VERSION`; `timestampSource` may be `none`. */
export type SchemeSettings = {
  headers?: readonly string[] | undefined;
  place?: string | undefined;
  algorithm?: 'sha256' | 'sha512' | undefined;
  encoding?: SignatureScheme['encoding'] | undefined;
  secretEncoding?: SignatureScheme['secretEncoding'] | undefined;
  template?: string | undefined;
  timestampSource?: string | undefined;
  timestampUnit?: 'iso' | 's' | 'ms' | undefined;
  toleranceSeconds?: number | undefined;
};

/**
 * The preset with the settings in its place, ready to verify with; or what to change in the settings.
 *
 * Spec: not shown (Events: signature scheme).
 */
export function readSignatureScheme(
  preset: SignaturePreset,
  settings: SchemeSettings,
): Parsed<SignatureScheme> {
  const base = signaturePresets[preset];
  const template =
    settings.template === undefined ? parsed(base.template) : parseSignatureTemplate(settings.template);
  if (!template.ok) return template;
  const place = readPlace(base.place, settings.place);
  if (!place.ok) return place;
  const timestamp = readTimestamp(base.timestamp, settings);
  if (!timestamp.ok) return timestamp;
  const { timestamp: _replaced, ...kept } = base;
  return parsed({
    ...kept,
    headers: settings.headers?.map((name) => name.toLowerCase()) ?? base.headers,
    // A static token stays one: an algorithm would turn it into a signature that nobody makes.
    algorithm: base.algorithm === 'none' ? 'none' : (settings.algorithm ?? base.algorithm),
    encoding: settings.encoding ?? base.encoding,
    secretEncoding: settings.secretEncoding ?? base.secretEncoding,
    template: template.value,
    place: place.value,
    ...(timestamp.value ? { timestamp: timestamp.value } : {}),
  });
}

function readPlace(
  base: SignatureScheme['place'],
  written: string | undefined,
): Parsed<SignatureScheme['place']> {
  if (written === undefined) return parsed(base);
  if (written === 'whole') return parsed({ kind: 'whole' });
  const [, pair, version] = /^(?:pair:([^=,\s]+)|list:([^,\s]+))$/.exec(written) ?? [];
  if (pair !== undefined) return parsed({ kind: 'pair', key: pair });
  if (version !== undefined) return parsed({ kind: 'list', version });
  return problem(`“${written}” is no place of a signature: write whole, pair:KEY or list:VERSION.`);
}

function readTimestamp(
  base: SignatureScheme['timestamp'],
  settings: SchemeSettings,
): Parsed<SignatureScheme['timestamp']> {
  const { timestampSource } = settings;
  if (timestampSource === 'none') return parsed(undefined);
  const source = timestampSource === undefined ? base?.source : parseTextSource(timestampSource);
  if (!source) {
    if (timestampSource === undefined) return parsed(undefined);
    return problem(
      `“${timestampSource}” is no place of a time: write none, header:NAME, pair:KEY or json:/pointer.`,
    );
  }
  return parsed({
    source,
    unit: settings.timestampUnit ?? base?.unit ?? 's',
    toleranceSeconds: settings.toleranceSeconds ?? base?.toleranceSeconds ?? 300,
  });
}
