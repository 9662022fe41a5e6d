import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { amountOf, kindOf } from './plan.ts';

export type FakePayments = { url: string; close: () => Promise<void> };

/** Answers every look-up at once, in the way the event said: what the bot makes of other answers is tested elsewhere. */
export async function startFakePayments(): Promise<FakePayments> {
  const server = createServer((request, response) => {
    request.resume();
    const url = new URL(request.url ?? '', 'http://localhost');
    const reference = url.searchParams.get('orderReference') ?? '';
    const data = {
      id: `id-${reference}`,
      status: kindOf(reference) === 'payment_success' ? 'SUCCESS' : 'FAILED',
      amount: amountOf(reference),
      gatewayMessage: 'Insufficient funds',
      onlineCheckoutOrderReference: reference,
      onlineCheckoutCurrency: 'NGN',
      onlineCheckoutAmount: amountOf(reference),
      currency: 'NGN',
    };
    const isKnown = url.pathname === '/v1/transactions/accounts/single' && reference !== '';
    response.writeHead(isKnown ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isKnown ? { code: '00', description: 'Found', data } : {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => void server.close(() => resolve()));
    },
  };
}
