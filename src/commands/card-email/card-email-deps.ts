import type { CardEmails } from '../../operations/card/change-card-email.ts';
import type { CardEmailModalOptions } from '../../slack/card-email/form-modal.ts';
import type { ShowEnd } from '../../slack/show-end.ts';
import type { AwaitDeps } from '../charge/await-decision.ts';
import type { ShowDeps } from '../charge/charge-views.ts';
import type { KnownCards } from '../charge/known-cards.ts';

export type CardEmailDeps = ShowDeps &
  AwaitDeps & {
    cardEmails: CardEmails;
    /** Undefined when remembering cards is switched off: then every token key is pasted. */
    ledger: KnownCards | undefined;
    showEnd: ShowEnd;
  };

/** What every form has, whatever stands in it. */
export function formParts(deps: CardEmailDeps): Pick<CardEmailModalOptions, 'place' | 'ledger'> {
  return { place: deps, ledger: deps.ledger !== undefined };
}
