import { hash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { rightOtp } from '../../src/simulators/payments/bank.ts';
import { seedCards } from '../../src/simulators/payments/seed.ts';
import { runHere, shareDesk, type Desk, type Message } from '../support/desk.ts';

const dayMs = 86_400_000;
const { requiresOtp: bola } = seedCards;
const at = shareDesk({
  clock: true,
  env: { LOG_LEVEL: 'debug', AUDIT_KEEP_DAYS: '1', PAYMENTS_TIMEOUT_SECONDS: '8' },
  workspace: { grantedOptionalScopes: 'all' },
});

describe('/pay story', () => {
  it('tells a charge with a wrong code and the right one in order, with each person, page by page and as a file', async () => {
    const desk = at();
    const reference = await paidAtTheSecondCode(desk);
    for (let time = 0; time < 4; time += 1) await desk.asks('lead', `/pay ${reference}`, 'Paid (confirmed)');
    await desk.house.until('the look-ups are in the trail', async () => {
      const looked = (await exported(desk)).filter((entry) => entry.verb === 'lookup');
      return looked.filter((entry) => entry.reference === reference).length === 4;
    });
    const first = await desk.asks('lead', `/pay story ${reference}`, 'page 1 of 2');
    expect(first.text).toContain('Paid (confirmed)');
    const second = await desk.seesBy('lead', 'page 2 of 2', () => desk.presses('lead', 'Later', first));
    await desk.seesBy('lead', 'page 1 of 2', () => desk.presses('lead', 'Earlier', second));
    const agent = `<@${desk.id('agent')}>`;
    const story = `${told(first)}\n${told(second)}`;
    expectInOrder(story, [
      `${agent} started the charge → Charging · “NGN 12,500.00”`,
      'The payments service answered the charge: the bank wants a code → Needs a code',
      `${agent} entered a code → Checking the code`,
      'The payments service answered the code: wrong → Needs a code · “Invalid OTP”',
      `${agent} entered a code → Checking the code`,
      'accepted, which is no proof yet → Not proven yet',
      'The payments service was asked, and proves the payment → Paid (confirmed)',
    ]);
    expect(story).toContain('The payments service reported a successful payment');
    expect(story).toContain('Pay posted the charge’s message in');
    expect(story).not.toMatch(/pressed|sent the form|told the agent|otp_|charge_/);

    await desk.presses('lead', 'CSV');
    await desk.house.until('the file', () => files(desk).length > 0);
    const [file] = files(desk);
    expect(file?.text).toContain('told_approved');
    expect(file?.text).not.toContain(bola.customerEmail);
  });

  it('tells a failed event, its alert and people’s actions; and that a person was refused', async () => {
    const desk = at();
    const reference = await desk.house.decline();
    const alert = await desk.reads('onCall', reference, 'payAlerts');
    await desk.presses('onCall', 'Acknowledge', alert);
    await desk.house.until('that is in the trail', async () =>
      (await exported(desk)).some(({ result }) => result === 'alert_acknowledged'),
    );
    await desk.asks('agent', `/pay story ${reference}`, 'Not allowed');
    const [onCall, agent] = [`<@${desk.id('onCall')}>`, `<@${desk.id('agent')}>`];
    await desk.house.until('the refusal is in the trail', async () =>
      (await exported(desk)).some((entry) => entry.reference === reference && entry.result === 'refused'),
    );
    await desk.settled();
    const story = await desk.asks('lead', `/pay story ${reference}`, reference);
    expect(story.text).toMatch(/^👀 Acknowledged/u);
    // The audit entry is written at the same time as the post, so a fast press may come before it.
    expect(told(story)).toContain('Pay posted the alert in');
    expectInOrder(told(story), [
      'The payments service reported a failed payment',
      `${onCall} acknowledged the alert`,
      `${agent} was refused /pay story`,
    ]);
  });

  it('says that the bot does not know a reference, and offers a look-up', async () => {
    const desk = at();
    const calls = desk.calls('/transactions/accounts/single');
    await desk.asks('lead', '/pay story ORDER-1001', 'The bot has nothing on this reference');
    // The request alone is no story.
    const unknown = await desk.asks('lead', '/pay story ORDER-1001', 'The bot has nothing on this reference');
    expect(desk.calls('/transactions/accounts/single')).toBe(calls);
    await desk.seesBy('lead', 'Paid (confirmed)', () => desk.presses('lead', 'Look up', unknown));
  });
});

describe('the audit trail', () => {
  it('has who asked what, where and how it ended, and nothing else that was typed', async () => {
    const desk = at();
    const from = (await exported(desk)).length;
    await desk.asks('agent', '/pay lookup TYPED-7 12,500.00', 'Not found');
    await desk.asks('agent', '/pay lokup canary words', 'Did you mean');
    await desk.asks('onCall', '/pay charge', 'Not allowed');
    await desk.asks('agent', '/pay 4111 1111 1111 1111', 'card number');
    await desk.opens('lead', '/pay link 10.00');
    await desk.submits('lead', { 'Customer’s e-mail': 'zoe.canary@example.com', 'Our reference': 'TYPED-8' });
    await desk.modalSays('lead', 'The service’s order id');
    await desk.house.until('all is on record', async () => {
      const written = JSON.stringify((await exported(desk)).slice(from));
      return ['"form"', '"link_open"', 'card number was typed'].every((last) => written.includes(last));
    });
    const [where, agent] = [desk.house.workspace.ids.channels.payDesk, desk.id('agent')];
    const entries = (await exported(desk)).slice(from);
    expect(entries).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          who: agent,
          where,
          what: 'command',
          verb: 'lookup',
          reference: 'TYPED-7',
          result: 'answered',
        }),
        expect.objectContaining({ who: agent, where, what: 'command', result: 'unclear' }),
        expect.objectContaining({
          who: desk.id('onCall'),
          what: 'command',
          verb: 'charge',
          result: 'refused',
          reason: expect.stringContaining('charge'),
        }),
        expect.objectContaining({
          who: agent,
          what: 'command',
          result: 'refused',
          reason: 'a card number was typed',
        }),
        expect.objectContaining({ who: desk.id('lead'), what: 'form', verb: 'link', result: 'answered' }),
      ]),
    );
    expect(JSON.stringify(entries)).not.toMatch(/canary|12,500|4111 ?1111/);
  });

  it('verifies as whole, also from its export without the store, and with other tools; a spreadsheet runs nothing in it', async () => {
    const desk = at();
    // The trail is written in blocks, a moment later.
    await desk.house.until('the link is on record', async () =>
      (await exported(desk)).some(({ result }) => result === 'link_created'),
    );
    const whole = await desk.runs(['audit', 'verify']);
    expect(whole).toMatchObject({ code: 0, stderr: '' });
    const [, head = ''] = /is whole: \d+ entries\.[^]*Head {3}(\d+:[0-9a-f]{64})/.exec(whole.stdout) ?? [];
    expect(await desk.runs(['audit', 'verify', '--head', head])).toMatchObject({ code: 0 });
    const ahead = await desk.runs(['audit', 'verify', '--head', `9999:${'0'.repeat(64)}`]);
    expect(ahead).toMatchObject({
      code: 3,
      stdout: expect.stringContaining('are missing at the end: cut off'),
    });

    const { stdout, stderr } = await desk.runs(['audit', 'export']);
    const lines = stdout.trimEnd().split('\n');
    expect(stderr).toBe(`${lines.length} entries exported.\n`);
    const chain = lines.map((line) => JSON.parse(line) as { hash: string; prev: string });
    expect(chain.slice(1).map(({ prev }) => prev)).toEqual(chain.slice(0, -1).map(({ hash }) => hash));
    const bare = lines.map((line) => line.replace(/,"hash":"[0-9a-f]*"}$/, '}'));
    expect(bare.map((line) => hash('sha256', line))).toEqual(chain.map(({ hash }) => hash));
    const file = join(desk.house.folder, 'audit.jsonl');
    writeFileSync(file, stdout);
    expect(await runHere(['audit', 'verify', '--file', file], {})).toMatchObject({ code: 0 });
    writeFileSync(file, stdout.replace('"lookup"', '"charge"'));
    expect(await runHere(['audit', 'verify', '--file', file], {})).toMatchObject({ code: 3 });
    const some = await desk.runs(['audit', 'export', '--reference', 'TYPED-7']);
    expect(some.stdout.trimEnd().split('\n')).toHaveLength(1);
    writeFileSync(file, some.stdout);
    expect(await runHere(['audit', 'verify', '--file', file, '--part'], {})).toMatchObject({ code: 0 });
    const today = new Date().toISOString().slice(0, 10);
    expect((await desk.runs(['audit', 'export', '--from', today])).stdout).toBe(stdout);
    expect((await desk.runs(['audit', 'export', '--to', '2020-01-01'])).stdout).toBe('');

    await desk.asks('agent', '/pay story "=HYPERLINK(1)"', 'Not allowed');
    await desk.house.until('it is on record', async () =>
      (await exported(desk)).some(({ reference }) => reference === '=HYPERLINK(1)'),
    );
    const csv = await desk.runs(['audit', 'export', '--format', 'csv']);
    expect(csv.stdout).toContain("'=HYPERLINK(1)");
    expect(csv.stdout).not.toMatch(/(^|,)"?=/m);
  });

  it('is removed when its retention ends, the rest verifies as whole, and a changed word is detected', async () => {
    const desk = at();
    for (const reference of ['OLD-1', 'OLD-2']) {
      await desk.asks('agent', `/pay ${reference}`, 'Not found');
      await desk.house.until('it is on record', async () =>
        JSON.stringify(await exported(desk)).includes(reference),
      );
    }
    await desk.house.until('the old ones are removed', async () => {
      // What the head does not cover yet is removed a day later.
      desk.house.later(dayMs);
      const all = await exported(desk);
      return all.some(({ what }) => what === 'retention') && !JSON.stringify(all).includes('OLD-1');
    });
    expect(await desk.runs(['audit', 'verify'])).toMatchObject({ code: 0 });

    // Found or not: an access token issued while the clock jumps by days may have expired on arrival.
    await desk.asks('agent', '/pay NEW-1', 'NEW-1');
    await desk.house.until('it is on record', async () =>
      JSON.stringify(await exported(desk)).includes('NEW-1'),
    );
    const db = new DatabaseSync(join(desk.house.dataDir, 'payops.sqlite'), { timeout: 5_000 });
    db.exec(`update entries set value = replace(value, 'NEW-1', 'NEW-2') where key like 'audit:%'`);
    db.close();
    const broken = await desk.runs(['audit', 'verify']);
    expect(broken).toMatchObject({ code: 3, stdout: expect.stringContaining('was changed') });
  });

  it('whose signed head is gone is reported in the log as soon as a bot starts, before any request', async () => {
    const desk = at();
    const damage = 'The audit trail was damaged';
    expect(desk.bot.lines.join('\n')).not.toContain(damage);
    await desk.bot.stop();
    const db = new DatabaseSync(join(desk.house.dataDir, 'payops.sqlite'), { timeout: 5_000 });
    db.exec(`delete from entries where key = 'audit-head'`);
    db.close();
    await desk.house.start(desk.bot);
    await desk.house.until('the log says so', () => desk.bot.lines.join('\n').includes(damage));
  });
});

