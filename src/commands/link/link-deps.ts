import type { PaymentLinks } from '../../operations/link/payment-links.ts';
import type { ChargePlace } from '../../slack/charge/charge-place.ts';
import type { ShowEnd } from '../../slack/show-end.ts';

export type LinkDeps = ChargePlace & {
  links: Pick<PaymentLinks, 'begin' | 'find' | 'openOf' | 'lookNow' | 'share'>;
  currencies: readonly string[];
  showEnd: ShowEnd;
  now: () => number;
};
