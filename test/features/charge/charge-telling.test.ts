import { everyPoint } from '../../support/every-point.ts';
import { readMessageRecord } from '../../../src/messages/message-record.ts';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { ServiceFailure, StoreUnavailable } from '../../../src/domain/failure.ts';
import { openLedger } from '../../../src/features/cards/card-ledger.ts';
import { chargeDirectMessage } from '../../../src/features/charge/charge-messages.ts';
import { chargeActions } from '../../../src/features/charge/charge-modal.ts';
import { derivedReference } from '../../../src/records/derived-reference.ts';
import type { Conversation, Pressed } from '../../../src/slack/command.ts';
import type { Modal } from '../../../src/slack/kit/message.ts';
import {
  ada,
  bola,
  charge,
  minuteMs,
  notesIn,
  openWorld,
  reference,
  startProcess,
  terms,
  type Process,
  type World,
} from '../charge-house.ts';

const success = { kind: 'payment_success', key: 'event', orderReference: reference } as const;

function openOtp() {
  const world = openWorld('otp');
  return { world, process: startProcess(world) };
}

function pays({ bank }: World): void {
  bank.charges.get(reference)!.status = 'SUCCESS';
}

/** Lets `work` happen while Slack is still taking the process's first update of a modal. */
function duringFirstUpdate({ account }: Process, work: () => Promise<void>): void {
  const { views } = account.slack.interactive;
  const { update } = views;
  let isFirst = true;
  views.update = async (given) => {
    if (isFirst) {
      isFirst = false;
      await work();
    }
    return await update(given);
  };
}

describe('the screen', () => {
  it('shows the stored state in the end, even if another replica continued while Slack was slow', async () => {
    const { world, process: slow } = openOtp();
    const fast = startProcess(world);
    await charge(slow);
    duringFirstUpdate(slow, async () => {
      pays(world);
      await fast.trigger(success);
      await fast.drained();
    });
    await slow.operations.takeOver({ reference, by: bola });
    await slow.drained();
    expect(slow.shown.at(-1)).toContain('Deliver once');
  });

  it('shows the new agent in the end, even if another replica handed the charge over while Slack was slow', async () => {
    const { world, process: slow } = openOtp();
    const fast = startProcess(world);
    await charge(slow);
    duringFirstUpdate(slow, async () => {
      await fast.operations.takeOver({ reference, by: bola });
      await fast.drained();
    });
    await slow.operations.watch(reference, { id: 'V2', userId: ada });
    await slow.drained();
    expect(slow.shown.at(-1)).toContain('Take over');
  });

  it('is never older than the stored state when a modal is registered', async () => {
    const { world, process } = openOtp();
    await charge(process);
    const seen = (await process.operations.find(reference))!;
    pays(world);
    await process.trigger(success);
    await process.drained();
    process.shown.length = 0;
    await process.operations.watch(reference, { id: 'V2', userId: bola, shown: seen });
    const now = (await process.operations.find(reference))!;
    await process.operations.watch(reference, { id: 'V3', userId: bola, shown: now });
    // In the first modal and the new one; the third already shows this state.
    const paid: unknown = expect.stringContaining('Deliver once');
    expect(process.shown).toEqual([paid, paid]);
  });

  it('shows the new agent in a modal that is registered just after the charge was handed over', async () => {
    const { process } = openOtp();
    await charge(process);
    const seen = (await process.operations.find(reference))!;
    await process.operations.takeOver({ reference, by: bola });
    await process.drained();
    process.shown.length = 0;
    await process.operations.watch(reference, { id: 'V2', userId: ada, shown: seen });
    expect(process.shown.at(-1)).toContain('Take over');
  });

  it('keeps no step waiting for more than one update that Slack is slow to answer', async () => {
    const { process } = openOtp();
    await charge(process);
    const { views } = process.account.slack.interactive;
    const { update } = views;
    const answered = Promise.withResolvers<void>();
    let updates = 0;
    views.update = async (given) => {
      updates += 1;
      await answered.promise;
      return await update(given);
    };
    const watched = Array.from({ length: 5 }, () =>
      process.operations.watch(reference, { id: 'V2', userId: bola }),
    );
    // All have been asked for before Slack answers the first.
    await vi.waitFor(() => expect(updates).toBeGreaterThan(0));
    await setImmediate();
    answered.resolve();
    await Promise.all(watched);
    await process.drained();
    // Of the two modals each: the round that was under way, and one for all that came meanwhile.
    expect(updates).toBe(4);
  });
});

