import { problem } from '../../domain/wording.ts';
import type { ActResult, PageUser, WorkspaceAction } from '../protocol.ts';
import type { BotAnswer, BotDelivery } from './bot-delivery.ts';
import { commonPayload } from './payloads.ts';
import type { World } from './world.ts';

export type ActionOf<Kind extends WorkspaceAction['kind']> = Extract<WorkspaceAction, { kind: Kind }>;

export type ActDeps = {
  world: World;
  bot: BotDelivery;
  /** The whole address of a response_url's path. */
  responseUrl: (path: string) => string;
};

export function interact(deps: ActDeps, user: PageUser, payload: object, does: string): Promise<BotAnswer> {
  const whole = { ...commonPayload(user), ...payload };
  return deps.bot.send({ kind: 'interactive', payload: whole }, `${user.realName} ${does}`);
}

/** What Slack shows after an unacknowledged press or submission. */
export function actResult(answer: BotAnswer): ActResult {
  if (answer.kind === 'acknowledged') return { ok: true };
  if (answer.kind === 'refused') return problem(`This app responded with status code ${answer.status}.`);
  return problem(noAnswerWords[answer.kind]);
}

const noAnswerWords = {
  timeout: 'Operation timed out. Apps need to respond within 3 seconds.',
  unreachable: 'This app could not be reached.',
  not_asked: 'This app is not configured to handle interactive responses.',
};
