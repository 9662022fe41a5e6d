import { createServer, type ServerResponse } from 'node:http';

/** node:http and nothing else: the raw body goes to `judge`, which says whether it is new, or undefined for no. */
export function serveBare(
  judge: (body: Buffer, headers: NodeJS.Dict<string | string[]>) => Promise<boolean> | undefined,
): void {
  createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const judged = judge(Buffer.concat(chunks), request.headers);
      if (!judged) {
        response.writeHead(401).end();
        return;
      }
      void judged.then((isNew) => answer(response, isNew));
    });
  }).listen(Number(process.env['PORT']), '127.0.0.1');
}

function answer(response: ServerResponse, isNew: boolean): void {
  const body = JSON.stringify({ result: isNew ? 'new' : 'duplicate' });
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
  response.end(body);
}
