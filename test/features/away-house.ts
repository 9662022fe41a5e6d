import type { HistoryAnswer, PostOutcome } from '../../src/messages/delivery.ts';
import type { CardsHouse } from './cards-house.ts';

export type Away = { post: PostOutcome; history: HistoryAnswer };

const cause = new Error('away');
const silent: HistoryAnswer = { kind: 'unknown', slackError: 'no_usable_answer' };

export const outages: readonly [string, Away][] = [
  ['cannot be reached', { post: { kind: 'not_sent', cause }, history: silent }],
  ['answers 503, or nothing at all', { post: { kind: 'unsure', cause }, history: silent }],
  ['asks to wait', { post: { kind: 'rate_limited', retryAfterMs: 30_000 }, history: silent }],
  [
    'refuses the token',
    { post: { kind: 'refused', slackError: 'token_revoked', fix: '', about: 'bot' }, history: silent },
  ],
];

/** What stands of alerts, in the order in which Slack took it. */
export type Taken = { channel: string; key: string; atMs: number; mayBeRepeat: boolean };

/**
 * Lets the Slack of a house be away: for posts, edits and the history. Where an answer is lost, the first
 * post to each channel arrives all the same.
 */
export function awayFrom(house: CardsHouse, mayRead: boolean) {
  const { deliver, clock } = house;
  const { compose, findByKey } = deliver;
  const taken: Taken[] = [];
  const calls = { post: 0, edit: 0 };
  const lost = new Set<string>();
  let away: Away | undefined;

  deliver.compose = (post) => {
    const made = compose(post);
    const send: typeof made.post = async (channel, threadTs) => {
      const isLost = away?.post.kind === 'unsure' && !lost.has(channel) && threadTs === undefined;
      if (away) calls.post += 1;
      if (away && !isLost) return away.post;
      const outcome = await made.post(channel, threadTs);
      if (outcome.kind === 'posted' && post.kind === 'alert') {
        const { event, mayBeRepeat } = post.alert;
        taken.push({ channel, key: event.key.replace('message:alert:', ''), atMs: clock.nowMs, mayBeRepeat });
      }
      if (!away) return outcome;
      lost.add(channel);
      return away.post;
    };
    return {
      ...made,
      post: send,
      edit(...args) {
        if (!away) return made.edit(...args);
        calls.edit += 1;
        return Promise.resolve(away.post);
      },
    };
  };
  deliver.findByKey = (...args) => {
    if (away) return Promise.resolve(away.history);
    if (!mayRead) return Promise.resolve({ kind: 'unreadable', slackError: 'missing_scope' });
    return findByKey(...args);
  };

  return {
    taken,
    calls,
    lost,
    leave(how: Away) {
      away = how;
    },
    comeBack() {
      away = undefined;
    },
  };
}
