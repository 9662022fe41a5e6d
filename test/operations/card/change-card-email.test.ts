import { randomBytes } from 'node:crypto';
import { assert, asyncProperty, boolean, constantFrom, integer, record, type Arbitrary } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { endOfChange, type CardEmailEnd } from '../../../src/domain/card-email.ts';
import type { EmailChangeAnswer, RejectionReason } from '../../../src/domain/charge-answer.ts';
import { ServiceFailure } from '../../../src/domain/failure.ts';
import { createCardEmails } from '../../../src/operations/card/change-card-email.ts';
import { forgetDrafts } from '../../../src/operations/charge/charge-drafts.ts';
import { createSealer } from '../../../src/store/sealed.ts';
import type { Store } from '../../../src/store/store.ts';
import { faults, faulty, turnsOf, type Fault } from '../faulty.ts';
import { memoryStore } from '../memory-store.ts';

const viewId = 'V1';
const minuteMs = 60_000;
const terms = {
  tokenKey: 'canary-token',
  card: { cardType: 'Visa', lastFour: '4242' },
  currentEmail: 'old.canary@example.com',
  newEmail: 'new.canary@example.org',
};
const sealer = createSealer([{ id: 'k1', key: randomBytes(32) }]);
const answers: Record<string, EmailChangeAnswer> = {
  changed: { kind: 'changed', card: undefined },
  not_linked: { kind: 'not_linked', message: 'No' },
  rate_limited: {
    kind: 'not_made',
    failure: 'rate_limited',
    cause: new ServiceFailure('rate_limited', 'slow down'),
  },
  unknown: { kind: 'unknown', cause: new ServiceFailure('timeout', 'no answer') },
};

/** What outlives a process: what the service answered to what each word stands for, and the address that the form offers. */
function openWorld() {
  const clock = { nowMs: 1_000_000 };
  const asked = new Map<string, { answer: string; atMs: number }>();
  const listed = terms.currentEmail as string | undefined;
  return { clock, store: memoryStore(clock), asked, listed, broken: [] as string[] };
}
type World = ReturnType<typeof openWorld>;

type Turn = { fault: Fault; answer: string; isReviewed: boolean; laterMinutes: number };

function emailsOf(world: World, store: Store, changeCardEmail: () => Promise<EmailChangeAnswer>) {
  return createCardEmails({
    store,
    sealer,
    changeCardEmail,
    ledger: {
      idOf: () => Promise.resolve('card'),
      changeEmail: async (_id, email) => void (world.listed = email),
      forgetEmail: async () => void (world.listed = undefined),
    },
    fingerprint: () => Promise.resolve('card'),
    log: () => undefined,
    now: () => world.clock.nowMs,
    wait: () => Promise.resolve(),
  });
}

/** A process in which a person agrees to what that word stands for: what they are told. */
async function agree(world: World, word: string, { fault, answer }: Turn): Promise<string> {
  const { store, call, live } = faulty(world.store, fault);
  const promise = (words: string, isKept: boolean): unknown => isKept || world.broken.push(words);
  let isSent = false;
  const emails = emailsOf(world, store, () =>
    call(() => {
      promise('it is asked for once for each review', !world.asked.has(word));
      isSent = true;
      world.asked.set(word, { answer, atMs: world.clock.nowMs });
      return answers[answer]!;
    }),
  );
  const told = await live(async () => {
    const begun = await emails.begin({ viewId, draft: word, by: 'U1' });
    promise('the token goes to no screen', !JSON.stringify(begun).includes(terms.tokenKey));
    if (begun.kind === 'known') return begun.end?.kind ?? 'waits';
    return begun.kind === 'begun' ? (await begun.carryOn()).kind : begun.kind;
  });
  const sent = world.asked.get(word);
  const waitedMs = world.clock.nowMs - (sent?.atMs ?? world.clock.nowMs);
  promise('without its record nothing is sent', told !== 'store_away' || !isSent);
  promise(
    'what is told is the answer, or in doubt',
    !(told in answers) || told === sent?.answer || told === 'unknown',
  );
  promise('nobody waits for longer than a minute', told !== 'waits' || waitedMs <= minuteMs);
  promise(
    'a new address is the form’s default',
    !isSent || told !== 'changed' || world.listed === terms.newEmail,
  );
  promise('a denied one is not', !isSent || told !== 'not_linked' || world.listed === undefined);
  return told;
}

/** Reads the change back once more: what stands for it from now on. */
async function review(world: World, word: string): Promise<string> {
  const emails = emailsOf(world, world.store, () => Promise.reject(new Error('not asked here')));
  const next = await emails.keepDraft(viewId, terms);
  const isGone = next === word || (await emails.begin({ viewId, draft: word, by: 'U1' })).kind === 'stale';
  if (!isGone) world.broken.push('what was agreed to before is not agreed to again');
  if (next === word && world.asked.has(word)) world.broken.push('each review has a word of its own');
  if ((await emails.keepDraft(viewId, terms)) !== next)
    world.broken.push('a form submitted twice is one review');
  return next;
}

const turn: Arbitrary<Turn> = record({
  fault: faults,
  answer: constantFrom(...Object.keys(answers)),
  isReviewed: boolean(),
  laterMinutes: integer({ min: 0, max: 2 }),
});
const healthy: Turn = { fault: { kind: 'none' }, answer: 'changed', isReviewed: false, laterMinutes: 0 };

describe('a change of a card’s e-mail', () => {
  it('is asked for once for each review, whatever dies, is lost or is submitted twice, and what is told is so', async () => {
    const told = new Set<string>();
    await assert(
      asyncProperty(turnsOf(turn), async (turns) => {
        const world = openWorld();
        let word = await review(world, '');
        for (const atOnce of turns) {
          const [{ isReviewed, laterMinutes }] = atOnce;
          // oxlint-disable-next-line no-await-in-loop -- one after the other, or two at once
          if (isReviewed) word = await review(world, word);
          // oxlint-disable-next-line no-await-in-loop
          for (const end of await Promise.all(atOnce.map((one) => agree(world, word, one)))) told.add(end);
          world.clock.nowMs += laterMinutes * minuteMs;
        }
        const values = await Promise.all(world.store.keys().map((key) => world.store.read(key)));
        expect(JSON.stringify(values)).not.toContain('canary');
        await forgetDrafts(world.store, 'card');
        expect(await agree(world, word, healthy)).toBe('stale');
        expect(world.broken).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
    const ends = [...Object.keys(answers), 'died', 'store_away', 'waits'];
    expect([...told].toSorted()).toEqual(ends.toSorted());
  });

  it.each<[RejectionReason, CardEmailEnd]>([
    ['email_mismatch', { kind: 'not_linked', message: 'No' }],
    ['invalid_token', { kind: 'no_such_card', message: 'No' }],
    ['email_invalid', { kind: 'email_invalid', message: 'No' }],
    ['card_not_supported', { kind: 'refused', message: 'No' }],
  ])('rejected with %s is an end of its own', (reason, end) => {
    expect(endOfChange({ kind: 'rejected', reason, message: 'No' })).toEqual(end);
  });
});
