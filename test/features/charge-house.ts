import { isDeepStrictEqual } from 'node:util';
import { asRead } from '../tapes/charge-story.ts';
import type { Account } from '../../src/account.ts';
import type { ApprovalRule } from '../../src/domain/approval.ts';
import type { AuditEntry } from '../../src/records/shapes.ts';
import type { ChargeAnswer, OtpAnswer } from '../../src/payments/charges.ts';
import type { ChargeNote } from '../../src/features/charge/charge-messages.ts';
import type { ChargeTerms, LimitRules } from '../../src/domain/charge.ts';
import { ServiceFailure } from '../../src/domain/failure.ts';
import type { PaymentEvent } from '../../src/domain/payment-event.ts';
import type { Transaction } from '../../src/domain/transaction.ts';
import { chargeKey, storedCharge } from '../../src/features/charge/charge-record.ts';
import { createRecords } from '../../src/records/records.ts';
import { eventPrefix } from '../../src/features/alerts/event-case.ts';
import type { CheckoutOrderAnswer } from '../../src/payments/orders.ts';
import type { EmailChangeAnswer } from '../../src/payments/saved-cards.ts';
import type { HeldRoles } from '../../src/slack/people/role.ts';
import { createFeatures } from '../../src/merchants.ts';
import type { SubmitResult } from '../../src/features/charge/submit-charge.ts';
import { readMessageRecord } from '../../src/messages/message-record.ts';
import { derivedReference } from '../../src/records/derived-reference.ts';
import type { Entry, Store } from '../../src/store/store.ts';
import { accountOf } from '../support/account.ts';
import { aroundStore } from '../support/around-store.ts';
import { everyPoint, type Points } from '../support/every-point.ts';
import { channel, sealer } from './house.ts';
import { memoryStore } from './memory-store.ts';

export const rightCode = '123456';
export const terms: ChargeTerms = {
  tokenKey: 'canary-token',
  card: { cardType: 'Visa', lastFour: '4242' },
  money: { minor: 1_250_000, currency: 'NGN' },
  customerEmail: 'jane@example.com',
};

export const [ada, bola] = ['U0AGENT01', 'U0AGENT02'];
/** A dialogue, and the reference of its charge. */
export const viewId = 'V0CHARGE1';
export const reference = derivedReference(viewId);
export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;

/** What the bank does with a charge. `lost`: it charges, but the answer is lost. */
export type Plan = 'approved' | 'otp' | 'declined' | 'rejected' | 'lost';

type Kept = { status: 'SUCCESS' | 'AWAITING_OTP' | 'FAILED'; amountMinor: number; wrong: number };

/** The specified payments service, in memory: one charge per reference. */
function openBank(plan: Plan) {
  const charges = new Map<string, Kept>();
  const posts: string[] = [];
  const orders: string[] = [];
  const codes: string[] = [];
  function keep(reference: string, status: Kept['status']): void {
    charges.set(reference, { status, amountMinor: terms.money.minor, wrong: 0 });
  }
  return {
    charges,
    posts,
    orders,
    codes,
    charge(reference: string): ChargeAnswer {
      posts.push(reference);
      if (charges.has(reference)) {
        return { kind: 'rejected', reason: 'reference_exists', message: 'An order already exists' };
      }
      switch (plan) {
        case 'approved':
          keep(reference, 'SUCCESS');
          return { kind: 'approved' };
        case 'otp':
          keep(reference, 'AWAITING_OTP');
          return { kind: 'otp_required', transactionId: 'canary-transaction', message: 'Code sent' };
        case 'declined':
          keep(reference, 'FAILED');
          return { kind: 'declined', bankMessage: 'Insufficient funds' };
        case 'rejected':
          return { kind: 'rejected', reason: 'invalid_token', message: 'Invalid card token' };
        case 'lost':
          keep(reference, 'SUCCESS');
          return { kind: 'unknown', cause: new ServiceFailure('timeout', 'no answer') };
      }
    },
    order(reference: string): CheckoutOrderAnswer {
      orders.push(reference);
      return { kind: 'created', orderId: `S-${reference}`, checkoutLink: 'https://pay.example.com/1' };
    },
    code(reference: string, otp: string): OtpAnswer {
      codes.push(otp);
      const charge = charges.get(reference);
      if (!charge || charge.wrong >= 3) return { kind: 'too_many', bankMessage: 'TOO MANY OTP ATTEMPTS' };
      if (otp !== rightCode) {
        charge.wrong += 1;
        return { kind: 'wrong', bankMessage: 'Invalid OTP' };
      }
      charge.status = 'SUCCESS';
      return { kind: 'accepted' };
    },
    /** The time for the code is over; true if the charge has failed by now. */
    expire(reference: string): boolean {
      const charge = charges.get(reference);
      if (charge?.status === 'AWAITING_OTP') charge.status = 'FAILED';
      return charge?.status === 'FAILED';
    },
    find(reference: string): Transaction | undefined {
      const charge = charges.get(reference);
      if (!charge) return undefined;
      const { status, amountMinor } = charge;
      return asRead({ status, amountMinor, currency: 'NGN', orderReference: reference });
    },
  };
}

