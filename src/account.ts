import type { AuditTrail, AuditNotes } from './audit/audit-trail.ts';
import type { Config } from './config/config.ts';
import type { RoutePlan } from './domain/alert.ts';
import type { ApprovalRule } from './domain/approval.ts';
import type { ChargeSeen, LimitRules } from './domain/charge.ts';
import type { DeclineRule } from './domain/decline-reason.ts';
import type { Money } from './domain/money.ts';
import type { FoundRecord } from './domain/found.ts';
import type { PaymentEvent } from './domain/payment-event.ts';
import type { Log } from './log.ts';
import type { FeatureMessages } from './messages/deliver.ts';
import type { Payments } from './payments/payments.ts';
import type { Fingerprint } from './records/fingerprint.ts';
import type { AuditEntry } from './records/shapes.ts';
import type { Kind } from './records/worker.ts';
import type { Command, MayRun } from './slack/command.ts';
import type { UploadFile } from './slack/kit/upload-file.ts';
import type { NameOf } from './slack/people/names.ts';
import type { HoldersOf, StandingOf } from './slack/people/role.ts';
import type { ShowEnd } from './slack/reply.ts';
import type { ChargePlace } from './slack/words/charge-place.ts';
import type { SlackClients } from './slack/workspace.ts';
import type { Entry, Sealer, Store } from './store/store.ts';

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
  slack: SlackClients & { showEnd: ShowEnd; uploadFile: UploadFile };
  /** Has the worker look for due work now. */
  wake: () => void;
  wait: (ms: number) => Promise<void>;
  log: Log;
  now: () => number;
};

/** What a feature gives the account; `registry.ts` says in which order its verbs stand. */
export type Feature = {
  /** What people type, each with its buttons, forms, shortcuts, and what it has for the menu and the Home. */
  verbs?: readonly Command[];
  /** Its records, by how their keys begin: the worker gives them out when they are due. */
  cases?: readonly Kind[];
  /** Renders its messages. */
  messages?: FeatureMessages;
  /** Called before a signed webhook is acknowledged. Must be idempotent. */
  onPaymentEvent?: (event: PaymentEvent) => Promise<void>;
  /** What it keeps of a reference. */
  story?: (reference: string) => Promise<Chapter | undefined>;
  /** What goes by the clock begins, and ends. */
  start?: () => void;
  stop?: () => void;
  /** Resolves when nothing it has begun is under way in this process. */
  drained?: () => Promise<void>;
};

/** A feature’s part of a story: its record, the steps of it, and the keys of the messages that tell of it. */
export type Chapter = {
  charge?: ChargeSeen;
  link?: { terms: { money: Money; customerEmail: string }; state: { kind: string } };
  events?: readonly { event: PaymentEvent; receivedAtMs: number }[];
  entries?: readonly AuditEntry[];
  posts: readonly string[];
};

/** Reads a record that `/pay find` found, by how its key begins. Undefined: another record tells it. */
export type Finder = { prefix: string; read: (entry: Entry) => Promise<FoundRecord | undefined> };
