import { setTimeout as sleep } from 'node:timers/promises';
import { routePlanOf } from './config/alert-rules.ts';
import type { Account, Feature, Finder } from './account.ts';
import type { AuditTrail } from './audit/audit-trail.ts';
import { storagePart, type StoragePart } from './store/scoped-store.ts';
import { createPayments } from './payments/payments.ts';
import { approvalRules, limitRules, rolesOfRules } from './config/policy-rules.ts';
import type { Config, Runtime } from './config/config.ts';
import { StoreUnavailable } from './domain/failure.ts';
import { dayNamed } from './domain/local-day.ts';
import { parseOrderReference } from './domain/order-reference.ts';
import { orderEventKey } from './domain/payment-event.ts';
import type { Span } from './domain/span.ts';
import { noticeRenders, type Notice } from './messages/notices.ts';
import { type MissingEvents, alarmPrefix, createMissingEvents } from './features/alerts/missing-events.ts';
import { createSeenWebhooks, readSeenWebhooks } from './features/alerts/seen-webhooks.ts';
import type { HoldersOf, RolesOf } from './slack/people/role.ts';
import type { Log } from './log.ts';
import { caseKind } from './records/cases.ts';
import { openFingerprint } from './records/fingerprint.ts';
import { relisted } from './records/records.ts';
import type { MayRun, Permission } from './slack/command.ts';
import { createUploadFile } from './slack/kit/upload-file.ts';
import type { Called } from './payments/client.ts';
import type { Directory } from './slack/people/directory.ts';
import { readRefusedRequest } from './features/doctor/refused-requests.ts';
import { createShowResult } from './slack/reply.ts';
import { type ShownAccount, accountWords } from './slack/words/account-foot.ts';
import type { SlackClients } from './slack/workspace.ts';
import { type Merchant, merchantPermission } from './domain/merchant.ts';
import { type Alerts, createAlerts } from './features/alerts/alerts.ts';
import { takenMessage } from './features/alerts/alert-buttons.ts';
import { eventFinders } from './features/alerts/found-event.ts';
import { lookUpExpected, withCircuitBreaker } from './features/alerts/look-up-event.ts';
import { findEvent } from './features/alerts/event-log.ts';
import { type Approvals, createApprovals } from './features/approvals/approvals.ts';
import { type CardEmail, createCardEmail } from './features/card-email/card-email.ts';
import { openLedger } from './features/cards/card-ledger.ts';
import { createCards } from './features/cards/cards.ts';
import { cardFinder } from './features/cards/found-card.ts';
import { chargeKey, chargeKind } from './features/charge/charge-record.ts';
import { chargeFinder } from './features/charge/found-charge.ts';
import { createFind } from './features/find/find.ts';
import { linkKind, storedLink } from './features/links/link-case.ts';
import { linkReader } from './features/links/found-link.ts';
import { type Charges, createCharges } from './features/charge/charge.ts';
import { createCustomerCode } from './features/customer-code/customer-code.ts';
import { createDayFiles, type DayFile } from './features/day/day-file.ts';
import { dayCsv, dayWords, readDay } from './features/day/day.ts';
import { createDoctor } from './features/doctor/doctor.ts';
import { type Check, type CheckResult, type Finding, runChecks } from './features/doctor/checks.ts';
import { forwardHealth } from './features/forward/forward-record.ts';
import { type Forwarding, createForwarding } from './features/forward/forward.ts';
import { createLinks } from './features/links/link.ts';
import { type Lookup, createLookup } from './features/lookup/lookup.ts';
import { type Mutes, createMutes } from './features/mute/mute.ts';
import { ownFeatures, verbsOf } from './features/registry.ts';
import { createStory } from './features/story/story.ts';
import {
  type Undelivered,
  createUndelivered,
  undeliveredHealth,
} from './features/undelivered/undelivered.ts';
import { tellOperators, tellStuck } from './messages/messages.ts';
import { accountChecks, checkDeadlineMs, type AccountHealth } from './features/doctor/account-checks.ts';
import { settingsChecks } from './features/doctor/settings-checks.ts';
import { slackChecks } from './features/doctor/slack-checks.ts';
import { storeChecks } from './features/doctor/store-checks.ts';
import type { Storage } from './store/storage.ts';
import type { StepChange } from './store/store-steps.ts';
import type { Metrics } from './http/metrics.ts';
import { createOutbox } from './messages/deliver.ts';
import { readWebhooks, readsField, webhooksHealth } from './webhooks/webhook-settings.ts';
import { dayMs, hourMs } from './domain/span.ts';

