import { recordOf, type Lookup } from '../../../domain/alert.ts';
import type { Destination } from '../../../domain/alert-route.ts';
import type { PaymentEvent } from '../../../domain/payment-event.ts';
import { withoutUndefined } from '../../../domain/without-undefined.ts';
import { type AlertPostDeps, type AlertShown, sealEvidence } from '../alert-record.ts';
import { again, finish, type Work } from '../../../messages/message-work.ts';
import type { Rendered, Views } from '../../../messages/views.ts';
import type { MessagePlace } from '../../../domain/delivery.ts';
import type { StormSeen } from './storm.ts';
import { isOrMayBePosted } from './storms.ts';

/** A storm, told to its channel, or `to` one person who took it on. */
export type DigestBodies = { digest: { storm: string; to?: string } };

/** `isDirect`: for one person, with the place of the digest. */
export type DigestShown = { kind: 'digest'; storm: StormSeen; isDirect: boolean; place?: MessagePlace };

/** A storm’s digest, made of the storm as it is when it leaves. */
export function digestView({ storms }: Pick<AlertPostDeps, 'storms'>): Views<DigestBodies, DigestShown> {
  return {
    async digest({ storm: id, to }) {
      const storm = await storms.see(id);
      if (!storm) return { kind: 'nothing' };
      const place = to === undefined ? undefined : await storms.place(id);
      const isDirect = to !== undefined;
      return { kind: 'shown', post: { kind: 'digest', storm, isDirect, ...withoutUndefined({ place }) } };
    },
  };
}

/** Whether the event says itself what a digest tells of it; else its look-up does. No event proves a payment. */
export function saysItAll({ kind, amountMinor, currency, reason }: PaymentEvent): boolean {
  const isFailure = kind === 'payment_failed';
  return isFailure && amountMinor !== undefined && currency !== undefined && reason !== undefined;
}

/**
 * An alert that a storm’s digest tells instead of a message of its own; undefined when it is posted. One write puts it
 * on the storm’s list, from which the digest counts it. It is linked to later payments like any other. Not looked up
 * where its event says enough or is late: a storm is when the service has enough to do.
 */
export async function tellByDigest(
  deps: AlertPostDeps,
  work: Work,
  alert: { event: PaymentEvent; lookup: Lookup | undefined; to: Destination },
): Promise<Rendered<AlertShown> | undefined> {
  const { entry, record } = work;
  const { event, lookup } = alert;
  if (record.digest) {
    // Its card went on before it was on the list: a message in another channel shows who took the storm, and a
    // payment that resolved it is counted.
    if (event.kind === 'payment_failed') await deps.cards.retell(event.key);
    return { kind: 'nothing' };
  }
  if (isOrMayBePosted(record)) return undefined;
  const storm = await deps.storms.ask(alert.to, entry.key, event.kind);
  if (!storm) return undefined;
  const isMoved = await linkAlone(deps, work, alert);
  const atMs = deps.now();
  const told = {
    digest: { storm: storm.id, atMs },
    refused: undefined,
    misses: 0,
    ...(lookup ? { evidence: sealEvidence(deps.sealer, entry.key, { lookup, atMs }) } : {}),
  };
  if (event.kind === 'payment_failed' && (storm.isTaken || isMoved)) {
    await again(deps, work, told, { delayMs: 0 });
  } else await finish(deps, work, told, 0);
  return { kind: 'settled' };
}

/** All that a message of its own would have done besides. True: a payment has resolved it. */
async function linkAlone(
  deps: AlertPostDeps,
  work: Work,
  { event, lookup }: { event: PaymentEvent; lookup: Lookup | undefined },
): Promise<boolean> {
  if (event.kind !== 'payment_failed') return false;
  // What was not found is not asked for again, or a storm of ten thousand would ask for each.
  const found: Lookup = lookup && recordOf(lookup) ? lookup : { kind: 'no_reference' };
  await deps.cards.linkFailure(event, found, work.record.receivedAtMs);
  return (await deps.cards.read(event.key)).card.kind === 'recovered';
}
