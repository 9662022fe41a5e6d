import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Approval, ApprovalTerms, CardEmailEnd } from '../../src/domain/approval.ts';
import type { Lookup, AlertState, AlertClaims } from '../../src/domain/alert.ts';
import type { AuditEntry } from '../../src/records/shapes.ts';
import type { AccountAnswer, NewAccount, NewAccountAnswer } from '../../src/payments/accounts.ts';
import { parseAccountFields } from '../../src/config/payments-settings.ts';
import type { CheckoutOrderAnswer } from '../../src/payments/orders.ts';
import type { EmailChange } from '../../src/domain/card.ts';
import type { EmailChangeAnswer } from '../../src/payments/saved-cards.ts';
import type { ChargeSeen } from '../../src/domain/charge.ts';
import { ServiceFailure } from '../../src/domain/failure.ts';
import type { OrderReference } from '../../src/domain/order-reference.ts';
import type { HeldRoles } from '../../src/slack/people/role.ts';
import { type AlertMove, alertNoteKey, isEnded } from '../../src/features/alerts/alert.ts';
import { type CaseEvent, type EventCase, eventPrefix } from '../../src/features/alerts/event-case.ts';
import { alertClaims, createAlertCases, type AlertCases } from '../../src/features/alerts/alert-cases.ts';
import {
  createApprovalRequests,
  type ApprovalRequests,
} from '../../src/features/approvals/approval-requests.ts';
import { approvalPrefix, termsHash, type ApprovalCase } from '../../src/features/approvals/approval-case.ts';
import { linkPrefix, type PaymentLink } from '../../src/features/links/link-case.ts';
import { createPaymentLinks, type PaymentLinks } from '../../src/features/links/payment-links.ts';
import { createEmailChanges, type EmailChanges } from '../../src/features/card-email/change-card-email.ts';
import {
  alertKey,
  messageKey,
  readMessageRecord,
  newCounters,
  writeMessageRecord,
} from '../../src/messages/message-record.ts';
import {
  createAccountRequests,
  type AccountRequests,
} from '../../src/features/new-account/create-account.ts';
import { type Cases, createCases } from '../../src/records/cases.ts';
import { noApprovals, noStorms } from '../features/house.ts';
import type { Store } from '../../src/store/store.ts';
import { aroundStore } from '../support/around-store.ts';
import { accountOf } from '../support/account.ts';
import { countOf } from '../support/counts.ts';
import { drive, openWorld, type Driven, type Process, type World } from './two-processes.ts';

const worlds = countOf({ full: 20_000, share: 100 });
/** `SEED=7 npx vitest run test/records/cases.test.ts` starts with that world. */
const firstSeed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1_000_000));
const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
type KeptCase<State> = { state: State; turn: number; told: number; unwritten: readonly unknown[] };

async function readCase<State>({ store, sealer }: World, key: string): Promise<KeptCase<State> | undefined> {
  const entry = await store.read(key);
  return entry && (JSON.parse(sealer.open(key, entry.value)) as KeptCase<State>);
}

/** Checks every kind of case once it is at rest: everything is told, and the audit has each step once and unchanged. */
function wrongOfCase(kept: KeptCase<unknown>, audited: Map<string, string[]>, ids: string[]): string[] {
  const twice = [...audited]
    .filter(([, texts]) => new Set(texts).size > 1)
    .map(([id, texts]) => `audit has two of ${id}: ${texts.join()}`);
  const missing = ids.filter((id) => !audited.has(id)).map((id) => `audit lacks ${id}`);
  const more = [...audited.keys()]
    .filter((id) => !ids.includes(id))
    .map((id) => `audit has ${id}, which never was`);
  const untold = kept.told === kept.turn && kept.unwritten.length === 0 ? [] : ['not all of it is told'];
  return [...twice, ...missing, ...more, ...untold];
}

function auditOf(process: Process, audited: Map<string, string[]>) {
  return (entry: AuditEntry): Promise<boolean> =>
    process.call(
      () => {
        audited.set(entry.id, [
          ...(audited.get(entry.id) ?? []),
          JSON.stringify(Object.entries(entry).toSorted(([one], [other]) => (one < other ? -1 : 1))),
        ]);
        return true;
      },
      () => false,
    );
}