/** The reference of a charge whose first code was wrong, once everything about it is posted. */
async function paidAtTheSecondCode(desk: Desk): Promise<string> {
  await desk.opens('agent', '/pay charge 12,500.00');
  const token = { 'Or the card’s token key': bola.tokenKey, 'Customer’s e-mail': bola.customerEmail };
  await desk.submits('agent', token);
  await desk.submits('agent');
  for (const [code, words] of [
    ['000000', '3 of 3 tries left'],
    [rightOtp, '2 of 3 tries left'],
  ] as const) {
    const { fields } = await desk.modalSays('agent', words);
    await desk.submits('agent', { [fields[0] ?? '']: code });
  }
  const paid = await desk.modalSays('agent', 'Paid (confirmed)');
  await desk.settled();
  return /pay-\w+/.exec(paid.shown.text)?.[0] ?? '';
}

function files(desk: Desk): NonNullable<Message['files']> {
  return desk.messages('lead', 'leadDm').flatMap(({ files: all = [] }) => all);
}

/** A story's lines as people read them, without times. */
function told({ blocks }: Message): string {
  const [, body] = blocks as { elements?: { elements: Record<string, string>[] }[] }[];
  return (body?.elements?.[0]?.elements ?? [])
    .map(({ type, text = '', user_id: user }) => (type === 'date' ? '' : user ? `<@${user}>` : text))
    .join('')
    .replaceAll(/ +/g, ' ');
}

function expectInOrder(text: string, words: readonly string[]): void {
  let from = 0;
  for (const one of words) {
    const found = text.indexOf(one, from);
    expect(found, `“${one}” in\n${text}`).toBeGreaterThanOrEqual(from);
    from = found + one.length;
  }
}

type Entry = {
  verb?: string;
  who: string;
  what: string;
  result?: string;
  reference?: string;
};

/** The audit's entries, exported by the command while the bot runs. */
async function exported(desk: Desk): Promise<Entry[]> {
  const { stdout } = await desk.runs(['audit', 'export']);
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Entry);
}
