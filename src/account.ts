import { setTimeout as sleep } from 'node:timers/promises';
import { readRoutes } from './app/alert-routes.ts';
import type { AuditTrail } from './app/audit-trail.ts';
import type { MerchantPlace } from './app/merchants.ts';
import { chargePlace } from './app/merchants.ts';
import { createPayments, type Payments } from './app/payments.ts';
import type { AuditNotes } from './audit/audit-notes.ts';
import { approvalRules } from './config/approval-checks.ts';
import type { Config } from './config/config.ts';
import { limitRules } from './config/limit-rules.ts';
import type { RoutePlan } from './domain/alert-route.ts';
import type { DeclineRule } from './domain/decline-reason.ts';
import type { ApprovalRule } from './domain/approval-rules.ts';
import type { LimitRules } from './domain/charge-limits.ts';
import type { Sealer } from './domain/sealer.ts';
import type { HoldersOf, StandingOf } from './domain/standing.ts';
import type { Log } from './log.ts';
import { openFingerprint, type Fingerprint } from './records/fingerprint.ts';
import type { MayRun } from './slack/command.ts';
import { createShareFile, type ShareFile } from './slack/kit/share-file.ts';
import { createUploadFile, type UploadFile } from './slack/kit/upload-file.ts';
import type { ClientDeps } from './payments/client.ts';
import type { NameOf } from './slack/people/names.ts';
import { createShowEnd, type ShowEnd } from './slack/show-end.ts';
import type { ChargePlace } from './slack/words/charge-place.ts';
import type { SlackClients } from './slack/workspace.ts';
import type { Store } from './store/store.ts';

/** All that the features of one merchant account work with; a feature takes it whole, a function what it needs of it. */
export type Account = {
  /** As it is typed after `--account`; undefined in a bot that knows one account alone. */
  name: string | undefined;
  /** Where money moves, as screens say it. */
  place: ChargePlace;
  settings: Config;
  /** What of `payops.yml` is said of this account. */
  rules: {
    limits: LimitRules | undefined;
    approvals: readonly ApprovalRule[];
    routes: RoutePlan;
    declines: DeclineRule;
  };
  payments: Payments;
  /** The account’s own part of the store, and what seals in it. */
  store: Store;
  sealer: Sealer;
  /** Names a card by its token key. */
  fingerprint: Fingerprint;
  /** How long what is over is remembered, and how long one piece of work may be held. */
  rememberMs: number;
  leaseMs: number;
  /** `note` and `write` say it in the background; `append` is done when the entry is on the chain. */
  audit: Pick<AuditNotes, 'note' | 'write'> & Pick<AuditTrail, 'append' | 'ofReference'>;
  /** Asked for this account alone. */
  people: { mayRun: MayRun; standingOf: StandingOf; holdersOf: HoldersOf; nameOf: NameOf };
  slack: SlackClients & { showEnd: ShowEnd; uploadFile: UploadFile; shareFile: ShareFile };
  /** Has the worker look for due work now. */
  wake: () => void;
  wait: (ms: number) => Promise<void>;
  log: Log;
  now: () => number;
};

/** What is the same for all accounts of the bot, or asked for this one by its name. */
type Surroundings = Pick<Account, 'audit' | 'people' | 'wake'> & {
  clients: SlackClients;
  /** Told of each call of the payments service. */
  called?: ClientDeps['called'];
};

export function openAccount(
  { outside, kept, merchant, pauses }: MerchantPlace,
  { clients, called, ...around }: Surroundings,
): Account {
  const { config, log, now } = outside;
  const uploadFile = createUploadFile(clients.delivery);
  return {
    name: merchant?.name,
    place: chargePlace(config),
    settings: config,
    rules: {
      limits: limitRules(config.policy, merchant?.name),
      approvals: approvalRules(config.policy, merchant?.name),
      routes: readRoutes(config),
      declines: {
        threeDSecureWords: config.chargeThreeDSecureWords,
        waitMs: config.chargeRetryWaitHours * 3_600_000,
      },
    },
    payments: createPayments(outside, kept, { pauses, called }),
    store: kept.store,
    sealer: kept.sealer,
    fingerprint: openFingerprint({ store: kept.store, sealer: kept.sealer, log }),
    rememberMs: config.chargeRememberDays * 86_400_000,
    leaseMs: config.workLeaseSeconds * 1_000,
    slack: {
      ...clients,
      uploadFile,
      showEnd: createShowEnd({ client: clients.interactive, log }),
      shareFile: createShareFile(clients.delivery, uploadFile),
    },
    ...around,
    wait: sleep,
    log,
    now,
  };
}
