import type { PostOutcome } from './delivery.ts';
import type { SlackMessage } from '../slack/kit/message.ts';
import type { MessageRecord } from './message-record.ts';
import type { Work } from './message-work.ts';

/**
 * `key`: by what the message is known in its channel’s history. `mayBeRepeat`: an earlier post of it may have arrived, and
 * that cannot be found out.
 */
export type Said = { key: string; mayBeRepeat: boolean };

/** A message that was made, and both ways of sending it. Neither throws for anything Slack or the network does. */
export type Composed = {
  /** The same for messages that look the same. */
  digest: string;
  post: (channel: string, threadTs?: string) => Promise<PostOutcome>;
  edit: (channel: string, ts: string) => Promise<PostOutcome>;
};

/** What a message shows as it leaves: what its words are made of, where Slack is known. */
export type Rendered<Shown> =
  /**
   * `below`: in the thread of that message, and after those steps of it, the nearest first. `keep` goes on record with
   * the post. `ifRefused`: where Slack takes no edit of it, it stays as it is.
   */
  | {
      kind: 'shown';
      post: Shown;
      below?: { key: string; after?: readonly string[] };
      keep?: Pick<MessageRecord, 'evidence'>;
      ifRefused?: 'leave';
    }
  /** It is not to be said any more. */
  | { kind: 'nothing' }
  /** It is not to be said yet: asked again, ever more rarely, and nothing behind it waits. */
  | { kind: 'later' }
  /** Whoever was asked has written what becomes of the record. */
  | { kind: 'settled' };

/** How a feature makes its messages, by their names, each of what it was stored with. */
export type Views<Bodies, Shown> = {
  [Kind in keyof Bodies]: (body: Bodies[Kind], work: Work, said: Said) => Promise<Rendered<Shown>>;
};

/** A message in its words; the same thing shown gives the same. */
type Worded = {
  message: SlackMessage;
  /** Whom it calls on purpose, by their user ids; of everybody else it has the name. */
  calls?: readonly string[];
  /** Who gets it where the bot may not post: whoever types a command need not know. */
  orTo?: string;
};

/** How a feature puts into words what its views show. */
export type Words<Shown extends { kind: string }> = {
  [Kind in Shown['kind']]: (post: Extract<Shown, { kind: Kind }> & Said) => Worded;
};

/** All messages of a feature; the outbox finds each by the name in its key. */
export type FeatureMessages = {
  views: Readonly<
    Record<string, (body: never, work: Work, said: Said) => Promise<Rendered<{ kind: string }>>>
  >;
  words: Readonly<Record<string, (post: never) => Worded>>;
};
