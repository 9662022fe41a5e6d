import { describe, expect, it } from 'vitest';
import type { ChargeNote } from '../../../src/domain/charge-note.ts';
import type { PostOutcome } from '../../../src/domain/delivery.ts';
import {
  ada,
  bola,
  concluded,
  deliverWith,
  desk,
  dieAfterPost,
  postsHouse,
  reference,
} from '../posts-house.ts';

const dmOfAda = 'D0ADA00001';
const note: ChargeNote = { kind: 'handed_over', from: ada, to: bola, at: 1_000_000 };
const minuteMs = 60_000;

function unsure(): PostOutcome {
  return { kind: 'unsure', cause: new Error('reset') };
}

describe('the desk’s message', () => {
  it('is posted once and edited as the charge goes on', async () => {
    const { become, drain, standing } = postsHouse();
    for (const kind of ['charging', 'otp', 'otp_checking'] as const) {
      await become({ kind });
      await drain(2_000);
    }
    await become(concluded('approved'));
    await drain(2_000);
    expect(standing(desk)).toMatchObject([{ text: 'charge: approved', edits: 3 }]);
  });

  it('shows the charge as it is when it leaves, and several steps as one edit', async () => {
    const { become, drain, standing } = postsHouse();
    await become({ kind: 'charging' });
    await drain();
    await become({ kind: 'otp' });
    await become({ kind: 'otp_checking' });
    await become(concluded('declined'));
    await drain(2_000);
    expect(standing(desk)).toMatchObject([{ text: 'charge: declined', edits: 1 }]);
  });

  it('is not edited when it would look the same', async () => {
    const { become, drain, slack } = postsHouse();
    await become({ kind: 'charging' });
    await drain(2_000);
    await become({ kind: 'charging' });
    await drain(2_000);
    expect(slack.faults.calls).toBe(1);
  });

  it('keeps Slack’s pace with its edits', async () => {
    const { become, drain, standing, clock } = postsHouse();
    await become({ kind: 'charging' });
    await drain();
    await become({ kind: 'otp' });
    await drain();
    expect(standing(desk)).toMatchObject([{ edits: 0 }]);
    clock.nowMs += 1_000;
    await drain();
    expect(standing(desk)).toMatchObject([{ edits: 1 }]);
  });

  it('is posted anew when somebody deleted it', async () => {
    const { become, drain, slack, texts } = postsHouse();
    await become({ kind: 'charging' });
    await drain();
    slack.messages.length = 0;
    await become(concluded('approved'));
    await drain(minuteMs);
    expect(texts(desk)).toEqual(['charge: approved']);
  });

  it('is edited again, and not posted, when the answer to an edit is lost', async () => {
    const { become, drain, slack, standing } = postsHouse();
    await become({ kind: 'charging' });
    await drain(1_000);
    slack.answers.push(unsure());
    await become({ kind: 'otp' });
    await drain(minuteMs);
    expect(standing(desk)).toMatchObject([{ text: 'charge: otp', edits: 1 }]);
  });

  it.each<[string, PostOutcome]>([
    ['Slack’s wish to wait', { kind: 'rate_limited', retryAfterMs: 5_000 }],
    ['a refusal', { kind: 'refused', slackError: 'invalid_auth', fix: 'token', about: 'channel' }],
    ['a connection refused', { kind: 'not_sent', cause: new Error('x') }],
  ])('catches up after %s', async (_what, outcome) => {
    const { become, drain, slack, standing } = postsHouse();
    await become({ kind: 'charging' });
    await drain(1_000);
    slack.answers.push(outcome);
    await become({ kind: 'otp' });
    await drain(2 * minuteMs);
    expect(standing(desk)).toMatchObject([{ text: 'charge: otp', edits: 1 }]);
  });

  it('is found by its key after a crash between post and record, and then catches up', async () => {
    const built = postsHouse();
    await built.become({ kind: 'charging' });
    await dieAfterPost(built);
    await built.become(concluded('approved'));
    await built.drain(minuteMs);
    expect(built.standing(desk)).toMatchObject([{ text: 'charge: approved', edits: 1 }]);
  });

  it('says that it may be a repeat, also when it is edited, where an earlier post cannot be found', async () => {
    const built = postsHouse();
    built.deliver.findByKey = () => Promise.resolve({ kind: 'unreadable', slackError: 'missing_scope' });
    await built.become({ kind: 'charging' });
    await dieAfterPost(built);
    await built.drain(minuteMs);
    const lost = 'charge: charging';
    expect(built.texts(desk)).toEqual([lost, 'charge: charging (may be a repeat)']);
    for (const state of [{ kind: 'otp' } as const, concluded('approved')]) {
      // oxlint-disable-next-line no-await-in-loop -- one edit after the other
      await built.become(state);
      // oxlint-disable-next-line no-await-in-loop
      await built.drain(2_000);
      expect(built.texts(desk)).toEqual([lost, `charge: ${state.kind} (may be a repeat)`]);
    }
    expect(built.standing(desk).map(({ edits }) => edits)).toEqual([0, 2]);
  });

  it('does not say so when the earlier post is found, or is known not to have arrived', async () => {
    const found = postsHouse();
    await found.become({ kind: 'charging' });
    await dieAfterPost(found);
    await found.drain(minuteMs);
    const absent = postsHouse();
    absent.slack.answers.push(unsure());
    await absent.become({ kind: 'charging' });
    await absent.drain(minuteMs);
    for (const { texts } of [found, absent]) expect(texts(desk)).toEqual(['charge: charging']);
  });

  it('is waited for by who wants it in the channel before the charge leaves', async () => {
    const { become, drain, posts, clock } = postsHouse();
    await become({ kind: 'charging' });
    const startedAtMs = clock.nowMs;
    expect(await posts.deskPosted(reference, 300)).toBe(false);
    expect(clock.nowMs - startedAtMs).toBe(300);
    await drain();
    const postedAtMs = clock.nowMs;
    expect(await posts.deskPosted(reference, 300)).toBe(true);
    expect(clock.nowMs).toBe(postedAtMs);
  });

  it('is nowhere without a desk channel, and nobody waits for it', async () => {
    const { become, drain, posts, slack, clock } = postsHouse({ deskChannel: undefined });
    await become({ kind: 'charging' });
    await posts.note(reference, 'n1', note);
    const startedAtMs = clock.nowMs;
    expect(await posts.deskPosted(reference, 300)).toBe(false);
    expect(clock.nowMs).toBe(startedAtMs);
    await drain(minuteMs);
    expect(slack.messages).toEqual([]);
  });

  it('keeps no more than the reference, sealed', async () => {
    const { become, store } = postsHouse();
    await become({ kind: 'charging' });
    const stored = await store.read(`outbox:charge:${reference}`);
    expect(stored?.value).not.toContain('jane@example.com');
    expect(stored?.value).not.toContain('1250000');
  });
});