export type Bank = ReturnType<typeof openBank>;

/** What survives a process: the store and the bank. */
export function openWorld(plan: Plan, rules?: LimitRules) {
  const clock = { nowMs: 1_800_000_000_000 };
  /** The audit's entries by id. */
  const audited = new Map<string, AuditEntry>();
  /** The notices that the operators got. */
  const told = new Set<string>();
  /** OTP_ENTRY of processes that are started from now on. */
  const code: { entry: 'agent' | 'customer' | 'both' } = { entry: 'both' };
  /** Empty: nothing needs a second person. */
  const approvalRules: ApprovalRule[] = [];
  return {
    clock,
    store: memoryStore(clock),
    bank: openBank(plan),
    audited,
    told,
    code,
    rules,
    approvalRules,
    /** CARD_LEDGER of processes that are started from now on. */
    cardLedger: 'off' as 'on' | 'off',
    emailAnswer: { kind: 'changed' } as EmailChangeAnswer,
    /** Everybody’s roles. */
    heldRoles: { kind: 'known', roles: ['agent'] } as HeldRoles,
  };
}

export type World = ReturnType<typeof openWorld>;

/** Whether the alerts were told that the charge is paid. */
export function isToldPaid({ store }: World, reference: string): boolean {
  return store.keys().includes(`${eventPrefix}proven/${reference}`);
}

/** The stored notes in the threads of charges. */
export async function notesIn({ store }: Pick<World, 'store'>): Promise<ChargeNote[]> {
  const keys = store.keys().filter((key) => key.startsWith('message:charge_note:'));
  const entries = await Promise.all(keys.map((key) => store.read(key)));
  return entries.flatMap((entry) => {
    if (!entry) return [];
    const body = sealer.open(entry.key, readMessageRecord(entry.value).sealed);
    return [(JSON.parse(body) as { note: ChargeNote }).note];
  });
}

/** Reads the charges of a store. */
export function recordsIn(store: Store) {
  return createRecords({ store, sealer, wait: () => Promise.resolve() }, storedCharge);
}

const late = { kind: 'unknown', cause: new ServiceFailure('timeout', 'too late') } as const;

function notAsked(): never {
  throw new Error('nobody is asked here');
}

/**
 * One process of the bot. Everything that it awaits passes through `points`, where it can be killed. `hasModal`: its
 * modals are still open.
 */