/** One merchant account's settings and part of the store. */
type MerchantScope = StoragePart & {
  /** Undefined in a bot with one account. */
  merchant: Merchant | undefined;
  runtime: Runtime;
  /** Pauses that the payments service has asked for, shared by all accounts; see `payments/client.ts`. */
  pauses: Map<string, Span>;
};

/**
 * The bot's accounts, the first one first. Each account's parts are made from its own scope alone, so they can't use
 * another account's token or id, nor read its records.
 */
export function merchantScopes(runtime: Runtime, storage: Storage): [MerchantScope, ...MerchantScope[]] {
  const pauses = new Map<string, Span>();
  function scopeOf(config: Config): MerchantScope {
    const { merchant } = config;
    const log: Log = merchant
      ? (level, message, fields, error) =>
          runtime.log(level, message, { account: merchant.name, ...fields }, error)
      : runtime.log;
    return { pauses, merchant, runtime: { ...runtime, config, log }, ...storagePart(storage, merchant) };
  }
  return [scopeOf(runtime.config), ...(runtime.config.further ?? []).map(scopeOf)];
}

function shownAccountOf(config: Config): ShownAccount {
  const { paymentsEnvironment: environment, paymentsAccountName: account, merchant, policy } = config;
  const otherAccounts = (policy.accounts ?? [])
    .map(({ name }) => name)
    .filter((name) => name !== merchant?.name);
  return { environment, account, isMixed: merchant?.isMixed === true, otherAccounts };
}

function openAccount(
  { runtime, storage, merchant, pauses }: MerchantScope,
  { clients, wake, audit, nameOf, ...people }: Omit<Shared, 'metrics'>,
  called: Called,
): Account {
  const { config, log, now } = runtime;
  const { store, sealer } = storage;
  const payments = createPayments(runtime, storage, { pauses, called });
  return {
    name: merchant?.name,
    shownAccount: { ...shownAccountOf(config), canListCards: payments.savedCards.kind === 'ready' },
    settings: config,
    rules: {
      limits: limitRules(config.policy, merchant?.name),
      approvals: approvalRules(config.policy, merchant?.name),
      routes: routePlanOf(config),
      declines: {
        threeDSecureWords: config.chargeThreeDSecureWords,
        waitMs: config.chargeRetryWaitHours * hourMs,
      },
    },
    payments,
    store,
    sealer,
    fingerprint: openFingerprint(store, sealer, log),
    rememberMs: config.chargeRememberDays * dayMs,
    leaseMs: config.workLeaseSeconds * 1_000,
    audit: { ...audit, ...audit.notesOf(merchant?.name), ofReference: entriesOf(audit, merchant) },
    people: { ...permissionChecksFor(merchant, people), nameOf },
    slack: {
      ...clients,
      uploadFile: createUploadFile(clients.delivery),
      showResult: createShowResult({ client: clients.interactive, log }),
    },
    wake,
    wait: sleep,
    log,
    now,
  };
}

/** Two accounts may have the same reference. Entries without an account are from when the first one was the only one. */
function entriesOf(
  { ofReference }: Pick<AuditTrail, 'ofReference'>,
  merchant: Merchant | undefined,
): AuditTrail['ofReference'] {
  const isOwn = (account: string | undefined): boolean =>
    account === merchant?.name || (account === undefined && merchant?.isFirst === true);
  return async (reference) => (await ofReference(reference)).filter(({ account }) => isOwn(account));
}

export type MerchantBots = readonly [MerchantBot, ...MerchantBot[]];

/** All parts that work for one merchant account. */
export type MerchantBot = ReturnType<typeof createMerchantBot>;

/** Shared by all merchant accounts. The permission checks are for all of them; `permissionChecksFor` narrows them to one. */
type Shared = Directory & {
  clients: SlackClients;
  wake: () => void;
  metrics: Metrics;
  audit: Pick<AuditTrail, 'ofReference' | 'append' | 'notesOf'>;
};

