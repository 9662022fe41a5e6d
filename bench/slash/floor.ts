/** The floor: Slack's signature checked by hand on node:http, and the same empty acknowledgement. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { slackSigningSecret } from '../stage/names.ts';

createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks).toString();
    const at = String(request.headers['x-slack-request-timestamp']);
    const expected = createHmac('sha256', slackSigningSecret).update(`v0:${at}:${body}`).digest('hex');
    const given = Buffer.from(String(request.headers['x-slack-signature']));
    const wanted = Buffer.from(`v0=${expected}`);
    const isFresh = Math.abs(Date.now() / 1_000 - Number(at)) < 300;
    const holds = isFresh && given.length === wanted.length && timingSafeEqual(given, wanted);
    const command = new URLSearchParams(body).get('command');
    response.writeHead(holds && command === '/pay' ? 200 : 401).end();
  });
}).listen(Number(process.env['PORT']), '127.0.0.1');
