import { describe, expect, it } from 'vitest';
import { countOf, itInFull } from '../support/counts.ts';
import { openDesk, shareDesk, type Desk, type Message } from '../support/desk.ts';

const terminalsPath = '/v1/accounts/terminals';
const granted = { workspace: { grantedOptionalScopes: 'all' as const } };
/**
 * Long timeouts: a loaded machine reads many pages slowly, and a command's message edit that times out is not repeated.
 */
const patient = {
  PAYMENTS_TIMEOUT_SECONDS: '4',
  SLACK_TIMEOUT_SECONDS: '10',
  WORK_LEASE_SECONDS: '30',
  LOG_LEVEL: 'debug',
};
/** Short timeouts, for tests in which an answer never comes. */
const hurried = { PAYMENTS_TIMEOUT_SECONDS: '1', SLACK_TIMEOUT_SECONDS: '1', WORK_LEASE_SECONDS: '5' };

describe('/pay terminals', () => {
  it('turns and searches pages, reads each once, and reads them again after a restart', async (test) => {
    const terminals = countOf({ full: 10_000, share: 600 });
    const desk = await openDesk(test, { env: patient, payments: { terminals, seed: false } });
    const first = await desk.asks('agent', '/pay terminals', 'Terminals 1–10 · page 1 · more follow');
    expect(desk.calls(terminalsPath)).toBe(1);
    await desk.seesBy('agent', 'Terminals 11–20 · page 2 · more follow', () =>
      desk.presses('agent', 'Next', first),
    );
    await desk.seesBy('agent', 'Terminals 1–10', () => desk.presses('agent', 'Back'));
    await desk.restarts();
    const before = desk.calls(terminalsPath);
    expect(before).toBe(1);
    await desk.seesBy('agent', 'Terminals 11–20', () => desk.presses('agent', 'Next'));
    expect(desk.calls(terminalsPath) - before).toBe(1);

    await desk.asks('agent', '/pay terminals Lekki Kiosk', 'searched 5 pages so far');
    const pages = terminals / 50;
    const found = await desk.seesBy('agent', `searched all ${pages} pages`, () =>
      desk.presses('agent', 'Search all'),
    );
    expect(desk.calls(terminalsPath) - before).toBe(pages);
    const matches = Math.floor(terminals / 60);
    expect(found.text).toContain(`${matches} terminals match “Lekki Kiosk”`);
    await desk.asks('agent', '/pay terminals nothing-like-it', 'No terminal matches “nothing-like-it”');
    // Two words: encrypted text contains no space, so it can't match by chance.
    expect(await desk.kept({ filter: 'Lekki Kiosk' })).toEqual([]);
  });

  it('keeps the pages read before a rate limit, and reads on from there', async (test) => {
    const desk = await openDesk(test, { env: patient, payments: { terminals: 600 } });
    await desk.asks('agent', '/pay terminals yaba', 'searched 5 pages so far, 250 terminals');
    await desk.house.payments.act({ kind: 'set_mode', mode: 'rate_limited' });
    await desk.seesBy('agent', ['searched 5 pages so far', 'call limit'], () =>
      desk.presses('agent', 'Search all'),
    );
    await desk.house.payments.act({ kind: 'set_mode', mode: 'normal' });
    await desk.seesBy('agent', 'searched all 12 pages, 600 terminals', () =>
      desk.presses('agent', 'Go on searching'),
    );
  });
});