describe('an approved charge', () => {
  it.each([
    ['approved', false, 1],
    ['approved', true, 2],
    ['declined', false, 0],
    ['rejected', false, 0],
  ] as const)('alone waits for its event (%s, the store away once: %s)', async (plan, isAway, times) => {
    const world = openWorld(plan);
    const process = startProcess(world);
    const heard: string[] = [];
    process.missing.approved = async (one) => {
      heard.push(one);
      if (isAway && heard.length === 1) throw new StoreUnavailable('away');
    };
    await charge(process);
    expect(heard).toEqual(Array<string>(times).fill(reference));
    expect((await notesIn(world)).filter(({ kind }) => kind === 'told')).toHaveLength(1);
  });

  it('awaits no event that came before', async () => {
    const { world, process } = openOtp();
    const heard: string[] = [];
    process.missing.approved = async (one) => void heard.push(one);
    await charge(process);
    pays(world);
    await process.trigger(success);
    await process.drained();
    expect(heard).toEqual([]);
  });
});

it('an earlier direct message is edited when its verdict turns out to be wrong, and when its alert ended otherwise', async () => {
  const world = openWorld('otp');
  const process = startProcess(world, everyPoint(), false);
  await charge(process);
  await process.workFor(20 * 60_000);
  const wanted = async (what: string) => {
    const entry = await world.store.read(`message:charge_direct:told:${what}:${reference}`);
    return entry && readMessageRecord(entry.value).wanted;
  };
  expect(await wanted('expired')).toBe(1);
  pays(world);
  await process.trigger(success);
  await process.drained();
  expect(await wanted('expired')).toBeGreaterThan(1);
  expect(await wanted('approved')).toBe(1);
  await process.workFor(0);
  const news = { kind: 'paid', reference: 'OTHER', failed: 'ORDER' } as const;
  await process.operations.onAlertEnded(reference, news);
  expect(await wanted('approved')).toBeGreaterThan(1);
});

it('a charge that got an unknown answer and has no record quotes that answer, and is not said to have missed the service', async () => {
  const world = openWorld('lost');
  const cause = new ServiceFailure('malformed', 'code 99', { said: 'The merchant is suspended' });
  world.bank.charge = () => ({ kind: 'unknown', cause });
  const process = startProcess(world);
  await charge(process);
  await process.work(world.clock.nowMs + 5 * minuteMs);
  expect((await process.operations.find(reference))?.state.kind).toBe('abandoned');
  expect(process.shown.at(-1)).toMatch(
    /The service says:.*The merchant is suspended.*The service has no record of it, so nothing was charged\./,
  );
});

it('a request for a code says that the alert of its charge was paid otherwise', async () => {
  const process = startProcess(openWorld('otp'));
  await charge(process);
  const news = { kind: 'paid', reference: 'OTHER', failed: 'ORDER' } as const;
  await process.operations.onAlertEnded(reference, news);
  const seen = await process.operations.find(reference);
  if (!seen) throw new Error('gone');
  const said = chargeDirectMessage('otp', seen, process.account.shownAccount, {
    key: 'k',
    mayBeRepeat: false,
  });
  expect(JSON.stringify(said)).toMatch(/ORDER.* was already paid.*OTHER.*Money may still move/);
});

it.each([
  ['direct message', 'charge_direct'],
  ['note in the thread', 'charge_note'],
])('a %s about a decline without a reason is edited when an event brings the reason', async (_, name) => {
  const world = openWorld('declined');
  const process = startProcess(world, everyPoint(), false);
  process.account.payments.chargeSavedCard = async () => ({ kind: 'declined', bankMessage: undefined });
  await charge(process);
  const wanted = async () => {
    const key = world.store.keys().find((one) => one.startsWith(`message:${name}:`)) ?? '';
    return readMessageRecord((await world.store.read(key))?.value ?? '').wanted;
  };
  await process.workFor(0);
  const before = await wanted();
  const failed = { kind: 'payment_failed', key: 'event', orderReference: reference } as const;
  await process.trigger({ ...failed, reason: '3D Secure required' });
  await process.drained();
  expect((await process.operations.find(reference))?.nextTry?.kind).toBe('save_again');
  expect(await wanted()).toBeGreaterThan(before);
});

it.each([
  ['that the card doesn’t have is forgotten, so that the next form asks for the right one', 'email_mismatch'],
  ['of a card that is refused for another reason is kept', 'invalid_token'],
] as const)('a remembered e-mail %s', async (_, reason) => {
  const world = openWorld('approved');
  world.cardLedger = 'on';
  const process = startProcess(world);
  process.account.payments.chargeSavedCard = async () => ({ kind: 'rejected', reason, message: 'No' });
  const ledger = openLedger(process.account);
  if (!ledger) throw new Error('There is no ledger.');
  await ledger.remember({ tokenKey: terms.tokenKey, customerEmail: terms.customerEmail });
  await charge(process);
  const [card] = await ledger.search('', 1);
  expect(card?.customerEmail).toBe(reason === 'email_mismatch' ? undefined : terms.customerEmail);
});

