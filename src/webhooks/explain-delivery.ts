import { parsed, problem, type Parsed, counted } from '../domain/wording.ts';
import { createReader, parseEvent, readSignedJson, type EventField, type EventKinds } from './event.ts';
import { fitSettings, type FitSettings, otherUnit } from './fit-settings.ts';
import { refusalWords } from './refusal-words.ts';
import { coverageOf } from './signature-template.ts';
import { unreadAnswer } from './route.ts';
import { createVerifier } from './signature.ts';
import type { SignedRequest } from './signed-delivery.ts';

type ExplainSettings = FitSettings & { kinds?: EventKinds };

/**
 * Explains for a terminal why the bot accepts or refuses a delivery, which settings would fit, and where it would find
 * each field of the event. Shows no value of a header or the body. Never throws because of the delivery.
 *
 * Spec: not shown (Events: signature scheme).
 */
export function explainDelivery(
  settings: ExplainSettings,
  request: SignedRequest & Pick<CapturedDelivery, 'method'>,
  nowMs: number,
): { verifies: boolean; lines: readonly string[] } {
  const { scheme, secrets } = settings;
  const unread = unreadWords(request, request.method);
  const verdict = createVerifier(scheme, secrets)(request, nowMs);
  const isValid = verdict.kind === 'valid';
  const head = unread === undefined ? 'Verdict' : 'Signature';
  const signature = isValid
    ? [`${head}: it verifies`]
    : [
        `${head}: refused. ${refusalWords(scheme, request, verdict.why, nowMs)}`,
        ...fixLines(settings, request),
      ];
  const lines = [...signature, ...eventLines(settings, request)];
  if (unread === undefined) return { verifies: isValid, lines };
  return { verifies: false, lines: [`Verdict: refused. ${unread}`, ...lines] };
}

const unreadFixes: Readonly<Record<number, string>> = {
  405: 'Have the service use POST.',
  413: 'Have the service send a smaller body.',
  415: 'Have the service, or a proxy before the bot, send content-type: application/json, and no content-encoding.',
};

/** How the bot refuses a delivery whatever its signature, and the fix; undefined: it checks the signature. */
export function unreadWords(request: SignedRequest, method?: string): string | undefined {
  const answer = unreadAnswer(request, method);
  return answer && `The bot answers ${answer.status}: ${answer.words}. ${unreadFixes[answer.status] ?? ''}`;
}

function fixLines(settings: ExplainSettings, request: SignedRequest): string[] {
  if (settings.secrets.length === 0) return [];
  const fit = fitSettings(settings, request);
  if (!fit) return [noFix];
  const changes = Object.entries(fit).map(([name, value]) => `${name}=${value}`);
  if (changes.length > 0 || !settings.scheme) return [`Fix: it would verify with ${changes.join(', ')}`];
  const unit = otherUnit(settings.scheme, request);
  return [
    unit === undefined
      ? timeFix
      : `Fix: the signature holds, and its time reads with WEBHOOK_TIMESTAMP_UNIT=${unit}`,
  ];
}

const noFix =
  'Fix: no preset fits, nor any template of the body or of up to four headers and fields. Check WEBHOOK_SECRETS, and that nothing on the way changes the body.';

const timeFix =
  'Fix: the signature holds, and only its time does not. It came late or again, or a clock is wrong. A sender that repeats deliveries with their first signature needs WEBHOOK_TIMESTAMP_SOURCE=none.';

function eventLines({ scheme, pointers, kinds }: ExplainSettings, { body }: SignedRequest): string[] {
  const coverage = scheme ? coverageOf(scheme.template) : ({ covers: 'body' } as const);
  const document = readSignedJson(body, coverage);
  if (!document.ok) return [`Event: none, ${document.problem}`];
  const found = parseEvent(body, pointers, coverage, kinds);
  const read = createReader(document.value.value, pointers, coverage);
  const fields = (Object.keys(pointers) as EventField[]).map((field) => {
    const place = read.place(field);
    if (!place) return `  ${field}: not found at ${pointers[field].join(', ')}`;
    return `  ${field}: at ${place.pointer}, ${place.isSigned ? 'signed' : 'not signed, so it is not used'}`;
  });
  return [`Event: ${eventWords(found)}`, ...fields];
}