describe('a note', () => {
  it('stands in the thread below the desk’s message, once per name', async () => {
    const { become, posts, drain, standing } = postsHouse();
    await become({ kind: 'charging' });
    await posts.note(reference, 'n1', note);
    await posts.note(reference, 'n1', note);
    await posts.note(reference, 'n2', note);
    await drain(10_000);
    const [parent, ...below] = standing(desk);
    expect(parent).toMatchObject({ text: 'charge: charging' });
    expect(below.map(({ threadTs }) => threadTs)).toEqual([parent?.ts, parent?.ts]);
  });

  it('waits for the message it belongs under, and holds nothing of the channel up meanwhile', async () => {
    const { become, posts, drain, standing, texts, clock } = postsHouse();
    await posts.note(reference, 'n1', note);
    await drain(5_000);
    expect(texts(desk)).toEqual([]);
    const beforeMs = clock.nowMs;
    await become({ kind: 'charging' });
    await drain();
    expect([texts(desk), clock.nowMs - beforeMs]).toEqual([['charge: charging'], 0]);
    await drain(minuteMs);
    expect(standing(desk)[1]).toMatchObject({ text: 'note: handed_over', threadTs: standing(desk)[0]?.ts });
  });

  it('goes into the channel when there is no such message after ten minutes', async () => {
    const { become, posts, drain, standing, charges, store, clock } = postsHouse();
    await become({ kind: 'charging' });
    const parent = await store.read(`outbox:charge:${reference}`);
    if (!parent || !(await store.write(parent, '', { ttlMs: 0 }))) throw new Error('not forgotten');
    clock.nowMs += 1;
    await posts.note(reference, 'n1', note);
    await drain(9 * minuteMs);
    expect(standing(desk)).toEqual([]);
    await drain(3 * minuteMs);
    expect(charges.size).toBe(1);
    expect(standing(desk)).toMatchObject([{ text: 'note: handed_over' }]);
    expect(standing(desk)[0]).not.toHaveProperty('threadTs');
  });

  it('is found in the thread after a crash between post and record', async () => {
    const built = postsHouse();
    await built.become({ kind: 'charging' });
    await built.drain(2_000);
    await built.posts.note(reference, 'n1', note);
    await dieAfterPost(built);
    await built.drain(minuteMs);
    expect(built.texts(desk)).toEqual(['charge: charging', 'note: handed_over']);
  });

  it('goes into the channel when Slack has no such thread any more', async () => {
    const { become, posts, drain, slack, standing } = postsHouse();
    await become({ kind: 'charging' });
    await drain(2_000);
    slack.messages.length = 0;
    await posts.note(reference, 'n1', note);
    await drain(minuteMs);
    expect(standing(desk)).toMatchObject([{ text: 'note: handed_over' }]);
  });
});