it.each([
  ['Charge again', chargeActions.another],
  ['Payment link', chargeActions.link],
])('*%s* in an old message shows a charge that turned out to be paid, and no form', async (_, actionId) => {
  const { world, process } = openOtp();
  await charge(process);
  await process.workFor(20 * 60_000);
  expect((await process.operations.find(reference))?.state.kind).toBe('expired');
  pays(world);
  await process.trigger(success);
  await process.drained();
  const opened: unknown[] = [];
  const openModal = async (modal: unknown) => `V${opened.push(modal)}`;
  const presses = process.charges.verbs.flatMap((verb) => verb.presses ?? []);
  const caller = { userId: ada };
  const pressed = { value: reference, caller, openModal } as unknown as Pressed;
  await presses.find((one) => one.actionId === actionId)?.press(pressed);
  expect(JSON.stringify(opened)).toContain('Deliver once');
});

describe('a card that needs 3-D Secure', () => {
  const alert = 'payment_failed/order/ORDER-1';
  async function openDeclined() {
    const world = openWorld('declined');
    world.cardLedger = 'on';
    const process = startProcess(world);
    const { account, charges } = process;
    account.payments.chargeSavedCard = async () => ({ kind: 'declined', bankMessage: '3D Secure required' });
    const { tokenKey, customerEmail } = terms;
    await openLedger(account)?.remember({ tokenKey, customerEmail });
    const draft = await process.operations.keepDraft('V0FIRST', { ...terms, alert });
    const begun = await process.operations.submit({ viewId: 'V0FIRST', draft, by: ada });
    if (begun.kind === 'begun') await begun.carryOn();
    await process.drained();
    const [charging] = charges.verbs;
    const caller = { userId: ada };
    /** The form for a payment link, as the button opens it. */
    async function press(view: { id: string; private_metadata: string } | undefined): Promise<Modal> {
      const opened: Modal[] = [];
      const pressed = {
        caller,
        value: view ? '' : derivedReference('V0FIRST'),
        ...(view && { view: { id: view.id, privateMetadata: view.private_metadata, values: {} } }),
        openModal: async (modal: Modal) => `V${opened.push(modal)}`,
      };
      const link = charging?.presses?.find(({ actionId }) => actionId === chargeActions.link);
      await link?.press(pressed as unknown as Pressed);
      if (!opened[0]) throw new Error('No form was opened.');
      return opened[0];
    }
    async function review(): Promise<Modal & { id: string }> {
      const values = { charge_card: await account.fingerprint(tokenKey), charge_amount: '12,500.00' };
      const [form] = charging?.modals ?? [];
      const given = { caller, viewId: 'V0SECOND', privateMetadata: alert, values };
      const answer = await form?.submit(given);
      if (answer?.kind !== 'update') throw new Error(JSON.stringify(answer));
      return { ...answer.modal, id: 'V0SECOND' };
    }
    return { press, review };
  }

  it('has the button for a payment link on its review, which fills in the reviewed terms', async () => {
    const { press, review } = await openDeclined();
    const reviewed = await review();
    expect(JSON.stringify(reviewed)).toContain(chargeActions.link);
    expect(JSON.stringify(await press(reviewed as never))).toMatch(/12,500.00.*jane@example.com/);
  });

  it('ties the link to the alert from which the charge was begun', async () => {
    const { press, review } = await openDeclined();
    const tied = { private_metadata: JSON.stringify({ alert }) };
    expect(await press(undefined)).toMatchObject(tied);
    expect(await press((await review()) as never)).toMatchObject(tied);
  });
});

it('`/pay charge` opens a form with the typed e-mail if the bot remembers no cards', async () => {
  const { charges } = startProcess(openWorld('approved'));
  const opened: unknown[] = [];
  const openModal = async (modal: unknown) => `V${opened.push(modal)}`;
  const [command] = charges.verbs;
  const prepared = command?.prepare(['12,500.00', 'ada@example.com']);
  if (!prepared?.ok) throw new Error('The command is not understood.');
  await prepared.value.run({ openModal, caller: { userId: ada } } as unknown as Conversation);
  expect(JSON.stringify(opened)).toContain('ada@example.com');
});
