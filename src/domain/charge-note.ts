import type { ResendAnswer } from './charge-answer.ts';
import type { Told } from './charge-state.ts';

/** What the thread below a charge's message says, each once. People are Slack user ids, times UTC ms. */
export type ChargeNote =
  | { kind: 'told'; what: Told; at: number }
  | { kind: 'handed_over'; from: string; to: string; at: number }
  | { kind: 'resent'; by: string; answer: ResendAnswer['kind']; at: number };
