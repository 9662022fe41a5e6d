import type { ChargeSeen } from '../../domain/charge-seen.ts';
import type { Conclusion, Told } from '../../domain/charge-state.ts';
import { outcomeWords } from '../../domain/outcome.ts';

/** The word of each thing an agent is told. */
export const wordsOfTold: Record<Told, string> = {
  approved: outcomeWords.paid,
  otp: outcomeWords.otp,
  declined: outcomeWords.declined,
  rejected: outcomeWords.rejected,
  abandoned: outcomeWords.abandoned,
  expired: outcomeWords.expired,
  review: outcomeWords.review,
};

const symbols: Record<Told, string> = {
  approved: '✅',
  otp: '🔑',
  declined: '❌',
  rejected: '⛔',
  abandoned: '📭',
  expired: '⌛',
  review: '🚨',
};

/** The one word for where a charge stands. Only an approval that was proven is called paid. */
export function stateWord({ state, heard }: ChargeSeen): string {
  switch (state.kind) {
    case 'charging':
      return '⏳ Charging …';
    case 'otp_checking':
      return '⏳ Checking the code …';
    case 'confirming':
      return heard.includes('paid') ? `🕓 ${outcomeWords.approved}` : `❔ ${outcomeWords.doubt}`;
    default:
      return marked(state.kind);
  }
}

/** What was told, in the words of then; paid only while it is proven. */
export function toldWord(what: Told, charge: ChargeSeen): string {
  return what === 'approved' ? stateWord(charge) : marked(what);
}

function marked(what: Told): string {
  return `${symbols[what]} ${wordsOfTold[what]}`;
}

export function isConcluded(state: ChargeSeen['state']): state is Conclusion {
  return 'concludedAt' in state;
}

/** No person has anything to do, and no look-up is awaited: the message loses its buttons and details. */
export function isClosed({ state }: ChargeSeen): boolean {
  return isConcluded(state) && state.kind !== 'review';
}
