import type { ChargeModalOptions } from '../../slack/charge/charge-modal.ts';
import type { ShowDeps } from './charge-views.ts';
import type { AwaitDeps } from './await-decision.ts';
import type { KnownCards } from './known-cards.ts';

export type ChargeDeps = ShowDeps &
  AwaitDeps & {
    /** Undefined when remembering cards is switched off: then every token key is pasted. */
    ledger: KnownCards | undefined;
    /** What may be charged in, the usual one first. */
    currencies: readonly string[];
  };

/** What every form for a charge has, whatever stands in it. */
export function formParts(
  deps: Pick<ChargeDeps, 'environment' | 'account' | 'currencies' | 'ledger'>,
): Pick<ChargeModalOptions, 'place' | 'currencies' | 'ledger'> {
  return { place: deps, currencies: deps.currencies, ledger: deps.ledger !== undefined };
}
