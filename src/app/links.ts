import { setTimeout as sleep } from 'node:timers/promises';
import type { AuditNotes } from '../audit/audit-notes.ts';
import { createExpectedLookUp, lookUpExpected } from '../features/alerts/look-up-event.ts';
import { createPaymentLinks, type PaymentLinks } from '../features/links/payment-links.ts';
import { createLookAtChannel } from '../messages/look-at-channel.ts';
import type { SlackClients } from '../slack/workspace.ts';
import { createBackground, type Background } from './background.ts';
import type { Kept } from './kept.ts';
import type { Outside } from './outside.ts';
import type { Payments } from './payments.ts';

type LinkParts = {
  kept: Kept;
  payments: Pick<Payments, 'createCheckoutOrder' | 'findTransaction'>;
  clients: SlackClients;
  wake: () => void;
  notes: Pick<AuditNotes, 'write'>;
};

export type Links = PaymentLinks & Pick<Background, 'drained'>;

/** Payment links, put together: the orders they are made of, and what follows them until they are paid. */
export function createLinks(outside: Outside, parts: LinkParts): Links {
  const { config, log, now } = outside;
  const { kept, payments, clients, wake, notes } = parts;
  const { createCheckoutOrder, findTransaction } = payments;
  const lookAt = createLookAtChannel(clients.interactive);
  const background = createBackground(outside, 'a payment link');
  const links = createPaymentLinks({
    store: kept.store,
    sealer: kept.sealer,
    createCheckoutOrder,
    lookUp: createExpectedLookUp({ findTransaction, now }),
    lookUpNow: (expected) => lookUpExpected(findTransaction, expected),
    mayPost: async (channel) => (await lookAt(channel)).kind !== 'unreachable',
    callbackUrl: config.linkCallbackUrl,
    rules: {
      // A lease is longer than a call and its repeat.
      askAgainMs: config.workLeaseSeconds * 1_000,
      followMs: config.linkFollowHours * 3_600_000,
    },
    rememberMs: config.chargeRememberDays * 86_400_000,
    leaseMs: config.workLeaseSeconds * 1_000,
    now,
    wake,
    wait: sleep,
    log,
    audit: notes.write,
    inBackground: background.add,
  });
  return { ...links, drained: background.drained };
}
