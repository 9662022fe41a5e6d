import type { Config, SettingsCheck } from '../config/config.ts';
import { variableName, type SettingValues as Settings } from '../config/settings.ts';
import { parsed, problem, type Parsed, listed } from '../domain/wording.ts';
import {
  signaturePresetNames,
  unsignedConsequences,
  type SignaturePreset,
} from '../config/webhook-settings.ts';
import { readEventPointers, type EventKinds, type EventPointers } from './event.ts';
import type { PartHealth } from '../domain/failure.ts';
import type { Log } from '../log.ts';
import { withoutUndefined } from '../domain/json.ts';
import { coverageOf, parseSignatureTemplate, parseTextSource } from './signature-template.ts';
import type { SignatureScheme } from './signed-delivery.ts';
import { signatureProblem } from './signature.ts';

type Webhooks = {
  scheme: SignatureScheme | undefined;
  pointers: EventPointers;
  kinds: EventKinds;
  problem: string | undefined;
};

/** The health part for the start, readiness and the doctor. */
export function webhooksHealth({ problem }: Pick<Webhooks, 'problem'>): PartHealth {
  if (problem === undefined) return { state: 'ok' };
  const fix = 'Set WEBHOOK_SIGNATURE_PRESET and WEBHOOK_SECRETS.';
  return { state: 'degraded', detail: `Every delivery is refused: ${problem}`, fix };
}

/** Combines the webhook settings. With a `problem` the bot starts, but refuses every delivery. */
export function readWebhooks(config: Config): Webhooks {
  const scheme = readSignatureScheme(config);
  const pointers = readEventPointers(config.webhookEventPointers ?? {});
  // `webhookChecks` has already read both without a problem.
  if (!scheme.ok || !pointers.ok) throw new Error('unreadable webhook settings');
  const problem = signatureProblem(scheme.value, config.webhookSecrets ?? []);
  return { scheme: scheme.value, pointers: pointers.value, kinds: config.webhookKinds ?? {}, problem };
}

/** Whether the bot uses this field of events; false if the signature doesn't cover it. */
export function readsField(
  { scheme, pointers }: Pick<Webhooks, 'scheme' | 'pointers'>,
  field: keyof EventPointers,
): boolean {
  if (!scheme) return false;
  const coverage = coverageOf(scheme.template);
  if (coverage.covers === 'body') return true;
  return pointers[field].some((pointer) => coverage.pointers.includes(pointer));
}

/** Logs at start what is switched off because the scheme signs single fields instead of the body. */
export function tellUnsignedFields(webhooks: Webhooks, log: Log): void {
  if (!webhooks.scheme) return;
  const fields = (Object.keys(unsignedConsequences) as (keyof typeof unsignedConsequences)[]).filter(
    (field) => !readsField(webhooks, field),
  );
  // The transaction id is only needed without a signed reference.
  const missed = fields.includes('orderReference') ? fields : fields.filter((one) => one !== 'transactionId');
  if (missed.length === 0) return;
  const off = missed.map((field) => unsignedConsequences[field]).join('; ');
  log('warn', `The signature covers single fields of an event, not its body: ${off}`, {
    fix: `have WEBHOOK_SIGNED_TEMPLATE name ${listed(missed, 'and')}, if the sender signs them`,
  });
}

/** A `SignatureScheme` as settings, before they are parsed. */
type Recipe = { [Key in keyof typeof rawBody]: NonNullable<Settings[Key]> };
export type RecipeSettings = { [Key in keyof Recipe]?: Recipe[Key] | undefined };

const rawBody = {
  webhookSignatureHeader: ['x-webhook-signature', 'x-signature'],
  webhookSignaturePlace: 'whole',
  webhookSignatureAlgorithm: 'sha256',
  webhookSignatureEncoding: 'hex',
  webhookSecretEncoding: 'utf8',
  webhookSignedTemplate: '{body}',
  webhookTimestampSource: 'none',
  webhookTimestampUnit: 's',
  webhookToleranceSeconds: 300,
} as const satisfies Partial<Settings>;

const recipe = Object.keys(rawBody) as (keyof Recipe)[];

/**
 * Recipes, as differences from `raw-body`. Header names, fields and their order are the sender's choice, so settings
 * can replace them. `field-concatenation` uses the fields that the specification shows.
 */
