import type { Confirmation } from './confirmation.ts';
import type { FailureKind } from './failure.ts';
import type { PaymentEvent } from './payment-event.ts';

/** Which of the spec's two environments a thing happened in; unmistakable on every surface. */
export type Environment = 'live' | 'sandbox';

/**
 * What the look-up behind an event gave. `unchecked`: the payments service could not be asked, so nothing
 * is claimed beyond what the signed event says. `no_reference`: the event names no order to look up.
 */
export type Lookup = Confirmation | { kind: 'unchecked'; failure: FailureKind } | { kind: 'no_reference' };

/** One event, ready to be told in a channel. Times are UTC milliseconds. */
export type Alert = {
  event: PaymentEvent;
  lookup: Lookup;
  environment: Environment;
  account: string;
  receivedAtMs: number;
  /** An earlier attempt to post it may have arrived, and the channel's history could not be read to find out. */
  mayBeRepeat: boolean;
};