const reference = 'LINK-1' as OrderReference;
const money = { minor: 15_000, currency: 'NGN' };
const check = (part: 'status' | 'reference' | 'amount', holds: boolean) =>
  ({ part, holds, statement: '' }) as const;
const evidence = (holds: boolean) => ({
  status: { ...check('status', holds), part: 'status' as const },
  reference: check('reference', true),
  amount: check('amount', true),
});

/**
 * A payment link. The service makes at most one order, and its link comes from one answer. The link is paid once the
 * service proves it, and stays so. Each place has one message, the outcome one note, and the alerts hear of the
 * payment.
 */
function links(world: World): Driven {
  const { clock, store, sealer, random } = world;
  const service = { made: 0, isPaid: false };
  const audited = new Map<string, string[]>();
  const all: PaymentLinks[] = [];
  const linkNow = async (): Promise<PaymentLink | undefined> =>
    (await readCase<PaymentLink>(world, linkPrefix + reference))?.state;

  return {
    start(process, index) {
      function look(): Promise<Lookup> {
        return process.call<Lookup>(
          () =>
            service.isPaid
              ? { kind: 'confirmed', transaction: {}, money, evidence: evidence(true) }
              : { kind: 'not_found' },
          () => ({ kind: 'unchecked', failure: 'timeout' }),
        );
      }
      const createCheckoutOrder = () =>
        process.call<CheckoutOrderAnswer>(
          () => {
            if (service.made > 0)
              return { kind: 'rejected', reason: 'reference_exists', message: '' } as const;
            service.made += 1;
            return { kind: 'created', orderId: 'order-1', checkoutLink: 'https://pay.example/1' } as const;
          },
          () => ({ kind: 'unknown', cause: { kind: 'timeout' } as never }),
        );
      const account = accountOf({
        store: process.store,
        sealer,
        settings: { linkFollowHours: 72 },
        payments: { createCheckoutOrder },
        now: () => clock.nowMs,
        wait: (ms: number) => process.wait(ms),
        audit: { write: auditOf(process, audited) },
      });
      const one = createPaymentLinks(account, {
        lookUp: look,
        lookUpNow: look,
        paid: async (payment) => void (await process.store.create(`paid:${payment.reference}`, '')),
        alertFor: async () => undefined,
        alertTaken: async () => undefined,
      });
      all[index] = one;
      return { prefix: linkPrefix, work: async (entry) => await one.cases[0]?.work(entry) };
    },
    act(at, index) {
      const one = all[index] as PaymentLinks;
      const event = {
        key: `payment_success/order/${reference}`,
        orderId: 'order-1',
        isSavedCardCharge: false,
      };
      return at.pick([
        async () => {
          const terms = { money, customerEmail: 'jane@example.com', savesCard: false };
          const begun = await one.begin({
            viewId: 'V1',
            terms,
            reference,
            by: 'U0AGENT01',
            channel: 'C0DESK0001',
          });
          if (begun.kind === 'begun') await begun.carryOn();
        },
        async () => {
          // Anyone with the link may pay; the event of that payment comes, or is lost.
          if ((await linkNow())?.order) service.isPaid ||= random.chance(0.5);
        },
        async () => {
          if (service.isPaid) await send(() => one.onPaymentEvent({ ...event, kind: 'payment_success' }));
        },
        () =>
          one.onPaymentEvent({
            ...event,
            kind: 'payment_failed',
            orderReference: reference,
            reason: 'No funds',
          }),
        () => one.lookNow(reference),
      ]);
    },
    async wrongs() {
      const kept = await readCase<PaymentLink>(world, linkPrefix + reference);
      if (!kept) return service.made > 0 ? ['an order was made without a stored link'] : [];
      const { state: link } = kept;
      const keys = store.keys();
      const isKnown = keys.includes(messageKey('link_note', `paid:${reference}`));
      const isPaid = link.state.kind === 'paid';
      return [
        ...wrongOfCase(kept, audited, [...audited.keys()]),
        // A link that was certainly not made is replaced by another with its reference, which continues its turns.
        ...(audited.size === kept.turn ? [] : [`${kept.turn} steps, and the audit has ${audited.size}`]),
        ...(service.made > 1 ? ['two orders were made'] : []),
        ...(link.state.kind === 'asking' ? ['it is still being made'] : []),
        ...(isPaid === service.isPaid ? [] : [`it is ${link.state.kind}, and paid: ${service.isPaid}`]),
        ...(isKnown === isPaid ? [] : ['its thread says otherwise']),
        ...(keys.includes(`paid:${reference}`) === isPaid ? [] : ['the alerts were told otherwise']),
        // A link that was certainly not made is shown by the form, and not posted.
        ...(link.state.kind === 'refused' || keys.includes(messageKey('link', `${link.place}:${reference}`))
          ? []
          : ['no message of it']),
      ];
    },
  };
}

