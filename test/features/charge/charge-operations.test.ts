import { describe, expect, it, vi } from 'vitest';
import { asAccepted, type ChargeTerms } from '../../../src/domain/charge.ts';
import { derivedReference } from '../../../src/records/derived-reference.ts';
import { everyPoint } from '../../support/every-point.ts';
import type { EndedAlert } from '../../../src/domain/alert.ts';
import { untouched } from '../../../src/features/alerts/event-case.ts';
import { shownLink } from '../../../src/features/links/link-screens.ts';
import { ServiceFailure, StoreUnavailable } from '../../../src/domain/failure.ts';
import {
  ada,
  bola,
  charge,
  hourMs,
  isToldPaid,
  minuteMs,
  openWorld,
  reference,
  startProcess,
  submit,
  terms,
  viewId,
  type Process,
  type World,
} from '../charge-house.ts';
import { sealer } from '../house.ts';

const away = () => Promise.reject(new StoreUnavailable('away'));

/** A process that does something at its nth await. */
function pausedAt(world: World, nth: number, doing: () => Promise<void>): Process {
  let left = nth;
  const points = everyPoint();
  return startProcess(world, {
    ...points,
    async pass(name, effect) {
      left -= 1;
      if (left === -1) await doing();
      return await points.pass(name, effect);
    },
  });
}

