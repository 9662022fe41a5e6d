import type { AuditTrail } from './audit-trail.ts';
import { createAlarms } from './alarms.ts';
import type { Approvals } from './approvals.ts';
import { createFourEyes } from './approvals.ts';
import { createAlerts, openAlertCases, type Alerts } from './alerts.ts';
import { readRoutes } from './alert-routes.ts';
import { channelUses } from './channels.ts';
import { createCharges, type Charges } from './charges.ts';
import type { Kept } from './kept.ts';
import { createLinks } from './links.ts';
import type { MerchantPlace } from './merchants.ts';
import type { Metrics } from './metrics.ts';
import { createOutbox, declineRule, type Outbox } from './outbox.ts';
import type { Outside } from './outside.ts';
import { createSavedCards } from './saved-cards.ts';
import { stormTerms } from './storm-terms.ts';
import { createUndelivered, type Undelivered } from './undelivered.ts';
import { readWebhooks, type Webhooks } from './webhook-settings.ts';
import { accountChecks, longestLookMs } from './doctor/account-checks.ts';
import { sharedChecks } from './doctor/shared-checks.ts';
import { doctorCommand } from '../features/doctor/doctor.ts';
import { examine, type Finding } from '../features/doctor/examine.ts';
import { readSeenWebhooks } from '../features/alerts/seen-webhooks.ts';
import {
  createUndelivered as createUndeliveredVerb,
  type UndeliveredList,
} from '../features/undelivered/undelivered.ts';
import { holdersAt, mayRunAt, standingAt } from './merchant-command.ts';
import { createVerbs } from '../features/registry.ts';
import { createLists } from '../features/lists/lists.ts';
import { createLookup } from '../features/lookup/lookup.ts';
import { createNewAccount } from '../features/new-account/account.ts';
import { createStory } from '../features/story/story.ts';
import { sentMessage } from '../features/approvals/approval-answers.ts';
import { openAccount, type Account } from '../account.ts';
import { destinationsOf, needsLookUp, type RoutePlan } from '../domain/alert-route.ts';
import type { Merchant } from '../domain/merchant.ts';
import type { HoldersOf, StandingOf } from '../domain/standing.ts';
import { askToRedrive } from '../features/approvals/ask-to-redrive.ts';
import { tellStuck } from '../messages/messages.ts';
import type { PaymentLinks } from '../features/links/payment-links.ts';
import type { ReceiveDeps } from '../features/alerts/receive-event.ts';
import { findDecline } from '../features/alerts/find-decline.ts';
import { rehearse } from '../features/alerts/event-log.ts';
import { createTestAlerts } from '../features/alerts/send-test-alert.ts';
import type { Command, MayRun } from '../slack/command.ts';
import { merchantIds } from '../slack/merchant-ids.ts';
import type { NameOf } from '../slack/people/names.ts';
import type { SlackClients } from '../slack/workspace.ts';

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
  const ids = merchant && merchantIds(merchant);
  const { mayRun, standingOf, holdersOf } = askedAt(merchant, shared);
  const notes = shared.audit.notes.of(merchant?.name);
  const account = openAccount(place, {
    clients,
    ids,
    wake,
    called: metrics.called,
    people: { mayRun, standingOf, holdersOf, nameOf },
    audit: { ...shared.audit, ...notes },
  });
  const { payments } = account;
  const webhooks = readWebhooks(outside.config);
  const alarms = createAlarms(outside, { kept, webhooks });
  const known = { kept, payments, clients, wake, notes };
  const approvals: Approvals = createFourEyes(outside, {
    ...known,
    ids,
    holdersOf,
    standingOf,
    hands: () => ({ charges, undelivered }),
  });
  const links = createLinks(outside, known);
  const routes = readRoutes(outside.config);
  const opened = openAlertCases(outside, { kept, routes, wake, notes });
  const charges = createCharges(outside, {
    ...known,
    ...opened,
    links,
    awaitEvent: alarms.missing.approved,
    count: metrics.charged,
    standingOf,
    approvals: approvals.gate,
    ids,
  });
  const alerts = createAlerts(outside, { ...known, ...opened, charges, routes });
  const undelivered = createUndelivered(outside, { kept, wake });
  const receiving = createReceiving(outside, { kept, charges, links, alerts, routes, wake });
  const named = { ids, nameOf, note: notes.note };
  const told = { kept, payments, clients, charges, approvals, links, alerts, ...named };
  const outbox = createOutbox(outside, { ...told, routes, receiving, missing: alarms.missing });
  const doctor = doctorOf(outside, { kept, clients, payments, webhooks, undelivered });
  const verbs = createMerchantVerbs(account, { ...told, kept, routes, undelivered, outbox, doctor });
  metrics.watch({ openCharges: charges.open, undelivered: undelivered.count });
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
    verbs,
  };
}

