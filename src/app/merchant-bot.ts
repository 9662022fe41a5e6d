import { openAccount, type Account } from '../account.ts';
import { merchantPermission, type Merchant } from '../domain/merchant.ts';
import type { HoldersOf, StandingOf } from '../domain/standing.ts';
import { createAlerts, type Alerts } from '../features/alerts/alerts.ts';
import { takenMessage } from '../features/alerts/card-answers.ts';
import { createExpectedLookUp, lookUpExpected } from '../features/alerts/look-up-event.ts';
import { readSeenWebhooks } from '../features/alerts/seen-webhooks.ts';
import { createFourEyes, type Approvals } from '../features/approvals/approvals-command.ts';
import { createCardEmail, type CardEmail } from '../features/card-email/card-email.ts';
import { openLedger } from '../features/cards/card-ledger.ts';
import { createCards } from '../features/cards/cards.ts';
import { createCharges, type Charges } from '../features/charge/charge.ts';
import { doctorCommand } from '../features/doctor/doctor.ts';
import { examine, type Finding } from '../features/doctor/examine.ts';
import { createLinks } from '../features/links/link.ts';
import { createLookup, type Lookup } from '../features/lookup/lookup.ts';
import { withVerbsOf } from '../features/registry.ts';
import { createStory } from '../features/story/story.ts';
import { createUndelivered as createUndeliveredVerb } from '../features/undelivered/undelivered.ts';
import { tellStuck } from '../messages/messages.ts';
import type { MayRun, Permission } from '../slack/command.ts';
import type { NameOf } from '../slack/people/names.ts';
import type { SlackClients } from '../slack/workspace.ts';
import { createAlarms } from './alarms.ts';
import type { AuditTrail } from './audit-trail.ts';
import { channelUses } from './channels.ts';
import { accountChecks, longestLookMs } from './doctor/account-checks.ts';
import { sharedChecks } from './doctor/shared-checks.ts';
import { summaryTimes } from './daily-summaries.ts';
import type { Kept } from './kept.ts';
import type { MerchantPlace } from './merchants.ts';
import type { Metrics } from './metrics.ts';
import { createOutbox } from './outbox.ts';
import type { Outside } from './outside.ts';
import { createUndelivered, type Undelivered } from './undelivered.ts';
import { readWebhooks, type Webhooks } from './webhook-settings.ts';

export type MerchantBots = readonly [MerchantBot, ...MerchantBot[]];

/** All that works for one merchant account, and for no other. */
export type MerchantBot = ReturnType<typeof createMerchantBot>;

/** What all accounts have together. */
type Shared = {
  clients: SlackClients;
  wake: () => void;
  metrics: Metrics;
  mayRun: MayRun;
  /** Asked for this account alone, by `standingAt` and `holdersAt`. */
  standingOf: StandingOf;
  holdersOf: HoldersOf;
  nameOf: NameOf;
  audit: Pick<AuditTrail, 'ofReference' | 'append' | 'notes'>;
};

