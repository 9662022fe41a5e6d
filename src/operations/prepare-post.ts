import type { Alert, Environment, Lookup } from '../domain/alert.ts';
import type { ChargeNote } from '../domain/charge-note.ts';
import type { ChargeSeen } from '../domain/charge-seen.ts';
import type { ChargeState, Told } from '../domain/charge-state.ts';
import type { PostOutcome } from '../domain/delivery.ts';
import { growingDelayMs } from '../domain/growing-delay.ts';
import type { PaymentEvent } from '../domain/payment-event.ts';
import type { Log } from '../log.ts';
import {
  openCharge,
  openChargeDirect,
  openChargeNote,
  openEvent,
  openNotice,
  outboxKey,
  readOutboxRecord,
  type Notice,
  type OutboxRecord,
  type Sealer,
} from './outbox.ts';
import { again, finish, type Work, type WorkDeps } from './outbox-work.ts';

/** What is posted: the words are made where Slack is known. */
export type Post =
  | { kind: 'alert'; alert: Alert }
  | { kind: 'notice'; notice: Notice; key: string; mayBeRepeat: boolean }
  /** `isFirst`: it is posted and not edited, so that a person it names would be pinged. */
  | { kind: 'charge'; charge: ChargeSeen; key: string; mayBeRepeat: boolean; isFirst: boolean }
  | { kind: 'charge_note'; note: ChargeNote; charge: ChargeSeen; key: string; mayBeRepeat: boolean }
  | { kind: 'charge_direct'; what: Told; charge: ChargeSeen; key: string; mayBeRepeat: boolean };

/** A message that was made, and both ways of sending it. Neither throws for anything Slack or the network does. */
export type Composed = {
  /** The same for messages that look the same. */
  digest: string;
  post: (channel: string, threadTs?: string) => Promise<PostOutcome>;
  edit: (channel: string, ts: string) => Promise<PostOutcome>;
};

export type PrepareDeps = WorkDeps & {
  sealer: Sealer;
  lookUp: (event: PaymentEvent) => Promise<Lookup>;
  findCharge: (reference: string) => Promise<ChargeSeen | undefined>;
  channelFor: (kind: PaymentEvent['kind']) => string | undefined;
  opsChannel: string | undefined;
  /** Where charges are told; undefined: where they were to be told when they began. */
  deskChannel: string | undefined;
  /** Makes the message, and throws when it cannot, before anything says that it was posted. */
  compose: (post: Post) => Composed;
  environment: Environment;
  account: string;
  now: () => number;
  log: Log;
};

export type Prepared =
  | { kind: 'post'; channel: string; threadTs?: string; message: Composed }
  | { kind: 'edit'; posted: NonNullable<OutboxRecord['posted']>; message: Composed }
  /** Nothing is to be sent now, and the record says so. */
  | { kind: 'settled' };

/** A service that is away delays an alert by this much at most; then it is told unchecked. */
const lookUpPatienceMs = 10_000;
const lookUpAgainMs = 2_000;
/** A note waits this long for the message it belongs under to be asked for at all. */
const parentPatienceMs = 600_000;
const parentAgainMs = 1_000;
const longestParentWaitMs = 60_000;

/** `mayBeRepeat`: an earlier post of it may have arrived, and that cannot be found out. */
export function prepare(deps: PrepareDeps, work: Work, mayBeRepeat: boolean): Promise<Prepared> {
  switch (work.record.kind) {
    case 'alert':
      return prepareAlert(deps, work, mayBeRepeat);
    case 'notice':
      return Promise.resolve(prepareNotice(deps, work, mayBeRepeat));
    case 'charge':
      return prepareCharge(deps, work, mayBeRepeat);
    case 'charge_note':
      return prepareNote(deps, work, mayBeRepeat);
    case 'charge_direct':
      return prepareDirect(deps, work, mayBeRepeat);
  }
}

function prepareNotice(deps: PrepareDeps, { entry, record }: Work, mayBeRepeat: boolean): Prepared {
  const notice = openNotice(deps.sealer, entry.key, record);
  const message = deps.compose({ kind: 'notice', notice, key: entry.key, mayBeRepeat });
  return { kind: 'post', channel: deps.opsChannel ?? record.channel, message };
}

async function prepareAlert(deps: PrepareDeps, work: Work, mayBeRepeat: boolean): Promise<Prepared> {
  const { entry, record } = work;
  const event = openEvent(deps.sealer, entry.key, record);
  const lookup = await deps.lookUp(event);
  if (lookup.kind === 'unchecked' && deps.now() - record.receivedAtMs < lookUpPatienceMs) {
    await again(deps, work, {}, { delayMs: lookUpAgainMs });
    return { kind: 'settled' };
  }
  const { environment, account } = deps;
  const { receivedAtMs } = record;
  const told = { ...provenReference(lookup), ...event, key: entry.key };
  const alert: Alert = { event: told, lookup, environment, account, receivedAtMs, mayBeRepeat };
  return {
    kind: 'post',
    channel: deps.channelFor(event.kind) ?? record.channel,
    message: deps.compose({ kind: 'alert', alert }),
  };
}

