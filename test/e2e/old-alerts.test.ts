import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readOutboxRecord } from '../../src/operations/outbox/outbox.ts';
import { readOrMakeKeyFile } from '../../src/store/key-file.ts';
import { createSealer } from '../../src/store/sealed.ts';
import { openHouse, type House } from '../support/house.ts';

const program = fileURLToPath(new URL('../support/later-bot.ts', import.meta.url));
const email = 'canary.customer@example.com';
const details = [email, 'c***@example.com', '77770', '777.70', 'canary reason'];

describe('an alert that is old', () => {
  it('is edited down by the real bot, once, and its details are gone from the store', async (test) => {
    const house = await openHouse(test, { program });
    const bot = house.bot();
    await house.start(bot);
    await house.payments.act({
      kind: 'decline_saved_card_charge',
      amount: '777.70',
      customerEmail: email,
      reason: 'canary reason',
    });
    const reference = house.payments.state().orders[0]?.orderReference ?? '';
    await house.until(
      'the alert is told',
      async () => house.posts('payAlerts').length === 1 && (await house.workLeft()) === 0,
    );
    expect(detailsIn(shown(house))).toEqual(['c***@example.com', '777.70', 'canary reason']);
    expect(detailsIn(recordsOf(house))).toEqual([email, '77770', '777.70', 'canary reason']);
    await bot.stop();
    expect(editsIn(house)).toBe(0);

    // The same bot, two weeks and a day later.
    const later = house.bot({ BOT_LATER_DAYS: '15' });
    await house.start(later);
    await house.until('it is edited down', () => !shown(house).includes('777.70'));
    const [post] = house.posts('payAlerts');
    expect(post?.text).toBe(`❌ Declined by the bank · ${reference}`);
    expect(detailsIn(shown(house))).toEqual([]);
    expect(shown(house)).not.toContain('action_id');
    await house.until('the record says so', () => recordsOf(house).includes('"isErased":true'));
    expect(detailsIn(recordsOf(house))).toEqual([]);
    // What comes now has its details, and the old one stays as it is.
    await house.decline();
    await house.until(
      'the new alert is told',
      async () => house.posts('payAlerts').length === 2 && (await house.workLeft()) === 0,
    );
    expect(house.posts('payAlerts')[1]?.text).toContain('5,000.00');
    expect(editsIn(house)).toBe(1);
    expect(await later.stop()).toMatchObject({ code: 0 });
  });
});

function detailsIn(text: string): string[] {
  return details.filter((one) => text.includes(one));
}

function shown(house: House): string {
  return JSON.stringify(house.posts('payAlerts')[0] ?? '');
}

function editsIn({ slackGate }: House): number {
  return slackGate.passed.filter(({ path }) => path.endsWith('/chat.update')).length;
}

/** What the outbox keeps of alerts, opened with the bot's own key. */
function recordsOf({ dataDir }: House): string {
  const sealer = createSealer([{ id: 'file', key: readOrMakeKeyFile(join(dataDir, 'sealing.key')) }]);
  const db = new DatabaseSync(join(dataDir, 'payops.sqlite'), { readOnly: true, timeout: 5_000 });
  const rows = db.prepare("select key, value from entries where key like 'outbox:alert:%'").all();
  db.close();
  return rows
    .map(({ key, value }) => {
      const record = readOutboxRecord(String(value));
      const { sealed, evidence } = record;
      const event = sealer.open(String(key), sealed);
      return [
        value,
        event,
        evidence === undefined ? '' : sealer.open(`${String(key)}#evidence`, evidence),
      ].join();
    })
    .join('\n');
}
