import type { Money } from './money.ts';

/** Shorter than any alert is remembered, lest it be forgotten while it is put off. */
const longestSnoozeMs = 7 * 86_400_000;

/**
 * Where the card of a failed charge stands with the people who watch the alerts. People are Slack user ids,
 * times UTC milliseconds. `recovered` and `closed` are ends: nothing leaves them.
 */
export type AlertCard =
  | { kind: 'open' }
  | Acknowledged
  | { kind: 'recovered'; at: number; payment: Recovery; acknowledged?: Acknowledged }
  | { kind: 'closed'; at: number; by: string; reason: string; acknowledged?: Acknowledged };

export type Acknowledged = {
  kind: 'acknowledged';
  by: string;
  at: number;
  assignee?: string;
  snoozedUntil?: number;
};

/** The proven payment that resolved a failure. Its event came `afterMs` after the failure's, or before it (below zero). */
export type Recovery = {
  reference: string;
  /** The failed reference itself was paid; else another one of the same customer, or with the same card. */
  isSameReference: boolean;
  /** Only the card is known to be the same, because the bot charged it both times. */
  isSameCard?: boolean;
  /** A charge that was begun from this very alert. */
  isChargedAgain?: boolean;
  money: Money;
  afterMs: number;
};

/**
 * A later payment that need not be for what failed: it is told below the card, which stays as it is. `other_order`: of
 * the same amount, and it has resolved the failure of its own order.
 */
export type OtherPayment = Recovery & { why: 'other_order' | 'amount_differs' | 'amount_unknown' };

export type CardMove =
  | { kind: 'acknowledge'; by: string }
  | { kind: 'assign'; by: string; to: string }
  | { kind: 'snooze'; by: string; forMs: number }
  /** The time a card was put off to has come. */
  | { kind: 'wake' }
  | { kind: 'close'; by: string; reason: string }
  | { kind: 'recover'; payment: Recovery };

/** What was done, as the thread below the card tells it, each once. */
export type CardStep =
  | { kind: 'acknowledged'; by: string; at: number }
  /** `from`: whoever had it in hand until then, unless that is the same person. */
  | { kind: 'assigned'; by: string; to: string; from?: string; at: number }
  | { kind: 'snoozed'; by: string; until: number; at: number }
  | { kind: 'awake'; at: number }
  | { kind: 'closed'; by: string; reason: string; at: number }
  | { kind: 'recovered'; payment: Recovery; at: number }
  | { kind: 'other_payment'; payment: OtherPayment; at: number };

/** Nothing is done with it any more. */
export type EndedCard = Extract<AlertCard, { kind: 'recovered' | 'closed' }>;

/** The one charge that was begun from an alert and may move money. `by` is a Slack user id, `at` when it was begun. */
export type AlertCharge = { reference: string; by: string; at: number };

/** Why no charge can be begun from an alert now. */
export type AlertTaken = { kind: 'ended'; card: EndedCard } | { kind: 'charging'; charge: AlertCharge };

export type MovedCard =
  | { kind: 'moved'; card: AlertCard; step: CardStep }
  /**
   * `taken`: somebody has acknowledged it already. `ended`: it is recovered or closed. `not_acknowledged`: only
   * an acknowledged card is assigned or put off. `nothing_new`: it stands so already, or its time has not come.
   */
  | { kind: 'refused'; why: 'taken' | 'ended' | 'not_acknowledged' | 'nothing_new' };

/** What becomes of a card. Whoever writes it by compare-and-swap makes one decision of any number of clicks. */
export function moveCard(card: AlertCard, move: CardMove, at: number): MovedCard {
  if (endsCard(card)) return refused('ended');
  switch (move.kind) {
    case 'acknowledge': {
      if (card.kind === 'acknowledged') return refused('taken');
      const { by } = move;
      return {
        kind: 'moved',
        card: { kind: 'acknowledged', by, at },
        step: { kind: 'acknowledged', by, at },
      };
    }
    case 'close': {
      const { by, reason } = move;
      const closed: AlertCard = { kind: 'closed', at, by, reason, ...handledBy(card) };
      return { kind: 'moved', card: closed, step: { kind: 'closed', by, reason, at } };
    }
    case 'recover': {
      const { payment } = move;
      const recovered: AlertCard = { kind: 'recovered', at, payment, ...handledBy(card) };
      return { kind: 'moved', card: recovered, step: { kind: 'recovered', payment, at } };
    }
    case 'assign':
    case 'snooze':
    case 'wake':
      return card.kind === 'acknowledged' ? handle(card, move, at) : refused('not_acknowledged');
  }
}