/** Repeats the event until the bot accepts it. */
async function send(work: () => Promise<void>): Promise<void> {
  for (let tries = 0; tries < 50; tries += 1) {
    if (
      await work()
        .then(() => true)
        .catch(() => false)
    )
      return;
  }
}

const card = { tokenKey: 'token', card: {}, customerEmail: 'a@example.com' };
const change = { tokenKey: 'token', card: {}, currentEmail: 'a@example.com', newEmail: 'b@example.com' };
const whatIsAsked: ApprovalTerms[] = [
  { kind: 'charge', reference, terms: { ...card, money }, card: 'card', viewId: 'V1' },
  { kind: 'card_email', terms: change, card: 'card' },
];

const fourEyes = {
  channels: { alerts: 'C0ALERTS01' },
  roles: {},
  timezone: 'UTC',
  approvals: { channel: 'C0APPROVE1', expire_minutes: 240, rules: [] },
};

/**
 * Approvals. An action that enough different people have approved, none of them the requester, is carried out once. A
 * request that was refused, withdrawn or not decided in time is never carried out. If a person was told that their
 * decision counts, the record has it.
 */
function approvals(world: World): Driven {
  const { clock, store, sealer, random } = world;
  const id = 'apr-1';
  const terms = random.pick(whatIsAsked);
  const needed = random.pick([1, 2]);
  const hash = termsHash('account', terms);
  const done = { charges: 0, changes: 0 };
  const counted = new Set<string>();
  const audited = new Map<string, string[]>();
  const all: ApprovalRequests[] = [];
  return {
    start(process, index) {
      const account = accountOf({
        store: process.store,
        sealer,
        now: () => clock.nowMs,
        wait: (ms: number) => process.wait(ms),
        settings: { paymentsAccountId: 'account', policy: fourEyes },
        people: {
          rolesOf: () =>
            process.call<HeldRoles>(
              () => ({ kind: 'known', roles: random.chance(0.8) ? ['support-agent'] : [] }),
              () => ({ kind: 'unknown' }),
            ),
          holdersOf: () =>
            process.call(
              () => ['U0BOLA0001'],
              () => [],
            ),
        },
        audit: { write: auditOf(process, audited) },
      });
      const one = createApprovalRequests(account, {
        findCharge: () => process.call(() => (done.charges > 0 ? ({} as ChargeSeen) : undefined)),
        submitApproved: (_charge, atMs) =>
          process.call(() => {
            // Like a real charge: nothing is sent once its time is over, and a reference is charged once.
            if (done.charges === 0 && clock.nowMs > atMs + 145_000) throw new Error('too late to charge');
            done.charges = 1;
            return { kind: 'begun' } as const;
          }),
        twinsOf: async () => [],
        isAlertPaid: async () => false,
        changeCardEmail: () =>
          process.call<CardEmailEnd>(
            () => {
              done.changes += 1;
              return { kind: 'changed' } as const;
            },
            () => ({ kind: 'unknown' }),
          ),
      });
      all[index] = one;
      return { prefix: approvalPrefix, work: async (entry) => await one.cases[0]?.work(entry) };
    },
    act(at, index) {
      const { requests } = all[index] as ApprovalRequests;
      const by = at.pick(['U0BOLA0001', 'U0CHIDI001', 'U0ADA00001']);
      const decided = async (decision: ReturnType<typeof requests.approve>, what: string): Promise<void> => {
        if ((await decision)?.kind === 'decided') counted.add(`${what}:${by}`);
      };
      return at.pick([
        () => requests.request({ id, terms, by: 'U0ADA00001', rule: 'all', needed }),
        () => decided(requests.approve({ id, by, termsHash: hash }), 'approve'),
        () => decided(requests.approve({ id, by, termsHash: hash }), 'approve'),
        () =>
          at.chance(0.2) ? decided(requests.refuse({ id, by, reason: 'no' }), 'refuse') : requests.waiting(),
        () => (at.chance(0.1) ? requests.withdraw({ id, by }) : requests.find(id)),
      ]);
    },
    async wrongs() {
      const kept = await readCase<ApprovalCase>(world, approvalPrefix + id);
      const sum = done.charges + done.changes;
      if (!kept) return sum > 0 ? ['done, and never asked for'] : [];
      const { approval } = kept.state;
      const { state } = approval;
      const entries =
        1 + approval.approvals.length + (state.kind === 'waiting' || state.kind === 'approved' ? 0 : 1);
      const ids = Array.from({ length: entries }, (_, index) => `approval:${id}:${index}`);
      const people = new Set(approval.approvals.map(({ by }) => by));
      return [
        ...wrongOfCase(kept, audited, ids),
        ...wrongOfDone(approval, terms.kind, done),
        ...(kept.state.tokenKey === undefined ? [] : ['its token key is kept']),
        ...(people.size === approval.approvals.length && !people.has(approval.by) ? [] : ['approved by few']),
        ...[
          messageKey('approval', `C0APPROVE1:${id}`),
          messageKey('approval_note', `${state.kind}:C0APPROVE1:${id}`),
        ]
          .filter((key) => !store.keys().includes(key))
          .map((key) => `${key} is not told`),
        ...[...counted]
          .filter((one) => !isKept(approval, one))
          .map((one) => `${one} counted, and is not kept`),
      ];
    },
  };
}

