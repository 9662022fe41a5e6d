import { expect, it } from 'vitest';
import { charges, openDesk, type Desk } from '../support/desk.ts';

type Line = Partial<Record<'message' | 'requestId' | 'key' | 'operation' | 'result', string>>;

/** What an operator’s `grep` finds. */
function grep({ bot }: Desk, text: string): Line[] {
  return bot.lines.filter((line) => line.includes(text)).map((line) => JSON.parse(line) as Line);
}

function expectLines(lines: Line[], wanted: Line[]): void {
  expect(lines).toEqual(expect.arrayContaining(wanted.map((line) => expect.objectContaining(line))));
}

const lookUp = 'GET /v1/transactions/accounts/single';

it('one grep shows a reference’s whole way: from the delivery or the click to the call and the message', async (test) => {
  const desk = await openDesk(test, {
    clock: true,
    workspace: { grantedOptionalScopes: 'all' },
    payments: { knownCards: true },
  });
  await desk.house.cardsKnown();
  await desk.settled('soon');
  const failed = await desk.house.decline();
  await desk.reads('onCall', failed, 'payAlerts');
  await desk.settled('soon');
  const alerted = grep(desk, failed);
  expect(alerted.map(({ message, operation, result }) => [message, operation ?? result])).toEqual([
    ['Webhook kept', 'new'],
    ['Called the payments service', lookUp],
    ['posted', undefined],
  ]);
  expect(new Set(alerted.map(({ requestId }) => requestId)).size).toBe(1);

  const charged = await charges(desk, 'agent', { amount: '5000.00', card: '4081' });
  await desk.modalSays('agent', ['Paid (confirmed)', charged]);
  await desk.settled('soon');
  const [stored, ...later] = grep(desk, charged);
  expect(stored).toMatchObject({
    message: 'charge stored',
    requestId: expect.stringMatching(/^[0-9A-F]{8}$/),
  });
  const ofTheClick = later.filter(({ requestId }) => requestId === stored?.requestId);
  expectLines(ofTheClick, [
    { message: 'Called the payments service', operation: 'POST /v1/checkout/tokenized-card-payment' },
    { message: 'charge answered', result: 'approved' },
    { message: 'Asked and answered', result: 'answered' },
    { message: 'posted', key: `message:charge:${charged}` },
  ]);
  // By the click or by the event, whichever came first.
  expectLines(later, [
    { message: 'Called the payments service', operation: lookUp },
    { message: 'charge looked up', result: 'paid' },
  ]);
  const ofTheEvent = later.find(({ message }) => message === 'Webhook kept');
  expect(ofTheEvent?.requestId).not.toBe(stored?.requestId);
  expect(later.every(({ requestId }) => requestId !== undefined)).toBe(true);
});
