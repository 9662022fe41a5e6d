/** What is told when webhooks fail as a whole. Times in UTC ms. */
export type Alarm =
  /** `approvals`: charges processed since the last webhook. */
  | { kind: 'webhooks_silent'; minutes: number; approvals: number; sinceMs: number }
  /** `accepted`: in the same time; absent: none, all were refused in a row. `cause` names settings, headers and fields. */
  | {
      kind: 'deliveries_refused';
      refusals: number;
      accepted?: number | undefined;
      sinceMs: number;
      cause: string;
    }
  /** `more`: how many there are beyond those named. */
  | { kind: 'events_missing'; references: readonly string[]; more: number; minutes: number };

/** What a repeat of an event may say otherwise. */
export type EventPart = 'amount' | 'currency' | 'reason';

/** The kind of a signed delivery in which none is found. */
export const unreadableKind = 'unreadable';

/**
 * Something the bot must tell the people who run it, besides alerts: short, rare, once per key. Nothing secret, and no
 * customer: the channel may be wide.
 * `event_differs`: a repeat of a known event came with another amount or outcome; `differs`: which parts of it, where
 * the first can still be read.
 * `unknown_event`: a signed delivery that is none of the spec's two events, or `unreadable`, which is no kind; kept for
 * `keptDays`.
 * `stuck`: a record that cannot be read or worked on was put aside.
 * `refused`: Slack refuses all that is for a channel or a person since `sinceMs`, until somebody does what `fix` says.
 */
export type Notice =
  | {
      kind: 'event_differs';
      eventKind: string;
      orderReference?: string | undefined;
      differs?: readonly EventPart[];
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
  | Alarm;