export function startProcess(world: World, points: Points = everyPoint(), hasModal = true) {
  const { clock, bank, audited, told, rules } = world;
  const store = aroundStore(world.store, (call, name) => points.pass(name, call));
  const records = recordsIn(store);
  /** The views that the modals were updated to, as JSON. */
  const shown: string[] = [];
  const failures: unknown[] = [];
  const update = ({ view }: { view: unknown }) =>
    points.pass('show', () => {
      shown.push(JSON.stringify(view));
      if (!hasModal) throw Object.assign(new Error('closed'), { data: { error: 'not_found' } });
      return { ok: true };
    });
  const account = accountOf({
    settings: {
      chargeCurrencies: ['NGN'],
      chargeThreeDSecureWords: ['3D Secure'],
      chargeRetryWaitHours: 24,
      chargeRetryAttempts: 3,
      chargeRetryForgetDays: 30,
      chargeTwinMinutes: 10,
      chargeRepeatLost: 'on',
      publicUrl: 'https://pay.example.com',
      otpEntry: world.code.entry,
      webhookRememberDays: 30,
      alertDetailsDays: 0,
      digestThreshold: 0,
      linkFollowHours: 72,
      cardLedger: world.cardLedger,
      savedCardDays: 30,
      accountNewFields: [],
      paymentsAccountId: '8b0e2f74-16c9-4d3a-b5a7-90c4d1e26f38',
      policy: {
        channels: { alerts: channel, desk: 'C0DESK0001' },
        roles: {},
        timezone: 'UTC',
        approvals: { channel: 'C0APPROVE1', expire_minutes: 240, rules: [] },
      },
    },
    rules: {
      limits: rules,
      approvals: world.approvalRules,
      routes: {
        environment: 'live',
        account: 'main account',
        rules: [],
        failures: channel,
        successes: undefined,
      },
      declines: { threeDSecureWords: [], waitMs: 24 * hourMs },
    },
    people: {
      rolesOf: () => points.pass('heldRoles', () => world.heldRoles),
      holdersOf: async () => [bola],
    },
    payments: {
      chargeSavedCard: (charge, { leaveBy }) =>
        points.pass('charge', () => (clock.nowMs > leaveBy ? late : bank.charge(charge.reference))),
      submitOtp: (code, { leaveBy }) =>
        points.pass('submit_otp', () => (clock.nowMs > leaveBy ? late : bank.code(code.reference, code.otp))),
      createCheckoutOrder: ({ reference }) => points.pass('order', () => bank.order(reference)),
      findTransaction: (wanted) => points.pass('look_up', () => bank.find(wanted)),
      resendOtp: () => points.pass('resend', () => ({ kind: 'resent' })),
      changeCardEmail: () => points.pass('change_email', () => world.emailAnswer),
      savedCards: { kind: 'not_set_up' } as never,
    },
    slack: {
      interactive: { views: { update } } as unknown as Account['slack']['interactive'],
      showResult: async () => undefined,
    },
    store,
    sealer,
    fingerprint: (tokenKey) => Promise.resolve(String(tokenKey.length).padStart(32, '0')),
    audit: {
      note: () => undefined,
      write: (entry) =>
        points.pass('audit', () => {
          // An entry that is written twice must be the same.
          if (!isDeepStrictEqual(audited.get(entry.id) ?? entry, entry)) failures.push(entry);
          return Boolean(audited.set(entry.id, entry));
        }),
    },
    log: (level, message, _about, error) => {
      if (level === 'error') failures.push(error ?? message);
    },
    now: () => clock.nowMs,
  });
  const missing = { approved: (_reference: string): Promise<void> => Promise.resolve(), work: notAsked };
  const { charges, links, alerts, approvals, cardEmail } = createFeatures(account, {
    missing: { ...missing, approved: (one) => missing.approved(one) },
    charged: () => undefined,
    forwarded: () => undefined,
    tellOperators: (name) => points.pass('tell_operators', () => void told.add(name)),
    doctor: notAsked,
  });
  /** Also waits for the charges that approvals began. */
  async function drained(): Promise<void> {
    await approvals.drained();
    await charges.drained();
    await links.drained();
  }
  const kinds = [...charges.cases, ...approvals.cases, ...links.cases];
  async function workOn(entry: Entry): Promise<void> {
    const kind = kinds.find(({ prefix }) => entry.key.startsWith(prefix));
    // An alert or a message: counts as sent.
    if (kind) await kind.work(entry);
    else await world.store.write(entry, entry.value);
    await drained();
  }
  return {
    account,
    missing,
    claims: alerts.claims,
    recovery: alerts.parts.recovery,
    receive: (event: PaymentEvent, fingerprint: string) => alerts.receiving.receive(event, fingerprint),
    charges,
    links,
    approvals: approvals.requests,
    cardEmails: cardEmail.changes,
    /** The store, of which each call passes through `points`. */
    store,
    records,
    operations: charges.operations,
    shown,
    failures,
    drained,
    trigger: charges.onPaymentEvent,
    workOn,
    /** Works on everything that is due until `untilMs` of the world's clock. */
    async work(untilMs: number): Promise<void> {
      for (;;) {
        const [entry] = await world.store.take(45_000);
        if (entry) await workOn(entry);
        else if (clock.nowMs < untilMs) {
          const nextMs = Math.min(world.store.nextDueMs() ?? untilMs, untilMs);
          clock.nowMs += Math.max(1, Math.ceil((nextMs - clock.nowMs) / 1_000)) * 1_000;
        } else return;
      }
    },
    /** Works on everything that gets due within this time. */
    workFor(ms: number): Promise<void> {
      return this.work(clock.nowMs + ms);
    },
  };
}

export type Process = ReturnType<typeof startProcess>;

/** Each limit allows one charge with the usual terms, but not two. */
export const oneADay: LimitRules = {
  timeZone: 'UTC',
  roles: {
    agent: {
      limits: {
        NGN: { per_agent_per_day: 2 * terms.money.minor - 1, per_card_per_day: 2 * terms.money.minor - 1 },
      },
    },
  },
};

/** How much of the person's day is used. */
export async function usedOf({ operations }: Process, by = ada): Promise<number | undefined> {
  const own = await operations.limitsOf(by);
  return own.kind === 'limited' ? own.currencies[0]?.usedMinor : undefined;
}

/** A person reviews the usual terms and submits them. */
export async function submit(
  process: Process,
  view = viewId,
  by = ada,
  despite?: readonly string[],
): Promise<SubmitResult> {
  const draft = await process.operations.keepDraft(view, terms);
  return await process.operations.submit({
    viewId: view,
    draft,
    by,
    ...(despite === undefined ? {} : { despite }),
  });
}

/** Submits and charges, until the charge must wait for something. */
export async function charge(process: Process, view = viewId, by = ada): Promise<void> {
  const submitted = await submit(process, view, by);
  if (submitted.kind === 'begun') await submitted.carryOn();
  await process.drained();
}

/** Replaces the charge, which is due, by one sealed with an unknown key. Returns a function that puts it back. */
export async function loseKey({ store }: World, lost = reference): Promise<() => Promise<void>> {
  async function put(value: string): Promise<string> {
    const entry = await store.read(chargeKey(lost));
    if (!entry || !(await store.write(entry, value, { delayMs: 0 }))) throw new Error('no such charge');
    return entry.value;
  }
  const before = await put(sealedWithALostKey);
  return async () => void (await put(before));
}

export const sealedWithALostKey = 'sealed with a lost key';
