import { signaturePresets, type SignatureScheme } from './signature.ts';
import type { SignatureTemplate } from './signature-template.ts';

/** A setting that would have to say something else; `value` is undefined when no setting can say it. */
export type SettingChange = { setting: string; value: string | undefined; words: string };

/** How a signature that came was made, and where it stands. */
export type FoundSignature = {
  algorithm: 'sha256' | 'sha512' | 'sha1' | 'sha384';
  secretEncoding: SignatureScheme['secretEncoding'];
  templateWords: string;
  match: { header: string; place: SignatureScheme['place']; encoding: 'hex' | 'base64' | 'base64url' };
};

/** What the settings would have to say for that signature to hold; empty when they say it. */
export function changesTo(scheme: SignatureScheme, found: FoundSignature): SettingChange[] {
  const isPlain = scheme.algorithm === 'none';
  const base = isPlain ? { ...signaturePresets['raw-body'], headers: scheme.headers } : scheme;
  const { algorithm, secretEncoding, templateWords, match } = found;
  const isKnownAlgorithm = algorithm === 'sha256' || algorithm === 'sha512';
  const isKnownEncoding = match.encoding !== 'base64url';
  const candidates: (SettingChange & { was: string | undefined })[] = [
    {
      setting: 'WEBHOOK_SIGNATURE_PRESET',
      was: isPlain ? 'static-token' : 'raw-body',
      value: 'raw-body',
      words: 'the sender signs, and does not send the secret itself',
    },
    {
      setting: 'WEBHOOK_SIGNATURE_HEADER',
      was: base.headers.includes(match.header) ? match.header : undefined,
      value: match.header,
      words: `the signature stands in header ${match.header}`,
    },
    {
      setting: 'WEBHOOK_SIGNATURE_PLACE',
      was: wordsOfPlace(base.place),
      value: wordsOfPlace(match.place),
      words: 'it stands elsewhere in its header',
    },
    {
      setting: 'WEBHOOK_SIGNATURE_ALGORITHM',
      was: base.algorithm,
      value: isKnownAlgorithm ? algorithm : undefined,
      words: `it is made with ${algorithm}, not ${base.algorithm}`,
    },
    {
      setting: 'WEBHOOK_SIGNATURE_ENCODING',
      was: base.encoding,
      value: isKnownEncoding ? match.encoding : undefined,
      words: `it is written as ${match.encoding}, not ${base.encoding}`,
    },
    {
      setting: 'WEBHOOK_SECRET_ENCODING',
      was: base.secretEncoding,
      value: secretEncoding,
      words: `the secret is to be read as ${secretEncoding}, not ${base.secretEncoding}`,
    },
    {
      setting: 'WEBHOOK_SIGNED_TEMPLATE',
      was: wordsOfTemplate(base.template),
      value: templateWords,
      words: 'something else is signed than the settings say',
    },
  ];
  return candidates
    .filter(({ was, value }) => was !== value)
    .map(({ setting, value, words }) => ({ setting, value, words }));
}

/** The same where the sender sends the secret itself; `hasLead`: behind a word like Bearer. */
export function plainChanges(scheme: SignatureScheme, header: string, hasLead: boolean): SettingChange[] {
  const changes: SettingChange[] = [];
  if (scheme.algorithm !== 'none') {
    changes.push({
      setting: 'WEBHOOK_SIGNATURE_PRESET',
      value: 'static-token',
      words: 'the sender sends the secret itself and signs nothing',
    });
  }
  if (!scheme.headers.includes(header)) {
    changes.push({
      setting: 'WEBHOOK_SIGNATURE_HEADER',
      value: header,
      words: `the secret stands in header ${header}`,
    });
  }
  if (hasLead) {
    changes.push({
      setting: 'WEBHOOK_SECRETS',
      value: undefined,
      words: 'a word like Bearer stands before the secret, and belongs to WEBHOOK_SECRETS then',
    });
  }
  return changes;
}

/** As WEBHOOK_SIGNED_TEMPLATE has it. */
export function wordsOfTemplate(template: SignatureTemplate): string {
  return template
    .map((part) => {
      switch (part.kind) {
        case 'text':
          return part.text;
        case 'body':
          return '{body}';
        case 'header':
          return `{header:${part.name}}`;
        case 'pair':
          return `{pair:${part.key}}`;
        case 'json':
          return `{json:${part.pointer}}`;
      }
    })
    .join('');
}

/** As WEBHOOK_SIGNATURE_PLACE has it. */
export function wordsOfPlace(place: SignatureScheme['place']): string {
  if (place.kind === 'whole') return 'whole';
  return place.kind === 'pair' ? `pair:${place.key}` : `list:${place.version}`;
}
