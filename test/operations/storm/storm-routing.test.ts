import { expect, it } from 'vitest';
import {
  destinationsOf,
  needsLookUp,
  type Destination,
  type RoutePlan,
} from '../../../src/domain/alert-route.ts';
import { confirm } from '../../../src/domain/confirmation.ts';
import type { OrderReference } from '../../../src/domain/order-reference.ts';
import type { PaymentEvent } from '../../../src/domain/payment-event.ts';
import { receiveEvent } from '../../../src/operations/alert/receive-event.ts';
import { channel, event, house, noStorms } from '../house.ts';

it('looks an alert up once for its rule and its digest', async () => {
  const lookup = confirm(
    { reference: 'SUB-1' as OrderReference },
    {
      status: 'FAILED',
      orderReference: 'SUB-1',
      amountMinor: 700,
      currency: 'NGN',
      gatewayMessage: 'No funds',
    },
  );
  const { receive, deliver, drain } = house();
  let lookUps = 0;
  const added: unknown[] = [];
  Object.assign(receive, { needsLookUp: () => true });
  Object.assign(deliver, {
    needsLookUp: () => true,
    lookUp() {
      lookUps += 1;
      return Promise.resolve(lookup);
    },
    storms: {
      ...noStorms,
      ask: () => Promise.resolve({ kind: 'digest', storm: 'C0ALERTS01/1', begins: false }),
      add(_storm: string, { amountMinor, currency, reason }: PaymentEvent) {
        added.push({ amountMinor, currency, reason });
        return Promise.resolve();
      },
    },
  });
  const { amountMinor: _amount, currency: _currency, reason: _reason, ...silent } = event;
  await receiveEvent(receive, silent, 'f');
  await drain(60_000);
  expect(added).toEqual([{ amountMinor: 700, currency: 'NGN', reason: 'No funds' }]);
  expect(lookUps).toBe(1);
});

it('asks a storm by the rule that the look-up sends an alert by, however much its event says', async () => {
  const declined = confirm(
    { reference: 'SUB-1' as OrderReference },
    { status: 'FAILED', orderReference: 'SUB-1', customerEmail: 'jane@big.example' },
  );
  const { receive, deliver, drain } = house({ lookups: [declined, declined] });
  const plan: RoutePlan = {
    rules: [
      {
        name: 'big',
        match: { emailDomain: 'big.example' },
        channels: [channel],
        digestAfter: 0,
        goesOn: false,
      },
    ],
    environment: 'live',
    account: 'main account',
    failures: channel,
    successes: undefined,
  };
  const asked: (string | undefined)[] = [];
  const routing = {
    route: (told: PaymentEvent, atMs: number) => destinationsOf(plan, told, atMs),
    needsLookUp: (told: PaymentEvent) => needsLookUp(plan, told),
  };
  Object.assign(receive, routing);
  Object.assign(deliver, routing, {
    storms: {
      ...noStorms,
      ask({ rule }: Destination) {
        asked.push(rule?.name);
        return Promise.resolve({ kind: 'single' });
      },
    },
  });
  const { customerEmail: _email, ...rest } = event;
  const said = { ...rest, amountMinor: 1_000, currency: 'NGN', reason: 'Insufficient funds' };
  await receiveEvent(receive, said, 'f');
  await drain(60_000);
  expect(asked).toEqual(['big']);
});
