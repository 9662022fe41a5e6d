import type { ApprovalGate } from '../../src/domain/approval.ts';
import type { PaymentEvent } from '../../src/domain/payment-event.ts';
import { StoreUnavailable } from '../../src/domain/failure.ts';
import type { Storms } from '../../src/features/alerts/storm/storm.ts';

export const channel = 'C0ALERTS01';
export const ops = 'C0OPS00001';
export const event: PaymentEvent = {
  kind: 'payment_failed',
  key: 'payment_failed:SUB-1',
  orderReference: 'SUB-1',
  transactionId: 'canary-transaction',
  customerEmail: 'jane@example.com',
  reason: 'Insufficient funds',
};
export const sealer = {
  seal: (context: string, plain: string) => Buffer.from(`${context}|${plain}`).toString('base64'),
  open: (context: string, sealed: string) =>
    Buffer.from(sealed, 'base64')
      .toString()
      .slice(context.length + 1),
};

/** What a kill leaves behind: nothing is written any more. */
export const killed = () => Promise.reject(new StoreUnavailable('killed'));

/** No action needs a second person. */
export const noApprovals: Pick<ApprovalGate, 'needFor' | 'request'> = {
  needFor: () => undefined,
  request: () => Promise.reject(new Error('Nothing needs approval.')),
};

/** No channel has too many alerts. */
export const noStorms: Pick<Storms, 'join' | 'recount' | 'stateOfAlerts' | 'replacesEscalation'> = {
  join: () => Promise.resolve(undefined),
  recount: () => Promise.resolve(false),
  stateOfAlerts: () => Promise.resolve(undefined),
  replacesEscalation: () => Promise.resolve(undefined),
};
