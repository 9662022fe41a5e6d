/** The kind of a signed delivery in which none is found. */
export const unreadableKind = 'unreadable';

/**
 * Something the bot must tell the people who run it, besides alerts: short, rare, once per key. Nothing secret, and no
 * customer: the channel may be wide.
 * `event_differs`: a repeat of a known event came with another amount or outcome.
 * `unknown_event`: a signed delivery that is none of the spec's two events, or `unreadable`, which is no kind; kept for
 * `keptDays`.
 * `stuck`: a record that cannot be read or worked on was put aside.
 * `events_missing`: of a charge that is paid, the first of an hour; `isSilent`: no event at all came since.
 * `refused`: Slack refuses all that is for a channel or a person since `sinceMs`, until somebody does what `fix` says.
 */
export type Notice =
  | {
      kind: 'event_differs';
      eventKind: string;
      orderReference?: string | undefined;
    }
  | { kind: 'unknown_event'; eventKind: string; keptDays?: number }
  | { kind: 'stuck'; record: string; errorId: string }
  | {
      kind: 'refused';
      channel: string;
      slackError: string;
      fix: string;
      giveUpHours: number;
      sinceMs?: number;
    }
  | { kind: 'events_missing'; reference: string; minutes: number; isSilent: boolean };
