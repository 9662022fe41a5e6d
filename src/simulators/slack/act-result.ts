import type { ActResult } from '../protocol.ts';
import type { BotAnswer, BotLine, Events } from './bot-line.ts';
import type { World } from './world.ts';

export type ActDeps = {
  world: World;
  line: BotLine;
  events: Events;
  /** The whole address of a response_url's path. */
  responseUrl: (path: string) => string;
};

/** What Slack shows a person when a press or a submission was not acknowledged. */
export function actResult(answer: BotAnswer): ActResult {
  switch (answer.kind) {
    case 'acknowledged':
      return { ok: true };
    case 'timeout':
      return { ok: false, problem: 'Operation timed out. Apps need to respond within 3 seconds.' };
    case 'refused':
      return { ok: false, problem: `This app responded with status code ${answer.status}.` };
    case 'unreachable':
      return { ok: false, problem: 'This app could not be reached.' };
  }
}

/** What Slack tells the person when nothing is sent. */
export function no(problem: string): ActResult {
  return { ok: false, problem };
}
