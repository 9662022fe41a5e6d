import type { HomeBlock, Modal, SlackMessage } from '../../../src/slack/kit/message.ts';
import type { Random } from '../../chaos/random.ts';

/** Where outside words come from; each `text` is another one. */
export type Outside = { random: Random; text: () => string };

/** One thing that the bot shows, made with outside words wherever some can stand. */
export type Surface = { name: string; compose: (outside: Outside) => Shown };

export type Shown = (
  | { kind: 'message'; payload: SlackMessage }
  | { kind: 'modal'; payload: Modal }
  | { kind: 'home'; payload: { blocks: readonly HomeBlock[] } }
) & {
  /** The address of the payment link that it is about, as the bot has it once it was checked. */
  paymentLink?: string | undefined;
};

export function messageOf(name: string, make: (outside: Outside) => SlackMessage): Surface {
  return { name, compose: (outside) => ({ kind: 'message', payload: make(outside) }) };
}

export function modalOf(name: string, make: (outside: Outside) => Modal): Surface {
  return { name, compose: (outside) => ({ kind: 'modal', payload: make(outside) }) };
}

export function homeOf(name: string, make: (outside: Outside) => readonly HomeBlock[]): Surface {
  return { name, compose: (outside) => ({ kind: 'home', payload: { blocks: make(outside) } }) };
}
