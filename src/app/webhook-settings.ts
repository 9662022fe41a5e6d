import type { Config } from '../config/read-config.ts';
import type { Environment as Settings } from '../config/settings.ts';
import { parsed, type Parsed } from '../domain/parsed.ts';
import { readEventPointers, type EventPointers } from '../webhooks/event.ts';
import { readSignatureScheme } from '../webhooks/scheme-settings.ts';
import { signatureProblem, type SignatureScheme } from '../webhooks/signature.ts';

export type Webhooks = {
  scheme: SignatureScheme | undefined;
  pointers: EventPointers;
  problem: string | undefined;
};

/** Reads what the webhook settings mean together; a problem here refuses deliveries, not the start. */
export function readWebhooks(config: Config): Webhooks {
  const scheme = readScheme(config);
  const pointers = readEventPointers(config.webhookEventPointers ?? {});
  // Both were found readable before the start, by webhookProblems.
  if (!scheme.ok || !pointers.ok) throw new Error('unreadable webhook settings');
  const problem = signatureProblem(scheme.value, config.webhookSecrets ?? []);
  return { scheme: scheme.value, pointers: pointers.value, problem };
}

/** What is wrong with the webhook settings, for the one message about the configuration. */
export function webhookProblems(settings: Settings): string[] {
  const results: [string, Parsed<unknown>][] = [
    ['WEBHOOK_SIGNED_TEMPLATE or WEBHOOK_TIMESTAMP_SOURCE', readScheme(settings)],
    ['WEBHOOK_EVENT_POINTERS', readEventPointers(settings.webhookEventPointers ?? {})],
  ];
  return results.flatMap(([name, result]) => (result.ok ? [] : [`${name}: ${result.problem}`]));
}

function readScheme(settings: Settings): Parsed<SignatureScheme | undefined> {
  if (settings.webhookSignaturePreset === undefined) return parsed(undefined);
  return readSignatureScheme(settings.webhookSignaturePreset, {
    headers: settings.webhookSignatureHeader,
    algorithm: settings.webhookSignatureAlgorithm,
    encoding: settings.webhookSignatureEncoding,
    secretEncoding: settings.webhookSecretEncoding,
    template: settings.webhookSignedTemplate,
    timestampSource: settings.webhookTimestampSource,
    timestampUnit: settings.webhookTimestampUnit,
    toleranceSeconds: settings.webhookToleranceSeconds,
  });
}