/** Looks at what all accounts have together, and at this one. */
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
function askedAt(
  merchant: Merchant | undefined,
  { mayRun, standingOf, holdersOf }: Pick<Shared, 'mayRun' | 'standingOf' | 'holdersOf'>,
) {
  if (!merchant) return { mayRun, standingOf, holdersOf };
  return {
    mayRun: mayRunAt(merchant, mayRun),
    standingOf: standingAt(merchant, standingOf),
    holdersOf: holdersAt(merchant, holdersOf),
  };
}

type ReceivingParts = {
  kept: Kept;
  charges: Charges;
  links: PaymentLinks;
  alerts: Alerts;
  routes: RoutePlan;
  wake: () => void;
};

function createReceiving({ config, now }: Outside, parts: ReceivingParts): ReceiveDeps {
  const { kept, charges, links, alerts, routes, wake } = parts;
  return {
    store: kept.store,
    sealer: kept.sealer,
    route: (event, receivedAtMs) => destinationsOf(routes, event, receivedAtMs),
    needsLookUp: (event) => needsLookUp(routes, event),
    opsChannel: config.policy.channels.ops,
    rememberMs: config.webhookRememberDays * 86_400_000,
    now,
    wake,
    rememberCard: charges.rememberCard,
    expect: (event, receivedAtMs) => alerts.forPosts.expect(event, receivedAtMs),
    async beforeReceived(event) {
      await Promise.all([charges.trigger(event), links.trigger(event)]);
    },
  };
}

type VerbParts = {
  kept: Kept;
  charges: Charges;
  approvals: Approvals;
  links: PaymentLinks;
  alerts: Alerts;
  routes: RoutePlan;
  undelivered: Undelivered;
  outbox: Pick<Outbox, 'refused'>;
  doctor: () => Promise<readonly Finding[]>;
};

function createMerchantVerbs(account: Account, parts: VerbParts): Command[] {
  const { settings: config, people, slack, audit, log, wake, now } = account;
  const { kept, charges, approvals, links, alerts, routes, doctor } = parts;
  const cardActions = {
    alertCards: alerts.cards,
    chargeAgain: alerts.chargeAgain,
    declines: declineRule(config),
    standingOf: people.standingOf,
    storms: alerts.storms,
    uploadFile: slack.uploadFile,
  };
  const lookup = createLookup(account, {
    declineOf: (reference, found) =>
      findDecline(
        { findAlert: (id) => alerts.cards.find(id), findCharge: charges.find, rule: declineRule(config) },
        reference,
        found,
      ),
    async ownEmail(reference) {
      const [charge, link] = await Promise.all([charges.find(reference), links.find(reference)]);
      return (charge ?? link)?.terms.customerEmail;
    },
  });
  const own = [
    lookup.verb,
    ...createLists(account),
    createNewAccount(account),
    createStory(account, { chargeStory: charges.story, linkStory: (reference) => links.story(reference) }),
    createUndeliveredVerb(account, askedUndelivered(parts)),
    doctorCommand(doctor),
  ];
  const verbDeps = {
    ...account.place,
    desk: charges.desk,
    approvalFrom: (currency: string) => approvals.gate?.chargesFrom(currency),
    cardEmails: charges.cardEmails,
    ...lookup,
    showEnd: slack.showEnd,
    ledger: charges.ledger,
    savedCards: createSavedCards(
      { log },
      { kept, calls: account.payments.savedCards, charges, note: audit.note },
    ),
    mayRun: people.mayRun,
    links,
    ...(approvals.gate ? { approvals: approvals.desk } : {}),
    approvalTelling: approvals.desk,
    alertsOf: (userId: string) => alerts.cards.of(userId),
    currencies: config.chargeCurrencies,
    routes,
    usesOf: (channel: string) => channelUses(config.policy, channel),
    rehearse: (plan: RoutePlan) => rehearse(alerts.eventLog, plan, stormTerms(config), now()),
    storms: { ...alerts.storms, ...stormTerms(config) },
    sendTestAlert: createTestAlerts({
      ...kept,
      leaseMs: config.workLeaseSeconds * 1_000,
      now,
      wake,
    }),
    now,
  };
  return createVerbs(own, verbDeps, cardActions);
}

/** Whoever presses in Slack is asked about; the operator's command line is at the server, and is not. */
function askedUndelivered({ undelivered, outbox, approvals }: VerbParts): UndeliveredList {
  const deps = { approvals: approvals.gate, deliverAgain: undelivered.deliverAgain };
  return {
    all: undelivered.all,
    tried: outbox.refused,
    async deliverAgain(channel, by) {
      const asked = await askToRedrive(deps, channel, by);
      return asked.kind === 'again' ? asked : { kind: asked.kind, said: sentMessage(asked.approval) };
    },
  };
}
