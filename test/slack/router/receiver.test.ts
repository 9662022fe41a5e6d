import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { App } from '@slack/bolt';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createHttpReceiver } from '../../../src/slack/router/receiver.ts';
import { signingSecret, signSlack } from '../../support/slack-requests.ts';

const lines: string[] = [];
const taken: unknown[] = [];
const log = (_: string, message: string): void => void lines.push(message);
const receiver = createHttpReceiver(signingSecret, { log });
const server = createServer((asked, response) => void receiver.listener(asked, response));

const processEvent: App['processEvent'] = async ({ body, ack }) => {
  taken.push(body);
  await ack('taken');
};

beforeAll(async () => {
  receiver.init({ processEvent } as App);
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => void server.close());

type Headers = Record<string, string | string[]>;

async function sends(body: string, headers: Headers): Promise<{ status: number; text: string }> {
  const { port } = server.address() as AddressInfo;
  return await new Promise((resolve, reject) => {
    const sent = request({ port, host: '127.0.0.1', method: 'POST', headers }, (response) => {
      let text = '';
      response.on('data', (part: Buffer) => (text += part.toString()));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    sent.on('error', reject).end(body);
  });
}

const command = 'command=%2Fpay&text=help';
const time = 'x-slack-request-timestamp';
const signature = 'x-slack-signature';
const good = signSlack(command).headers;

function without(name: string): Headers {
  return Object.fromEntries(Object.entries(good).filter(([key]) => key !== name));
}

it.each<[string, string, Headers]>([
  ['no header', command, {}],
  ['no time', command, without(time)],
  ['no signature', command, without(signature)],
  ['an empty signature', command, { ...good, [signature]: '' }],
  ['two times', command, { ...good, [time]: [good[time] ?? '', good[time] ?? ''] }],
  ['two signatures', command, { ...good, [signature]: [good[signature] ?? '', good[signature] ?? ''] }],
  ['a time with decimals', command, { ...good, [time]: `${good[time]}.0` }],
  ['another time', command, { ...good, [time]: String(Number(good[time]) - 1) }],
  ['a signature of another length', command, { ...good, [signature]: good[signature]?.slice(0, -1) ?? '' }],
  ['a time too old', command, signSlack(command, { atMs: Date.now() - 301_000 }).headers],
  ['a time in the future', command, signSlack(command, { atMs: Date.now() + 302_000 }).headers],
  ['another body', `${command}+charge`, good],
  [
    'the signature of an empty secret',
    command,
    { ...good, [signature]: signSlack(command, { secret: '' }).headers[signature] ?? '' },
  ],
  [
    'an unsigned address challenge',
    '{"type":"url_verification","challenge":"c"}',
    { 'content-type': 'application/json' },
  ],
  ['a certificate test of another content type', 'ssl_check=1', { 'content-type': 'text/plain' }],
])('refuses requests with %s', async (_, body, headers) => {
  taken.length = 0;
  expect(await sends(body, headers)).toEqual({ status: 401, text: '' });
  expect(taken).toEqual([]);
});

it('answers Slack’s certificate test without reading it, and the address challenge only if signed', async () => {
  taken.length = 0;
  const unsigned = { 'content-type': good['content-type'] ?? '' };
  expect(await sends(`ssl_check=1&${command}`, unsigned)).toEqual({ status: 200, text: '' });
  const proof = signSlack('{"type":"url_verification","challenge":"c"}', { contentType: 'application/json' });
  expect(await sends(proof.body, proof.headers)).toEqual({ status: 200, text: '{"challenge":"c"}' });
  expect(taken).toEqual([]);
});

it('refuses repeated fields, payloads that are no objects and bodies over a megabyte, even if signed', async () => {
  taken.length = 0;
  for (const [body, status] of [
    [`${command}&text=charge`, 400],
    ['payload=%5B%5D', 400],
    ['payload=%7B', 400],
    [`${command}&more=${'x'.repeat(1_100_000)}`, 413],
  ] as const) {
    expect(await sends(body, signSlack(body).headers)).toMatchObject({ status });
  }
  expect(taken).toEqual([]);
  expect(await sends(command, good)).toEqual({ status: 200, text: 'taken' });
  expect(taken).toEqual([{ command: '/pay', text: 'help' }]);
});

it('refuses an empty secret: anybody could sign with it', () => {
  expect(() => createHttpReceiver('', { log })).toThrow('SLACK_SIGNING_SECRET');
});

it('logs no content of a request', () => {
  expect(new Set(lines).size).toBe(1);
  expect(lines.join()).not.toMatch(/pay|help|v0=/);
});

it('logs at most ten lines about a flood of refused requests', async () => {
  const flooded: string[] = [];
  const flooding = createHttpReceiver(signingSecret, { log: (_, message) => void flooded.push(message) });
  const door = createServer((asked, response) => void flooding.listener(asked, response));
  await new Promise<void>((resolve) => void door.listen(0, '127.0.0.1', resolve));
  const { port } = door.address() as AddressInfo;
  for (let count = 0; count < 15; count += 1) {
    const { status } = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: command });
    expect(status).toBe(401);
  }
  door.close();
  expect(flooded).toHaveLength(10);
});
