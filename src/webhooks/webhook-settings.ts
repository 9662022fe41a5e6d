import { settingsCheck, type Config, type SettingsCheck } from '../config/config.ts';
import { variableName, type Environment as Settings } from '../config/settings.ts';
import { parsed, type Parsed } from '../domain/parsed.ts';
import { signaturePresetNames, unsignedMeans } from '../config/webhook-settings.ts';
import { readEventPointers, type EventPointers } from './event.ts';
import { readSignatureScheme } from './scheme-settings.ts';
import type { Log } from '../log.ts';
import { listed } from '../domain/wording.ts';
import { coverageOf } from './signature-template.ts';
import { signatureProblem, type SignatureScheme } from './signature.ts';

export type Webhooks = {
  scheme: SignatureScheme | undefined;
  pointers: EventPointers;
  problem: string | undefined;
};

/** What ends a `problem`. */
export const webhooksFix = 'set WEBHOOK_SIGNATURE_PRESET and WEBHOOK_SECRETS';

/** Reads what the webhook settings mean together; a problem here refuses deliveries, not the start. */
export function readWebhooks(config: Config): Webhooks {
  const scheme = readScheme(config);
  const pointers = readEventPointers(config.webhookEventPointers ?? {});
  // Both were found readable before the start, by webhookChecks.
  if (!scheme.ok || !pointers.ok) throw new Error('unreadable webhook settings');
  const problem = signatureProblem(scheme.value, config.webhookSecrets ?? []);
  return { scheme: scheme.value, pointers: pointers.value, problem };
}

/** Whether the bot reads that part of an event: nothing is read that the signature does not cover. */
export function readsField(
  { scheme, pointers }: Pick<Webhooks, 'scheme' | 'pointers'>,
  field: keyof EventPointers,
): boolean {
  if (!scheme || scheme.algorithm === 'none') return scheme !== undefined;
  const coverage = coverageOf(scheme.template);
  if (coverage.covers === 'body') return true;
  return pointers[field].some((pointer) => coverage.pointers.includes(pointer));
}

/** At the start: what the recipe switches off, because it signs single fields and not the body. */
export function tellUnsignedFields(webhooks: Webhooks, log: Log): void {
  if (!webhooks.scheme) return;
  const fields = (Object.keys(unsignedMeans) as (keyof typeof unsignedMeans)[]).filter(
    (field) => !readsField(webhooks, field),
  );
  // Where the reference is signed, nothing hangs on the transaction id.
  const missed = fields.includes('orderReference') ? fields : fields.filter((one) => one !== 'transactionId');
  if (missed.length === 0) return;
  const off = missed.map((field) => unsignedMeans[field]).join('; ');
  log('warn', `The signature covers single fields of an event, not its body: ${off}`, {
    fix: `have WEBHOOK_SIGNED_TEMPLATE name ${listed(missed, 'and')}, if the sender signs them`,
  });
}

const recipe = [
  'webhookSignatureHeader',
  'webhookSignaturePlace',
  'webhookSignatureAlgorithm',
  'webhookSignatureEncoding',
  'webhookSecretEncoding',
  'webhookSignedTemplate',
  'webhookTimestampSource',
  'webhookTimestampUnit',
  'webhookToleranceSeconds',
] as const satisfies (keyof Settings)[];

type Recipe = Pick<Settings, 'webhookSignaturePreset' | (typeof recipe)[number]>;

/** What is wrong with the webhook settings, for the one message about the configuration. */
export const webhookChecks: readonly SettingsCheck[] = [
  settingsCheck(['webhookSignaturePreset', ...recipe], (settings) => {
    if (settings.webhookSignaturePreset === undefined) return withoutPreset(settings);
    const scheme = readScheme(settings);
    return scheme.ok ? [] : [`WEBHOOK_SIGNED_TEMPLATE or WEBHOOK_TIMESTAMP_SOURCE: ${scheme.problem}`];
  }),
  settingsCheck(['webhookSignaturePreset', 'webhookSecrets', ...recipe], (settings) => {
    const scheme = readScheme(settings);
    if (!scheme.ok || !scheme.value || !settings.webhookSecrets?.length) return [];
    const unusable = signatureProblem(scheme.value, settings.webhookSecrets);
    return unusable === undefined
      ? []
      : [`With these WEBHOOK_ settings every delivery would be refused: ${unusable}.`];
  }),
  settingsCheck(['webhookEventPointers'], ({ webhookEventPointers }) => {
    const pointers = readEventPointers(webhookEventPointers ?? {});
    return pointers.ok ? [] : [`WEBHOOK_EVENT_POINTERS: ${pointers.problem}`];
  }),
];

/** Parts of a recipe that would go unused, which who set them cannot have meant. */
function withoutPreset(settings: Recipe): string[] {
  const unused = recipe.filter((key) => settings[key] !== undefined).map(variableName);
  if (unused.length === 0) return [];
  return [
    `WEBHOOK_SIGNATURE_PRESET is missing: ${unused.join(', ')} ${unused.length === 1 ? 'changes' : 'change'} a recipe, and none is chosen (${signaturePresetNames.join(', ')}).`,
  ];
}

function readScheme(settings: Recipe): Parsed<SignatureScheme | undefined> {
  if (settings.webhookSignaturePreset === undefined) return parsed(undefined);
  return readSignatureScheme(settings.webhookSignaturePreset, {
    headers: settings.webhookSignatureHeader,
    place: settings.webhookSignaturePlace,
    algorithm: settings.webhookSignatureAlgorithm,
    encoding: settings.webhookSignatureEncoding,
    secretEncoding: settings.webhookSecretEncoding,
    template: settings.webhookSignedTemplate,
    timestampSource: settings.webhookTimestampSource,
    timestampUnit: settings.webhookTimestampUnit,
    toleranceSeconds: settings.webhookToleranceSeconds,
  });
}