function wrongOfDone(
  { state, approvals: given, needed }: Approval,
  what: ApprovalTerms['kind'],
  { charges, changes }: { charges: number; changes: number },
): string[] {
  const times = what === 'charge' ? charges : changes;
  switch (state.kind) {
    case 'executed': {
      // The answer may be lost because the call never left.
      const least = state.result.startsWith('The service’s answer was lost') ? 0 : 1;
      const isOnce = times >= least && times <= 1;
      return [
        ...(isOnce ? [] : [`${what} was done ${times} times`]),
        ...(given.length >= needed ? [] : ['by too few']),
      ];
    }
    case 'waiting':
    case 'approved':
      return [`it is ${state.kind} for ever`];
    default:
      return times === 0 ? [] : [`${what} was done though ${state.kind}`];
  }
}

function isKept({ approvals: given, state }: Approval, counted: string): boolean {
  const [what, by] = counted.split(':');
  return what === 'approve'
    ? given.some((one) => one.by === by)
    : state.kind === 'refused' && state.by === by;
}

const accountRef = 'PLAYGROUND-SUB-00099';
const wanted = { accountName: 'Yaba Kiosk', accountRef, bvn: '12345678901', maiden: 'Okonkwo' };
const fields = parseAccountFields(['accountName', 'accountRef:20', 'bvn', 'maiden*']) ?? [];
const lost = new ServiceFailure('timeout', 'no answer');
/** A stub for cases without due work, on which only people act. */
const noWork = { prefix: 'none:', work: () => Promise.resolve() };

/**
 * A new account. The service is asked once per reference, no matter how many people ask the bot, and again only if the
 * account was certainly not made. The request is on record before it is sent. People are told the truth, and a later
 * request is told of an account that was made.
 */