export function createMerchantBot(scope: MerchantScope, shared: Shared) {
  const { runtime, storage, merchant } = scope;
  const { clients, wake } = shared;
  const metrics = shared.metrics.of(merchant?.name ?? 'main');
  const account = openAccount(scope, shared, (operation, result, seconds) => {
    metrics.called(operation, result, seconds);
    const durationMs = Math.round(seconds * 1_000);
    runtime.log('info', 'Called the payments service', { operation, result, durationMs });
  });
  const { payments, settings, store, sealer, log, now } = account;
  const webhooks = readWebhooks(settings);
  const health = accountHealth(settings, account);
  const operators = { store, sealer, opsChannel: settings.policy.channels.ops, wake, now };
  const notifyOperators = (name: string, notice: Notice): Promise<void> =>
    tellOperators(operators, name, notice);
  // If no delivery can be accepted (the bot warns of that at start), don't raise alarms for missing events.
  const waitMs = webhooks.problem === undefined ? settings.alarmMissingEventMinutes * 60_000 : 0;
  const missing = createMissingEvents({ ...operators, log }, waitMs, readsField(webhooks, 'orderReference'));
  const created = createFeatures(account, {
    missing,
    charged: metrics.charged,
    forwarded: metrics.forwarded,
    tellOperators: notifyOperators,
    doctor() {
      const checks = [
        ...sharedChecks(runtime, { ...storage, ...storage.whole }, clients),
        ...accountChecks({ config: settings, payments, now, ...health }),
      ];
      return runChecks(checks, checkDeadlineMs(settings), log);
    },
  });
  const { features, alerts, charges, undelivered, forwarding, answerCodePage } = created;
  const { receiving, lookUpAhead } = alerts;
  const outbox = createOutbox(
    account,
    features.map(({ messages = {} }) => messages),
    lookUpAhead,
  );
  metrics.watch({
    openCharges: charges.open,
    openAlerts: alerts.open,
    undelivered: undelivered.count,
    forwards: forwarding.keep && forwarding.depth,
  });
  return {
    scope,
    metrics,
    payments,
    webhooks,
    health,
    seenWebhooks: createSeenWebhooks(store, log),
    routes: account.rules.routes,
    features,
    forwarding,
    answerCodePage,
    receiving,
    steps: storeSteps(account),
    kinds: [outbox, ...features.flatMap(({ cases = [] }) => cases)],
    tellOperators: notifyOperators,
    tellStuck: (key: string, errorId: string) => tellStuck(operators, key, errorId),
    mayRun: account.people.mayRun,
    verbs: verbsOf(features),
  };
}

type FeatureNeeds = {
  missing: MissingEvents;
  /** Counts each charge that ended, for the metrics. */
  charged: (outcome: string) => void;
  /** Counts the result of each attempt to forward an event, for the metrics. */
  forwarded: (result: string) => void;
  tellOperators: (name: string, notice: Notice) => Promise<void>;
  doctor: () => Promise<Finding[]>;
};

