import { randomBytes } from 'node:crypto';
import { request as ask } from 'node:http';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { notMineNotice } from '../../../src/features/charge/charge-messages.ts';
import {
  answerCodePages,
  createCodePages,
  makeCodeLink,
} from '../../../src/features/customer-code/code-pages.ts';
import { ServiceFailure, StoreUnavailable } from '../../../src/domain/failure.ts';
import { type PageNotice, wordsFor } from '../../../src/features/customer-code/page-words.ts';
import { renderPage } from '../../../src/features/customer-code/page-html.ts';
import { readCode } from '../../../src/domain/otp.ts';
import { chargeMessage } from '../../../src/features/charge/charge-messages.ts';
import { chargeStateModal } from '../../../src/features/charge/charge-modal.ts';
import { formPageRoutes } from '../../../src/http/form-page.ts';
import { createHttpServer, type HttpServer } from '../../../src/http/server.ts';
import { findViolations } from '../../support/axe.ts';
import { openBrowser } from '../../support/browser.ts';
import { someOf } from '../../support/counts.ts';
import { findProgram } from '../../support/programs.ts';
import {
  ada,
  charge,
  notesIn,
  openWorld,
  type World,
  reference,
  rightCode,
  startProcess,
  minuteMs,
} from '../charge-house.ts';

const open: HttpServer[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close(0);
});

type Answer = { status: number; body: string; headers: Record<string, unknown>; ms: number };

/** A charge that waits for its customer’s code, and an HTTP server with the code page. */
async function openPages(merchant = 'Lagos Store', environment: 'live' | 'sandbox' = 'live') {
  const world = openWorld('otp');
  const process = startProcess(world);
  await charge(process);
  const logged: unknown[] = [];
  const log = (...line: unknown[]) => void logged.push(line);
  const work: Promise<void>[] = [];
  const account = {
    ...process.account,
    shownAccount: { environment, account: 'main account' },
    log,
    wait: (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms)),
  };
  const answerCodePage = createCodePages(account, merchant, 'Africa/Lagos', {
    ...process.operations,
    background: (job) => void work.push(job),
  });
  const server = createHttpServer(formPageRoutes('/c/', answerCodePages([answerCodePage], account)), log);
  open.push(server);
  const port = await server.listen(0, '127.0.0.1');
  async function link(): Promise<string> {
    const made = await makeCodeLink(process.account, reference);
    await process.operations.letCustomerType({ reference, by: ada, link: made.link });
    return `/c/${made.secret}`;
  }
  function send(
    method: string,
    to: string,
    form?: Record<string, string>,
    from = '127.0.0.1',
  ): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const startedAt = performance.now();
    const headers = form && { 'content-type': 'application/x-www-form-urlencoded', origin: 'null' };
    const asked = ask(
      { host: '127.0.0.1', port, path: to, method, headers, localAddress: from },
      (response) => {
        let body = '';
        response.setEncoding('utf8').on('data', (part: string) => (body += part));
        response.on('end', () => {
          const ms = performance.now() - startedAt;
          resolve({ status: response.statusCode ?? 0, body, headers: response.headers, ms });
        });
      },
    );
    asked.on('error', reject);
    asked.end(form && new URLSearchParams(form).toString());
    return promise;
  }
  /** After the answer to a sent code: before it, there may be nothing to check yet. */
  async function checked(): Promise<void> {
    await Promise.all(work);
    await process.drained();
  }
  const types = async (
    to: string,
    code: string,
    left: number,
    id = randomBytes(16).toString('base64url'),
  ): Promise<Answer> => {
    const answer = await send('POST', to, { do: 'send', code, id, try: String(left) });
    await checked();
    return answer;
  };
  const seen = async () => await process.operations.find(reference);
  return { world, process, port, logged, link, send, types, checked, seen };
}

async function typesAsAgent(process: ReturnType<typeof startProcess>, code: string): Promise<void> {
  const answered = await process.operations.submitCode({ reference, by: ada, code, triesLeft: 3 });
  await answered?.carryOn?.();
  await process.drained();
}

const notices: readonly PageNotice[] = ['checking', 'doubt', 'paid', 'stopped', 'gone', 'notTaken'];

const titleOf = (body: string): string => /<title>([^<]+)<\/title>/.exec(body)?.[1] ?? '';

const median = (ms: readonly number[]): number => ms.toSorted((a, b) => a - b)[20] ?? 0;