/** Nothing leaves such a state. */
export function endsCard(card: AlertCard): card is EndedCard {
  return card.kind === 'recovered' || card.kind === 'closed';
}

function handle(
  card: Acknowledged,
  move: Extract<CardMove, { kind: 'assign' | 'snooze' | 'wake' }>,
  at: number,
): MovedCard {
  switch (move.kind) {
    case 'assign': {
      const { by, to } = move;
      if (card.assignee === to) return refused('nothing_new');
      const from = card.assignee ?? card.by;
      const step: CardStep = { kind: 'assigned', by, to, ...(from === to ? {} : { from }), at };
      return { kind: 'moved', card: { ...card, assignee: to }, step };
    }
    case 'snooze': {
      const until = at + Math.min(Math.max(move.forMs, 0), longestSnoozeMs);
      const step: CardStep = { kind: 'snoozed', by: move.by, until, at };
      return { kind: 'moved', card: { ...card, snoozedUntil: until }, step };
    }
    case 'wake': {
      const { snoozedUntil, ...awake } = card;
      if (snoozedUntil === undefined || snoozedUntil > at) return refused('nothing_new');
      return { kind: 'moved', card: awake, step: { kind: 'awake', at } };
    }
  }
}

function refused(why: Extract<MovedCard, { kind: 'refused' }>['why']): MovedCard {
  return { kind: 'refused', why };
}

/** Who had it in hand goes on standing on the card: they are told how it ended. */
function handledBy(card: AlertCard): { acknowledged?: Acknowledged } {
  return card.kind === 'acknowledged' ? { acknowledged: card } : {};
}

/** Whoever is to see to it now. */
export function handOf(card: AlertCard): string | undefined {
  return card.kind === 'acknowledged' ? (card.assignee ?? card.by) : undefined;
}

/** Whoever was to see to it when it was closed. */
export function hadInHand(card: AlertCard): string | undefined {
  return card.kind === 'closed' && card.acknowledged ? handOf(card.acknowledged) : undefined;
}

/** Whoever acknowledged the card or was given it; nobody for one that nobody took. */
export function handlersOf(card: AlertCard): string[] {
  if (card.kind === 'open') return [];
  const taken = card.kind === 'acknowledged' ? card : card.acknowledged;
  if (!taken) return [];
  return [...new Set([taken.by, ...(taken.assignee === undefined ? [] : [taken.assignee])])];
}

export type AlertClaim =
  /** `release` takes back this very claim, for a charge that was not stored; never throws StoreUnavailable. */
  { kind: 'claimed'; release: () => Promise<void> } | { kind: 'taken'; taken: AlertTaken };

/** What the bot itself charged under a reference: the card's fingerprint, and the alert it was begun from. */
export type BotCharge = { card: string; alert?: string };

/**
 * Of all charges that are begun from one alert, one may move money at a time: it has the alert from before it is sent
 * until it has ended without money. An alert and those of the charges begun from it are one. Throws StoreUnavailable.
 */
export type AlertClaims = {
  /** One swap decides, on all replicas. Again for the same reference: claimed. */
  claim(alert: string, charge: Pick<AlertCharge, 'reference' | 'by'>): Promise<AlertClaim>;
  /** What would speak against that claim now. Changes nothing. */
  taken(alert: string, reference?: string): Promise<AlertTaken | undefined>;
  /** Its charge has ended without money: the alert's messages are to say so. */
  ended(alert: string): Promise<void>;
};

/** A charge or link of the bot's own that is proven paid. */
export type ProvenPayment = {
  reference: string;
  money: Money;
  customerEmail: string;
  customerId?: string | undefined;
  /** When it was proven. */
  atMs: number;
};
