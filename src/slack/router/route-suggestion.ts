import type { BlockSuggestion } from '@slack/bolt';
import type { Option } from '@slack/types';
import { withDeadline } from '../../deadline.ts';
import { holdsCardNumber } from '../../domain/card-number.ts';
import type { Log } from '../../log.ts';
import { refuse } from '../answer.ts';
import { callerOf, isStranger } from '../people/asker.ts';
import { plainText, type Choice } from '../kit/blocks.ts';
import type { Caller, CommandSet, MayRun } from '../command.ts';
import { limits } from '../kit/limits.ts';
import type { Identity } from '../workspace.ts';

export type SuggestionDeps = {
  log: Log;
  mayRun: MayRun;
  commands: CommandSet;
  /** Undefined while Slack has not said who the bot is. */
  identity: () => Identity | undefined;
  /** How long a list may take, of Slack's three seconds. */
  suggestMs: number;
};

/**
 * What an external select offers, in time and within Slack's limits. Never throws: whatever goes wrong, the
 * list is empty, because Slack shows a person no words there.
 */
export async function optionsFor(body: BlockSuggestion, deps: SuggestionDeps): Promise<Option[]> {
  const caller = callerOf(body, body.view ? 'modal' : 'message');
  const { userId } = caller;
  if (holdsCardNumber(body.value)) {
    deps.log('warn', 'A card number was typed and refused', { userId });
    return [];
  }
  const found = deps.commands.suggestion(body.action_id);
  if (!found || isStranger(caller, deps.identity())) return [];
  const { command, suggestion } = found;
  async function choices(): Promise<readonly Choice[]> {
    if (await refuse(caller, command, deps.mayRun)) return [];
    return suggestion.suggest(body.value, caller);
  }
  try {
    return fitting(await withDeadline(deps.suggestMs, choices), { verb: command.verb, caller }, deps.log);
  } catch (error) {
    deps.log('warn', 'A list could not be offered', { verb: command.verb, userId }, error);
    return [];
  }
}

/** A value is never cut: it would then mean something else. */
function fitting(choices: readonly Choice[], about: { verb: string; caller: Caller }, log: Log): Option[] {
  const sendable = choices.filter(({ value }) => value !== '' && value.length <= limits.optionValue);
  if (sendable.length < choices.length) {
    const { verb, caller } = about;
    log('warn', 'A list holds values that Slack does not take', { verb, userId: caller.userId });
  }
  return sendable
    .slice(0, limits.options)
    .map(({ text, value }) => ({ text: plainText(text, limits.optionText), value }));
}