describe('/pay accounts', () => {
  const at = shareDesk({ ...granted, env: { ...patient, ...hurried } });

  it('lists them newest first; /pay account finds one by id and by reference, masked, or says that there is none', async () => {
    const desk = at();
    const first = await desk.asks('agent', '/pay accounts', 'Accounts 1–10 · page 1 · more follow');
    expect(first.shown.text).toContain('PLAYGROUND-SUB-00060');
    await desk.seesBy('agent', 'Accounts 11–20 · page 2 · more follow', () =>
      desk.presses('agent', 'Next', first),
    );
    await desk.seesBy('agent', 'Accounts 1–10', () => desk.presses('agent', 'Back'));
    const one = await desk.asks('agent', '/pay account PLAYGROUND-SUB-00003', 'Account · Surulere Branch');
    const [id = ''] = /[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/.exec(JSON.stringify(one)) ?? [];
    expect(one.shown.text).toContain('***@example.com');
    expect(JSON.stringify(one)).not.toContain('playground-sub-00003@');
    await desk.asks('agent', `/pay account ${id}`, 'Surulere Branch');
    // A filter finds a status by the service's own word, so that is the one shown.
    const held = await desk.asks('agent', '/pay accounts pnd', '3 accounts match “pnd”');
    expect(held.shown.text).toContain(' · pnd');
    await desk.asks('agent', '/pay account NOBODYS-ACCOUNT-0001', 'Not found');
    await desk.asks('agent', '/pay account short', 'A reference has 20 characters');
    await desk.asks('agent', '/pay account new', 'Not allowed: /pay account new');
  });

  it('can be searched further once the call limit is over', async (test) => {
    const rateLimit = { limit: 1, windowMs: 60_000 };
    const desk = await openDesk(test, { clock: true, payments: { rateLimit } });
    const stopped = await desk.asks('agent', '/pay accounts PLAYGROUND', 'searched 1 page so far');
    expect(stopped.shown.text).toContain('call limit');
    desk.house.later(rateLimit.windowMs);
    await desk.seesBy('agent', 'searched all 2 pages, 60 accounts', () =>
      desk.presses('agent', 'Go on searching', stopped),
    );
  });

  it('and terminals can be reloaded after a search without a match', async () => {
    const desk = at();
    for (const [verb, path] of [
      ['accounts', '/v1/accounts'],
      ['terminals', terminalsPath],
    ] as const) {
      await desk.asks('agent', `/pay ${verb} nothing-like-it`, 'matches “nothing-like-it”');
      const before = desk.calls(path);
      await desk.presses('agent', 'Reload');
      await desk.house.until(`the ${verb} are read again`, () => desk.calls(path) > before);
      expect(desk.calls(path)).toBeGreaterThan(before);
    }
  });

  it('new: checks each field, creates once, and lets a refused account be corrected in the same form', async () => {
    const desk = at();
    await desk.opens('lead', '/pay account new');
    const wrong = await desk.submits('lead', {
      'Account name': 'x',
      Reference: 'short',
      'E-mail': 'no',
      BVN: '1',
    });
    expect(Object.keys(wrong?.problems ?? {})).toHaveLength(4);
    expect(created(desk)).toHaveLength(0);
    await desk.submits('lead', { ...kiosk, Reference: 'PLAYGROUND-SUB-00003', 'E-mail': '' });
    await desk.modalSays('lead', 'Account not created');
    await desk.presses('lead', 'Correct and try again');
    const form = await desk.modalSays('lead', 'Account name');
    expect(JSON.stringify(form)).toContain('Akoka Kiosk');
    expect(JSON.stringify(form)).not.toContain('22345678901');
    await desk.submits('lead', { ...kiosk, Reference: '' });
    await desk.modalSays('lead', ['Account created', 'Akoka Kiosk']);
    expect(created(desk)).toHaveLength(2);
    expect(await desk.kept({ bvn: '22345678901' })).toEqual([]);
  });

  it('new: after a lost answer, looks the account up by its reference and does not request it again', async () => {
    const desk = at();
    const before = created(desk).length;
    await desk.opens('lead', '/pay account new');
    const answer = desk.house.paymentsGate.hold('/v1/accounts', 'after');
    const named = { ...kiosk, Reference: 'PLAYGROUND-SUB-00099' };
    await desk.submits('lead', named);
    const held = await answer;
    await desk.modalSays('lead', 'Account created');
    held.release();
    await desk.house.until('its answer comes too late', () => created(desk).length > before);
    await desk.closes('lead');
    await desk.opens('lead', '/pay account new');
    await desk.submits('lead', named);
    await desk.modalSays('lead', ['Account created', 'Asked for before']);
    expect(created(desk)).toHaveLength(before + 1);
  });

  it('new: tells a person who closed the window during a hang that the account may exist', async () => {
    const desk = at();
    await desk.opens('lead', '/pay account new');
    await desk.house.payments.act({ kind: 'set_mode', mode: 'hang' });
    await desk.submits('lead', kiosk);
    await desk.closes('lead');
    await desk.sees('lead', ['In doubt: the account may have been created', '/pay account PAY'], 'leadDm');
    await desk.house.payments.act({ kind: 'set_mode', mode: 'normal' });
    await desk.seesBy('lead', 'Not found', () => desk.presses('lead', 'Look up'));
  });

  it('new: has the fields in ACCOUNT_NEW_FIELDS, and without a reference says where to look', async (test) => {
    const ACCOUNT_NEW_FIELDS = 'accountName!:2-255,branchCode!:3,tier:gold|silver';
    const desk = await openDesk(test, { env: { ...hurried, ACCOUNT_NEW_FIELDS } });
    const form = await desk.opens('lead', '/pay account new');
    expect(form.fields).toEqual(['Account name', 'Branch code', 'Tier']);
    const wrong = await desk.submits('lead', { 'Account name': 'Akoka Kiosk', 'Branch code': '12' });
    expect(wrong?.problems['Branch code']).toContain('Needs 3 characters; this has 2');
    const answer = desk.house.paymentsGate.hold('/v1/accounts', 'after');
    await desk.submits('lead', { 'Account name': 'Akoka Kiosk', 'Branch code': '123', Tier: 'gold' });
    const held = await answer;
    await desk.modalSays('lead', ['In doubt: the account may have been created', '/pay accounts']);
    held.release();
    await desk.house.until('its answer comes too late', () => created(desk).length > 0);
    expect(created(desk)).toEqual([{ accountName: 'Akoka Kiosk', branchCode: '123', tier: 'gold' }]);
  });
});

describe('CSV', () => {
  it('has every row, and shows progress', async (test) => {
    const desk = await openDesk(test, {
      ...granted,
      env: patient,
      payments: { terminals: 600, seed: false },
    });
    const { house } = desk;
    const searched = await desk.asks('agent', '/pay terminals Lekki Kiosk', 'searched 5 pages so far');
    const slow = house.paymentsGate.hold(terminalsPath, 'after');
    const pressed = desk.presses('agent', 'CSV', searched);
    const held = await slow;
    await desk.sees('agent', 'Making the CSV of what matches “Lekki Kiosk” … · read ');
    held.release();
    await pressed;
    await desk.sees('agent', '📄 CSV of 10 terminals that match “Lekki Kiosk” · in your direct messages');
    expect(files(desk, 'agentDm').map(rowsOf)).toEqual([10]);
    const all = await desk.asks('agent', '/pay terminals', 'Terminals 1–10');
    await desk.seesBy('agent', '📄 CSV of 600 terminals', () => desk.presses('agent', 'CSV', all));
    await house.until('the file is there', () => files(desk, 'agentDm').length === 2);
    const [, file] = files(desk, 'agentDm');
    expect(file && rowsOf(file)).toBe(600);
    expect(file?.name).toMatch(/^terminals-\d{4}-\d\d-\d\d-\d{4}\.csv$/);
    expect(desk.calls(terminalsPath)).toBeLessThanOrEqual(24);
  });

  it('goes only to the person who asked, masked, and with formulas disarmed', async (test) => {
    const desk = await openDesk(test, { ...granted, env: patient });
    await desk.opens('lead', '/pay account new');
    await desk.submits('lead', { ...kiosk, 'Account name': '=HYPERLINK("http://x")' });
    await desk.modalSays('lead', 'Account created');
    await desk.asks('agent', '/pay accounts', 'Accounts 1–10');
    await desk.seesBy('agent', '📄 CSV of 61 accounts · in your direct messages', () =>
      desk.presses('agent', 'CSV'),
    );
    await desk.house.until('the file is there', () => files(desk, 'agentDm').length === 1);
    expect(files(desk, 'payDesk')).toEqual([]);
    const [file] = files(desk, 'agentDm');
    expect(file && rowsOf(file)).toBe(61);
    expect(file?.text).toMatch(/^\uFEFFaccountId,accountRef,accountName/);
    expect(file?.text).toContain(`"'=HYPERLINK(""http://x"")"`);
    expect(file?.text).not.toMatch(/@example|\+234/);
  });

  it('says what to do without the upload scope, and when the service fails halfway', async (test) => {
    const desk = await openDesk(test, { env: patient, payments: { terminals: 300 } });
    await desk.asks('agent', '/pay terminals', 'Terminals 1–10');
    await desk.house.payments.act({ kind: 'set_mode', mode: 'rate_limited' });
    const stopped = ['⚠️ The CSV was not made', 'Press CSV again to go on'];
    await desk.seesBy('agent', stopped, () => desk.presses('agent', 'CSV'));
    await desk.house.payments.act({ kind: 'set_mode', mode: 'normal' });
    await desk.seesBy('agent', ['⚠️ CSV of 300 terminals couldn’t be put into Slack', 'files:write'], () =>
      desk.presses('agent', 'CSV'),
    );
  });

  itInFull('has 10,000 rows in a heap that does not hold them', async (test) => {
    const desk = await openDesk(test, {
      ...granted,
      processes: true,
      env: { ...patient, NODE_OPTIONS: '--max-old-space-size=96' },
      payments: { terminals: 10_000, seed: false },
    });
    const listed = await desk.asks('agent', '/pay terminals', 'Terminals 1–10');
    await desk.seesBy('agent', '📄 CSV of 10,000 terminals', () => desk.presses('agent', 'CSV', listed));
    await desk.house.until('the file is there', () => files(desk, 'agentDm').length === 1);
    const [file] = files(desk, 'agentDm');
    expect(file && rowsOf(file)).toBe(10_000);
  });
});

const kiosk = { 'Account name': 'Akoka Kiosk', BVN: '22345678901' };

/** Requests to create an account, oldest first. */
function created({ house }: Desk): unknown[] {
  return house.paymentsGate.passed
    .filter(({ path, request }) => path === '/v1/accounts' && request.includes('accountName'))
    .map(({ request }) => JSON.parse(request.slice(request.indexOf('\n') + 1)) as unknown);
}

type File = NonNullable<Message['files']>[number];

function files(desk: Desk, where: 'payDesk' | 'agentDm'): File[] {
  return desk.messages('agent', where).flatMap(({ files: all = [] }) => all);
}

function rowsOf({ text }: File): number {
  return text.trimEnd().split('\r\n').length - 1;
}