function newAccount(world: World): Driven {
  const { store, sealer, random } = world;
  const service = { isMade: false, asked: 0, refused: 0 };
  const wrong = new Set<string>();
  const lines: unknown[] = [];
  const log = (...line: unknown[]): void => void lines.push(line);
  const all: AccountRequests[] = [];

  async function answer(given: NewAccount): Promise<NewAccountAnswer> {
    const key = `account-new:${accountRef}`;
    const entry = await store.read(key);
    const kept = entry ? sealer.open(key, entry.value) : '';
    if (kept === '' || kept.includes('"settled"'))
      wrong.add('the account is requested before the request is stored');
    if (/12345678901|Okonkwo/.test(kept)) wrong.add('a secret field is stored');
    if (given['maiden'] !== wanted.maiden) wrong.add('a secret field is not sent');
    if (service.asked > service.refused) wrong.add('the account is requested again');
    service.asked += 1;
    service.isMade = random.chance(0.6);
    if (service.isMade) return { kind: 'created', account: { accountRef } };
    service.refused += 1;
    return { kind: 'not_made', failure: 'invalid_request', message: undefined };
  }
  async function ask({ begin }: AccountRequests, by: string): Promise<string> {
    const { kind } = await (await begin({ viewId: by, wanted, by })).carryOn();
    if (kind === 'created' && !service.isMade) wrong.add('it is called created, and is not');
    if (kind === 'not_made' && service.refused === 0) wrong.add('it is called not made, and was not refused');
    return kind;
  }
  function open({ store: through, call, wait }: Pick<Process, 'store' | 'call' | 'wait'>): AccountRequests {
    const payments = {
      createAccount: (given: NewAccount) =>
        call<NewAccountAnswer>(
          () => answer(given),
          () => ({ kind: 'unknown', cause: lost }),
        ),
      findAccount: () =>
        call<AccountAnswer>(
          () => (service.isMade ? { kind: 'found', account: { accountRef } } : { kind: 'not_found' }),
          () => ({ kind: 'refused', message: undefined }),
        ),
    };
    const settings = { accountNewFields: fields };
    return createAccountRequests(accountOf({ store: through, sealer, settings, payments, log, wait }));
  }
  return {
    start(process, index) {
      all[index] = open(process);
      return noWork;
    },
    act(at, index) {
      const by = at.pick(['U0ADA00001', 'U0BOLA0001']);
      return () => ask(all[index] as AccountRequests, by);
    },
    async wrongs() {
      const { isMade } = service;
      const told = await ask(
        open({ ...world, call: async (run) => await run(), wait: async () => undefined }),
        'U0LATER001',
      );
      if (isMade && told !== 'created') wrong.add(`it is made, and called ${told}`);
      if (/12345678901|Okonkwo/.test(JSON.stringify(lines))) wrong.add('a secret field is logged');
      return [...wrong];
    },
  };
}

/**
 * A change of a card's e-mail. Each draft is sent once, even if it is submitted often, and has its own id. People are
 * told the service's answer, or that it is unknown. Nobody is told to wait for longer than a minute.
 */
function cardEmail(world: World): Driven {
  const { clock, sealer } = world;
  const service = { linked: change.currentEmail, asked: 0 };
  const begun = new Map<string, { atMs: number; end?: string }>();
  const wrong = new Set<string>();
  const all: EmailChanges[] = [];
  let draftId = '';

  function open({ store: through, call, wait }: Pick<Process, 'store' | 'call' | 'wait'>): EmailChanges {
    const changeCardEmail = ({ currentEmail, newEmail }: EmailChange): Promise<EmailChangeAnswer> =>
      call<EmailChangeAnswer>(
        () => {
          service.asked += 1;
          if (service.asked > begun.size)
            wrong.add('the service is called more often than drafts were submitted');
          if (service.linked !== currentEmail) return { kind: 'not_linked', message: undefined };
          service.linked = newEmail;
          return { kind: 'changed' };
        },
        () => ({ kind: 'unknown', cause: lost }),
      );
    const account = accountOf({
      store: through,
      sealer,
      now: () => clock.nowMs,
      wait,
      payments: { changeCardEmail },
    });
    return createEmailChanges(account, undefined, noApprovals);
  }
  async function submit(emails: EmailChanges, draft: string): Promise<void> {
    const result = await emails.begin(draft, 'U0ADA00001');
    if (JSON.stringify(result).includes(change.tokenKey)) wrong.add('the token key is shown');
    const before = begun.get(draft);
    if (result.kind === 'begun') {
      if (before) wrong.add('a draft is sent again');
      const mine: { atMs: number; end?: string } = { atMs: clock.nowMs };
      begun.set(draft, mine);
      mine.end = (await result.carryOn()).kind;
    } else if (result.kind === 'known') {
      const told = result.end?.kind;
      if (told && told !== 'unknown' && before?.end && told !== before.end)
        wrong.add(`${before.end} is told as ${told}`);
      if (!told && before && clock.nowMs > before.atMs + minuteMs) wrong.add('a person waits for ever');
    }
  }
  return {
    start(process, index) {
      all[index] = open(process);
      return noWork;
    },
    act(at, index) {
      const one = all[index] as EmailChanges;
      const old = at.pick([draftId, ...begun.keys()]);
      return at.pick([
        async () => {
          const before = new Set(begun.keys());
          const next = await one.keepDraft(change);
          if (before.has(next)) wrong.add('a draft has the id of one that was sent');
          draftId = next;
        },
        () => submit(one, draftId),
        () => submit(one, old),
      ]);
    },
    async wrongs() {
      clock.nowMs += 2 * minuteMs;
      const emails = open({ ...world, call: async (run) => await run(), wait: async () => undefined });
      await submit(emails, draftId);
      const fresh = await emails.keepDraft(change);
      await submit(emails, fresh);
      if (!begun.has(fresh)) wrong.add('a new draft is not sent');
      return [...wrong];
    },
  };
}

