import type { PostOutcome } from './delivery.ts';
import type { SlackMessage } from '../slack/kit/message.ts';
import type { PostAttempt } from '../slack/kit/note.ts';
import type { Work } from './message-work.ts';

/** A composed message and both ways of sending it. Neither throws for Slack or the network. */
export type Composed = {
  /** Equal for messages that look the same. */
  digest: string;
  post: (channel: string, threadTs?: string) => Promise<PostOutcome>;
  edit: (channel: string, ts: string) => Promise<PostOutcome>;
};

/** Keys of the message in whose thread to post, and of the earlier replies to wait for, nearest first. */
export type Below = { key: string; after?: readonly string[] };

/** What a message shows now. */
export type Rendered<Shown> =
  | {
      kind: 'shown';
      post: Shown;
      below?: Below;
      /** See `MessageRecord`. Stored with the post. */
      evidence?: string;
      /** If Slack refuses an edit, the message stays as it is. */
      ifRefused?: 'leave';
    }
  /** Don't post it any more. */
  | { kind: 'nothing' }
  /** Not yet: retried with a growing back-off, while its lane goes on. */
  | { kind: 'later' }
  /** The view has already written the record. */
  | { kind: 'settled' };

/** Maps each message name of a feature to what it shows, from the stored body. */
export type Views<Bodies, Shown> = {
  [Kind in keyof Bodies]: (body: Bodies[Kind], work: Work, about: PostAttempt) => Promise<Rendered<Shown>>;
};

type Worded = {
  message: SlackMessage;
  /** User ids to mention; other people are shown by name, without a ping. */
  calls?: readonly string[];
  /** The user who gets the message instead if the bot can't post in the channel. */
  orTo?: string;
};

/** Maps each kind of view to its message. Pure: the same input gives the same message. */
export type Words<Shown extends { kind: string }> = {
  [Kind in Shown['kind']]: (post: Extract<Shown, { kind: Kind }> & PostAttempt) => Worded;
};

/** A feature's messages, each found by the name in its key. */
export type FeatureMessages = {
  views: Readonly<
    Record<string, (body: never, work: Work, about: PostAttempt) => Promise<Rendered<{ kind: string }>>>
  >;
  words: Readonly<Record<string, (post: never) => Worded>>;
};