const presets: Readonly<Record<SignaturePreset, Partial<Recipe>>> = {
  'raw-body': {},
  'static-token': { webhookSignatureHeader: ['x-webhook-token', 'authorization'] },
  'timestamped-pairs': {
    webhookSignaturePlace: 'pair:v1',
    webhookSignedTemplate: '{pair:t}.{body}',
    webhookTimestampSource: 'pair:t',
  },
  'standard-webhooks': {
    webhookSignatureHeader: ['webhook-signature'],
    webhookSignaturePlace: 'list:v1',
    webhookSignatureEncoding: 'base64',
    webhookSecretEncoding: 'whsec',
    webhookSignedTemplate: '{header:webhook-id}.{header:webhook-timestamp}.{body}',
    webhookTimestampSource: 'header:webhook-timestamp',
  },
  'field-concatenation': {
    webhookSignatureEncoding: 'base64',
    webhookSignedTemplate:
      '{json:/event_type}:{json:/data/order/orderReference}:{json:/data/order/orderId}:{header:x-webhook-timestamp}',
    webhookTimestampSource: 'header:x-webhook-timestamp',
    webhookTimestampUnit: 'iso',
  },
};

/** Problems of the webhook settings, for the configuration message. */
export const webhookChecks: readonly SettingsCheck[] = [
  (settings) => {
    if (settings.webhookSignaturePreset === undefined) return withoutPreset(settings);
    const scheme = readSignatureScheme(settings);
    return scheme.ok ? [] : [`WEBHOOK_SIGNED_TEMPLATE or WEBHOOK_TIMESTAMP_SOURCE: ${scheme.problem}`];
  },
  (settings) => {
    const scheme = readSignatureScheme(settings);
    if (!scheme.ok || !scheme.value || !settings.webhookSecrets?.length) return [];
    const unusable = signatureProblem(scheme.value, settings.webhookSecrets);
    return unusable === undefined
      ? []
      : [`With these WEBHOOK_ settings every delivery would be refused: ${unusable}.`];
  },
  ({ webhookEventPointers }) => {
    const pointers = readEventPointers(webhookEventPointers ?? {});
    return pointers.ok ? [] : [`WEBHOOK_EVENT_POINTERS: ${pointers.problem}`];
  },
];

/** Settings that change a recipe although no preset is chosen, which must be a mistake. */
function withoutPreset(settings: RecipeSettings): string[] {
  const unused = recipe.filter((key) => settings[key] !== undefined).map(variableName);
  if (unused.length === 0) return [];
  return [
    `WEBHOOK_SIGNATURE_PRESET is missing: ${unused.join(', ')} ${unused.length === 1 ? 'changes' : 'change'} a recipe, and none is chosen (${signaturePresetNames.join(', ')}).`,
  ];
}

/**
 * The preset with the settings applied, ready to verify; undefined without a preset. A problem says what to change.
 *
 * Spec: not shown (Events: signature scheme).
 */
export function readSignatureScheme(
  settings: RecipeSettings & Pick<Settings, 'webhookSignaturePreset'>,
): Parsed<SignatureScheme | undefined> {
  const { webhookSignaturePreset: preset, webhookSignatureHeader, webhookSignaturePlace } = settings;
  if (preset === undefined) return parsed(undefined);
  // Ignore an algorithm for a static token: its sender makes no signature.
  const isToken = preset === 'static-token';
  const own: RecipeSettings = isToken
    ? { webhookSignatureHeader, webhookSignaturePlace }
    : Object.fromEntries(recipe.map((key) => [key, settings[key]]));
  const written: Recipe = { ...rawBody, ...presets[preset], ...withoutUndefined(own) };
  const template = parseSignatureTemplate(written.webhookSignedTemplate);
  if (!template.ok) return template;
  const place = readPlace(written.webhookSignaturePlace);
  if (!place) {
    return problem(
      `“${written.webhookSignaturePlace}” is no place of a signature: write whole, pair:KEY or list:VERSION.`,
    );
  }
  const at = written.webhookTimestampSource;
  const source = at === 'none' ? undefined : parseTextSource(at);
  if (at !== 'none' && !source) {
    return problem(`“${at}” is no place of a time: write none, header:NAME, pair:KEY or json:/pointer.`);
  }
  const { webhookTimestampUnit: unit, webhookToleranceSeconds: toleranceSeconds } = written;
  return parsed({
    headers: written.webhookSignatureHeader.map((name) => name.toLowerCase()),
    algorithm: isToken ? 'none' : written.webhookSignatureAlgorithm,
    encoding: written.webhookSignatureEncoding,
    secretEncoding: written.webhookSecretEncoding,
    template: template.value,
    place,
    ...(source && { timestamp: { source, unit, toleranceSeconds } }),
  });
}

function readPlace(written: string): SignatureScheme['place'] | undefined {
  if (written === 'whole') return { kind: 'whole' };
  const [, key, version] = /^(?:pair:([^=,\s]+)|list:([^,\s]+))$/.exec(written) ?? [];
  if (key !== undefined) return { kind: 'pair', key };
  return version === undefined ? undefined : { kind: 'list', version };
}

/** A preset without changes by settings. */
export function presetScheme(preset: SignaturePreset): SignatureScheme {
  const scheme = readSignatureScheme({ webhookSignaturePreset: preset });
  if (!scheme.ok || !scheme.value) throw new Error(`The preset ${preset} cannot be read.`);
  return scheme.value;
}