export function createMerchantBot(place: MerchantPlace, shared: Shared) {
  const { outside, kept, merchant } = place;
  const { clients, wake, nameOf } = shared;
  const metrics = shared.metrics.of(merchant?.name ?? 'main');
  const { mayRun, standingOf, holdersOf } = askedAt(merchant, shared);
  const notes = shared.audit.notes.of(merchant?.name);
  const account = openAccount(place, {
    clients,
    wake,
    called: metrics.called,
    people: { mayRun, standingOf, holdersOf, nameOf },
    audit: { ...shared.audit, ...notes },
  });
  const { payments, settings } = account;
  const webhooks = readWebhooks(settings);
  const alarms = createAlarms(outside, { kept, webhooks });
  const { routes, declines } = account.rules;
  const undelivered = createUndelivered(outside, { kept, wake });
  const ledger = openLedger(account);
  const alerts: Alerts = createAlerts(account, {
    ledger,
    mayTry: (card) => charges.mayTry(card),
    hasEnded: (reference) => charges.hasEnded(reference),
    chargeOf: (reference) => charges.chargeOf(reference),
    findCharge: (reference) => charges.find(reference),
    chargeForm: (filled) => charges.form(filled),
    mayReveal: (caller) => lookup.mayReveal(caller),
    reveal: (pressed, reference) => lookup.reveal(pressed, reference),
    summaryTimes: summaryTimes(settings),
    usesOf: (channel) => channelUses(settings.policy, channel),
    rememberCard: ledger && ((card) => ledger.remember(card)),
    beforeReceived: async (event) => void (await Promise.all([charges.trigger(event), links.trigger(event)])),
  });
  const approvals: Approvals = createFourEyes(account, {
    chargeExists: async (reference) => (await charges.find(reference)) !== undefined,
    submitApproved: (charge, atMs) => charges.submitApproved(charge, atMs),
    changeCardEmail: (terms, by) => cardEmail.change(terms, by),
    deliverAgain: undelivered.deliverAgain,
    formAgain: (shown) =>
      shown.kind === 'charge'
        ? charges.formAgain(shown, shown.cardFingerprint)
        : cardEmail.formAgain(shown, shown.cardFingerprint),
  });
  const { gate, awaitDecision } = approvals;
  const links = createLinks(account, {
    lookUp: createExpectedLookUp({ findTransaction: payments.findTransaction, now: account.now }),
    lookUpNow: (expected) => lookUpExpected(payments.findTransaction, expected),
    paid: alerts.paid,
  });
  const charges: Charges = createCharges(account, {
    ledger,
    links,
    approvals: gate,
    alerts: { ...alerts.claims, paid: alerts.paid },
    awaitEvent: alarms.missing.approved,
    count: metrics.charged,
    awaitDecision,
    takenMessage,
  });
  const cardEmail: CardEmail = createCardEmail(account, {
    ledger,
    approvals: gate,
    awaitDecision,
    findCharge: charges.find,
    sayUnknownCharge: charges.sayUnknown,
  });
  const cards = createCards(account, {
    ledger,
    underWay: charges.underWay,
    chargeForm: (card) => charges.form({ prefill: { card } }),
    cardEmailForm: cardEmail.form,
  });
  const lookup: Lookup = createLookup(account, {
    declineOf: alerts.declineOf,
    async ownEmail(reference) {
      const [charge, link] = await Promise.all([charges.find(reference), links.find(reference)]);
      return (charge ?? link)?.terms.customerEmail;
    },
  });
  const { receiving } = alerts;
  const told = { kept, payments, clients, charges, approvals, links, alerts, nameOf };
  const outbox = createOutbox(outside, { ...told, routes, declines, receiving, missing: alarms.missing });
  metrics.watch({ openCharges: charges.open, undelivered: undelivered.count });
  const verbs = withVerbsOf(account, [
    lookup.verb,
    ...charges.verbs,
    links.verb,
    cardEmail.verb,
    cards,
    createStory(account, { chargeStory: charges.story, linkStory: (reference) => links.story(reference) }),
    ...approvals.verbs,
    alerts.verb,
    createUndeliveredVerb(account, {
      all: undelivered.all,
      tried: outbox.refused,
      deliverAgain: (channel, by) => approvals.deliverAgain(channel, by),
    }),
    doctorCommand(doctorOf(outside, { kept, clients, payments, webhooks, undelivered })),
  ]);
  return {
    place,
    metrics,
    payments,
    webhooks,
    alarms,
    charges,
    links,
    approvals,
    routes,
    alerts,
    undelivered,
    receiving,
    outbox,
    tellStuck: createTellStuck(outside, { kept, wake }),
    mayRun,
    verbs,
  };
}

function doctorOf(
  outside: Outside,
  parts: {
    kept: Kept;
    clients: SlackClients;
    payments: Account['payments'];
    webhooks: Webhooks;
    undelivered: Undelivered;
  },
): () => Promise<Finding[]> {
  const { config, log } = outside;
  const { kept, clients } = parts;
  const seenWebhooks = () => readSeenWebhooks(kept.store);
  return () => {
    const shared = sharedChecks(outside, { ...kept, ...kept.whole }, clients);
    const own = accountChecks({ config, seenWebhooks, ...parts });
    return examine([...shared, ...own], longestLookMs(config), log);
  };
}

/** Tells the operators, once for each record, that it cannot be worked on. */
function createTellStuck({ config, now }: Outside, { kept, wake }: { kept: Kept; wake: () => void }) {
  const { store, sealer } = kept;
  const told = { store, sealer, opsChannel: config.policy.channels.ops, now, wake };
  return (key: string, errorId: string): Promise<void> => tellStuck(told, key, errorId);
}

/** Who may do what at this account alone. */
export function askedAt(
  merchant: Merchant | undefined,
  { mayRun, standingOf, holdersOf }: Pick<Shared, 'mayRun' | 'standingOf' | 'holdersOf'>,
) {
  if (!merchant) return { mayRun, standingOf, holdersOf };
  const at = (permission: Permission): Permission => merchantPermission(permission, merchant);
  return {
    mayRun: ((permission, caller) => mayRun(at(permission), caller)) satisfies MayRun,
    standingOf: ((permission, userId) => standingOf(at(permission), userId)) satisfies StandingOf,
    holdersOf: ((permission) => holdersOf(at(permission))) satisfies HoldersOf,
  };
}
