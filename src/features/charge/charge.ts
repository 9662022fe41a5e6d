import { chargeActions } from './charge-actions.ts';
import { homeCharges } from './charge-list.ts';
import { chargeModal } from './charge-modal.ts';
import { homeLimits } from './limit-words.ts';
import { defineCommand, type Caller, type Command } from '../../slack/command.ts';
import type { HomeBlock } from '../../slack/kit/message.ts';
import { parseAmountAlone } from '../../slack/amount-alone.ts';
import { chargeModals } from './charge-modals.ts';
import { chargePresses } from './charge-presses.ts';
import { formParts, type ChargeDeps } from './charge-deps.ts';
import { suggestCards } from './known-cards.ts';

export type { ChargeDeps };

type Beginning = { amountMinor?: number };

const recentCharges = 4;

/**
 * `/pay charge [amount]`: the form, the read-back of its exact terms, the charge, and what became of it, all in
 * one modal. Running it charges nothing, so a repeat is harmless; the charge itself goes by the dialogue's own
 * reference, and is made at most once for it.
 */
export function chargeCommand(deps: ChargeDeps): Command {
  return defineCommand<Beginning>({
    verb: 'charge',
    usage: '[amount]',
    summary: 'Charge a saved card',
    examples: ['charge', 'charge 12,500.00'],
    permission: 'charge',
    menu: { text: 'Charge a card', opens: 'modal' },
    opensForm: true,
    shortcuts: [{ callbackId: 'charge', kind: 'global', name: 'Charge a saved card' }],
    effect: 'none',
    parse: (typed) => parseAmountAlone(typed, 'The card and everything else are asked for in a form.'),
    modals: chargeModals(deps),
    presses: chargePresses(deps),
    suggestions: [{ actionId: chargeActions.card, suggest: (typed, caller) => suggest(deps, typed, caller) }],
    home: async (caller) => (await Promise.all([ownLimits(deps, caller), recent(deps, caller)])).flat(),

    async run(beginning, { openModal }) {
      await openModal(chargeModal({ ...formParts(deps), prefill: beginning }));
      return undefined;
    },
  });
}

function suggest(
  { desk, ledger, currencies: [currency = ''] }: ChargeDeps,
  typed: string,
  { userId: by }: Caller,
) {
  return suggestCards(ledger, typed, (card) => desk.holdOf({ card, by, currency }));
}

async function ownLimits({ desk }: ChargeDeps, { userId }: Caller): Promise<HomeBlock[]> {
  return homeLimits(await desk.limitsOf(userId));
}

async function recent(deps: ChargeDeps, { userId }: Caller): Promise<HomeBlock[]> {
  const charges = await deps.desk.recent(userId, 2 * recentCharges);
  // What is open stands under its own heading.
  const settled = charges.filter(({ state }) => 'concludedAt' in state && state.kind !== 'review');
  return homeCharges('Your last charges', settled.slice(0, recentCharges), deps, deps.now());
}