/** The features of one merchant account. What one feature needs of another is passed here, by name. */
export function createFeatures(account: Account, needs: FeatureNeeds) {
  const { payments } = account;
  const { missing } = needs;
  const ledger = openLedger(account);
  const alerts: Alerts = createAlerts(account, {
    ledger,
    mayTry: (card, outside) => charges.mayTry(card, outside),
    mayOverride: () => gate.needFor({ kind: 'retry' }) !== undefined,
    hasEnded: (reference) => charges.hasEnded(reference),
    chargeOf: async (reference) => (await charges.chargeOf(reference)) ?? (await links.chargeOf(reference)),
    async tellPayment(reference, news) {
      await charges.operations.onAlertEnded(reference, news);
      await links.onAlertEnded(reference, news);
    },
    openLinks: (alert) => links.openForAlert(alert),
    tellsFailure: (reference) => charges.tellsFailure(reference),
    tellCharge: (reference, refund) => charges.onGivenBack(reference, refund),
    tellLink: (reference, lookup) => links.onGivenBack(reference, lookup),
    findCharge: (reference) => charges.find(reference),
    chargeForm: (filled) => charges.form(filled),
    linkForm: (filled, caller, alert) => links.form(filled, caller, alert),
    askDayFile: (...args) => dayFiles.ask(...args),
    mayReveal: (caller) => lookup.reveals.may(caller),
    mutes: () => mutes.all(),
    rememberCard: ledger && ((card) => ledger.remember(card)),
    savesNoCard: (reference) => links.savesNoCard(reference),
    onCardSaved: (card) => charges.onCardSaved(card),
    beforeReceived: async (event) =>
      void (await Promise.all(features.flatMap(({ onPaymentEvent }) => onPaymentEvent?.(event) ?? []))),
  });
  const dayFiles = createDayFiles(account, (date) => dayFile(account, date));
  const mutes: Mutes = createMutes(account, alerts.notPosted);
  const approvals: Approvals = createApprovals(account, {
    findCharge: (reference) => charges.find(reference),
    submitApproved: (charge, atMs) => charges.submitApproved(charge, atMs),
    twinsOf: (charge) => charges.twinsOf(charge),
    isAlertPaid: (alert) => alerts.isPaid(alert),
    changeCardEmail: (terms, by) => cardEmail.change(terms, by),
  });
  const { gate, requestModal } = approvals;
  const links = createLinks(account, {
    lookUp: withCircuitBreaker(account.now, (expected) => lookUpExpected(payments.findTransaction, expected)),
    lookUpNow: (expected) => lookUpExpected(payments.findTransaction, expected),
    paid: alerts.paid,
    alertFor: alerts.alertFor,
    firstAlert: alerts.firstAlert,
    alertTaken: (alert) => alerts.claims.taken(alert),
    async isCharge(reference) {
      const found = await Promise.all([charges.chargeOf(reference), gate.find(reference)]);
      return found.some((one) => one !== undefined);
    },
  });
  const { customerLink, answerCodePage } = createCustomerCode(account, {
    find: (reference) => charges.find(reference),
    submitCode: (typed) => charges.operations.submitCode(typed),
    resendCode: (wish) => charges.operations.resendCode(wish),
    refuseByCustomer: (wish) => charges.operations.refuseByCustomer(wish),
    background: (work) => charges.background(work),
  });
  const charges: Charges = createCharges(account, {
    customerLink,
    tellOperators: needs.tellOperators,
    ledger,
    linkForm: links.form,
    async openPayments(terms) {
      const ofAlert = await alerts.openPayments(terms);
      if (terms.alert !== undefined) return ofAlert;
      const known = new Set(ofAlert.map(({ reference }) => reference));
      return [
        ...ofAlert,
        ...(await links.openForCustomer(terms)).filter(({ reference }) => !known.has(reference)),
      ];
    },
    approvals: gate,
    alerts: { ...alerts.claims, paid: alerts.paid },
    awaitEvent: missing.approved,
    count: needs.charged,
    requestModal,
    takenMessage,
  });
  const cardEmail: CardEmail = createCardEmail(account, {
    ledger,
    approvals: gate,
    requestModal,
  });
  const cards = createCards(account, {
    ledger,
    chargeForm: (card) => charges.form({ prefill: { card } }),
    cardEmailForm: cardEmail.form,
  });
  const lookup: Lookup = createLookup(account, alerts.declineOf, async (reference) => {
    const [charge, link] = await Promise.all([charges.find(reference), links.find(reference)]);
    const linkPaidAtMs = link?.state.kind === 'paid' ? link.state.atMs : undefined;
    return {
      customerEmail: (charge ?? link)?.terms.customerEmail,
      provenAtMs: charge?.state.kind === 'approved' ? charge.state.concludedAt : linkPaidAtMs,
    };
  });
  const undelivered: Undelivered = createUndelivered(account);
  const forwarding: Forwarding = createForwarding(account, needs.forwarded);
  const find = createFind(account, findersOf(account));
  const story = createStory(account, (reference) =>
    Promise.all(features.flatMap(({ story: tell }) => tell?.(reference) ?? [])),
  );
  const features: readonly Feature[] = [
    lookup,
    find,
    // Stop approvals before charges: an approved request may still begin a charge.
    approvals,
    charges,
    links,
    cardEmail,
    cards,
    story,
    alerts,
    dayFiles,
    mutes,
    {
      cases: [{ prefix: alarmPrefix, work: missing.work }],
      messages: noticeRenders(
        account.name === undefined
          ? undefined
          : accountWords(account.shownAccount.environment, account.shownAccount.account),
      ),
    },
    undelivered,
    forwarding,
    createDoctor(needs.doctor),
    ...ownFeatures(account),
  ];
  return {
    features,
    charges,
    links,
    approvals,
    cardEmail,
    alerts,
    undelivered,
    forwarding,
    answerCodePage,
  };
}

