import type { Audit } from '../domain/audit-entry.ts';
import type { PaymentLinks } from '../features/links/payment-links.ts';
import { createRevealEmail, type RevealEmail } from '../features/lookup/reveal-email.ts';
import type { Charges } from './charges.ts';
import type { Outside } from './outside.ts';
import type { Payments } from './payments.ts';

type RevealParts = {
  payments: Pick<Payments, 'findTransaction'>;
  charges: Pick<Charges, 'find'>;
  links: Pick<PaymentLinks, 'find'>;
  audit: Audit;
};

/** A customer's e-mail in full: the service's, or that of the bot's own charge or link. */
export function createReveals({ config, log, now }: Outside, parts: RevealParts): RevealEmail {
  const { payments, charges, links, audit } = parts;
  return createRevealEmail({
    findTransaction: payments.findTransaction,
    async ownEmail(reference) {
      const [charge, link] = await Promise.all([charges.find(reference), links.find(reference)]);
      return (charge ?? link)?.terms.customerEmail;
    },
    audit,
    account: config.merchant?.name,
    now,
    log,
  });
}
