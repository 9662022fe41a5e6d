import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { referenceOf } from '../../src/operations/work/reference-of.ts';
import { openChargeDialogue, openSlackLine, saveCards, sendToBot } from '../support/charge-dialogue.ts';
import { openHouse, type Person } from '../support/house.ts';
import { limitAgents } from '../support/limited-policy.ts';
import { findProgram } from '../support/programs.ts';
import { startRedis, type RedisServer } from '../support/redis-server.ts';

const missing = findProgram('redis-server') === undefined;
if (missing) console.warn('SKIPPED: limits on two replicas, because redis-server is not installed.');

/** 100 read-backs of NGN 1,000.00 by two people who have NGN 30,000.00 a day each. */
const people: readonly Person[] = ['agent', 'onCall'];
const readBacks = 100;
const each = 30;

describe.skipIf(missing)('limits on two replicas with one Redis', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis?.stop());

  it('are used up to the last charge and never gone beyond, by 100 read-backs that both get at once', async (test) => {
    const house = await openHouse(test, {
      processes: true,
      redisUrl: redis.url,
      workspace: { grantedOptionalScopes: 'all' },
      // A loaded machine must not make the bots give answers up.
      env: { PAYMENTS_TIMEOUT_SECONDS: '10', SLACK_TIMEOUT_SECONDS: '5', WORK_LEASE_SECONDS: '60' },
    });
    limitAgents(house, '{ NGN: { per_agent_per_day: 30000.00, per_card_per_day: 1000.00 } }');
    const two = [house.bot(), house.bot()] as const;
    await Promise.all(two.map((bot) => house.start(bot)));
    house.sendEventsTo(two);
    const line = await openSlackLine(house, test, () => [two[0]]);
    const dialogue = openChargeDialogue(house);
    const left = await saveCards(house, readBacks);
    const forms: string[] = [];
    const whose = new Map<string, Person>();
    await Promise.all(
      people.map(async (person) => {
        for (let done = 0; done < readBacks / people.length; done += 1) {
          const card = left.pop();
          if (!card) throw new Error('too few cards');
          const form = { token: card.tokenKey, email: card.customerEmail, amount: '1,000.00' };
          // oxlint-disable-next-line no-await-in-loop -- a person has one dialogue in front of them
          const { id } = await dialogue.readBack(person, form);
          whose.set(referenceOf(id), person);
          forms.push(line.submission(id));
        }
      }),
    );

    const acks = await Promise.all(forms.flatMap((form) => two.map((bot) => sendToBot(house, bot, form))));

    expect(new Set(acks.map(({ status }) => status))).toEqual(new Set([200]));
    const refused = acks.filter(({ body }) => body.includes('This is above your limit per day'));
    expect(refused.length).toBeGreaterThanOrEqual(readBacks - people.length * each);
    await house.until('all that fit are charged', () => dialogue.references().length >= people.length * each);
    const told = async (): Promise<number> => (await house.storeKeys('outbox:charge_direct:')).length;
    await house.until('all are told', async () => (await told()) >= people.length * each);

    const { chargesByReference } = house.payments.stats();
    const charged = dialogue.references().filter((reference) => chargesByReference[reference] === 1);
    expect(dialogue.references()).toEqual(charged);
    for (const person of people) {
      expect(charged.filter((reference) => whose.get(reference) === person)).toHaveLength(each);
    }
    expect(two.flatMap(({ lines }) => lines).join('\n')).not.toContain('"level":"error"');
  });
});
