import { z } from 'zod';
import { parsed, problem, type Parsed } from '../domain/parsed.ts';
import type { SignedRequest } from './signed-delivery.ts';

/** One delivery as somebody captured it; `notes` say what of the capture is not what the bot would have been given. */
export type CapturedDelivery = SignedRequest & { notes: readonly string[] };

const jsonCapture = z.object({
  headers: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
  body: z.string(
    'its body must be the text as it was sent, in quotes: an object has lost the bytes that were signed',
  ),
});

/**
 * Reads a captured delivery: the raw HTTP request (with or without its first line), its body byte for byte; or
 * JSON with `headers` and `body`, the body as text. What cannot be read is a problem in words.
 */
export function readCapture(captured: Buffer): Parsed<CapturedDelivery> {
  // An editor’s mark at the beginning is not the delivery’s.
  const file = captured.subarray(captured.indexOf(byteOrderMark) === 0 ? byteOrderMark.length : 0);
  return file.subarray(0, 64).toString('latin1').trimStart().startsWith('{')
    ? readJsonCapture(file)
    : readRawCapture(file);
}

const byteOrderMark = Buffer.from('\uFEFF');

function readJsonCapture(file: Buffer): Parsed<CapturedDelivery> {
  let value: unknown;
  try {
    value = JSON.parse(file.toString('utf8'));
  } catch {
    return problem('it begins like JSON and cannot be read as JSON');
  }
  const reading = jsonCapture.safeParse(value);
  if (!reading.success) {
    const [issue] = reading.error.issues;
    const isBody = issue?.path[0] === 'body' && issue.code === 'invalid_type';
    return problem(
      isBody ? issue.message : 'as JSON it needs "headers" (an object of texts) and "body" (a text)',
    );
  }
  const headers: Record<string, string[]> = Object.create(null) as Record<string, string[]>;
  for (const [name, held] of Object.entries(reading.data.headers)) {
    for (const text of typeof held === 'string' ? [held] : held) add(headers, name, text);
  }
  return parsed(withNotes(headers, Buffer.from(reading.data.body)));
}

function readRawCapture(file: Buffer): Parsed<CapturedDelivery> {
  const text = file.toString('latin1');
  const end = /\r?\n\r?\n/.exec(text);
  if (!end) return problem('no blank line ends its headers, so it is not known where its body begins');
  const headers: Record<string, string[]> = Object.create(null) as Record<string, string[]>;
  const lines = text.slice(0, end.index).split(/\r?\n/);
  if (/^[A-Z]+ \S+(?: HTTP\/[\d.]+)?$/.test(lines[0] ?? '')) lines.shift();
  for (const [index, line] of lines.entries()) {
    // HTTP/2 has in place of a first line what begins so.
    if (/^:[a-z]+: /.test(line)) continue;
    const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+):[ \t]*(.*?)[ \t]*$/.exec(line) ?? [];
    // The line itself is not repeated: it may hold a secret.
    if (name === undefined || value === undefined) {
      return problem(`line ${index + 1} of its headers is no header, like name: value`);
    }
    add(headers, name, value);
  }
  const body = file.subarray(end.index + end[0].length);
  return parsed(cutToLength(headers, body));
}

function add(headers: Record<string, string[]>, name: string, value: string): void {
  const known = (headers[name.toLowerCase()] ??= []);
  known.push(value);
}

/** As HTTP does: what stands behind the length that the headers tell is no part of the body. */
function cutToLength(headers: Record<string, string[]>, body: Buffer): CapturedDelivery {
  const told = headers['content-length']?.[0];
  const length = told !== undefined && /^\d{1,9}$/.test(told) ? Number(told) : undefined;
  if (length === undefined || length === body.length) return withNotes(headers, body);
  if (length < body.length) {
    const rest = body.length - length;
    const note = `The file has ${bytes(rest)} more than content-length says (an editor adds a line feed, say); left out, as HTTP does.`;
    return withNotes(headers, body.subarray(0, length), [note]);
  }
  const note = `The body is incomplete, or was rewritten: content-length says ${length}, and there are ${bytes(body.length)}.`;
  return withNotes(headers, body, [note]);
}

function bytes(count: number): string {
  return count === 1 ? '1 byte' : `${count} bytes`;
}

function withNotes(
  headers: Record<string, string[]>,
  body: Buffer,
  notes: readonly string[] = [],
): CapturedDelivery {
  const [coding] = headers['content-encoding'] ?? [];
  const isCoded = coding !== undefined && coding.toLowerCase() !== 'identity';
  const coded = isCoded ? ['The body is compressed: the bot answers such a delivery 415, unread.'] : [];
  return { headers, body, notes: [...notes, ...coded] };
}
