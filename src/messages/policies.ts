/** How messages of one kind differ from the usual: in their channel’s lane, kept, and told as late as it may get. */
type Policy = {
  /** A step, said below a message. One that was taken away is not said again; where its thread is closed, it goes into the channel. */
  isNote?: true;
  /** Tried as long as Slack refuses it, however long that is. */
  isNeverGivenUp?: true;
  /** Said so soon or not at all. */
  withinMs?: number;
  /** The lane it has to itself, and its channel’s name behind that. */
  lane?: string;
};

/** The kinds of messages. Whether one is edited is said by whoever keeps it: see `Messages`. */
export const policies = {
  alert: {},
  alert_note: { isNote: true },
  alert_direct: {},
  /** A test that comes late proves nothing and only startles. */
  test_alert: { withinMs: 600_000 },
  daily_summary: {},
  /** Behind a backlog in the channel’s lane it would come when the storm is over. */
  digest: { lane: 'digest:' },
  charge: {},
  charge_note: { isNote: true },
  /** Without a desk channel nobody else is told of the charge, and an agent does not look for dead letters. */
  charge_direct: { isNeverGivenUp: true },
  link: {},
  link_note: { isNote: true },
  approval: {},
  approval_note: { isNote: true },
  notice: {},
} as const satisfies Record<string, Policy>;

export type MessageKind = keyof typeof policies;

export function policyOf(kind: MessageKind): Policy {
  return policies[kind];
}