/** Readers of the records that `/pay find` shows, one for each kind. */
export function findersOf(account: Pick<Account, 'store' | 'sealer'>): Finder[] {
  const { store } = account;
  async function isOwn(text: string): Promise<boolean> {
    const reference = parseOrderReference(text);
    // Check the reference first: outside text must not get into a key.
    if (!reference.ok) return false;
    const keys = [chargeKey(reference.value), storedLink.prefix + reference.value];
    return (await Promise.all(keys.map((key) => store.read(key)))).some((entry) => entry !== undefined);
  }
  return [chargeFinder(account), linkReader(account), cardFinder(account), ...eventFinders(account, isOwn)];
}

/**
 * All payments of a date in the policy file's time zone, as CSV. Throws RangeError if there is no such date, and
 * StoreUnavailable.
 */
export async function dayFile(
  account: Pick<Account, 'store' | 'sealer' | 'settings'>,
  date: string,
): Promise<DayFile> {
  const { store, settings } = account;
  const span = dayNamed(settings.policy.timezone, date);
  if (!span) throw new RangeError(`There is no ${date} in the policy file’s time zone.`);
  // Without signed references no event is known to be a payment's own.
  const readsReference = readsField(readWebhooks(settings), 'orderReference');
  const hasEvent = async (reference: string): Promise<boolean> =>
    !readsReference || (await findEvent(store, orderEventKey('payment_success', reference))) !== undefined;
  const day = await readDay(account, findersOf(account), { span, hasEvent });
  return { text: dayCsv(day), words: dayWords(day, date), isWhole: day.unread === 0 };
}

/**
 * The numbered steps that bring records of an older release into this release's form, in order. Never change a released
 * step; for a new one, raise `newest` in `store/store-mark.ts`.
 */
export function storeSteps(account: Pick<Account, 'sealer' | 'fingerprint' | 'log'>): StepChange[][] {
  const { sealer } = account;
  return [
    // 1. Adds charges and links to the lists of `/pay find` and of a day.
    [relisted(sealer, chargeKind(account)), relisted(sealer, caseKind(linkKind(account)))],
  ];
}

/** Health of an account's parts, for readiness and the doctor, in the bot and on the command line. */
export function accountHealth(
  config: Config,
  { store, sealer, now }: Pick<Account, 'store' | 'sealer' | 'now'>,
): AccountHealth {
  return {
    webhooks: webhooksHealth(readWebhooks(config)),
    undelivered: () => undeliveredHealth(store),
    forwarding:
      config.webhookForwardUrl === undefined ? undefined : () => forwardHealth({ store, sealer }, now()),
    seenWebhooks: () => readSeenWebhooks({ store, sealer }),
  };
}

/** The doctor's checks of what all accounts share. `storage`: the whole store, or why it can't be opened. */
export function sharedChecks(
  runtime: Runtime,
  storage: Storage | CheckResult,
  clients: SlackClients,
): Check[] {
  return [
    ...storeChecks(storage, runtime),
    // The background client, which may take long: with the short deadline for opening modals, a slow network would look
    // like a problem of a role or a channel.
    ...slackChecks(runtime, clients.delivery, {
      approvalRules: rolesOfRules(runtime.config.policy),
      async refused() {
        if ('state' in storage) throw new StoreUnavailable('There is no store.');
        return await readRefusedRequest(storage.store);
      },
    }),
    ...settingsChecks(runtime.config),
  ];
}

/** The permission checks for this account alone. */
export function permissionChecksFor(
  merchant: Merchant | undefined,
  { mayRun, rolesOf, holdersOf }: Pick<Directory, 'mayRun' | 'rolesOf' | 'holdersOf'>,
) {
  if (!merchant) return { mayRun, rolesOf, holdersOf };
  const at = (permission: Permission): Permission => merchantPermission(permission, merchant);
  return {
    mayRun: ((permission, caller) => mayRun(at(permission), caller)) satisfies MayRun,
    rolesOf: ((permission, userId) => rolesOf(at(permission), userId)) satisfies RolesOf,
    holdersOf: ((permission) => holdersOf(at(permission))) satisfies HoldersOf,
  };
}
