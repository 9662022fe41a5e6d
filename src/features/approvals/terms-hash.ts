import { createHash } from 'node:crypto';
import type { ApprovalTerms } from '../../domain/approval.ts';

/**
 * Names exactly what is to be done: SHA-256 (hex) of account, card fingerprint, amount, currency, e-mail and
 * reference, and of whatever else changes what happens. What an approver was shown, what is kept and what is executed
 * are one as long as this is. The token key is in it by the card's fingerprint alone. The agent's own words, the card's
 * face and the dialogue's id are not: they change nothing that is sent.
 */
export function termsHash(accountId: string, terms: ApprovalTerms): string {
  // A list in JSON: no two different ones give the same text.
  const text = JSON.stringify(['payops approval 1', accountId.toLowerCase(), ...partsOf(terms)]);
  return createHash('sha256').update(text).digest('hex');
}

function partsOf(approval: ApprovalTerms): (string | number | boolean | null)[] {
  switch (approval.kind) {
    case 'charge': {
      const { card, reference, terms, despite = null, overridesRest = false } = approval;
      const { money, customerEmail, customerId = null, alert = null } = terms;
      const { minor, currency } = money;
      return [
        'charge',
        card,
        minor,
        currency,
        customerEmail,
        reference,
        customerId,
        alert,
        despite,
        overridesRest,
      ];
    }
    case 'card_email': {
      const { card, terms } = approval;
      return ['card_email', card, terms.currentEmail, terms.newEmail];
    }
    case 'redrive':
      return ['redrive', approval.channel];
  }
}
