import type { MessageBlock, Modal, SlackMessage } from '../../../src/slack/kit/message.ts';
import type { Random } from '../../chaos/random.ts';

/** A source of outside words; each `text` is different. */
export type Outside = { random: Random; text: () => string };

/** One screen of the bot, made with outside words wherever possible. */
export type Surface = { name: string; compose: (outside: Outside) => Shown };

export type Shown = (
  | { kind: 'message'; payload: SlackMessage }
  | { kind: 'modal'; payload: Modal }
  | { kind: 'home'; payload: { blocks: readonly MessageBlock[] } }
) & {
  /** The screen's payment link, as the bot checked it. */
  paymentLink?: string | undefined;
};

export function messageOf(name: string, make: (outside: Outside) => SlackMessage): Surface {
  return { name, compose: (outside) => ({ kind: 'message', payload: make(outside) }) };
}

export function modalOf(name: string, make: (outside: Outside) => Modal): Surface {
  return { name, compose: (outside) => ({ kind: 'modal', payload: make(outside) }) };
}

export function homeOf(name: string, make: (outside: Outside) => readonly MessageBlock[]): Surface {
  return { name, compose: (outside) => ({ kind: 'home', payload: { blocks: make(outside) } }) };
}