function eventWords(found: ReturnType<typeof parseEvent>): string {
  if (found.kind === 'event') return found.event.kind;
  return found.why === undefined
    ? 'of an unknown kind; it is stored, and the operators hear of it once. WEBHOOK_KINDS says what a name means'
    : `none, ${found.why}`;
}

/** A captured delivery; `notes`: where the capture differs from what the bot would have received. */
export type CapturedDelivery = SignedRequest & { method?: string; notes: readonly string[] };

/**
 * Reads a captured delivery: the raw HTTP request, with or without its first line, with the body unchanged.
 */
export function readCapture(file: Buffer): Parsed<CapturedDelivery> {
  const text = file.toString('latin1');
  const end = /\r?\n\r?\n/.exec(text);
  if (!end) return problem('no blank line ends its headers, so it is not known where its body begins');
  const headers: Record<string, string[]> = Object.create(null) as Record<string, string[]>;
  const lines = text.slice(0, end.index).split(/\r?\n/);
  const [, method] = /^([A-Z]+) \S+(?: HTTP\/[\d.]+)?$/.exec(lines[0] ?? '') ?? [];
  if (method !== undefined) lines.shift();
  for (const [index, line] of lines.entries()) {
    // HTTP/2 sends pseudo-headers (`:method: POST`) instead of a first line.
    if (/^:[a-z]+: /.test(line)) continue;
    const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+):[ \t]*(.*?)[ \t]*$/.exec(line) ?? [];
    // Don't repeat the line: it may hold a secret.
    if (name === undefined || value === undefined) {
      return problem(`line ${index + 1} of its headers is no header, like name: value`);
    }
    (headers[name.toLowerCase()] ??= []).push(value);
  }
  const { body, notes } = bodyIn(file.subarray(end.index + end[0].length), headers);
  return parsed({ headers, body, notes, ...(method !== undefined && { method }) });
}

/** The body as the bot receives it. */
function bodyIn(
  written: Buffer,
  headers: Readonly<Record<string, readonly string[]>>,
): Pick<CapturedDelivery, 'body' | 'notes'> {
  const { 'content-length': [stated = ''] = [], 'transfer-encoding': [transfer = ''] = [] } = headers;
  const chunks = /chunked\s*$/i.test(transfer) ? readChunks(written) : undefined;
  const body = chunks?.body ?? written;
  const length = /^\d{1,9}$/.test(stated) ? Number(stated) : body.length;
  const notes: string[] = [];
  if (length < body.length) {
    const rest = counted(body.length - length, 'byte');
    notes.push(
      `The file has ${rest} more than content-length says (an editor adds a line feed, say); left out, as HTTP does.`,
    );
  }
  if (length > body.length) {
    const there = counted(body.length, 'byte');
    notes.push(
      `The body is incomplete, or was rewritten: content-length says ${length}, and there are ${there}.`,
    );
  }
  if (headers['content-type'] === undefined) {
    notes.push('It has no content-type. If the service sends none, the bot answers 415.');
  }
  if (chunks?.isWhole === false) notes.push('The body is incomplete: its last chunk is missing.');
  // Bytes after the stated length don't belong to the body.
  return { body: body.subarray(0, length), notes };
}

/** Joins a body's chunks; undefined: it isn't in chunks, because the capturing program has joined them. */
function readChunks(written: Buffer): { body: Buffer; isWhole: boolean } | undefined {
  const chunks: Buffer[] = [];
  for (let rest = written; ;) {
    const [line, size = ''] =
      /^([\da-f]{1,8})[ \t]*(?:;[^\r\n]*)?\r\n/i.exec(rest.toString('latin1', 0, 256)) ?? [];
    if (line === undefined)
      return chunks.length === 0 ? undefined : { body: Buffer.concat(chunks), isWhole: false };
    const [from, length] = [line.length, Number.parseInt(size, 16)];
    if (length === 0) return { body: Buffer.concat(chunks), isWhole: true };
    chunks.push(rest.subarray(from, from + length));
    rest = rest.subarray(from + length + 2);
  }
}
