import { describe, expect, it } from 'vitest';
import type { PostOutcome } from '../../../src/domain/delivery.ts';
import { createDeadLetters } from '../../../src/operations/outbox/dead-letters.ts';
import { deliverNext } from '../house.ts';
import { ada, concluded, deliverWith, desk, postsHouse, reference, type PostsHouse } from '../posts-house.ts';

const giveUpMs = 1_800_000;

/** The bot's work in steps of a minute. */
async function pass({ clock, deliver }: PostsHouse, ms: number): Promise<void> {
  for (let passed = 0; passed <= ms; passed += 60_000) {
    while (await deliverNext(deliver));
    clock.nowMs += 60_000;
  }
}

function refusing(built: PostsHouse, slackError: string): void {
  built.slack.answers.push(...Array.from({ length: 5_000 }, () => refused(slackError)));
  // The notice would be refused too: this Slack knows no channels.
  built.deliver.opsChannel = undefined;
  built.deliver.giveUpMs = giveUpMs;
}

function refused(slackError: string): PostOutcome {
  return { kind: 'refused', slackError, fix: 'Mend it.', about: 'channel' };
}

describe('a message about a charge', () => {
  it('to a person who left is not given up like one for a channel', async () => {
    const built = postsHouse({ deskChannel: undefined });
    await built.become(concluded('declined'));
    refusing(built, 'account_inactive');
    await built.posts.direct(ada, 'k1', { reference, what: 'declined' });
    await pass(built, 10 * giveUpMs);
    expect(await createDeadLetters(built.deliver).all()).toEqual([]);
    built.slack.answers.length = 0;
    await pass(built, 3_600_000);
    expect(built.slack.messages.map(({ text }) => text)).toEqual(['declined: declined']);
  });

  it('whose edits were given up is tried once more for each step of the charge, and shows its end in one message', async () => {
    const built = postsHouse();
    await built.become(concluded('declined'));
    await built.drain();
    refusing(built, 'is_archived');
    await built.become(concluded('abandoned'));
    await pass(built, giveUpMs + 300_000);
    const letters = createDeadLetters(built.deliver);
    expect(await letters.all()).toMatchObject([{ channel: desk, messages: 1 }]);
    const { calls } = built.slack.faults;
    await built.become(concluded('expired'));
    await pass(built, 600_000);
    expect(built.slack.faults.calls).toBe(calls + 1);
    built.slack.answers.length = 0;
    await letters.redrive();
    await pass(built, 60_000);
    expect(built.standing(desk)).toMatchObject([{ text: 'charge: expired', edits: 1 }]);
  });

  it('that was given up and went out when the charge went on is a dead letter no more', async () => {
    const built = postsHouse();
    await built.become(concluded('declined'));
    await built.drain();
    refusing(built, 'is_archived');
    await built.become(concluded('abandoned'));
    await pass(built, giveUpMs + 300_000);
    const letters = createDeadLetters(built.deliver);
    expect(await letters.all()).toMatchObject([{ channel: desk, messages: 1 }]);
    built.slack.answers.length = 0;
    await built.become(concluded('expired'));
    await pass(built, 60_000);
    expect(built.standing(desk)).toMatchObject([{ text: 'charge: expired', edits: 1 }]);
    expect(await letters.all()).toEqual([]);
    expect(await letters.redrive()).toEqual([]);
  });

  it('that goes on by itself is not taken from the worker that has it, when it is asked for again meanwhile', async () => {
    let passed = 0;
    for (let isThere = true; isThere; passed += 1) {
      const built = postsHouse();
      built.slack.answers.push(refused('is_archived'), refused('is_archived'));
      built.deliver.giveUpMs = 0;
      built.deliver.opsChannel = undefined;
      await built.become(concluded('declined'));
      await pass(built, 60_000);
      const letters = createDeadLetters(built.deliver);
      expect(await letters.all()).toMatchObject([{ channel: desk, messages: 1 }]);
      await built.become(concluded('abandoned'));
      const point = await deliverWith(built, passed + 1, async () => {
        await letters.redrive();
        await deliverNext(built.deliver);
      });
      isThere = point !== undefined;
      await pass(built, 300_000);
      expect(built.standing(desk)).toMatchObject([{ text: 'charge: abandoned' }]);
    }
    expect(passed).toBeGreaterThan(8);
  });

  it('that was refused once, long ago, is tried as long as any other when it is refused again', async () => {
    const built = postsHouse();
    built.deliver.giveUpMs = giveUpMs;
    built.slack.answers.push(refused('is_archived'));
    await built.become(concluded('declined'));
    await pass(built, 2 * giveUpMs);
    expect(built.standing(desk)).toHaveLength(1);
    refusing(built, 'is_archived');
    await built.become(concluded('abandoned'));
    await pass(built, giveUpMs - 300_000);
    expect(await createDeadLetters(built.deliver).all()).toEqual([]);
  });
});
