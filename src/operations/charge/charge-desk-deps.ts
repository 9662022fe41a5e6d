import type { NoteAudit } from '../../domain/audit-note.ts';
import type { Leave, ResendAnswer } from '../../domain/charge-answer.ts';
import type { PaymentLinks } from '../link/payment-links.ts';
import type { SubmitDeps } from './submit-charge.ts';

/** What the desk needs beyond submitting a charge. */
export type DeskDeps = SubmitDeps & {
  resendOtp: (transactionId: string, leave: Leave) => Promise<ResendAnswer>;
  links: Pick<PaymentLinks, 'begin'>;
  /** Writes into the audit, in the background; absent: nothing is written down. */
  note?: NoteAudit;
};
