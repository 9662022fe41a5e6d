import { readFileSync } from 'node:fs';
import { describe, expect, it, type TestContext } from 'vitest';
import { assertBlocks } from '../../src/slack/assert-blocks.ts';
import { accountActions } from '../../src/slack/account/account-actions.ts';
import { accountFieldId } from '../../src/slack/account/account-modal.ts';
import { listActionId, type ListButton } from '../../src/slack/list/list-message.ts';
import type { Bot } from '../support/bot.ts';
import { openChargeDialogue, type ChargeDialogue } from '../support/charge-dialogue.ts';
import { openHouse, type House, type HouseOptions, type Person } from '../support/house.ts';

const terminalsPath = '/v1/accounts/terminals';
const accountsPath = '/v1/accounts';

/**
 * A loaded machine reads 200 pages slowly, and an edit of a modal that Slack did not answer in time is not repeated:
 * the house's seconds would be the test's accident.
 */
const patient = { PAYMENTS_TIMEOUT_SECONDS: '4', SLACK_TIMEOUT_SECONDS: '10', WORK_LEASE_SECONDS: '30' };
/** For what is about answers that never come. */
const hurried = { env: { PAYMENTS_TIMEOUT_SECONDS: '2' } };
/** An answer is given up, a while later the account is looked up, and that may be given up too. */
const givenUpMs = 40_000;

type Desk = { house: House; bot: Bot; dialogue: ChargeDialogue };

