import type { PostOutcome } from '../domain/delivery.ts';
import type { PaymentEventKind } from '../domain/payment-event.ts';
import { withoutUndefined } from '../domain/without-undefined.ts';
import { newErrorId, type Log } from '../log.ts';
import type { Store, WriteOptions } from '../store/store.ts';
import { incidentSince, isIncident, refusedSince } from './dead-letters.ts';
import type { OutboxRecord } from './outbox.ts';
import { openBody } from './outbox-bodies.ts';
import { again, finish, longestRetryMs, paceMs, type Work, type WorkDeps } from './outbox-work.ts';
import { tellOperators, tellStuck, type TellDeps } from './tell-operators.ts';

export type RefusalDeps = WorkDeps &
  TellDeps & { store: TellDeps['store'] & WorkDeps['store'] & Pick<Store, 'list'>; log: Log } & {
    /** For how long a channel that Slack refuses is tried before its messages become dead letters. */
    giveUpMs: number;
    /** How many alerts a storm gathers, and which storm a channel is in. */
    storms: {
      see: (storm: string) => Promise<{ count: number } | undefined>;
      newest: (
        channel: string,
        gathers: PaymentEventKind,
      ) => Promise<{ id: string; endedMs?: number } | undefined>;
    };
  };

type Refusal = {
  channel: string;
  outcome: Extract<PostOutcome, { kind: 'refused' }>;
  /** What the record becomes whatever follows. */
  missed: { doubt: OutboxRecord['doubt']; misses: number };
};

/** Slack refuses the bot until a person does something: it is asked again this often, and a channel at first. */
const refusedDelayMs = 60_000;
/** A channel is tried ever more rarely, but this often: whoever mends it wants to see its messages soon. */
const longestRefusedMs = 600_000;
/** A refusal that is older than this is worth a person's time: a shorter one mends itself, or was mended. */
const tellAfterMs = 300_000;
/** A channel that was refused this short a time ago is still refused. */
const stillMs = 2 * longestRefusedMs;
/** What Slack may refuse for one message alone stands before the others for so long at most. */
const longestInFrontMs = 3_600_000;

/**
 * Slack refused a post or an edit for a reason that only a person can mend. One message alone: it is put aside. The
 * whole bot: everything waits, for as long as it takes. A channel or a person: its messages wait in their order,
 * and those that are as old as the time for giving up become dead letters when the channel has been refused that
 * long; they are kept and listed until they are forgotten like any other. What is told of a charge to its agent is
 * never given up: after that time it only lets the others pass. The operators are told once per channel.
 */
export async function concludeRefusal(deps: RefusalDeps, work: Work, refusal: Refusal): Promise<void> {
  const { channel, outcome, missed } = refusal;
  const { slackError, fix, about } = outcome;
  const errorId = newErrorId();
  const { key, attempts: attempt } = work.entry;
  deps.log('error', 'Slack refuses the post', { key, channel, attempt, errorId, slackError, fix });
  switch (about) {
    case 'message':
      await again(deps, work, missed, { delayMs: longestRetryMs, pauseMs: paceMs });
      await tellStuck(deps, key, errorId);
      return;
    case 'bot':
      await again(deps, work, missed, { holdMs: refusedDelayMs });
      return;
    case 'channel':
    case 'unclear':
      await waitOrGiveUp(deps, work, refusal);
      return;
  }
}

async function waitOrGiveUp(deps: RefusalDeps, work: Work, refusal: Refusal): Promise<void> {
  const { channel, missed } = refusal;
  const incident = incidentOf(refusal);
  const [listedMs, isStill] = await Promise.all([
    refusedSince(deps.store, channel),
    isIncident(deps.store, incident),
  ]);
  const inheritedMs = isStill ? listedMs : undefined;
  const { sinceMs, isKnown, leftMs } = judge(deps, work.record, { channel, inheritedMs });
  const refusedForMs = deps.now() - sinceMs;
  if (refusedForMs >= Math.min(tellAfterMs, deps.giveUpMs)) {
    const incidentMs = await incidentSince(deps.store, incident, { sinceMs, stillMs });
    await tellRefused(deps, work, refusal, listedMs ?? incidentMs);
  }
  const changed = { ...missed, refused: { channel, sinceMs } };
  const waitMs = Math.max(refusedDelayMs, refusedForMs);
  if (work.record.kind === 'charge_direct') {
    // Without a desk channel nobody else is told of the charge, and an agent does not look for dead letters.
    const delayMs = Math.min(waitMs, longestRetryMs);
    await again(deps, work, changed, leftMs > 0 ? { holdMs: delayMs } : { delayMs, pauseMs: paceMs });
    return;
  }
  // Never at its first refusal: from the second on the record says that it is refused, and stays listed.
  if (isKnown && leftMs <= 0) return await giveUp(deps, work, { ...refusal, sinceMs });
  const holdMs = Math.min(waitMs, longestRefusedMs, Math.max(paceMs, leftMs));
  await again(deps, work, changed, waitingFor(refusal, work.record, { refusedForMs, holdMs }));
}