describe('a direct message', () => {
  it('goes to one person, once per key', async () => {
    const { become, posts, drain, texts } = postsHouse();
    await become(concluded('declined'));
    await posts.direct(ada, 'k1', { reference, what: 'declined' });
    await posts.direct(ada, 'k1', { reference, what: 'declined' });
    await drain(10_000);
    expect(texts(dmOfAda)).toEqual(['declined: declined']);
  });

  it('is dropped when the charge no longer has that verdict', async () => {
    const { become, posts, drain, texts } = postsHouse();
    await become(concluded('declined'));
    await posts.direct(ada, 'k1', { reference, what: 'declined' });
    await become(concluded('approved'));
    await posts.direct(ada, 'k2', { reference, what: 'approved' });
    await drain(10_000);
    expect(texts(dmOfAda)).toEqual(['approved: approved']);
  });

  it('waits while the charge is looked up once more, and tells the verdict when that stands again', async () => {
    const { become, posts, drain, texts } = postsHouse();
    await become(concluded('review'));
    await posts.direct(ada, 'k1', { reference, what: 'review' });
    await become({ kind: 'confirming', since: 1, askedAt: 1 });
    await drain(5_000);
    expect(texts(dmOfAda)).toEqual([]);
    await become(concluded('review'));
    await drain(minuteMs);
    expect(texts(dmOfAda)).toEqual(['review: review']);
  });

  it('is tried ever more rarely, and never given up, while Slack takes none for that person', async () => {
    const { become, posts, drain, slack, clock, texts, deliver } = postsHouse({ deskChannel: undefined });
    // The notice would be refused, and counted, too: this Slack refuses all alike.
    deliver.opsChannel = undefined;
    async function drainMinutes(minutes: number): Promise<number> {
      const before = slack.faults.calls;
      for (let minute = 0; minute < minutes; minute += 1) {
        clock.nowMs += minuteMs;
        // oxlint-disable-next-line no-await-in-loop -- one minute after the other
        await drain();
      }
      return slack.faults.calls - before;
    }
    await become(concluded('declined'));
    await posts.direct(ada, 'k1', { reference, what: 'declined' });
    const left: PostOutcome = { kind: 'refused', slackError: 'account_inactive', fix: '', about: 'channel' };
    slack.answers.push(...Array.from({ length: 1_000 }, () => left));
    await drainMinutes(180);
    const calls = await drainMinutes(180);
    expect(calls).toBeGreaterThanOrEqual(2);
    expect(calls).toBeLessThanOrEqual(4);
    slack.answers.length = 0;
    await drainMinutes(61);
    expect(texts(dmOfAda)).toEqual(['declined: declined']);
  });

  it('says that it may be a repeat after a crash: nobody may read a person’s messages', async () => {
    const built = postsHouse();
    await built.become(concluded('declined'));
    await built.drain(2_000);
    await built.posts.direct(ada, 'k1', { reference, what: 'declined' });
    await dieAfterPost(built);
    await built.drain(minuteMs);
    expect(built.texts(dmOfAda)).toEqual(['declined: declined', 'declined: declined (may be a repeat)']);
  });
});