/** The service's own record names the order, also where the event could not. */
function provenReference(lookup: Lookup): { orderReference?: string } {
  const found = 'transaction' in lookup ? lookup.transaction.orderReference : undefined;
  return found === undefined ? {} : { orderReference: found };
}

async function prepareCharge(deps: PrepareDeps, work: Work, mayBeRepeat: boolean): Promise<Prepared> {
  const { key } = work.entry;
  const { reference } = openCharge(deps.sealer, key, work.record);
  const charge = await requireCharge(deps, reference);
  const message = deps.compose({
    kind: 'charge',
    charge,
    key,
    mayBeRepeat: isRepeat(work, mayBeRepeat),
    isFirst: !work.record.posted,
  });
  return await postOrEdit(deps, work, deps.deskChannel ?? work.record.channel, message);
}

/** Once posted as one that may be a repeat, a message goes on saying so through its edits. */
function isRepeat({ record }: Work, mayBeRepeat: boolean): boolean {
  return mayBeRepeat || record.mayBeRepeat === true;
}

/** Posted once, edited when it would look different, left alone when not. */
async function postOrEdit(
  deps: PrepareDeps,
  work: Work,
  channel: string,
  message: Composed,
): Promise<Prepared> {
  const { posted, shown } = work.record;
  if (!posted) return { kind: 'post', channel, message };
  if (shown !== message.digest) return { kind: 'edit', posted, message };
  return await settle(deps, work);
}

async function prepareNote(deps: PrepareDeps, work: Work, mayBeRepeat: boolean): Promise<Prepared> {
  const { entry, record } = work;
  const { reference, note } = openChargeNote(deps.sealer, entry.key, record);
  const place = await placeOf(deps, work, reference);
  if (!place) {
    const delayMs = growingDelayMs(parentAgainMs, entry.attempts - 1, longestParentWaitMs);
    // The note alone waits: what it waits for may stand behind it in the same channel.
    await again(deps, work, {}, { delayMs, pauseMs: 0 });
    return { kind: 'settled' };
  }
  const charge = await requireCharge(deps, reference);
  const message = deps.compose({ kind: 'charge_note', note, charge, key: entry.key, mayBeRepeat });
  return { kind: 'post', ...place, message };
}

/** Where a note goes: below the charge's message, which is not there yet when this is undefined. */
async function placeOf(
  deps: PrepareDeps,
  { record }: Work,
  reference: string,
): Promise<{ channel: string; threadTs?: string } | undefined> {
  const channel = deps.deskChannel ?? record.channel;
  if (record.unthreaded) return { channel };
  const parent = await deps.store.read(outboxKey('charge', reference));
  if (!parent) return deps.now() - record.receivedAtMs >= parentPatienceMs ? { channel } : undefined;
  const { posted } = readOutboxRecord(parent.value);
  return posted && { channel: posted.channel, threadTs: posted.ts };
}

async function prepareDirect(deps: PrepareDeps, work: Work, mayBeRepeat: boolean): Promise<Prepared> {
  const { entry, record } = work;
  const { reference, what } = openChargeDirect(deps.sealer, entry.key, record);
  const charge = await requireCharge(deps, reference);
  if (!record.posted && isUndecided(what, charge.state)) {
    const delayMs = growingDelayMs(parentAgainMs, entry.attempts - 1, longestParentWaitMs);
    await again(deps, work, {}, { delayMs, pauseMs: 0 });
    return { kind: 'settled' };
  }
  if (!record.posted && isOver(what, charge.state)) {
    deps.log('info', 'not told: it no longer holds', { key: entry.key, result: charge.state.kind });
    return await settle(deps, work);
  }
  const repeat = isRepeat(work, mayBeRepeat);
  const message = deps.compose({ kind: 'charge_direct', what, charge, key: entry.key, mayBeRepeat: repeat });
  return await postOrEdit(deps, work, record.channel, message);
}

/**
 * A verdict that the charge no longer has, or a request for a code once there is a verdict: another message
 * tells that one.
 */
function isOver(what: Told, state: ChargeState): boolean {
  return what === 'otp' ? 'concludedAt' in state : state.kind !== what;
}

/** A verdict that is being looked up once more: it may stand again, and would not be told a second time. */
function isUndecided(what: Told, state: ChargeState): boolean {
  return what !== 'otp' && !('concludedAt' in state);
}

async function settle(deps: PrepareDeps, work: Work): Promise<Prepared> {
  await finish(deps, work, { doubt: undefined, misses: 0 }, 0);
  return { kind: 'settled' };
}

async function requireCharge(deps: PrepareDeps, reference: string): Promise<ChargeSeen> {
  const charge = await deps.findCharge(reference);
  if (!charge) throw new Error('There is something to say of a charge that is not in the store.');
  return charge;
}
