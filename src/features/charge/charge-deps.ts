import type { ChargeModalOptions } from './charge-modal.ts';
import type { Money } from '../../domain/money.ts';
import type { ShowDeps } from './charge-views.ts';
import type { AwaitDeps } from './await-decision.ts';
import type { KnownCards } from './known-cards.ts';

export type ChargeDeps = ShowDeps &
  AwaitDeps & {
    /** Undefined when remembering cards is switched off: then every token key is pasted. */
    ledger: KnownCards | undefined;
    /** What may be charged in, the usual one first. */
    currencies: readonly string[];
    /** From which amount a charge in this currency needs a second person; absent where none does. */
    approvalFrom?: ((currency: string) => Money | undefined) | undefined;
  };

/** What every form for a charge has, whatever stands in it. */
export function formParts(
  deps: Pick<ChargeDeps, 'environment' | 'account' | 'currencies' | 'ledger' | 'approvalFrom'>,
): Pick<ChargeModalOptions, 'place' | 'currencies' | 'ledger' | 'approvalFrom'> {
  const { currencies, ledger } = deps;
  const approvalFrom = currencies.flatMap((currency) => deps.approvalFrom?.(currency) ?? []);
  return { place: deps, currencies, ledger: ledger !== undefined, approvalFrom };
}
