import { parsed } from '../../src/domain/parsed.ts';
import { modal, richText, words } from '../../src/slack/blocks.ts';
import { defineCommand, type Command, type ModalDefinition } from '../../src/slack/command.ts';
import { helpMessage } from '../../src/slack/help-message.ts';
import type { Modal } from '../../src/slack/message.ts';
import type { RunningBot } from './running-bot.ts';

/** A verb with one modal, `refund`. */
export function formVerb(submit: ModalDefinition['submit'], more: Partial<ModalDefinition> = {}): Command {
  return defineCommand<undefined>({
    verb: 'refund',
    usage: '',
    summary: 'Give money back',
    examples: ['refund'],
    permission: 'refund',
    effect: 'none',
    modals: [{ callbackId: 'refund', submit, ...more }],
    parse: () => parsed(undefined),
    run: async () => helpMessage([]),
  });
}

/** Its submission, with nothing typed. */
export const form = { view: { id: 'V7', callbackId: 'refund' } };

export function page(text: string): Modal {
  return modal({ callbackId: 'refund_next', title: 'Refund', blocks: [richText([words(text)])] });
}

export function auditLines(bot: RunningBot): unknown[] {
  return bot.logged
    .filter((line) => line.includes('Asked and answered'))
    .map((line) => JSON.parse(line) as unknown);
}