describe.concurrent('the service’s lists', () => {
  it('lists and filters 10,000 terminals, each page asked for once, across a kill', async (test) => {
    const desk = await openDesk(test, { processes: true, payments: { terminals: 10_000, seed: false } });
    const { house, bot } = desk;
    await asks(desk, '/pay terminals', 'Terminals 1–50 · page 1 · more follow');
    expect(calls(house, terminalsPath)).toBe(1);
    await presses(desk, 'next', 'Terminals 51–100 · page 2 · more follow');
    await presses(desk, 'back', 'Terminals 1–50');
    await presses(desk, 'next', 'Terminals 51–100');
    expect(calls(house, terminalsPath)).toBe(2);

    await bot.kill9();
    await house.start(bot);
    await presses(desk, 'next', 'Terminals 101–150');
    expect(calls(house, terminalsPath)).toBe(3);

    await asks(desk, '/pay terminals Lekki Kiosk', 'searched 7 of the pages');
    expect(calls(house, terminalsPath)).toBe(7);
    await presses(desk, 'all', 'searched all 200 pages, 10,000 terminals');
    const found = lastSeen(desk);
    expect(found.text).toContain('166 terminals match “Lekki Kiosk” · shown 1–50');
    expect(JSON.stringify(found.blocks)).toContain('193 calls of the service for this');
    expect(calls(house, terminalsPath)).toBe(200);
    await presses(desk, 'next', 'shown 51–100');
    await presses(desk, 'next', 'shown 101–150');
    await presses(desk, 'next', 'shown 151–166');
    expect(calls(house, terminalsPath)).toBe(200);
    // With its blank, which no sealed text holds by chance.
    expect(await house.storeDump()).not.toContain('Lekki ');
  });

  it('keeps what it read when the service stops, and goes on from there', async (test) => {
    const desk = await openDesk(test, { payments: { terminals: 600 } });
    const { house } = desk;
    await asks(desk, '/pay terminals yaba', 'searched 5 of the pages, 250 terminals');
    await house.payments.act({ kind: 'set_weather', weather: 'rate_limited' });
    await presses(desk, 'all', 'searched 5 of the pages');
    await house.until('the stop is told', () => JSON.stringify(lastSeen(desk).blocks).includes('call limit'));
    await house.payments.act({ kind: 'set_weather', weather: 'normal' });
    await presses(desk, 'all', 'searched all 12 pages, 600 terminals');
    expect(lastSeen(desk).text).toContain('terminals match “yaba”');
    await asks(desk, '/pay terminals nothing-like-it', 'No terminal matches “nothing-like-it”');
  });

  it('lists accounts newest first, finds one by id and by reference, and says what is not there', async (test) => {
    const desk = await openDesk(test);
    await asks(desk, '/pay accounts', 'Accounts 1–50 · page 1 · more follow');
    expect(JSON.stringify(lastSeen(desk).blocks)).toContain('PLAYGROUND-SUB-00060');
    await presses(desk, 'next', 'Accounts 51–60 · page 2 · the last of 60', 'accounts');
    await asks(desk, '/pay account PLAYGROUND-SUB-00003', 'Account · Surulere Branch');
    const shown = JSON.stringify(lastSeen(desk).blocks);
    const [id = ''] = /[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/.exec(shown) ?? [];
    expect(shown).toContain('***@example.com');
    expect(shown).not.toContain('playground-sub-00003@');
    const before = desk.house.seenBy('agent').length;
    await desk.house.type('agent', `/pay account ${id}`);
    await desk.house.until('it is found by its id', () => desk.house.seenBy('agent').length > before);
    expect(lastSeen(desk).text).toContain('Surulere Branch');
    await asks(desk, '/pay account NOBODYS-ACCOUNT-0001', 'Not found');
    await asks(desk, '/pay account short', 'exactly 20 characters');
    await asks(desk, '/pay account new', 'Not allowed');
  });
});

describe.concurrent('the CSV of a list', () => {
  const granted = { workspace: { grantedOptionalScopes: 'all' as const } };

  it('has 10,000 terminals, tells how far it is, and asks for each page once whoever presses twice', async (test) => {
    // What the heap may hold besides garbage: a bot that kept the rows would not come through.
    const env = { NODE_OPTIONS: '--max-old-space-size=96' };
    const desk = await openDesk(test, {
      processes: true,
      ...granted,
      env,
      payments: { terminals: 10_000, seed: false },
    });
    const { house, bot, dialogue } = desk;
    await asks(desk, '/pay terminals', 'Terminals 1–50');
    await asks(desk, '/pay terminals Lekki Kiosk', 'searched 5 of the pages');
    const before = { calls: calls(house, terminalsPath), residentMb: residentMb(bot) };
    // One page takes long enough that the person is told, and that the second press finds the first at work.
    const slow = house.paymentsGate.hold(terminalsPath, 'after');
    const pressed = [0, 1].map(() => dialogue.pressInMessage('agent', listActionId('terminals', 'csv')));
    const held = await slow;
    await house.until('the progress is told', () =>
      lastSeen(desk).text.includes('Making the CSV of what matches “Lekki Kiosk” … · read '),
    );
    held.release();
    await Promise.all(pressed);
    const done = '📄 CSV of 166 terminals that match “Lekki Kiosk” · in this conversation';
    await house.until('the file of the filter', () => lastSeen(desk).text.includes(done));
    expectShown(desk, 'agent');
    expect(files(house).map(rowsOf)).toEqual([166]);
    const filtered = { calls: calls(house, terminalsPath), residentMb: residentMb(bot) };
    expect(filtered.calls).toBe(200);

    await asks(desk, '/pay terminals', 'Terminals 1–50 · page 1 · more follow');
    await presses(desk, 'csv', '📄 CSV of 10,000 terminals');
    const [, all] = files(house);
    expect(all && rowsOf(all)).toBe(10_000);
    expect(all?.name).toMatch(/^terminals-\d{4}-\d\d-\d\d-\d{4}\.csv$/);
    expect(JSON.stringify(lastSeen(desk).blocks)).toContain('Terminals 1–50');
    const after = { calls: calls(house, terminalsPath), residentMb: residentMb(bot) };
    expect(after.calls).toBe(400);
    // Every page was read by now: the next file costs no call.
    await presses(desk, 'csv', '📄 CSV of 10,000 terminals');
    await house.until('the third file', () => files(house).length === 3);
    expect(calls(house, terminalsPath)).toBe(400);
    console.log('10,000 terminals', { before, filtered, after, csvMb: (all?.text.length ?? 0) / 1e6 });
    // With its blank, which no sealed text holds by chance.
    expect(await house.storeDump()).not.toContain('Lekki ');
  });

  it('comes as a direct message where the bot may put no file, and says why', async (test) => {
    const desk = await openDesk(test, granted);
    const { house, dialogue } = desk;
    house.workspace.setChannel(house.workspace.ids.channels.payDesk, { botIsMember: false });
    await asks(desk, '/pay accounts', 'Accounts 1–50');
    await presses(desk, 'csv', '📄 CSV of 60 accounts · in your direct messages with the bot', 'accounts');
    expect(JSON.stringify(lastSeen(desk).blocks)).toContain('/invite @pay');
    expect(files(house)).toEqual([]);
    const [file] = dialogue.directOf('agent').flatMap(({ files: all = [] }) => all);
    expect(file && rowsOf(file)).toBe(60);
    expect(file?.text).toMatch(/^\uFEFFaccountId,accountRef,accountName/);
    expect(file?.text).not.toMatch(/@example|\+234/);
  });

  it('says what to do without the scope, and when the service stops in between', async (test) => {
    const desk = await openDesk(test, { payments: { terminals: 300 } });
    const { house } = desk;
    await asks(desk, '/pay terminals', 'Terminals 1–50');
    await house.payments.act({ kind: 'set_weather', weather: 'rate_limited' });
    await presses(desk, 'csv', '⚠️ The CSV was not made');
    expect(JSON.stringify(lastSeen(desk).blocks)).toContain('press CSV again to go on from there');
    await house.payments.act({ kind: 'set_weather', weather: 'normal' });
    await presses(desk, 'csv', '⚠️ CSV of 300 terminals could not be put into Slack');
    expect(JSON.stringify(lastSeen(desk).blocks)).toContain('files:write');
    expect(files(house)).toEqual([]);
  });
});

type SeenFile = { name: string; text: string };

/** The files that stand in the desk's channel, oldest first. */
function files(house: House): SeenFile[] {
  return house.posts('payDesk').flatMap(({ files: all = [] }) => all);
}

function rowsOf({ text }: SeenFile): number {
  return text.trimEnd().split('\r\n').length - 1;
}

function residentMb(bot: Bot): number {
  const found = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${bot.pid()}/status`, 'utf8'));
  return Math.round(Number(found?.[1]) / 1_000);
}

describe.concurrent('a new account', () => {
  const filled = { [accountFieldId('accountName')]: 'Akoka Kiosk', [accountFieldId('bvn')]: '22345678901' };

  it('is checked at each field, created once, and found by the reference the bot gave it', async (test) => {
    const { house, bot, dialogue } = await openDesk(test);
    await dialogue.opens('lead', '/pay account new');
    const wrong = { accountName: 'x', accountRef: 'short', email: 'no', bvn: '1' };
    const ids = Object.keys(wrong).map(accountFieldId);
    const texts = Object.entries(wrong).map(([name, text]) => [accountFieldId(name), text]);
    const errors = (await dialogue.submit('lead', Object.fromEntries(texts)))?.errors ?? {};
    expect(new Set(Object.keys(errors))).toEqual(new Set(ids));
    expect(posts(house)).toBe(0);
    const empty = Object.fromEntries(ids.map((id) => [id, '']));
    await dialogue.submit('lead', { ...empty, ...filled });
    const end = await dialogue.modalSays('lead', 'Account created');
    expect(end.text).toContain('Akoka Kiosk');
    expect(posts(house)).toBe(1);
    const places = [bot.lines.join('\n'), await house.storeDump()];
    for (const place of places) expect(place).not.toContain('22345678901');
  });

  it('whose answer was lost is in doubt, looked up, and asked for no second time', async (test) => {
    const { house, dialogue } = await openDesk(test, hurried);
    await dialogue.opens('lead', '/pay account new');
    const answer = house.paymentsGate.hold(accountsPath, 'after');
    await dialogue.submit('lead', filled);
    const held = await answer;
    // Looked up under its reference, it is there: that the answer was lost does no harm.
    await dialogue.modalSays('lead', 'Account created', givenUpMs);
    held.release();
    await house.until('the answer comes too late', () => posts(house) > 0);
    expect(posts(house)).toBe(1);
  });

  it('says that it may have been created while the service hangs, with the way to look it up', async (test) => {
    const { house, dialogue } = await openDesk(test, hurried);
    await dialogue.opens('lead', '/pay account new');
    await house.payments.act({ kind: 'set_weather', weather: 'hang' });
    await dialogue.submit('lead', filled);
    const doubt = await dialogue.modalSays('lead', 'In doubt: the account may have been created', givenUpMs);
    expect(doubt.text).toContain('/pay account PAY');
    await house.payments.act({ kind: 'set_weather', weather: 'normal' });
    await dialogue.press('lead', accountActions.lookUp);
    await house.until('it is looked up', () =>
      dialogue
        .directOf('lead')
        .concat(house.seenBy('lead'))
        .some(({ text }) => text.includes('Not found')),
    );
    expect(posts(house)).toBe(0);
  });

  it('has the fields that the settings name, and without a reference says where to look', async (test) => {
    const env = { ...hurried.env, ACCOUNT_NEW_FIELDS: 'accountName!:2-255,branchCode!:3,tier:gold|silver' };
    const { house, dialogue } = await openDesk(test, { env });
    await dialogue.opens('lead', '/pay account new');
    const name = { [accountFieldId('accountName')]: 'Akoka Kiosk' };
    const wrong = await dialogue.submit('lead', { ...name, [accountFieldId('branchCode')]: '12' });
    expect(wrong?.errors[accountFieldId('branchCode')]).toContain('exactly 3 characters');
    const answer = house.paymentsGate.hold(accountsPath, 'after');
    await dialogue.submit('lead', { ...name, [accountFieldId('branchCode')]: '123' });
    const held = await answer;
    const doubt = await dialogue.modalSays('lead', 'In doubt: the account may have been created', givenUpMs);
    expect(doubt.text).toContain('/pay accounts');
    held.release();
    await house.until('the answer comes too late', () => posts(house) > 0);
    const [asked] = house.paymentsGate.passed.filter(({ request }) => request.includes('branchCode'));
    // Its address stands above its body.
    const [, body = ''] = asked?.request.split('\n') ?? [];
    expect(JSON.parse(body)).toEqual({ accountName: 'Akoka Kiosk', branchCode: '123' });
  });

  it('refused by the service is corrected in the same form', async (test) => {
    const { house, dialogue } = await openDesk(test);
    await dialogue.opens('lead', '/pay account new');
    const ref = accountFieldId('accountRef');
    await dialogue.submit('lead', { ...filled, [ref]: 'PLAYGROUND-SUB-00003' });
    await dialogue.modalSays('lead', 'Account not created');
    await dialogue.press('lead', accountActions.again);
    const form = await dialogue.modalSays('lead', 'A new sub account of the business');
    expect(JSON.stringify(form.view)).toContain('Akoka Kiosk');
    expect(JSON.stringify(form.view)).not.toContain('22345678901');
    await dialogue.submit('lead', { ...filled, [ref]: 'PLAYGROUND-SUB-99999' });
    await dialogue.modalSays('lead', 'Account created');
    expect(posts(house)).toBe(2);
  });
});

async function openDesk(test: TestContext, options: HouseOptions = {}): Promise<Desk> {
  const house = await openHouse(test, {
    ...options,
    env: { LOG_LEVEL: 'debug', ...patient, ...options.env },
  });
  const bot = house.bot();
  await house.start(bot);
  return { house, bot, dialogue: openChargeDialogue(house) };
}

function lastSeen({ house }: Desk, person: Person = 'agent') {
  // A file is a message of the channel: what was answered stands above it.
  const last = house.seenBy(person).findLast(({ ephemeral }) => ephemeral);
  if (!last) throw new Error('nothing was said');
  return last;
}

/** Types it and waits for the answer, which is shown in the first line and the same for a screen reader. */
async function asks(desk: Desk, command: string, words: string, person: Person = 'agent'): Promise<void> {
  const before = desk.house.seenBy(person).length;
  await desk.house.type(person, command);
  await desk.house.until(`${command}: ${words}`, () =>
    desk.house
      .seenBy(person)
      .slice(before)
      .some(({ text }) => text.includes(words)),
  );
  expectShown(desk, person);
}

async function presses(desk: Desk, which: ListButton, words: string, verb = 'terminals'): Promise<void> {
  const person = 'agent';
  await desk.dialogue.pressInMessage(person, listActionId(verb, which));
  await desk.house
    .until(`${which}: ${words}`, () => lastSeen(desk, person).text.includes(words))
    .catch((error: unknown) => {
      throw new Error(`It says: ${JSON.stringify(lastSeen(desk, person))}`, { cause: error });
    });
  expectShown(desk, person);
}

function expectShown(desk: Desk, person: Person): void {
  const { blocks } = lastSeen(desk, person);
  expect(() => assertBlocks('message', JSON.parse(JSON.stringify(blocks)))).not.toThrow();
}

function calls(house: House, path: string): number {
  return house.paymentsGate.passed.filter((passed) => passed.path === path).length;
}

function posts(house: House): number {
  return house.paymentsGate.passed.filter(
    ({ path, request }) => path === accountsPath && request.includes('accountName'),
  ).length;
}