/**
 * Since when the record is refused for its channel, whether it says so itself already, and how much time is left
 * until it is given up, below zero too. What stood behind a dead letter has been refused for as long as that, though it is tried for the first time.
 */
function judge(
  { now, giveUpMs }: RefusalDeps,
  { refused, receivedAtMs }: OutboxRecord,
  { channel, inheritedMs }: { channel: string; inheritedMs: number | undefined },
): { sinceMs: number; isKnown: boolean; leftMs: number } {
  const nowMs = now();
  const isKnown = refused?.channel === channel;
  const sinceMs = isKnown ? refused.sinceMs : (inheritedMs ?? nowMs);
  return { sinceMs, isKnown, leftMs: Math.max(sinceMs, receivedAtMs) + giveUpMs - nowMs };
}

/** Lists it for `/pay undelivered`, and tries it no more by itself. */
export async function giveUp(
  deps: RefusalDeps,
  work: Work,
  refusal: {
    channel: string;
    outcome: { slackError: string; fix: string };
    missed: Refusal['missed'];
    sinceMs: number;
  },
): Promise<void> {
  const { channel, outcome, missed, sinceMs } = refusal;
  const { slackError, fix } = outcome;
  await finish(deps, work, { ...missed, refused: { channel, sinceMs, givenUp: { slackError, fix } } });
  const about = { key: work.entry.key, channel, slackError, fix };
  deps.log('error', 'given up until it is delivered again by hand', about);
}

/**
 * The trouble that it is refused by. Some of what is refused lets others pass, so that each message is refused since a
 * time of its own: in one channel, or where it is unclear for the same word, they are one trouble without a long enough
 * pause.
 */
function incidentOf({ channel, outcome }: Refusal): string {
  return outcome.about === 'channel' ? channel : `${channel}:${outcome.slackError}`;
}

/** Once per trouble of a channel. A notice in the channel that it is about would not arrive either. */
async function tellRefused(
  deps: RefusalDeps,
  work: Work,
  { channel, outcome }: Refusal,
  sinceMs: number,
): Promise<void> {
  if (channel === deps.opsChannel) return;
  const { slackError, fix } = outcome;
  const giveUpHours = Math.round(deps.giveUpMs / 3_600_000);
  const gathered = await gatheredFor(deps, work, channel);
  const about = { channel, slackError, fix, giveUpHours, sinceMs, ...withoutUndefined({ gathered }) };
  const notice = { kind: 'refused', ...about } as const;
  await tellOperators(deps, `refused:${channel}:${sinceMs}`, notice);
}

/** What the storm counts whose digest is refused, or whose channel is: that one message stands for all of it. */
async function gatheredFor(
  { sealer, storms }: RefusalDeps,
  work: Work,
  channel: string,
): Promise<number | undefined> {
  if (work.record.kind === 'digest') return (await storms.see(openBody('digest', sealer, work).storm))?.count;
  const kinds = ['payment_failed', 'payment_success'] as const;
  const newest = await Promise.all(kinds.map((gathers) => storms.newest(channel, gathers)));
  const storm = newest.find((one) => one && one.endedMs === undefined);
  return storm && (await storms.see(storm.id))?.count;
}

/**
 * The lane waits and the record keeps its place in it: what stands behind it is refused as well. But for what is refused
 * for itself alone perhaps.
 */
function waitingFor(
  { outcome: { about } }: Refusal,
  record: OutboxRecord,
  { refusedForMs, holdMs }: { refusedForMs: number; holdMs: number },
): WriteOptions {
  // A dead letter that is refused elsewhere now leaves the lists, which a hold would not change.
  if (record.refused?.givenUp) return { delayMs: holdMs, pauseMs: paceMs };
  if (about !== 'channel' && refusedForMs >= longestInFrontMs) return { delayMs: holdMs, pauseMs: holdMs };
  return { holdMs };
}