const noCharge = () => Promise.resolve(undefined);

/** Calls a group, and later a person, if the alert is not acknowledged. */
const calling = {
  name: 'late',
  escalate: [
    { afterMs: 10 * minuteMs, to: { kind: 'group', id: 'S0ONCALL01' } },
    { afterMs: 40 * minuteMs, to: { kind: 'person', id: 'U0LEAD0001' } },
  ],
} as const;

/**
 * An alert about a failed charge. Of several clicks one decides. A final state is never left. Of the charges begun from
 * it only one at a time may move money, and none once one has. Its thread tells each step once, and its message shows
 * all of them.
 */
function alert(world: World): Driven {
  const { clock, store, sealer } = world;
  const id = 'payment_failed/order/SUB-1';
  const people = ['U0ADA00001', 'U0BOLA0001', 'U0CHIDI001'];
  const event = { kind: 'payment_failed', key: id, orderReference: 'SUB-1' };
  const audited = new Map<string, string[]>();
  const wrong = new Set<string>();
  const seen = { steps: new Set<string>(), acknowledged: 0, end: undefined as AlertState | undefined };
  /** Each charge that was stored, and whether it moved money. */
  const charges = new Map<string, 'under way' | 'paid' | 'ended'>();
  const all: { alerts: AlertCases; claims: AlertClaims }[] = [];
  const told = writeMessageRecord({
    channel: 'C0ALERTS01',
    fingerprint: '',
    receivedAtMs: clock.nowMs,
    ...newCounters,
    settled: 1,
    sealed: sealer.seal(alertKey(id), JSON.stringify(event)),
    routed: [{ channel: 'C0ALERTS01', rule: calling }],
    posted: { channel: 'C0ALERTS01', ts: '1.0' },
  });
  void store.create(alertKey(id), told);
  const failed: CaseEvent = {
    kind: 'tied',
    atMs: clock.nowMs,
    lists: [],
    storms: [],
    post: { key: alertKey(id), rule: calling },
  };

  async function hasEnded(reference: string): Promise<boolean | undefined> {
    const state = charges.get(reference);
    return state && state === 'ended';
  }
  async function move(alerts: AlertCases, made: AlertMove): Promise<void> {
    const result = await alerts.move(id, made);
    if (result.kind === 'unknown_alert') wrong.add('it is not known');
    if (result.kind === 'moved') {
      seen.steps.add(JSON.stringify(result.step));
      if (made.kind === 'acknowledge') seen.acknowledged += 1;
      if (result.step.kind.slice(0, 4) !== made.kind.slice(0, 4))
        wrong.add(`${made.kind} is answered with ${result.step.kind}`);
    }
    if (result.kind === 'unknown_alert' || !isEnded(result.state)) return;
    seen.end ??= result.state;
    if (JSON.stringify(seen.end) !== JSON.stringify(result.state)) wrong.add('it ended twice');
  }
  async function charge(claims: AlertClaims, reference: string, by: string): Promise<void> {
    const fromMs = clock.nowMs;
    const claim = await claims.claim(id, { reference, by });
    if (claim.kind === 'taken') return;
    // Like a real charge: nothing is sent once its time is over.
    if (clock.nowMs > fromMs + 145_000 || charges.has(reference)) return;
    const others = [...charges].filter(([, state]) => state !== 'ended').map(([other]) => other);
    if (others.length > 0) wrong.add(`${reference} is charged beside ${others.join()}`);
    charges.set(reference, 'under way');
  }
  async function end(at: World['random'], { alerts, claims }: { alerts: AlertCases; claims: AlertClaims }) {
    const [reference] = [...charges].find(([, state]) => state === 'under way') ?? [];
    if (reference === undefined) return;
    const isPaid = at.chance(0.3);
    charges.set(reference, isPaid ? 'paid' : 'ended');
    const payment = { reference, isSameReference: false, isChargedAgain: true, money, afterMs: 1 };
    if (isPaid) await move(alerts, { kind: 'recover', payment });
    else await claims.updateMessages(id);
  }
  return {
    start(process, index) {
      const kept = {
        store: process.store,
        sealer,
        now: () => clock.nowMs,
        leaseMs: 45_000,
        rememberMs: 365 * dayMs,
        wait: (ms: number) => process.wait(ms),
        wake: () => undefined,
      };
      const lookUp = () =>
        process.call<Lookup>(
          () => ({ kind: 'not_found' }),
          () => ({ kind: 'unchecked', failure: 'timeout' }),
        );
      const audit = auditOf(process, audited);
      const alerts = createAlertCases(kept, {
        storms: noStorms,
        hasEnded,
        chargeOf: noCharge,
        lookUp,
        lookUpSparingly: lookUp,
        search: () => Promise.reject(new Error('nothing is paid here')),
        tieFailure: async () => undefined,
        audit,
      });
      all[index] = { alerts, claims: alertClaims(alerts, { declineOf: () => Promise.resolve(undefined) }) };
      return { prefix: eventPrefix, work: (entry) => alerts.cases.work(entry) };
    },
    act(at, index) {
      const one = all[index] as { alerts: AlertCases; claims: AlertClaims };
      const by = at.pick(people);
      return at.pick([
        () => one.alerts.applyOrCreate(id, failed),
        () => move(one.alerts, { kind: 'acknowledge', by }),
        () => move(one.alerts, { kind: 'assign', by, to: at.pick(people) }),
        () => move(one.alerts, { kind: 'snooze', by, forMs: at.pick([1_000, 4 * 60 * minuteMs]) }),
        async () =>
          at.chance(0.2) ? await move(one.alerts, { kind: 'close', by, reason: 'Called' }) : undefined,
        () => charge(one.claims, at.pick(['CARD-1', 'CARD-2', 'CARD-3']), by),
        () => charge(one.claims, at.pick(['CARD-1', 'CARD-2', 'CARD-3']), by),
        () => end(at, one),
        () => one.alerts.lookUpNow(id),
      ]);
    },
    async wrongs() {
      const kept = await readCase<EventCase>(world, eventPrefix + id);
      if (!kept) return [...wrong, ...(seen.steps.size > 0 ? ['it was moved, and is not there'] : [])];
      const { card, steps, told: number } = kept.state;
      const entries = await Promise.all(
        Array.from({ length: number }, (_, index) => store.read(alertNoteKey(alertKey(id), index + 1))),
      );
      const message = await store.read(alertKey(id));
      const { wanted, settled } = readMessageRecord(message?.value ?? '');
      return [
        ...wrong,
        ...wrongOfCase(kept, audited, [...audited.keys()]),
        ...(audited.size === number ? [] : [`${number} steps, and the audit has ${audited.size}`]),
        ...(steps.length === 0 ? [] : ['its steps are not all told']),
        ...(number >= seen.steps.size ? [] : ['a step that was made is not told']),
        ...(entries.every((entry) => entry) ? [] : ['its thread lacks a step']),
        ...(number === 0 || wanted > settled ? [] : ['its message is not made once more']),
        ...(seen.end && JSON.stringify(seen.end) !== JSON.stringify(card) ? ['it left its end'] : []),
        ...(seen.acknowledged <= 1 ? [] : ['it was acknowledged twice']),
        ...(card.kind === 'acknowledged' && card.snoozedUntil !== undefined ? ['it sleeps for ever'] : []),
        ...wrongOfClaim(kept.state, [...charges.values()]),
        ...wrongOfEscalation(
          kept.state,
          [...audited.values()].flatMap(([text]) => text ?? []),
        ),
      ];
    },
  };
}

