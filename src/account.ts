import type { AuditTrail, AuditNotes } from './audit/audit-trail.ts';
import type { Config } from './config/config.ts';
import type { RoutePlan } from './domain/alert.ts';
import type { ApprovalRule } from './domain/approval.ts';
import type { ChargeSeen, LimitRules } from './domain/charge.ts';
import type { DeclineRule } from './domain/decline-reason.ts';
import type { Money } from './domain/money.ts';
import type { FoundRecord } from './domain/found-record.ts';
import type { PaymentEvent } from './domain/payment-event.ts';
import type { Log } from './log.ts';
import type { FeatureMessages } from './messages/deliver.ts';
import type { Payments } from './payments/payments.ts';
import type { Fingerprint } from './records/fingerprint.ts';
import type { AuditEntry } from './records/shapes.ts';
import type { WorkKind } from './records/worker.ts';
import type { Command } from './slack/command.ts';
import type { UploadFile } from './slack/kit/upload-file.ts';
import type { Directory } from './slack/people/directory.ts';
import type { ShowResult } from './slack/reply.ts';
import type { ShownAccount } from './slack/words/account-foot.ts';
import type { SlackClients } from './slack/workspace.ts';
import type { Entry, Sealer, Store } from './store/store.ts';

/** What the features of one merchant account share. A feature gets all of it, a function only the members it uses. */
export type Account = {
  /** The name that people type after `--account`; undefined in a bot with one account. */
  name: string | undefined;
  /** The environment and account that screens name. */
  shownAccount: ShownAccount;
  settings: Config;
  /** The rules for this account, from `payops.yml` and the settings. */
  rules: {
    limits: LimitRules | undefined;
    approvals: readonly ApprovalRule[];
    routes: RoutePlan;
    declines: DeclineRule;
  };
  payments: Payments;
  /** This account's part of the store, and the sealer of its records. */
  store: Store;
  sealer: Sealer;
  /** Hashes token keys and search terms with a secret key. */
  fingerprint: Fingerprint;
  /** How long finished records are kept. */
  rememberMs: number;
  /** How long a worker holds a record before another may take it. */
  leaseMs: number;
  /** `note` and `write` retry in the background; `append` resolves once the entry is on the chain. */
  audit: Pick<AuditNotes, 'note' | 'write'> & Pick<AuditTrail, 'append' | 'ofReference'>;
  /** Permission checks for this account, and people's names. */
  people: Directory;
  slack: SlackClients & { showResult: ShowResult; uploadFile: UploadFile };
  /** Makes the worker look for due work now. */
  wake: () => void;
  wait: (ms: number) => Promise<void>;
  log: Log;
  now: () => number;
};

/** What a feature adds to an account. `registry.ts` sets the order of all verbs. */
export type Feature = {
  /** Its commands, each with its buttons, forms, shortcuts, menu entry and part of the Home. */
  verbs?: readonly Command[];
  /** Handlers for its records, by key prefix. The worker calls them when a record is due. */
  cases?: readonly WorkKind[];
  messages?: FeatureMessages;
  /** Called before a signed webhook is acknowledged. Must be idempotent. */
  onPaymentEvent?: (event: PaymentEvent) => Promise<void>;
  /** Its part of a reference's story; undefined: it has no record of the reference. */
  story?: (reference: string) => Promise<Chapter | undefined>;
  /** Called once the bot listens. */
  start?: () => void;
  /** Called first when the bot stops: from then on no timer starts work. */
  stop?: () => void;
  /** Resolves when all work that it began in this process has ended. */
  drained?: () => Promise<void>;
};

/** A feature's part of a story: its record, the record's steps, and the keys of the messages about it. */
export type Chapter = {
  charge?: ChargeSeen;
  link?: { terms: { money: Money; customerEmail: string }; state: { kind: string } };
  events?: readonly { event: PaymentEvent; receivedAtMs: number }[];
  entries?: readonly AuditEntry[];
  posts: readonly string[];
};

/** Reads the records with this key prefix for `/pay find`. Undefined: not shown, because another record shows it. */
export type Finder = { prefix: string; read: (entry: Entry) => Promise<FoundRecord | undefined> };
