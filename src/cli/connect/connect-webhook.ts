import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { errorCode } from '../../domain/failure.ts';
import { counted } from '../../domain/wording.ts';
import { readBody } from '../../http/body.ts';
import type { SignedRequest } from '../../webhooks/signed-delivery.ts';
import { readDeliveryFile } from '../explain-delivery.ts';
import { askSetting, offer, type Step } from './draft.ts';
import { proposeWebhook } from './propose-webhook.ts';

const mostBodyBytes = 256 * 1_024;

/**
 * Asks for the secret and a genuine delivery, and proposes settings. Returns the delivery if the settings verify it.
 */
export async function connectWebhook(step: Step): Promise<SignedRequest | undefined> {
  const { talk, draft } = step;
  for (;;) {
    const secret = await askSetting(step, 'webhook_secret', 'WEBHOOK_SECRETS', { isSecret: true });
    if (secret === undefined && draft.config().webhookSecrets === undefined) return undefined;
    const delivery = await askDelivery(step);
    if (!delivery) return undefined;
    await talk.tell(
      `A delivery with a body of ${counted(delivery.body.length, 'byte')}. Trying what it could be signed by …`,
    );
    const found = proposeWebhook(draft.config(), delivery);
    if (found.kind === 'fits') {
      if (!(await offer(step, 'webhook_settings', found.changes))) return undefined;
      const { lacks } = found;
      if (lacks !== undefined) await talk.tell(`⚠️ ${lacks.says} Set ${lacks.setting} by hand.`);
      return delivery;
    }
    await talk.tell(`❌ ${found.why}`);
    if (!talk.isPerson) return undefined;
  }
}

async function askDelivery(step: Step): Promise<SignedRequest | undefined> {
  const { talk } = step;
  for (;;) {
    const answer = await talk.ask({ name: 'delivery' });
    if (answer === undefined) return undefined;
    if (answer.toLowerCase() === 'wait') return await waitForDelivery(step);
    const file = await readDeliveryFile(answer);
    if (file.ok) return file.value;
    await talk.tell(`❌ ${file.problem}`);
    if (!talk.isPerson) return undefined;
  }
}

async function waitForDelivery({ talk, draft }: Step): Promise<SignedRequest | undefined> {
  const { host, port } = draft.config();
  const words = `Waiting for a POST to port ${port}, /webhooks/payments. It is answered 503, so that the service sends it again.`;
  const caught = await talk.waitFor(words, (signal) => catchDelivery({ host, port }, signal));
  if (caught?.kind === 'caught') return caught.delivery;
  await talk.tell(`⚠️ ${caught?.why ?? 'None came.'}`);
  return undefined;
}

type Caught = { kind: 'caught'; delivery: SignedRequest } | { kind: 'none'; why: string };

/** Waits for the next POST to the bot's webhook path. Answers 503 because nothing is stored, so the sender retries. */
async function catchDelivery(at: { host: string; port: number }, signal: AbortSignal): Promise<Caught> {
  const caught = Promise.withResolvers<Caught>();
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const isDelivery = request.method === 'POST' && request.url?.split('?')[0] === '/webhooks/payments';
    const read = isDelivery ? await readBody(request, mostBodyBytes) : undefined;
    response.writeHead(read?.kind === 'body' ? 503 : 404, { connection: 'close' }).end();
    if (read?.kind !== 'body') return;
    await once(response, 'close');
    caught.resolve({ kind: 'caught', delivery: { headers: request.headersDistinct, body: read.body } });
  }
  const server = createServer((request, response) => void answer(request, response));
  const stop = (): void => caught.resolve({ kind: 'none', why: 'None came.' });
  signal.addEventListener('abort', stop, { once: true });
  try {
    server.listen(at.port, at.host);
    await once(server, 'listening');
    return await caught.promise;
  } catch (error) {
    const isTaken = errorCode(error) === 'EADDRINUSE';
    const why = isTaken
      ? `Port ${at.port} is taken: stop the bot for it, or give a file.`
      : `It cannot listen there: ${errorCode(error) ?? 'unknown error'}.`;
    return { kind: 'none', why };
  } finally {
    signal.removeEventListener('abort', stop);
    server.closeAllConnections();
    server.close();
  }
}