/**
 * Each escalation step is made once while the alert is not acknowledged, and none after; every person who was due is
 * called.
 */
function wrongOfEscalation({ card, escalations = [] }: EventCase, audited: readonly string[]): string[] {
  const entries = audited.map((text) => new Map(JSON.parse(text) as [string, unknown][]));
  const called = entries.filter((entry) => entry.get('result') === 'alert_escalated');
  const people = called.map((entry) => entry.get('after'));
  const taken = card.kind === 'acknowledged' ? card : 'acknowledged' in card ? card.acknowledged : undefined;
  const overAt = taken?.at ?? ('at' in card ? card.at : Infinity);
  return [
    ...(new Set(people).size === people.length ? [] : [`called twice: ${people.join()}`]),
    ...(called.every((entry) => Number(entry.get('atMs')) <= overAt) ? [] : ['called when it was taken']),
    ...(card.kind === 'open' && people.length < escalations.length * calling.escalate.length
      ? [`only ${people.join()} were called`]
      : []),
  ];
}

function wrongOfClaim({ card, charge }: EventCase, charges: readonly string[]): string[] {
  return [
    ...(charges.filter((state) => state === 'paid').length <= 1 ? [] : ['it was paid twice']),
    ...(isEnded(card) && charge && charge.at > card.at ? ['it is charged after its end'] : []),
  ];
}