/** From now on the bank’s answers to codes are lost. */
function losesAnswer({ bank }: World): void {
  vi.spyOn(bank, 'code').mockReturnValue({
    kind: 'unknown',
    cause: new ServiceFailure('timeout', 'no answer'),
  });
}

describe('the customer’s page', () => {
  it('takes a wrong code, then the right one, and says Paid; then the link looks as if it never existed', async () => {
    const { link, send, types, seen, logged, world } = await openPages();
    const at = await link();
    const page = await send('GET', at);
    expect(page.body).toContain('3 tries left');
    expect(page.body).toContain('NGN 12,500.00');
    expect(page.body).toContain('•••• 4242');
    expect(page.body).not.toMatch(/jane|pay-|canary/);
    expect(Buffer.byteLength(page.body)).toBeLessThan(6 * 1024);
    const wrong = await types(at, '00-00 00', 3);
    const resultPage = `/c/${String(wrong.headers['location'])}`;
    const again = (await send('GET', resultPage)).body;
    expect(again).toContain('That code was wrong');
    expect(again).toContain('2 tries left');
    expect(world.bank.codes).toEqual(['000000']);
    await types(resultPage, rightCode, 2);
    expect((await seen())?.state.kind).toBe('approved');
    // The title is what screen readers say first, after each step.
    const paid = (await send('GET', resultPage)).body;
    expect([page.body, paid].map(titleOf)).toEqual(['Enter your bank’s code', 'Paid']);
    const [dead, never] = [await send('GET', at), await send('GET', `/c/${'A'.repeat(22)}`)];
    expect(dead.status).toBe(404);
    expect([never.status, never.body]).toEqual([dead.status, dead.body]);
    const kept = JSON.stringify([
      logged,
      await Promise.all(world.store.keys().map((key) => world.store.read(key))),
    ]);
    for (const secret of [at.slice(3), resultPage.slice(3), rightCode]) expect(kept).not.toContain(secret);
  });

  it.each([
    { kind: 'paid', reference: 'ORDER-2' },
    { kind: 'closed', by: 'U0ONCALL01', reason: 'Paid in cash' },
  ] as const)(
    'says that the order may be paid already, before the code and after it: $kind',
    async (ended) => {
      const { process, link, send, types } = await openPages();
      const at = await link();
      await process.operations.onAlertEnded(reference, { ...ended, failed: 'ORDER-1' });
      const page = (await send('GET', at)).body;
      expect(page).toContain('You may have paid this already. Ask the merchant before you approve.');
      const { headers } = await types(at, rightCode, 3);
      const paid = (await send('GET', `/c/${String(headers['location'])}`)).body;
      expect(paid).toContain('If you paid this twice, ask the merchant.');
      expect(page + paid).not.toMatch(/ORDER-|cash|U0/);
    },
  );

  it('counts a double tap as one try, and 1,000 robots as none', async () => {
    const { link, send, types, seen, world } = await openPages();
    const at = await link();
    for (let robot = 0; robot < 1_000; robot += 1) await send(robot % 2 ? 'GET' : 'HEAD', at);
    expect((await seen())?.otp?.triesLeft).toBe(3);
    const id = 'A'.repeat(22);
    const taps = await Promise.all([1, 2].map(() => types(at, rightCode, 3, id)));
    expect(world.bank.codes).toHaveLength(1);
    // A repeat after a lost answer leads to the result, although the link is dead by then.
    const repeat = await types(at, rightCode, 3, id);
    expect([...taps, repeat].map(({ headers }) => headers['location'])).toEqual([id, id, id]);
    expect((await send('GET', `/c/${id}`)).body).toContain('Paid');
    expect((await send('GET', at)).status).toBe(404);
  });

  it('ends with “I did not ask for this”, which the merchant is told once', async () => {
    const { link, send, world, seen } = await openPages();
    const at = await link();
    const notMine = { do: 'not_mine', id: 'A'.repeat(22) };
    // A double tap: the browser shows the second answer.
    for (const { status, headers } of [await send('POST', at, notMine), await send('POST', at, notMine)])
      expect([status, headers['location']]).toEqual([303, notMine.id]);
    expect((await send('GET', `/c/${notMine.id}`)).body).toContain('Thank you for telling us');
    expect((await send('GET', at)).status).toBe(404);
    expect([...world.told]).toEqual([expect.stringMatching(/^not_mine:/)]);
    expect((await notesIn(world)).map(({ kind }) => kind)).toEqual(['told', 'not_mine', 'not_mine']);
    const { customer, notMineAt } = (await seen()) ?? {};
    expect([customer, notMineAt]).toEqual([undefined, world.clock.nowMs]);
  });

  it('reports “I did not ask for this” even while a code is checked, and also if it is then paid', async () => {
    const { link, send, types, world, process, seen } = await openPages();
    const at = await link();
    const answer = Promise.withResolvers<{ kind: 'accepted' }>();
    const code = world.bank.code.bind(world.bank);
    vi.spyOn(world.bank, 'code').mockImplementation((...typed) => {
      void code(...typed);
      return answer.promise as never;
    });
    const typed = types(at, rightCode, 3);
    await vi.waitFor(async () => expect((await seen())?.state.kind).toBe('otp_checking'));
    const id = 'B'.repeat(22);
    expect((await send('POST', at, { do: 'not_mine', id })).headers['location']).toBe(id);
    answer.resolve({ kind: 'accepted' });
    await typed;
    await process.drained();
    expect([...world.told]).toEqual([expect.stringMatching(/^not_mine:/)]);
    const paid = await seen();
    expect([paid?.state.kind, paid?.notMineAt]).toEqual(['approved', world.clock.nowMs]);
    if (!paid) throw new Error('There is no charge.');
    const shownAccount = { ...process.account.shownAccount, isMixed: false, otherAccounts: [] };
    const shown = JSON.stringify([
      chargeMessage(paid, shownAccount, { key: '', mayBeRepeat: false }),
      chargeStateModal(paid, shownAccount, { nowMs: world.clock.nowMs, viewerId: ada }),
    ]);
    expect(shown.split('I did not ask for this')).toHaveLength(3);
    expect(shown).not.toContain('Give value once');
  });

  it('reports “I did not ask for this” from a page that is still open when the charge is paid', async () => {
    const { link, send, types, world, seen } = await openPages();
    const wrong = await types(await link(), '000000', 3);
    const resultPage = `/c/${String(wrong.headers['location'])}`;
    await types(resultPage, rightCode, 2);
    expect((await seen())?.state.kind).toBe('approved');
    const id = 'B'.repeat(22);
    expect((await send('POST', resultPage, { do: 'not_mine', id })).headers['location']).toBe(id);
    expect((await send('GET', `/c/${id}`)).body).toContain('the merchant knows');
    expect([...world.told]).toEqual([expect.stringMatching(/^not_mine:/)]);
    const charge = (await seen())!;
    expect(charge.notMineAt).toBe(world.clock.nowMs);
    const notice = JSON.stringify(notMineNotice(charge));
    expect(notice).toContain('don’t deliver');
    expect(notice).not.toContain('new link');
  });

  it('reports “I did not ask for this” also from the form, if the charge has ended since it was shown', async () => {
    const { link, send, types, world } = await openPages();
    const at = await link();
    await types(at, rightCode, 3);
    const id = 'B'.repeat(22);
    for (const { headers } of [
      await send('POST', at, { do: 'not_mine', id }),
      await send('POST', at, { do: 'not_mine', id }),
    ])
      expect(headers['location']).toBe(id);
    expect([...world.told]).toEqual([expect.stringMatching(/^not_mine:/)]);
  });

  it('does not mention a wrong code that an agent typed before the link was made', async () => {
    const { link, send, process } = await openPages();
    await typesAsAgent(process, '000000');
    const at = await link();
    const first = (await send('GET', at)).body;
    expect(first).toContain('2 tries left');
    expect(first).not.toContain('That code was wrong');
  });

  it('keeps working while a lost answer is looked up, and takes no code in the last seconds', async () => {
    const { link, send, types, world, seen, process } = await openPages();
    const at = await link();
    losesAnswer(world);
    const looked = Promise.withResolvers<undefined>();
    const find = vi.spyOn(world.bank, 'find').mockReturnValue(looked.promise as never);
    const typed = types(at, rightCode, 3);
    await vi.waitFor(async () => expect((await seen())?.state.kind).toBe('confirming'));
    expect(await send('GET', at)).toMatchObject({
      status: 200,
      body: expect.stringContaining('We are checking'),
    });
    find.mockRestore();
    looked.resolve(undefined);
    await typed;
    await process.drained();
    expect((await send('GET', at)).body).toContain('2 tries left');
    world.clock.nowMs = ((await seen())?.otp?.until ?? 0) - 4_000;
    expect((await send('GET', at)).status).toBe(404);
  });

  it('is dead once a code is accepted, before the look-up: page and workspace say so', async () => {
    const { link, send, types, world, process, seen } = await openPages();
    const at = await link();
    const looked = Promise.withResolvers<undefined>();
    vi.spyOn(world.bank, 'find').mockReturnValueOnce(looked.promise as never);
    const id = 'A'.repeat(22);
    const typed = types(at, rightCode, 3, id);
    await vi.waitFor(async () => expect((await seen())?.state.kind).toBe('confirming'));
    const result = await send('GET', `/c/${id}`);
    expect([titleOf(result.body), result.headers['refresh']]).toEqual(['Code accepted', '4']);
    expect((await send('GET', at)).status).toBe(404);
    const confirming = await seen();
    if (!confirming) throw new Error('There is no charge.');
    const shownAccount = { ...process.account.shownAccount, isMixed: false, otherAccounts: [] };
    const shown = JSON.stringify(chargeMessage(confirming, shownAccount, { key: '', mayBeRepeat: false }));
    expect(shown).toContain('Code accepted, confirming');
    looked.resolve(undefined);
    await typed;
    await process.drained();
  });

  it('is dead after the third wrong code, even before the look-up, and cannot be taken back meanwhile', async () => {
    const { link, send, types, world, process, seen } = await openPages();
    const at = await link();
    const first = await types(at, '000000', 3);
    await types(at, '000000', 2);
    const looked = Promise.withResolvers<undefined>();
    const find = vi.spyOn(world.bank, 'find').mockReturnValue(looked.promise as never);
    const answer = Promise.withResolvers<{ kind: 'wrong' }>();
    vi.spyOn(world.bank, 'code').mockReturnValue(answer.promise as never);
    const typed = types(at, '000000', 1);
    await vi.waitFor(async () => expect((await seen())?.state.kind).toBe('otp_checking'));
    await process.operations.takeBack({ reference, by: ada });
    expect((await seen())?.customer).toBeDefined();
    answer.resolve({ kind: 'wrong' });
    await vi.waitFor(async () => expect((await seen())?.state.kind).toBe('confirming'));
    expect((await send('GET', at)).status).toBe(404);
    find.mockRestore();
    looked.resolve(undefined);
    await typed;
    await process.work(world.clock.nowMs + 20 * minuteMs);
    const result = await send('GET', `/c/${String(first.headers['location'])}`);
    expect(result.body).toContain('Wrong code three times');
  });

  it('asks the bank for another code, and says so; in the sandbox there is no button for it', async () => {
    const { link, send, world } = await openPages();
    const at = await link();
    expect((await send('GET', at)).body).toContain('Resend the code');
    await send('POST', at, { do: 'resend', id: 'A'.repeat(22) });
    expect((await send('GET', at)).body).toContain('We asked your bank for another code');
    expect(world.bank.codes).toEqual([]);
    const sandbox = await openPages('Lagos Store', 'sandbox');
    expect((await sandbox.send('GET', await sandbox.link())).body).not.toContain('Resend');
  });

  it('says “try again in a minute” during a store outage: no try is used, and nothing is sent', async () => {
    const { link, send, types, seen, world, logged } = await openPages();
    const at = await link();
    const away = vi.spyOn(world.store, 'read').mockRejectedValue(new StoreUnavailable('away'));
    const [looked, typed] = [await send('GET', at), await types(at, rightCode, 3)];
    away.mockRestore();
    expect([looked.status, typed.status]).toEqual([503, 503]);
    expect(typed.body).toContain('no try was used');
    // A person who only opens the page may have sent a code just before, so the page must not say that nothing was sent.
    expect(looked.body).not.toMatch(/Nothing was sent|no try/);
    expect(looked.body).toContain('refreshes by itself');
    expect([looked.headers['refresh'], typed.headers['refresh']]).toEqual(['4', undefined]);
    expect((await seen())?.otp?.triesLeft).toBe(3);
    expect(world.bank.codes).toEqual([]);
    expect(JSON.stringify(logged)).not.toContain(at.slice(3));
    // Requests are unlimited, so the log lines must be few.
    vi.spyOn(world.store, 'read').mockRejectedValue(new StoreUnavailable('away'));
    for (let look = 0; look < 30; look += 1) await send('GET', at);
    expect(logged.length).toBeLessThanOrEqual(10);
  });

  it('is a proper page even if a record can’t be read, and the log says why without the link', async () => {
    const { link, send, types, world, logged } = await openPages();
    const at = await link();
    vi.spyOn(world.store, 'read').mockRejectedValue(new SyntaxError('Unexpected token'));
    for (const { status, body } of [await send('GET', at), await types(at, rightCode, 3)]) {
      expect(status).toBe(500);
      expect(body).toContain('This page can’t be shown just now');
      expect(body).not.toContain('internal error');
    }
    expect(world.bank.codes).toEqual([]);
    expect(logged).toContainEqual([
      'error',
      'a customer’s page was not shown',
      expect.anything(),
      expect.any(SyntaxError),
    ]);
    expect(JSON.stringify(logged)).not.toContain(at.slice(3));
  });

  it.each(['another tab', 'the same page, by the browser’s Back'])(
    'does not call a code wrong that was typed in %s after an earlier one failed: it says that it wasn’t sent',
    async (where) => {
      const { link, types, seen, world } = await openPages();
      const at = await link();
      const id = 'A'.repeat(22);
      await types(at, '000000', 3, id);
      const old = await types(at, rightCode, 3, where === 'another tab' ? 'B'.repeat(22) : id);
      expect(old.status).toBe(422);
      expect(old.body).toContain('An earlier code failed, and this one wasn’t sent. Enter it again.');
      expect(old.body).not.toContain('That code was wrong');
      expect(world.bank.codes).toEqual(['000000']);
      const [, left = ''] = /name="try" value="(\d)"/.exec(old.body) ?? [];
      await types(at, rightCode, Number(left));
      expect((await seen())?.state.kind).toBe('approved');
    },
  );

  it('does not call a code wrong if its answer was lost, even after the time is over', async () => {
    const { link, send, types, world, process, seen } = await openPages();
    const at = await link();
    losesAnswer(world);
    const { headers } = await types(at, rightCode, 3);
    const result = `/c/${String(headers['location'])}`;
    expect((await send('GET', result)).body).toContain('The last code got no answer');
    await process.work(world.clock.nowMs + 20 * minuteMs);
    expect((await seen())?.state.kind).toBe('expired');
    expect((await send('GET', result)).body).toContain('Don’t enter the code again');
  });

  it('refuses a malformed code, a body over 1 KB and the 7th post, without using a try', async () => {
    const { link, send, types, seen } = await openPages();
    const at = await link();
    expect((await types(at, '12', 3)).body).toContain('A code has 4 to 10 letters or digits.');
    expect((await types(at, '1'.repeat(2_000), 3)).status).toBe(400);
    for (let post = 2; post < 6; post += 1) await types(at, '1', 3);
    expect((await types(at, '000000', 3)).status).toBe(429);
    expect((await seen())?.otp?.triesLeft).toBe(3);
    expect(await send('GET', at)).toMatchObject({ status: 200 });
    const looks = await Promise.all(Array.from({ length: 25 }, () => send('GET', at)));
    expect(looks.filter(({ status }) => status === 200).length).toBeLessThan(20);
    // Somebody who reloads while a code is checked still sees what comes of it.
    const tooMany = looks.find(({ status }) => status === 429);
    expect(tooMany?.headers['refresh']).toBe('60');
    expect(tooMany?.body).toContain('refreshes by itself');
  });

  it('escapes outside text', async () => {
    const { link, send } = await openPages(`<script>alert(1)</script>\u202E${'x'.repeat(200)}`);
    const { body } = await send('GET', await link());
    expect(body).toContain('&#60;script&#62;alert(1)');
    expect(body).not.toMatch(/<script|\u202E|x{60}/);
    expect(Buffer.byteLength(body)).toBeLessThan(6 * 1024);
  });

  it('answers 404 for dead links and for links that never existed, after equal time', async () => {
    const { link, send } = await openPages();
    const dead = await link();
    await link();
    const times = { dead: [] as number[], never: [] as number[] };
    async function ask(round: number): Promise<void> {
      const never = `/c/${Buffer.from(`random-link-${1_000 + round}`)
        .toString('base64url')
        .slice(0, 22)}`;
      const answers = await Promise.all([
        send('GET', dead, undefined, `127.0.1.${round + 1}`),
        send('GET', never, undefined, `127.0.2.${round + 1}`),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([404, 404]);
      times.dead.push(answers[0].ms);
      times.never.push(answers[1].ms);
    }
    // Eight at once, because each answer is delayed.
    for (let round = 0; round < 40; round += 8)
      await Promise.all(Array.from({ length: 8 }, (_, more) => ask(round + more)));
    console.info(
      `404 medians: dead ${median(times.dead).toFixed(1)} ms, never ${median(times.never).toFixed(1)} ms`,
    );
    expect(Math.abs(median(times.dead) - median(times.never))).toBeLessThan(5);
    expect(Math.min(...times.dead, ...times.never)).toBeGreaterThan(140);
    // A single address that asks too often gets 429.
    const statuses: number[] = [];
    for (let asked = 0; asked < 64; asked += 16) {
      const answers = Array.from({ length: 16 }, () => send('GET', dead, undefined, '127.0.3.1'));
      statuses.push(...(await Promise.all(answers)).map(({ status }) => status));
    }
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(4);
    expect(statuses.filter((status) => status === 404).length).toBeLessThanOrEqual(60);
  });

  it('is in the available language that the browser prefers, else in English', () => {
    const english = wordsFor('');
    const all = [english, { ...english, lang: 'fr' }] as const;
    const found = ['fr-NG,en;q=0.8', 'en;q=0.2, FR ;q=0.9', 'yo, ha', 'yo,en', 'yo, fr;q=0'].map(
      (accepted) => wordsFor(accepted, [...all]).lang,
    );
    expect(found).toEqual(['fr', 'fr', 'en', 'en', 'en']);
  });

  it('reads the longest language header quickly, so that it can’t block the bot', () => {
    // Processor time, which a busy machine leaves as it is.
    const before = process.cpuUsage();
    for (const filling of [' ', ';', ',', ' ;', '; q=']) wordsFor(`fr${filling.repeat(16_000)}x`);
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(300);
  });

  it('reads codes with letters, leading zeros, blanks and dashes, and the digits of any keyboard', () => {
    const typed = [
      '0012',
      '12-34 56',
      'ab12cd',
      '٠١٢٣٤٥',
      '۰۱۲۳۴۵',
      '०१२３４５',
      '123',
      '12345678901',
      '<b>1',
    ];
    expect(typed.map(readCode)).toEqual([
      '0012',
      '123456',
      'ab12cd',
      '012345',
      '012345',
      '012345',
      undefined,
      undefined,
      undefined,
    ]);
  });

  describe.skipIf(findProgram('chromium') === undefined)('in a browser', () => {
    it.each([
      { width: 320, colorScheme: 'light', merchant: `<script>alert(1)</script>\u202E${'x'.repeat(200)}` },
      { width: 1_280, colorScheme: 'dark', merchant: 'Lagos Store' },
    ] as const)('fits $width pixels, and axe finds nothing', async ({ width, colorScheme, merchant }) => {
      const { link, port } = await openPages(merchant);
      const browser = await openBrowser({ viewport: { width, height: 720 }, colorScheme, bypassCSP: true });
      if (!browser) throw new Error('There is no browser.');
      const page = await browser.context.newPage();
      await page.goto(`http://127.0.0.1:${port}${await link()}`);
      expect(await findViolations(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
      for (const notice of someOf(notices)) {
        await page.setContent(renderPage({ kind: 'notice', notice }, wordsFor('')));
        expect([notice, await findViolations(page)]).toEqual([notice, []]);
      }
      await browser.close();
    });

    it('is typed by keyboard alone, without JavaScript', async () => {
      const { link, port, seen, checked } = await openPages();
      const url = `http://127.0.0.1:${port}${await link()}`;
      const browser = await openBrowser({ viewport: { width: 320, height: 720 }, javaScriptEnabled: false });
      if (!browser) throw new Error('There is no browser.');
      const page = await browser.context.newPage();
      await page.goto(url);
      await page.keyboard.type('000000');
      await page.keyboard.press('Enter');
      await page.waitForURL((to) => to.href !== url);
      await checked();
      await page.reload();
      await page.getByText('That code was wrong').waitFor();
      await page.keyboard.type(rightCode);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: /Paid|accepted|Checking/ }).waitFor();
      await checked();
      expect((await seen())?.state.kind).toBe('approved');
      browser.checkQuiet();
      await browser.close();
    });
  });
});
