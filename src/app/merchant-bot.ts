import type { AuditTrail } from './audit-trail.ts';
import { createAlarms } from './alarms.ts';
import type { Approvals } from './approvals.ts';
import { createFourEyes } from './approvals.ts';
import { createAlerts, openAlertCases, type Alerts } from './alerts.ts';
import { readRoutes } from './alert-routes.ts';
import { channelUses } from './channels.ts';
import { createCharges, type Charges } from './charges.ts';
import { createDeskLists } from './desk-lists.ts';
import type { Kept } from './kept.ts';
import { createLinks } from './links.ts';
import type { MerchantPlace } from './merchants.ts';
import { createOutbox, declineRule, type Outbox, type PostCounter } from './outbox.ts';
import type { Outside } from './outside.ts';
import { createPayments, type Payments } from './payments.ts';
import { createSavedCards } from './saved-cards.ts';
import { createReveals } from './reveals.ts';
import { createSharing } from './sharing.ts';
import { stormTerms } from './storm-terms.ts';
import { createUndelivered, type Undelivered } from './undelivered.ts';
import { readWebhooks, type Webhooks } from './webhook-settings.ts';
import { accountChecks, longestLookMs } from './doctor/account-checks.ts';
import { sharedChecks } from './doctor/shared-checks.ts';
import { examine, type Finding } from '../features/doctor/examine.ts';
import { readSeenWebhooks } from '../features/alerts/webhook-watch/webhook-watch.ts';
import type { UndeliveredDeps } from '../features/undelivered/undelivered.ts';
import { holdersAt, mayRunAt, standingAt } from './merchant-command.ts';
import { createVerbs } from '../features/registry.ts';
import type { StoryDeps } from '../features/story/story.ts';
import type { Audit, NoteAudit } from '../domain/audit-entry.ts';
import { destinationsOf, needsLookUp, type RoutePlan } from '../domain/alert-route.ts';
import type { Confirmation } from '../domain/confirmation.ts';
import type { Merchant } from '../domain/merchant.ts';
import type { OrderReference } from '../domain/order-reference.ts';
import type { HoldersOf, StandingOf } from '../domain/standing.ts';
import { askToRedrive } from '../features/approvals/ask-to-redrive.ts';
import { tellStuck } from '../messages/tell-operators.ts';
import type { PaymentLinks } from '../features/links/payment-links.ts';
import type { ReceiveDeps } from '../features/alerts/receive-event.ts';
import { findDecline } from '../features/alerts/find-decline.ts';
import { rehearse } from '../features/alerts/event-log.ts';
import { tellStory } from '../features/story/tell-story.ts';
import { createTestAlerts } from '../features/alerts/send-test-alert.ts';
import type { Command, MayRun } from '../slack/command.ts';
import { merchantIds, type MerchantIds } from '../slack/merchant-ids.ts';
import type { NameOf } from '../slack/people/names.ts';
import { createShareFile } from '../slack/kit/share-file.ts';
import { createShowEnd } from '../slack/show-end.ts';
import { createUploadFile } from '../slack/kit/upload-file.ts';
import type { SlackClients } from '../slack/workspace.ts';

export type MerchantBots = readonly [MerchantBot, ...MerchantBot[]];

/** All that works for one merchant account, and for no other. */
export type MerchantBot = ReturnType<typeof createMerchantBot>;

/** What all accounts have together. */
type Shared = {
  clients: SlackClients;
  wake: () => void;
  posts: PostCounter;
  mayRun: MayRun;
  /** Asked for this account alone, by `standingAt` and `holdersAt`. */
  standingOf: StandingOf;
  holdersOf: HoldersOf;
  nameOf: NameOf;
  audit: Pick<AuditTrail, 'ofReference' | 'append' | 'notes'>;
};

