import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import type { Bot } from '../support/bot.ts';
import {
  chargeReferences,
  openSlackLine,
  saveCards,
  sendToBot,
  type Acked,
  type NewCard,
  type SlackLine,
} from '../support/charge-line.ts';
import { reviews, sitAt, type Desk } from '../support/desk.ts';
import { bySocket, openHouse, type House, type HouseOptions, type Person } from '../support/house.ts';
import { visibleText } from '../support/visible-text.ts';
import { findProgram } from '../support/programs.ts';
import { startRedis, type RedisServer } from '../support/redis-server.ts';

const missing = findProgram('redis-server') === undefined;
if (missing) console.warn('SKIPPED: charges on two replicas, because redis-server is not installed.');

const chargePath = '/v1/checkout/tokenized-card-payment';
const people: readonly Person[] = ['agent', 'lead', 'onCall'];

/** Reviews submitted all at once. */
const readBacks = 20;
/** Each charge puts two or three messages into the desk's channel, at one a second. */
const deskCharges = 2;

type Two = { house: House; desk: Desk; line: SlackLine; two: readonly [Bot, Bot] };

// Signed requests choose the replica, which needs HTTP mode.
describe.skipIf(missing || bySocket)('charges on two replicas with one Redis', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis?.stop());

  async function openTwo(test: TestContext, desk: 'on' | 'off', options: HouseOptions = {}): Promise<Two> {
    const house = await openHouse(test, {
      redisUrl: redis.url,
      workspace: { grantedOptionalScopes: 'all' },
      // On a loaded machine the bots must not give answers up.
      env: { PAYMENTS_TIMEOUT_SECONDS: '10', SLACK_TIMEOUT_SECONDS: '5', WORK_LEASE_SECONDS: '60' },
      ...options,
    });
    setPolicy(house, desk);
    const two = [house.bot(), house.bot()] as const;
    await Promise.all(two.map((bot) => house.start(bot)));
    house.sendEventsTo(two);
    const line = await openSlackLine(house, test, () => [two[0]]);
    return { house, desk: sitAt(house, two[0]), line, two };
  }

  it.concurrent('make one charge of each of many reviews submitted to both at once, and post it once', async (test) => {
    const opened = await openTwo(test, 'off');
    const { house, desk } = opened;
    const forms = await readBackAll(opened, await saveCards(house, readBacks));
    const acks = await submitTwice(opened, forms);
    expect(new Set(acks.map(({ status }) => status))).toEqual(new Set([200]));
    await house.until('all are charged', () => chargeReferences(house).length >= readBacks);
    const told = (): Promise<string[]> => house.storeKeys('message:charge_direct:');
    await house.until('all are told', async () => (await told()).length >= readBacks);

    expectOneChargeEach(opened, readBacks);
    // Each is stored once, so it is posted once, however long the person's lane is.
    const approved = chargeReferences(house).map((reference) => `told:approved:${reference}`);
    const keys = await told();
    expect(keys.map((key) => key.replace('message:charge_direct:', '')).toSorted()).toEqual(
      approved.toSorted(),
    );
    const direct = people.flatMap((person) => desk.messages(person, `${person}Dm`));
    expect(direct.filter(({ text }) => !text.includes('Paid (confirmed)'))).toEqual([]);
    // People's direct messages can't be searched: if this busy Slack's answer was lost, a repeat is marked.
    const seen = direct
      .filter(({ blocks }) => !visibleText(blocks).includes('May be a repeat'))
      .map(({ text }) => text);
    expect(new Set(seen).size).toBe(seen.length);
  });

  it.concurrent('show each such charge in one message of the desk, with one verdict in its thread', async (test) => {
    const opened = await openTwo(test, 'on');
    const { house } = opened;
    const forms = await readBackAll(opened, await saveCards(house, deskCharges));
    await submitTwice(opened, forms);
    await house.until('all are charged', () => chargeReferences(house).length >= deskCharges);
    const parentsOf = () => house.posts('payDesk').filter(({ threadTs }) => threadTs === undefined);
    const verdictsOf = () => house.posts('payDesk').filter(({ threadTs }) => threadTs !== undefined);
    const arePaid = () => parentsOf().every(({ text }) => text.includes('Paid (confirmed)'));
    // Only the charges' own timers, of half a minute, are left then.
    await house.until(
      'all is told',
      async () => verdictsOf().length >= deskCharges && arePaid() && (await house.workLeft()) <= deskCharges,
    );

    expectOneChargeEach(opened, deskCharges);
    const posts = house.posts('payDesk');
    const parents = posts.filter(({ threadTs }) => threadTs === undefined);
    expect(parents.map(({ blocks }) => referenceIn(visibleText(blocks))).toSorted()).toEqual(
      chargeReferences(house).toSorted(),
    );
    for (const { ts, text } of parents) {
      expect(text).toContain('Paid (confirmed)');
      const verdicts = posts.filter((post) => post.threadTs === ts);
      expect(verdicts.map((post) => visibleText(post.blocks))).toEqual([
        expect.stringContaining('Paid (confirmed)'),
      ]);
    }
  });
});

/** Each to both replicas, all at the same time. */
function submitTwice({ house, two }: Two, forms: readonly string[]): Promise<Acked[]> {
  return Promise.all(forms.flatMap((form) => two.map((bot) => sendToBot(house, bot, form))));
}

function setPolicy({ policyFile }: House, desk: 'on' | 'off'): void {
  const policy = readFileSync(policyFile, 'utf8')
    .replace(/ {2}successes: .*\n/, '')
    .replace(/may: \[lookup, doubt\]/, 'may: [lookup, charge, otp, doubt]');
  writeFileSync(policyFile, desk === 'on' ? policy : policy.replace(/ {2}desk: .*\n/, ''));
}

/** Opens a dialogue for each card at one replica, all at once, up to the review; returns their submissions. */
async function readBackAll({ desk, line }: Two, cards: readonly NewCard[]): Promise<string[]> {
  const left = cards.map((card, index) => ({ card, amount: `${1_000 + index}.00` }));
  const forms: string[] = [];
  await Promise.all(
    people.map(async (person) => {
      for (let next = left.pop(); next; next = left.pop()) {
        const { card, amount } = next;
        const form = { token: card.tokenKey, email: card.customerEmail, amount };
        const { id } = await reviews(desk, person, form);
        forms.push(line.submission(id));
      }
    }),
  );
  return forms;
}

/** The service accepted one request for each reference; any further one can only be its retry. */
function expectOneChargeEach({ house }: Two, count: number): void {
  const posts = house.paymentsGate.passed.filter(({ path }) => path === chargePath);
  const accepted = posts.filter(({ answer }) => answer.includes('"code":"00"'));
  const references = accepted.map(({ request }) => referenceIn(request));
  expect(references).toHaveLength(count);
  expect(new Set(references)).toEqual(new Set(chargeReferences(house)));
  const others = posts.filter((post) => !accepted.includes(post));
  expect(others.filter(({ answer }) => !answer.includes('already exists'))).toEqual([]);
  const { chargesByReference } = house.payments.stats();
  expect(references.map((reference) => chargesByReference[reference])).toEqual(references.map(() => 1));
}

function referenceIn(text: string): string {
  return /\bpay-[a-z2-7]{26}\b/.exec(text)?.[0] ?? text;
}
