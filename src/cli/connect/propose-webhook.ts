import type { Config } from '../../config/config.ts';
import { withSettings } from '../../config/read-config.ts';
import { variableName } from '../../config/settings.ts';
import { plainLeavesOf } from '../../domain/json.ts';
import {
  createReader,
  type EventKinds,
  type EventPointers,
  knownKind,
  parseEvent,
  readEventPointers,
} from '../../webhooks/event.ts';
import { unreadWords } from '../../webhooks/explain-delivery.ts';
import { fitSettings, otherUnit } from '../../webhooks/fit-settings.ts';
import { readJson } from '../../webhooks/json.ts';
import { type Coverage, coverageOf } from '../../webhooks/signature-template.ts';
import { createVerifier } from '../../webhooks/signature.ts';
import {
  readDelivery,
  timeOf,
  type SignatureScheme,
  type SignedRequest,
} from '../../webhooks/signed-delivery.ts';
import { readSignatureScheme } from '../../webhooks/webhook-settings.ts';
import type { Changes } from './draft.ts';

type WebhookProposal =
  /** `changes`: empty if the current settings fit. `lacks`: what the bot can't read even with the changes. */
  { kind: 'fits'; changes: Changes; lacks: Lack | undefined } | { kind: 'none'; why: string };

/** `setting`: a person can fix it with this setting, by hand. */
type Lack = { says: string; setting: 'WEBHOOK_EVENT_POINTERS' | 'WEBHOOK_KINDS' };

/** Settings that would change a preset's recipe. They are removed if a preset fits. */
const recipeSettings = [
  'webhookSignatureHeader',
  'webhookSignaturePlace',
  'webhookSignatureAlgorithm',
  'webhookSignatureEncoding',
  'webhookSecretEncoding',
  'webhookSignedTemplate',
  'webhookTimestampSource',
  'webhookTimestampUnit',
] as const;

/** The fewest changes of settings that verify a genuine delivery, as of its own time, and read its event. */
export function proposeWebhook(config: Config, request: SignedRequest): WebhookProposal {
  const unread = unreadWords(request);
  if (unread !== undefined) return { kind: 'none', why: unread };
  const secrets = config.webhookSecrets ?? [];
  if (secrets.length === 0) return { kind: 'none', why: 'Without WEBHOOK_SECRETS nothing can be tried.' };
  const set = readEventPointers(config.webhookEventPointers ?? {});
  const pointers = set.ok ? set.value : builtInPointers();
  const fit = fitSettings({ scheme: schemeOf(config), secrets, pointers }, request);
  if (!fit) return { kind: 'none', why: nothingFits };
  const isPreset = fit['WEBHOOK_SIGNATURE_PRESET'] !== undefined;
  const removed = recipeSettings.filter((key) => isPreset && config[key] !== undefined);
  const signing: Changes = {
    ...Object.fromEntries(removed.map((key) => [variableName(key), ''])),
    ...fit,
  };
  const signed = schemeOf(config, signing);
  const unit = signed && otherUnit(signed, request);
  const changes = unit === undefined ? signing : { ...signing, WEBHOOK_TIMESTAMP_UNIT: unit };
  const scheme = schemeOf(config, changes);
  if (!scheme || !verifies(scheme, secrets, request)) {
    return { kind: 'none', why: 'The signature holds, and its time cannot be read.' };
  }
  const coverage = coverageOf(scheme.template);
  const kinds = config.webhookKinds ?? {};
  const found = proposePointers(pointers, request.body, { coverage, kinds });
  const written = { ...config.webhookEventPointers, ...found };
  return {
    kind: 'fits',
    changes: {
      ...changes,
      ...(Object.keys(found).length === 0 ? {} : { WEBHOOK_EVENT_POINTERS: JSON.stringify(written) }),
    },
    lacks: lackOf(request.body, written, { coverage, kinds }),
  };
}

const nothingFits =
  'No recipe fits, nor any template of the body or of up to four headers and fields. Check WEBHOOK_SECRETS, and that the capture is byte for byte.';

function builtInPointers(): EventPointers {
  const read = readEventPointers({});
  if (!read.ok) throw new Error(read.problem);
  return read.value;
}

function schemeOf(config: Config, changes: Changes = {}): SignatureScheme | undefined {
  const changed = withSettings(config, changes);
  const read = changed.ok ? readSignatureScheme(changed.value) : undefined;
  return read?.ok ? read.value : undefined;
}

/** Judges as of the delivery's own time, because a capture may be old. */
function verifies(scheme: SignatureScheme, secrets: readonly string[], request: SignedRequest): boolean {
  const { timestamp } = scheme;
  const delivery = readDelivery(scheme, request);
  const signedMs = timestamp && delivery.ok ? timeOf(timestamp, delivery.value) : 0;
  return createVerifier(scheme, secrets)(request, signedMs).kind === 'valid';
}

/** Usual names of an event's fields. Its kind is recognised by its value instead. Spec: Events. */
const eventNames = {
  orderReference: /^(?:merchant|order|payment|tx|your)?[_-]?(?:order)?[_-]?ref(?:erence)?$/i,
  transactionId: /^(?:transaction|payment|charge)[_-]?id$/i,
  amount: /^(?:paid|charged|order)?[_-]?amount$/i,
  currency: /^currency(?:[_-]?code)?$/i,
} as const;

type Reading = { coverage: Coverage; kinds: EventKinds };

/**
 * Pointers to fields that the current settings don't find. If the signature covers single fields, only to signed ones.
 */
function proposePointers(
  pointers: EventPointers,
  body: Buffer,
  { coverage, kinds }: Reading,
): Readonly<Record<string, string>> {
  const document = readJson(body);
  if (!document.ok) return {};
  const json = document.value.value;
  const isSigned = (at: string): boolean => coverage.covers === 'body' || coverage.pointers.includes(at);
  const leaves = plainLeavesOf(json).filter(([at]) => isSigned(at));
  const reader = createReader(json, pointers, coverage);
  const found: Record<string, string> = {};
  const isKnown = (value: unknown): boolean =>
    typeof value === 'string' && knownKind(value, kinds) !== undefined;
  const kind = leaves.find(([, value]) => isKnown(value))?.[0];
  if (kind !== undefined && !isKnown(reader.text('kind'))) found['kind'] = kind;
  for (const [field, name] of Object.entries(eventNames) as [keyof typeof eventNames, RegExp][]) {
    if (reader.place(field)) continue;
    const at = leaves.find(([pointer]) => name.test(pointer.slice(pointer.lastIndexOf('/') + 1)))?.[0];
    if (at !== undefined) found[field] = at;
  }
  return found;
}

function lackOf(body: Buffer, written: object, { coverage, kinds }: Reading): Lack | undefined {
  const pointers = readEventPointers({ ...written });
  const read = pointers.ok ? parseEvent(body, pointers.value, coverage, kinds) : undefined;
  if (read?.kind === 'unknown' && read.why === undefined) {
    return { says: 'Its event has a name that the bot does not know.', setting: 'WEBHOOK_KINDS' };
  }
  if (read?.kind !== 'event') {
    return {
      says: 'It is read as no event: no signed field says what happened.',
      setting: 'WEBHOOK_EVENT_POINTERS',
    };
  }
  const { orderReference, transactionId } = read.event;
  if (orderReference !== undefined || transactionId !== undefined) return undefined;
  return {
    says: 'Neither its order reference nor its transaction id is where the bot looks, and signed.',
    setting: 'WEBHOOK_EVENT_POINTERS',
  };
}
