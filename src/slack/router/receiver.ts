import { createHmac, createSecretKey, timingSafeEqual, type KeyObject } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { parse } from 'node:querystring';
import type { App, Receiver } from '@slack/bolt';
import { isJsonObject, parseJson } from '../../domain/json.ts';
import { endResponse, readBody } from '../../http/body.ts';
import { fewLinesOf, type Log } from '../../log.ts';

export type HttpReceiver = Receiver & {
  /** For `POST /slack/events`. Rejects only for a bug of ours. */
  listener: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
};

type ReceiverOptions = {
  log: Log;
  /** Called for each request, with why its signature doesn't hold; undefined if it does. Must be quick. */
  checked?: ((refused: RefusalCause | undefined) => void) | undefined;
  /** Called with each request's seconds until its acknowledgement. */
  acknowledged?: ((seconds: number) => void) | undefined;
};

const limits = {
  bodyBytes: 1024 * 1024,
  lingerMs: 1_000,
  lingerBytes: 4 * 1024 * 1024,
};
/** Slack's own rule: an older request may be replayed by somebody else. */
const freshSeconds = 5 * 60;

/**
 * Receives Slack's HTTP requests: checks the signature over the raw bytes, parses once and hands Bolt the event. Bolt's own
 * receiver takes twice the time: it parses twice, and makes a URL and a timer for each request.
 */
export function createHttpReceiver(
  signingSecret: string,
  { log, checked, acknowledged }: ReceiverOptions,
): HttpReceiver {
  let app: App | undefined;
  if (signingSecret === '') throw new Error('SLACK_SIGNING_SECRET is empty: with it everybody could sign');
  const secret = createSecretKey(signingSecret, 'utf8');
  const logRefused = fewLinesOf(log);

  /** Returns the status or JSON to answer with; 0 if the request was acknowledged. */
  async function take(request: IncomingMessage, response: ServerResponse): Promise<number | object> {
    if (Number(request.headers['content-length'] ?? 0) > limits.bodyBytes) return 413;
    const reading = await readBody(request, limits.bodyBytes);
    if (reading.kind !== 'body') return reading.kind === 'too_large' ? 413 : 400;
    const isForm = request.headers['content-type']?.startsWith('application/x-www-form-urlencoded') === true;
    const refused = whyRefused(request, reading.body, secret);
    if (refused !== undefined) {
      // Slack's unsigned test of the certificate; nothing in it is read.
      if (isForm && reading.body.includes('ssl_check=1')) return 200;
      checked?.(refused);
      logRefused(
        'warn',
        'A request was refused: it does not bear Slack’s signature of the last five minutes',
      );
      return 401;
    }
    checked?.(undefined);
    const body = parseBody(reading.body.toString(), isForm);
    if (!isJsonObject(body)) return 400;
    if (body['ssl_check'] === '1') return 200;
    if (body['type'] === 'url_verification') return { challenge: body['challenge'] };
    let isAcknowledged = false;
    const startedMs = performance.now();
    await app?.processEvent({
      body,
      async ack(answer?: object | string) {
        if (isAcknowledged) throw new Error('Slack was answered before');
        isAcknowledged = true;
        if (response.destroyed) throw new Error('Slack waits for no answer any more');
        answerWith(response, answer);
        acknowledged?.((performance.now() - startedMs) / 1_000);
      },
      ...retryOf(request),
    });
    // No listener, or an error: Bolt has logged it.
    return isAcknowledged ? 0 : 404;
  }

  return {
    init: (bolt) => void (app = bolt),
    start: () => Promise.resolve(),
    stop: () => Promise.resolve(),
    async listener(request, response) {
      const answer = await take(request, response);
      if (answer === 0) return;
      if (typeof answer === 'object') answerWith(response, answer);
      else endResponse({ request, response }, { status: answer, body: '' }, limits);
    },
  };
}

/** Why a request was refused. `no_signature`: not sent by Slack. `time`, `mismatch`: Slack may have sent it. */
export const refusalCauses = ['no_signature', 'time', 'mismatch'] as const;
export type RefusalCause = (typeof refusalCauses)[number];

function whyRefused({ headers }: IncomingMessage, body: Buffer, secret: KeyObject): RefusalCause | undefined {
  const at = headers['x-slack-request-timestamp'];
  const given = headers['x-slack-signature'];
  const hasBoth = typeof at === 'string' && typeof given === 'string';
  if (!hasBoth || !/^\d{1,12}$/.test(at) || !/^v0=[0-9a-f]{64}$/.test(given)) return 'no_signature';
  if (Math.abs(Date.now() / 1_000 - Number(at)) > freshSeconds) return 'time';
  const own = Buffer.from(
    `v0=${createHmac('sha256', secret).update(`v0:${at}:`).update(body).digest('hex')}`,
  );
  return timingSafeEqual(Buffer.from(given), own) ? undefined : 'mismatch';
}

/** Undefined for a body that Slack would not send. */
function parseBody(text: string, isForm: boolean): unknown {
  if (!isForm) return parseJson(text);
  const form = parse(text);
  if (Object.values(form).some((value) => typeof value !== 'string')) return undefined;
  return typeof form['payload'] === 'string' ? parseJson(form['payload']) : form;
}

function retryOf({ headers }: IncomingMessage): { retryNum?: number; retryReason?: string } {
  const number = Number(headers['x-slack-retry-num'] ?? Number.NaN);
  const reason = headers['x-slack-retry-reason'];
  return {
    ...(Number.isInteger(number) ? { retryNum: number } : {}),
    ...(typeof reason === 'string' ? { retryReason: reason } : {}),
  };
}

/** The JSON of blocks that never change: help sends the same ones to many people. */
const jsonOfBlocks = new WeakMap<object, string>();

/**
 * JSON in ASCII: a single typographic quote doubles the cost of writing a string to the socket, and a Buffer costs a tenth
 * more than an ASCII string.
 */
function ascii(value: unknown): string {
  return JSON.stringify(value).replace(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function textOf(answer: { blocks?: unknown }): string {
  const { blocks, ...rest } = answer;
  if (!Array.isArray(blocks)) return ascii(answer);
  const text = jsonOfBlocks.get(blocks) ?? ascii(blocks);
  jsonOfBlocks.set(blocks, text);
  return `${ascii({ ...rest, blocks: [] }).slice(0, -'[]}'.length)}${text}}`;
}

function answerWith(response: ServerResponse, answer: object | string = ''): void {
  if (typeof answer === 'string') {
    response.writeHead(200, { 'content-length': Buffer.byteLength(answer) }).end(answer);
    return;
  }
  const text = textOf(answer);
  const head = { 'content-type': 'application/json', 'content-length': text.length };
  response.writeHead(200, head).end(text, 'latin1');
}