describe.each([
  ['a payment link', links],
  ['an approval', approvals],
  ['an alert', alert],
  ['a new account', newAccount],
  ['a change of a card’s e-mail', cardEmail],
])('%s', (_name, open) => {
  it('breaks no rule through crashes, lost answers, repeats, suspended processes and clock changes', async () => {
    let ends = 0;
    for (let seed = firstSeed; seed < firstSeed + worlds; seed += 1) {
      const world = openWorld(seed);
      const wrongs = await drive(world, open(world));
      expect({ seed, wrongs }).toEqual({ seed, wrongs: [] });
      if (world.store.keys().length > 0) ends += 1;
    }
    expect(ends).toBeGreaterThan(worlds / 2);
  });
});

/** A case whose state is the last event, over `store`. */
function plainCases(
  { sealer, clock }: World,
  store: Store,
  effects: Parameters<typeof createCases<string, string>>[2],
) {
  const deps = {
    store,
    sealer,
    rememberMs: dayMs,
    wait: () => Promise.resolve(),
    now: () => clock.nowMs,
    wake: () => undefined,
  };
  const rules = {
    prefix: 'case:',
    schema: z.string(),
    lists: () => ({}),
    step: (_: string, event: string) => event,
    dueInMs: (state: string) => (state === 'asked' ? 0 : undefined),
    auditEntries: () => [],
  };
  return createCases<string, string>(deps, rules, effects);
}

it('ignores a late settle of the case that it replaced', async () => {
  const world = openWorld(1);
  const { store, clock } = world;
  const told: string[] = [];
  const cases = plainCases(world, store, {
    due: async () => undefined,
    tell: async (state) => void told.push(state),
  });
  await cases.begin('1', 'waiting');
  const refused = await cases.apply('1', 'refused');
  await cases.begin('1', 'waiting again', { mayReplace: () => true });
  await cases.apply('1', 'made');
  // The process that applied *made* dies here, and the one that settles *refused* is slow.
  if (refused) await cases.settle('1', refused);
  clock.nowMs += minuteMs;
  for (const entry of await store.take(45_000)) await cases.work(entry);
  expect(told).toEqual(['refused', 'made']);
});

/** A case that its worker answers, with something that happens just before that. */
function openCounted(during: (cases: Cases<string, string>) => Promise<unknown>) {
  const world = openWorld(1);
  const calls: string[] = [];
  const store = aroundStore(world.store, (call, name) => {
    calls.push(name.split(' ')[0] ?? '');
    return call();
  });
  const told: string[] = [];
  const cases: Cases<string, string> = plainCases(world, store, {
    async due(state) {
      if (state !== 'asked') return undefined;
      await during(cases);
      return { event: 'answered' };
    },
    tell: async (state) => void told.push(state),
  });
  async function work(): Promise<void> {
    for (const entry of await world.store.take(45_000)) await cases.work(entry);
  }
  return { cases, calls, told, work };
}

describe('a worker that took a case', () => {
  it('changes and settles the case without another read', async () => {
    const { cases, calls, told, work } = openCounted(async () => undefined);
    await cases.begin('1', 'asked');
    calls.length = 0;
    await work();
    expect({ calls, told }).toEqual({ calls: ['write', 'write'], told: ['answered'] });
  });

  it('reads the case again if it was changed meanwhile', async () => {
    const { cases, told, work } = openCounted((all) => all.apply('1', 'moved'));
    await cases.begin('1', 'asked');
    await work();
    expect({ told, now: await cases.find('1') }).toEqual({ told: ['answered'], now: 'answered' });
  });
});