describe('the request for a code', () => {
  it('is edited, where Slack says that it is, when the charge leaves that state', async () => {
    const { become, posts, drain, standing } = postsHouse();
    await become({ kind: 'otp' });
    await posts.direct(ada, 'any', { reference, what: 'otp' });
    await drain(2_000);
    await become(concluded('approved'));
    await drain(2_000);
    expect(standing(dmOfAda)).toMatchObject([{ text: 'otp: approved', edits: 1 }]);
  });

  it('is edited for everybody who ever had it in hand', async () => {
    const { become, posts, drain, texts } = postsHouse();
    await become({ kind: 'otp' });
    await posts.direct(ada, 'one', { reference, what: 'otp' });
    await posts.direct(bola, 'two', { reference, what: 'otp' });
    await drain(2_000);
    await become(concluded('expired'), [ada, bola, ada]);
    await drain(2_000);
    expect([texts(dmOfAda), texts('D0BOLA0001')]).toEqual([['otp: expired'], ['otp: expired']]);
  });

  it('is not made by a refresh alone', async () => {
    const { become, drain, texts } = postsHouse();
    await become({ kind: 'otp' });
    await drain(2_000);
    expect(texts(dmOfAda)).toEqual([]);
  });

  it('is not posted any more once there is a verdict', async () => {
    const { become, posts, drain, texts } = postsHouse();
    await become({ kind: 'otp' });
    await posts.direct(ada, 'any', { reference, what: 'otp' });
    await become(concluded('approved'));
    await drain(2_000);
    expect(texts(dmOfAda)).toEqual([]);
  });

  it('is posted once, and soon right, when the charge goes on at any moment of its delivery', async () => {
    for (let nth = 1; ; nth += 1) {
      const built = postsHouse({ deskChannel: undefined });
      await built.become({ kind: 'otp' });
      await built.posts.direct(ada, 'any', { reference, what: 'otp' });
      const point = await deliverWith(built, nth, () => built.become({ kind: 'otp_checking' }));
      await built.drain(5_000);
      const expected = point === undefined ? ['otp: otp'] : ['otp: otp_checking'];
      expect(built.texts(dmOfAda), `${point}, await ${nth}`).toEqual(expected);
      if (point === undefined) return;
    }
  });

  it('goes on saying that it may be a repeat when it is edited', async () => {
    const built = postsHouse({ deskChannel: undefined });
    await built.become({ kind: 'otp' });
    await built.posts.direct(ada, 'any', { reference, what: 'otp' });
    await dieAfterPost(built);
    await built.drain(minuteMs);
    await built.become(concluded('approved'));
    await built.drain(minuteMs);
    expect(built.texts(dmOfAda)).toEqual(['otp: otp', 'otp: approved (may be a repeat)']);
  });
});