export function createMerchantBot(place: MerchantPlace, shared: Shared) {
  const { outside, kept, merchant } = place;
  const { clients, wake, posts, nameOf } = shared;
  const ids = merchant && merchantIds(merchant);
  const { mayRun, standingOf, holdersOf } = askedAt(merchant, shared);
  const payments = createPayments(outside, kept, place.pauses);
  const webhooks = readWebhooks(outside.config);
  const alarms = createAlarms(outside, { kept, webhooks, wake });
  const { processed } = alarms.watch;
  const notes = shared.audit.notes.of(merchant?.name);
  const { ofReference, append } = shared.audit;
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
    processed,
    standingOf,
    approvals: approvals.gate,
    ids,
  });
  const alerts = createAlerts(outside, { ...known, ...opened, charges, routes });
  const undelivered = createUndelivered(outside, { kept, wake });
  const receiving = createReceiving(outside, { kept, charges, links, alerts, routes, wake });
  const story = storyOf({ kept, merchant, charges: charges.records, links, ofReference });
  const named = { ids, nameOf, note: notes.note, story, append };
  const told = { kept, payments, clients, charges, approvals, links, alerts, ...named };
  const outbox = createOutbox(outside, { ...told, routes, receiving, alarms: alarms.watch, posts });
  const doctor = doctorOf(outside, { kept, clients, payments, webhooks, undelivered });
  const asked = { mayRun, standingOf, wake, doctor };
  const verbs = createMerchantVerbs(outside, { ...told, ...asked, routes, undelivered, outbox });
  return {
    place,
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
    payments: Payments;
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

type StoryParts = { kept: Kept; merchant: Merchant | undefined; links: PaymentLinks } & Pick<
  AuditTrail,
  'ofReference'
> & { charges: Charges['records'] };

/** All that this account's records and the trail know of one reference. */
function storyOf({ kept, merchant, links, ...known }: StoryParts): StoryDeps['story'] {
  const findLink = (reference: string) => links.find(reference);
  return (reference) => tellStory({ ...kept, ...known, account: merchant?.name, findLink }, reference);
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
  payments: Payments;
  clients: SlackClients;
  charges: Charges;
  approvals: Approvals;
  links: PaymentLinks;
  alerts: Alerts;
  note: NoteAudit;
  append: Audit;
  story: StoryDeps['story'];
  routes: RoutePlan;
  undelivered: Undelivered;
  outbox: Pick<Outbox, 'refused'>;
  /** For this account, like `standingOf`. */
  mayRun: MayRun;
  standingOf: StandingOf;
  wake: () => void;
  /** The ids of its messages; undefined in a bot that knows one account alone. */
  ids: MerchantIds | undefined;
  nameOf: NameOf;
  doctor: () => Promise<Finding[]>;
};

function createMerchantVerbs({ config, log, now }: Outside, parts: VerbParts): Command[] {
  const { kept, payments, clients, charges, alerts, routes, wake, note } = parts;
  const uploadFile = createUploadFile(clients.delivery);
  const cardActions = {
    alertCards: alerts.cards,
    chargeAgain: alerts.chargeAgain,
    declines: declineRule(config),
    standingOf: parts.standingOf,
    storms: alerts.storms,
    uploadFile,
  };
  const verbDeps = {
    findTransaction: payments.findTransaction,
    declineOf: (reference: OrderReference, lookup: Confirmation) =>
      findDecline(
        { findAlert: (id) => alerts.cards.find(id), findCharge: charges.find, rule: declineRule(config) },
        reference,
        lookup,
      ),
    environment: config.paymentsEnvironment,
    account: config.paymentsAccountName,
    isMixed: config.merchant?.isMixed === true,
    otherAccounts: otherAccounts(config),
    desk: charges.desk,
    approvalFrom: (currency: string) => parts.approvals.gate?.chargesFrom(currency),
    cardEmails: charges.cardEmails,
    revealEmail: createReveals({ config, log, now }, { ...parts, audit: parts.append }),
    showEnd: createShowEnd({ client: clients.interactive, log, ids: parts.ids }),
    sharing: createSharing(kept, clients, parts),
    ledger: charges.ledger,
    savedCards: createSavedCards({ log }, { kept, calls: payments.savedCards, charges, note }),
    mayRun: parts.mayRun,
    findAccount: payments.findAccount,
    accountFields: config.accountNewFields,
    ...createDeskLists({ config, log, now }, { kept, payments, note }),
    shareFile: createShareFile(clients.delivery, uploadFile),
    undelivered: askedUndelivered(parts),
    doctor: parts.doctor,
    links: parts.links,
    ...(parts.approvals.gate ? { approvals: parts.approvals.desk } : {}),
    approvalTelling: parts.approvals.desk,
    alertsOf: (userId: string) => alerts.cards.of(userId),
    currencies: config.chargeCurrencies,
    routes,
    usesOf: (channel: string) => channelUses(config.policy, channel),
    story: parts.story,
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
  return createVerbs(verbDeps, cardActions);
}

/** Whoever presses in Slack is asked about; the operator's command line is at the server, and is not. */
function askedUndelivered({ undelivered, outbox, approvals }: VerbParts): UndeliveredDeps['undelivered'] {
  const deps = { approvals: approvals.gate, deliverAgain: undelivered.deliverAgain };
  return {
    all: undelivered.all,
    tried: outbox.refused,
    deliverAgain: (channel, by) => askToRedrive(deps, channel, by),
  };
}

function otherAccounts({ merchant, policy }: Outside['config']): string[] {
  return (policy.accounts ?? []).map(({ name }) => name).filter((name) => name !== merchant?.name);
}
