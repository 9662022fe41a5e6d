import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { sendDelivery } from '../../../src/features/forward/send-delivery.ts';

it.each(['never ends', 'is cut off'])(
  'a delivery is taken once the backend says 200, even if its answer %s',
  async (how) => {
    const backend = createServer((request, answer) => {
      request.resume();
      answer.write('taken');
      if (how === 'is cut off') setTimeout(() => answer.destroy(), 20);
    });
    await new Promise<void>((resolve) => backend.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      backend.closeAllConnections();
      backend.close();
    });
    const { port } = backend.address() as AddressInfo;
    const sent = await sendDelivery(
      `http://127.0.0.1:${port}`,
      { body: Buffer.from('{}'), headers: [] },
      300,
    );
    expect(sent).toEqual({ kind: 'taken', why: 'HTTP 200', httpStatus: 200 });
  },
);
