import { bold, words, type Run } from '../../../slack/kit/blocks.ts';
import { clock } from './clock.ts';

/** What the policy file tells a channel besides alerts, and under which of its names. */
export type ChannelUse =
  | { kind: 'ops' | 'desk' | 'approvals' }
  | { kind: 'daily_summary'; atMinute: number; timeZone: string };

/** "A daily summary at 08:00 Africa/Lagos, because daily_summary names this channel." */
export function useLine(use: ChannelUse): Run[] {
  const [what, setting] = wordsOf(use);
  return [words(`${what}, by `), bold(setting), words('.')];
}

function wordsOf(use: ChannelUse): [what: string, setting: string] {
  switch (use.kind) {
    case 'ops':
      return ['Trouble with the bot itself', 'channels.ops'];
    case 'desk':
      return ['Charges made in Slack', 'channels.desk'];
    case 'approvals':
      return ['Approval requests', 'approvals'];
    case 'daily_summary':
      return [`A daily summary at ${clock(use.atMinute)} ${use.timeZone}`, 'daily_summary'];
  }
}