describe('submit', () => {
  it.each<Partial<ChargeTerms>>([
    { tokenKey: 'other' },
    { card: {} },
    { money: { minor: 1_250_000, currency: 'USD' } },
    { customerEmail: 'canary@example.org' },
    { customerId: 'C-1' },
    { reason: 'another' },
    { alert: 'payment_failed/order/ORDER-1' },
  ])('charges only the reviewed terms, and none with %o', async (change) => {
    const world = openWorld('approved');
    const { operations } = startProcess(world);
    const draft = await operations.keepDraft(viewId, terms);
    const shuffled = Object.fromEntries(Object.entries(terms).toReversed()) as ChargeTerms;
    expect(await operations.keepDraft(viewId, shuffled)).toBe(draft);
    await operations.keepDraft(viewId, { ...terms, ...change });
    expect(await operations.submit({ viewId, draft, by: ada })).toEqual({ kind: 'stale' });
    expect(world.bank.posts).toEqual([]);
  });

  describe('for an alert', () => {
    const alert = 'payment_failed/order/ORDER-1';
    const payment = { reference: 'ORDER-2', isSameReference: false, money: terms.money, afterMs: 60_000 };
    async function end({ store }: World, card: EndedAlert, id = alert): Promise<void> {
      const key = `event:${id}`;
      const kept = { state: { ...untouched(id), card }, turn: 1, told: 1, unwritten: [] };
      const value = sealer.seal(key, JSON.stringify(kept));
      const entry = await store.read(key);
      await (entry ? store.write(entry, value) : store.create(key, value));
    }
    const submitFor = async (process: Process) => {
      const draft = await process.operations.keepDraft(viewId, { ...terms, alert });
      return () => process.operations.submit({ viewId, draft, by: ada });
    };

    it.each<EndedAlert>([
      { kind: 'recovered', at: 1, payment },
      { kind: 'closed', at: 1, by: bola, reason: 'paid in cash' },
    ])('charges nothing once the alert has ended, even from a form opened before (%o)', async (card) => {
      const world = openWorld('approved');
      const process = startProcess(world);
      const agree = await submitFor(process);
      expect(await process.operations.alertTaken(alert, viewId)).toBeUndefined();
      await end(world, card);
      expect(await process.operations.alertTaken(alert, viewId)).toEqual({ kind: 'ended', state: card });
      expect(await agree()).toEqual({ kind: 'alert_taken', taken: { kind: 'ended', state: card } });
      expect(world.bank.posts).toEqual([]);
    });

    it('charges nothing if the alert ends between check and claim', async () => {
      const world = openWorld('approved');
      const process = startProcess(world);
      const agree = await submitFor(process);
      const card: EndedAlert = { kind: 'closed', at: 1, by: bola, reason: 'paid in cash' };
      const whole = { ...process.store };
      process.store.create = async (key, ...given) => {
        if (key === `event:${alert}`) await end(world, card);
        return await whole.create(key, ...given);
      };
      expect(await agree()).toEqual({ kind: 'alert_taken', taken: { kind: 'ended', state: card } });
      expect(world.bank.posts).toEqual([]);
    });

    it('charges nothing if the alert is resolved between claim and send, and says so', async () => {
      const world = openWorld('approved');
      const process = startProcess(world);
      const agree = await submitFor(process);
      const whole = { ...process.store };
      process.store.create = async (key, ...given) => {
        if (key.startsWith('charge:')) await end(world, { kind: 'recovered', at: 1, payment });
        return await whole.create(key, ...given);
      };
      const begun = await agree();
      if (begun.kind === 'begun') await begun.carryOn();
      await process.workFor(5 * minuteMs);
      expect(world.bank.posts).toEqual([]);
      expect((await process.operations.find(reference))?.state).toMatchObject({
        kind: 'rejected',
        reason: 'alert_ended',
      });
      expect(process.shown.at(-1)).toContain('The alert was resolved meanwhile. No money moved.');
      const steps = [...world.audited.values()].map(({ who, result }) => ({ who, result }));
      expect(steps).toContainEqual({ who: 'payops', result: 'charge_not_sent' });
      expect(steps.filter(({ who }) => who === 'payments')).toEqual([]);
    });

    /** The modal of `/pay link`, opened for the alert and submitted by Bola; `form` is its metadata. */
    async function askForLink(process: Process, view: string, form?: string): Promise<string> {
      const [modal] = process.links.verbs[0]?.modals ?? [];
      const privateMetadata =
        form ?? (await process.links.form({}, { userId: bola }, alert)).private_metadata ?? '';
      const values = { link_amount: '12,500.00', link_email: 'jane@example.com', link_saves_card: 'save' };
      const answer = await modal?.submit({ caller: { userId: bola }, viewId: view, privateMetadata, values });
      if (answer?.kind === 'update') await answer.carryOn?.();
      await process.drained();
      return JSON.stringify(await process.links.find(derivedReference(view)));
    }
    /** A failed charge of the same customer and amount, whose alert is open. */
    async function fail(process: Process): Promise<void> {
      const { money, customerEmail } = terms;
      const { minor: amountMinor, currency } = money;
      const named = { orderReference: 'ORDER-1', customerEmail, amountMinor, currency };
      const event = { kind: 'payment_failed', key: alert, ...named } as const;
      await process.receive(event, 'f');
      await process.recovery.matchFailure(event, { kind: 'no_reference' }, process.account.now());
    }
    async function review(process: Process, view = viewId, metadata = alert): Promise<string> {
      const [modal] = process.charges.verbs[0]?.modals ?? [];
      const values = {
        charge_token: terms.tokenKey,
        charge_email: 'jane@example.com',
        charge_amount: '12,500.00',
      };
      const given = { caller: { userId: ada }, viewId: view, privateMetadata: metadata, values };
      return JSON.stringify(await modal?.submit(given));
    }

    it('without one names the customer’s payment links of the same amount: open ones, and those just paid', async () => {
      const world = openWorld('approved');
      const process = startProcess(world);
      const [link, typed] = [derivedReference('V0LINK'), '{}'];
      expect(await askForLink(process, 'V0LINK', typed)).toContain('"open"');
      expect(await review(process, viewId, '')).toMatch(/isn’t settled yet.*U0AGENT02/);
      world.bank.charges.set(link, { status: 'SUCCESS', amountMinor: terms.money.minor, wrong: 0 });
      expect((await process.links.lookNow(link))?.link.state.kind).toBe('paid');
      expect(await review(process, viewId, '')).toContain('may be paid already');
      expect(await submit(process)).toMatchObject({ kind: 'twin', twins: [{ reference: link }] });
      world.clock.nowMs += 11 * minuteMs;
      expect(await review(process, viewId, '')).toContain('Nothing sent yet. Expires');
    });

    it('names a payment link also on the review of a charge that was not begun from the alert', async () => {
      const world = openWorld('approved');
      const process = startProcess(world);
      await fail(process);
      expect(await review(process, 'V0TYPED', '')).not.toContain('settled yet');
      expect(await askForLink(process, 'V0LINK', '{}')).toContain('"open"');
      expect(await review(process, 'V0TYPED', '')).toMatch(/payment for this isn’t settled.*U0AGENT02/);
      const draft = await process.operations.keepDraft('V0TYPED', terms);
      const given = { viewId: 'V0TYPED', draft, by: ada };
      const twins = [{ reference: derivedReference('V0LINK'), outcome: 'unpaid' }];
      expect(await process.operations.submit(given)).toMatchObject({ kind: 'twin', twins });
      const despite = twins.map(asAccepted);
      expect((await process.operations.submit({ ...given, despite })).kind).toBe('begun');
    });

    it('names a payment link on the review of a charge from the alert of its own failed try', async () => {
      const process = startProcess(openWorld('approved'));
      const own = `payment_failed/order/${derivedReference('V0LINK')}`;
      expect(await askForLink(process, 'V0LINK', '{}')).toContain('"open"');
      expect(await review(process, viewId, own)).toMatch(/payment for this isn’t settled.*U0AGENT02/);
      expect(await review(process)).not.toContain('settled yet');
    });

    it('names the alert’s charge on the review of a charge of another card that somebody typed', async () => {
      const process = startProcess(openWorld('approved'));
      await fail(process);
      await process.claims.claim(alert, { reference: 'pay-first', by: bola });
      expect(await review(process, 'V0TYPED', '')).toMatch(/isn’t settled yet.*U0AGENT02.*pay-first/);
    });

    it('begins nothing from the alert of a charge that itself needs review', async () => {
      const world = openWorld('approved');
      const process = startProcess(world);
      world.bank.charge = () => ({ kind: 'approved' });
      await charge(process);
      await process.workFor(26 * hourMs);
      expect((await process.operations.find(reference))?.state.kind).toBe('review');
      // Its event comes late and says failed.
      const own = `payment_failed/order/${reference}`;
      const underReview = { kind: 'charging', charge: { reference, by: ada, needsReview: true } };
      expect(await process.operations.alertTaken(own)).toMatchObject(underReview);
      expect(await askForLink(process, 'V0LINK', JSON.stringify({ alert: own }))).toContain('needs review');
      world.bank.charges.set(reference, { status: 'SUCCESS', amountMinor: terms.money.minor, wrong: 0 });
      expect(await process.operations.alertTaken(alert)).toBeUndefined();
    });

    it('names an aged and a paid payment link of the alert, too', async () => {
      const world = openWorld('approved');
      const process = startProcess(world);
      expect(await askForLink(process, 'V0LINK')).toContain('"open"');
      await process.workFor(73 * hourMs);
      const link = derivedReference('V0LINK');
      expect((await process.links.find(link))?.state.kind).toBe('aged');
      expect(await review(process)).toContain('isn’t settled yet');
      world.bank.charges.set(link, { status: 'SUCCESS', amountMinor: terms.money.minor, wrong: 0 });
      expect((await process.links.lookNow(link))?.link.state.kind).toBe('paid');
      // The alert hasn't heard of it yet.
      expect(await review(process)).toContain('may be paid already');
      const despite = [`${link} (unpaid)`];
      const draft = await process.operations.keepDraft(viewId, { ...terms, alert });
      const submitted = await process.operations.submit({ viewId, draft, by: ada, despite });
      expect(submitted).toMatchObject({
        kind: 'twin',
        twins: [{ reference: link, outcome: 'perhaps_paid' }],
      });
    });

    it('leads back to the alert from a review that has expired', async () => {
      const world = openWorld('approved');
      const process = startProcess(world);
      const { modal } = JSON.parse(await review(process)) as { modal: { private_metadata: string } };
      world.clock.nowMs += 31 * minuteMs;
      const [, submitted] = process.charges.verbs[0]?.modals ?? [];
      const given = { caller: { userId: ada }, viewId, privateMetadata: modal.private_metadata, values: {} };
      const expired = JSON.stringify(await submitted?.submit(given));
      expect(expired).toMatch(/This review has expired.*Charge again….*ORDER-1/);
    });

    it('makes no payment link once the alert has ended or is charged, even from a form opened before', async () => {
      const world = openWorld('approved');
      const process = startProcess(world);
      const agree = await submitFor(process);
      await agree();
      expect(await askForLink(process, 'V0LINK')).toContain(`is being charged: ${reference}`);
      await end(world, { kind: 'recovered', at: 1, payment });
      expect(await askForLink(process, 'V0OTHER')).toContain('resolved meanwhile');
      expect(world.bank.orders).toEqual([]);
    });

    it('makes no payment link for a crashed request once the alert is charged, and says that', async () => {
      const world = openWorld('approved');
      const dying = startProcess(world, everyPoint());
      dying.account.payments.createCheckoutOrder = () => new Promise(() => undefined);
      void askForLink(dying, 'V0LINK');
      await vi.waitFor(async () => expect(await dying.links.find(derivedReference('V0LINK'))).toBeDefined());
      const process = startProcess(world);
      const link = { reference: derivedReference('V0LINK'), by: bola, outcome: 'unpaid' };
      const draft = await process.operations.keepDraft(viewId, { ...terms, alert });
      const given = { viewId, draft, by: ada };
      expect(await process.operations.submit(given)).toMatchObject({ kind: 'twin', twins: [link] });
      const begun = await process.operations.submit({ ...given, despite: [asAccepted(link)] });
      expect(begun.kind).toBe('begun');
      await process.workFor(5 * minuteMs);
      expect(world.bank.orders).toEqual([]);
      const lost = await process.links.find(link.reference);
      expect(lost?.state.kind).toBe('lost');
      const shown = lost && JSON.stringify(shownLink(lost, process.account.shownAccount));
      expect(shown).toContain(`is being charged: ${reference}`);
      expect(shown).not.toContain('gave no clear answer');
    });

    it('names an open payment link of the alert, before the card is charged or another link is made', async () => {
      const process = startProcess(openWorld('approved'));
      expect(await review(process)).toMatch(/Nothing sent yet(?!.*settled)/);
      const { private_metadata: before = '' } = await process.links.form({}, { userId: ada }, alert);
      expect(await askForLink(process, 'V0LINK')).toContain('"open"');
      const named = /payment for this isn’t settled.*U0AGENT02/;
      expect(await review(process)).toMatch(named);
      const form = async (of?: string) => await process.links.form({}, { userId: bola }, of);
      expect(JSON.stringify(await form(alert))).toMatch(named);
      expect(JSON.stringify(await form())).not.toContain('settled yet');
      const why = `was begun meanwhile: ${derivedReference('V0LINK')}`;
      expect(await askForLink(process, 'V0OTHER', before)).toContain(why);
      expect(await askForLink(process, 'V0OTHER')).toContain('"open"');
    });

    type Begun = 'charge' | 'link' | 'other link';
    async function begin(what: Begun, process: Process): Promise<void> {
      const form = JSON.stringify({ alert });
      if (what !== 'charge') return void (await askForLink(process, what, form));
      const begun = await (await submitFor(process))();
      if (begun.kind === 'begun') await begun.carryOn();
      await process.drained();
    }
    it.each<[Begun, Begun]>([
      ['link', 'charge'],
      ['link', 'other link'],
    ])('never lets a %s and a %s both begin, wherever each waits for the other', async (one, other) => {
      const made = new Set<string>();
      let isOver = false;
      for (let first = 0; !isOver; first += 1) {
        let isOtherOver = false;
        for (let second = 0; !isOtherOver && !isOver; second += 1) {
          const world = openWorld('approved');
          const [paused, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
          isOver = true;
          isOtherOver = true;
          const quick = pausedAt(world, second, async () => {
            isOtherOver = false;
            paused.resolve();
            await goesOn.promise;
          });
          let ended: Promise<void> | undefined;
          const slow = pausedAt(world, first, async () => {
            isOver = false;
            ended = begin(other, quick).finally(paused.resolve);
            await paused.promise;
          });
          await begin(one, slow);
          goesOn.resolve();
          await ended;
          made.add(`${world.bank.posts.length + world.bank.orders.length} begun`);
        }
      }
      expect([...made].toSorted()).toEqual(['0 begun', '1 begun']);
    });

    it('charges nothing from the closed alert of a charge that was begun from this alert', async () => {
      const world = openWorld('declined');
      const process = startProcess(world);
      const first = await (await submitFor(process))();
      if (first.kind === 'begun') await first.carryOn();
      const ofDeclined = `payment_failed/order/${reference}`;
      const card: EndedAlert = { kind: 'closed', at: 1, by: bola, reason: 'paid in cash' };
      await end(world, card, ofDeclined);
      const other = { ...terms, tokenKey: 'canary-token-of-another-card', alert: ofDeclined };
      const draft = await process.operations.keepDraft('V0OTHER', other);
      expect(await process.operations.submit({ viewId: 'V0OTHER', draft, by: ada })).toMatchObject({
        kind: 'alert_taken',
        taken: { kind: 'ended' },
      });
    });

    it('shows the charge that resolved the alert if the same dialogue is submitted again', async () => {
      const world = openWorld('approved');
      const process = startProcess(world);
      const agree = await submitFor(process);
      const first = await agree();
      if (first.kind === 'begun') await first.carryOn();
      await end(world, { kind: 'recovered', at: 1, payment });
      expect(await agree()).toMatchObject({ kind: 'known', charge: { reference } });
      expect(world.bank.posts).toEqual([reference]);
    });
  });

  describe('of several charges from one alert', () => {
    const alert = 'payment_failed/order/ORDER-1';
    const cardY = { tokenKey: 'canary-token-of-another-card' };
    async function from(process: Process, view: string, by: string, other: Partial<typeof terms> = {}) {
      const draft = await process.operations.keepDraft(view, { ...terms, alert, ...other });
      return await process.operations.submit({ viewId: view, draft, by });
    }
    async function finish(process: Process, result: Awaited<ReturnType<typeof from>>): Promise<void> {
      if (result.kind === 'begun') await result.carryOn();
      await process.drained();
    }

    it('begins one, for any cards and replicas, and tells the others whose it is', async () => {
      const world = openWorld('approved');
      const replicas = [startProcess(world), startProcess(world)];
      const people = Array.from({ length: 20 }, (_, index) => `U0PERSON${index}`);
      const results = await Promise.all(
        people.map((by, index) => from(replicas[index % 2]!, `V${index}`, by, index % 3 === 0 ? cardY : {})),
      );
      const [begun, ...more] = results.filter(({ kind }) => kind === 'begun');
      expect(more).toEqual([]);
      if (begun?.kind !== 'begun') throw new Error('none was begun');
      const { reference: first, by } = begun.charge;
      const others = results.filter((result) => result !== begun);
      const charging = { kind: 'charging', charge: expect.objectContaining({ reference: first, by }) };
      expect(others).toHaveLength(19);
      for (const other of others) expect(other).toEqual({ kind: 'alert_taken', taken: charging });
      await finish(replicas[0]!, begun);
      // The alert has not been told yet that it is paid. It is held all the same, also much later.
      world.clock.nowMs += 11 * minuteMs;
      expect(await from(replicas[1]!, 'V0LATER', bola)).toMatchObject({ kind: 'alert_taken' });
      expect(world.bank.posts).toEqual([first]);
      expect(isToldPaid(world, first)).toBe(true);
    });

    it('holds the alert while the outcome is unknown', async () => {
      const world = openWorld('lost');
      const process = startProcess(world);
      process.account.payments.findTransaction = () => Promise.reject(new ServiceFailure('network', 'away'));
      await finish(process, await from(process, viewId, ada));
      world.clock.nowMs += hourMs;
      expect(await from(process, 'V0OTHER', bola, cardY)).toMatchObject({ kind: 'alert_taken' });
    });

    it('holds the alert again if a charge that had ended is in doubt again', async () => {
      const process = startProcess(openWorld('declined'));
      await finish(process, await from(process, viewId, ada));
      expect(await process.operations.alertTaken(alert)).toBeUndefined();
      process.account.payments.findTransaction = () => Promise.reject(new ServiceFailure('network', 'away'));
      await process.trigger({ kind: 'payment_success', key: 'k', orderReference: reference });
      await process.drained();
      expect(await from(process, 'V0OTHER', bola, cardY)).toMatchObject({ kind: 'alert_taken' });
    });

    it('holds the alert for a delivery that charges, even if another delivery of the submit is refused', async () => {
      const world = openWorld('approved', { timeZone: 'UTC', roles: { agent: {} } });
      const [first, second] = [startProcess(world), startProcess(world)];
      const [claimed, refused] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const { rolesOf } = first.account.people;
      second.account.people.rolesOf = async () => {
        claimed.resolve();
        await refused.promise;
        return { kind: 'unknown' };
      };
      let other: ReturnType<typeof from> | undefined;
      first.account.people.rolesOf = async (...given) => {
        other ??= from(second, viewId, ada);
        await claimed.promise;
        return await rolesOf(...given);
      };
      expect(await from(first, viewId, ada)).toMatchObject({ kind: 'begun' });
      refused.resolve();
      expect(await other).toMatchObject({ kind: 'over_limit' });
      expect(await from(startProcess(world), 'V0OTHER', bola, cardY)).toMatchObject({ kind: 'alert_taken' });
    });

    it.each(['declined', 'rejected'] as const)(
      'frees the alert once the first charge was %s',
      async (plan) => {
        const process = startProcess(openWorld(plan));
        await finish(process, await from(process, viewId, ada));
        expect(await process.operations.alertTaken(alert)).toBeUndefined();
        expect(await from(process, 'V0OTHER', bola, cardY)).toMatchObject({ kind: 'begun' });
      },
    );

    it('frees the alert if the card refuses the charge, and after five minutes if a crash left only the claim', async () => {
      const world = openWorld('approved');
      const process = startProcess(world);
      await submit(process, 'V0PLAIN', bola);
      expect(await from(process, viewId, ada)).toMatchObject({ kind: 'refused' });
      expect(await process.operations.alertTaken(alert)).toBeUndefined();
      await process.claims.claim(alert, { reference: 'pay-dead', by: ada });
      expect(await from(process, 'V0OTHER', bola, cardY)).toMatchObject({ kind: 'alert_taken' });
      world.clock.nowMs += 5 * minuteMs;
      expect(await from(process, 'V0OTHER', bola, cardY)).toMatchObject({ kind: 'begun' });
    });

    it('treats the alert about a failed charge as the alert from which that charge was begun', async () => {
      const world = openWorld('declined');
      const process = startProcess(world);
      await finish(process, await from(process, viewId, ada));
      const first = await from(process, 'V0FIRST', ada, cardY);
      expect(first.kind).toBe('begun');
      const ofDeclined = `payment_failed/order/${reference}`;
      expect(
        await from(process, 'V0OTHER', bola, { tokenKey: 'a-third-card', alert: ofDeclined }),
      ).toMatchObject({
        kind: 'alert_taken',
        taken: { kind: 'charging', charge: { by: ada } },
      });
    });

    it('holds the alert for a charge that was begun from the alert about an earlier charge of it', async () => {
      const process = startProcess(openWorld('declined'));
      await finish(process, await from(process, viewId, ada));
      const ofDeclined = `payment_failed/order/${reference}`;
      expect((await from(process, 'V0AGAIN', ada, { ...cardY, alert: ofDeclined })).kind).toBe('begun');
      expect(await from(process, 'V0OTHER', bola, { tokenKey: 'a-third-card' })).toMatchObject({
        kind: 'alert_taken',
        taken: { kind: 'charging', charge: { by: ada } },
      });
    });

    it('requests no approval while another charge is under way', async () => {
      const world = openWorld('approved');
      world.approvalRules.push({ what: 'charge', currency: 'NGN', fromMinor: 0, needed: 1 });
      const process = startProcess(world);
      await process.claims.claim(alert, { reference: 'pay-first', by: ada });
      const draft = await process.operations.keepDraft(viewId, { ...terms, alert });
      expect(await process.operations.submit({ viewId, draft, by: bola })).toMatchObject({
        kind: 'alert_taken',
      });
      expect(await process.approvals.waiting()).toEqual([]);
    });

    it('does not hold back a charge that was not begun from it', async () => {
      const process = startProcess(openWorld('approved'));
      await process.claims.claim(alert, { reference: 'pay-first', by: ada });
      expect(await submit(process, viewId, bola)).toMatchObject({ kind: 'begun' });
    });
  });

  it.each([
    ['whether the charge was stored, if the store fails at that moment', 'create'],
    ['whether an earlier submit of the dialogue has charged', 'read'],
  ] as const)('says that it cannot know %s', async (_, call) => {
    const process = startProcess(openWorld('approved'));
    const draft = await process.operations.keepDraft(viewId, terms);
    const answered = process.store[call] as (key: string, ...rest: never[]) => Promise<never>;
    process.store[call] = (key: string, ...rest: never[]) =>
      key.startsWith('charge:') ? away() : answered(key, ...rest);
    expect(await process.operations.submit({ viewId, draft, by: ada })).toEqual({
      kind: 'unsure',
      reference,
    });
  });
});

it.each([
  ['a first payment saves it again', 'payment_success', 'begun'],
  ['a first payment fails', 'payment_failed', 'refused'],
] as const)('a card that needs 3-D Secure, after %s under the same token', async (_, kind, then) => {
  const world = openWorld('approved');
  const process = startProcess(world);
  process.account.payments.chargeSavedCard = async () => ({ kind: 'declined', bankMessage: '3D Secure' });
  await charge(process);
  expect(await submit(process, 'V2')).toMatchObject({ refusal: { kind: 'save_again' } });
  const savedCard = { tokenKey: terms.tokenKey };
  const event = { kind, key: `${kind}/order/SAVE-1`, isSavedCardCharge: false, savedCard };
  await process.receive(event, 'f');
  // Not asked about the first charge any more.
  world.clock.nowMs += hourMs;
  expect((await submit(process, 'V3')).kind).toBe(then);
});

describe('a charge that a late event calls paid', () => {
  it.each([
    ['otp', 'expired'],
    ['declined', 'declined'],
  ] as const)(
    'keeps its card from being charged the same until a look-up has decided (%s)',
    async (plan, told) => {
      const world = openWorld(plan);
      const process = startProcess(world);
      await charge(process);
      await process.workFor(20 * minuteMs);
      expect((await process.operations.find(reference))?.state.kind).toBe(told);
      world.bank.charges.get(reference)!.status = 'AWAITING_OTP';
      await process.trigger({ kind: 'payment_success', key: 'event', orderReference: reference });
      await process.drained();
      expect((await process.operations.find(reference))?.state.kind).toBe('confirming');
      const underWay = { kind: 'under_way', reference, by: ada };
      expect(await submit(process, 'V0SECOND', bola)).toMatchObject({ kind: 'refused', refusal: underWay });
      world.bank.charges.get(reference)!.status = 'FAILED';
      await process.workFor(10 * minuteMs);
      expect((await process.operations.find(reference))?.state.kind).toBe('review');
      expect(await submit(process, 'V0SECOND', bola)).toMatchObject({ kind: 'twin', twins: [{ reference }] });
      expect(world.bank.posts).toEqual([reference]);
    },
  );
});

describe('the code', () => {
  it('is sent again only for its agent, and once in half a minute', async () => {
    const world = openWorld('otp');
    const process = startProcess(world);
    await charge(process);
    let asked = 0;
    process.account.payments.resendOtp = async () => {
      asked += 1;
      return { kind: 'resent' };
    };
    const press = async (by: string) =>
      await (await process.operations.resendCode({ reference, by }))?.carryOn?.();
    await press(bola);
    expect(asked).toBe(0);
    await Promise.all([press(ada), press(ada)]);
    await press(ada);
    expect(asked).toBe(1);
    world.clock.nowMs += minuteMs / 2;
    await press(ada);
    expect(asked).toBe(2);
    // Too late for a code.
    world.clock.nowMs += 15 * minuteMs;
    await press(ada);
    expect(asked).toBe(2);
  });

  it('that was sent again is on record, even if the store is away for a moment then', async () => {
    const process = startProcess(openWorld('otp'));
    await charge(process);
    const asked = await process.operations.resendCode({ reference, by: ada });
    const store = { ...process.store };
    let failures = 2;
    process.store.read = (key) => (key.startsWith('charge:') && failures-- > 0 ? away() : store.read(key));
    await asked?.carryOn?.();
    expect((await process.operations.find(reference))?.resends).toMatchObject([{ answer: 'resent' }]);
  });

  it('is sent again at once if the last request for it never reached the bank', async () => {
    const process = startProcess(openWorld('otp'));
    await charge(process);
    const answers = ['not_made', 'resent', 'resent'] as const;
    let asked = 0;
    process.account.payments.resendOtp = async () => {
      const kind = answers[asked] ?? 'resent';
      asked += 1;
      return kind === 'not_made'
        ? { kind, failure: 'rate_limited', cause: new ServiceFailure('rate_limited', '') }
        : { kind };
    };
    for (let press = 0; press < 3; press += 1)
      await (await process.operations.resendCode({ reference, by: ada }))?.carryOn?.();
    expect(asked).toBe(2);
  });

  it('can’t be taken over once the charge has ended', async () => {
    const process = startProcess(openWorld('approved'));
    await charge(process);
    await process.operations.takeOver({ reference, by: bola });
    expect(await process.operations.find(reference)).toMatchObject({ agent: ada, handOvers: [] });
  });

  it('costs one try if the same submit is delivered several times', async () => {
    const world = openWorld('otp');
    const process = startProcess(world);
    await charge(process);
    for (let delivery = 0; delivery < 3; delivery += 1) {
      const result = await process.operations.submitCode({
        reference,
        code: '000000',
        by: ada,
        triesLeft: 3,
      });
      await result?.carryOn?.();
    }
    expect(world.bank.codes).toHaveLength(1);
    expect((await process.operations.find(reference))?.otp?.triesLeft).toBe(2);
  });
});
