import { readFile, stat } from 'node:fs/promises';
import { fileErrorCode } from '../config/readers.ts';
import { parsed, problem, type Parsed, counted } from '../domain/wording.ts';
import { type CapturedDelivery, explainDelivery, readCapture } from '../webhooks/explain-delivery.ts';
import { command, type CommandEnd } from './command.ts';
import { exitCodes } from './exit-codes.ts';
import type { Runtime } from '../config/config.ts';
import { readWebhooks } from '../webhooks/webhook-settings.ts';

/** Larger files are refused; far above the bot's own limit for a delivery. */
const mostBytes = 8 * 1024 * 1024;

/**
 * Explains why a captured delivery verifies or not under the bot's settings. Makes no calls, opens no store, and prints
 * nothing of the content.
 */
export const explainDeliveryCommand = command({
  summary: 'Say offline why one captured webhook delivery verifies or not',
  usage: ['npm run explain-delivery -- <file> [--at 2026-03-01T09:30:00Z] [--account NAME]'],
  more: 'The file is the raw HTTP request. Ends with 0 when it verifies, 1 when not.',
  scope: 'one',
  options: { at: { type: 'string' } },
  mostWords: 1,
  prepare({ values: { at }, positionals: [path] }) {
    const atMs = at === undefined ? undefined : readAt(at);
    return path === undefined || Number.isNaN(atMs)
      ? problem('Give the file of one captured delivery.')
      : parsed({ run: (runtime) => explain(runtime, path, atMs) });
  },
});

async function explain(runtime: Runtime, path: string, atMs?: number): Promise<CommandEnd> {
  const capture = await readDeliveryFile(path);
  if (!capture.ok) return { exitCode: exitCodes.usage, words: capture.problem };
  const { scheme, pointers, kinds } = readWebhooks(runtime.config);
  const secrets = runtime.config.webhookSecrets ?? [];
  const { verifies, lines } = explainDelivery(
    { scheme, secrets, pointers, kinds },
    capture.value,
    atMs ?? runtime.now(),
  );
  const { body, notes } = capture.value;
  const asOf =
    atMs === undefined && scheme?.timestamp ? ['Judged as of now; --at judges as of when it came.'] : [];
  const words = [
    `Delivery: a body of ${counted(body.length, 'byte')}`,
    ...notes.map((note) => `Note: ${note}`),
    ...lines,
    ...asOf,
  ];
  return { exitCode: verifies ? 0 : 1, words: words.join('\n'), isReport: true };
}

/** Reads a captured delivery; the problem says why the file has none. */
export async function readDeliveryFile(path: string): Promise<Parsed<CapturedDelivery>> {
  try {
    const { size } = await stat(path);
    if (size > mostBytes) return problem(`The file cannot be read: it is larger than ${mostBytes} bytes.`);
    const capture = readCapture(await readFile(path));
    return capture.ok ? capture : problem(`The file holds no delivery: ${capture.problem}.`);
  } catch (error) {
    const code = fileErrorCode(error);
    return problem(`The file cannot be read: ${whyUnread[code] ?? code}.`);
  }
}

/** ISO 8601 with a zone, or Unix time in seconds or milliseconds. */
function readAt(written: string): number {
  if (/^\d{9,11}$/.test(written)) return Number(written) * 1_000;
  if (/^\d{12,14}$/.test(written)) return Number(written);
  return /^\d{4}-\d\d-\d\dT.*(?:Z|[+-]\d\d:?\d\d)$/.test(written) ? Date.parse(written) : Number.NaN;
}

const whyUnread: Readonly<Record<string, string>> = {
  ENOENT: 'there is none of that name',
  EISDIR: 'it is a folder',
  EACCES: 'this user may not read it',
};
