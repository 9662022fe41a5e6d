import { outcomeAlone, withoutDetails, type Alert } from '../../domain/alert.ts';
import type { PaymentEvent } from '../../domain/payment-event.ts';
import { isOld } from '../outbox/alert-age.ts';
import { alertOf } from './alert-of.ts';
import { openEvidence, sealEvidence, type Evidence } from '../outbox/outbox.ts';
import { again, type Work } from '../outbox/outbox-work.ts';
import { postOrEdit, settle } from '../outbox/post-or-edit.ts';
import type { Prepared } from '../outbox/prepare-post.ts';
import type { AlertPostDeps } from './alert-post.ts';

/**
 * An alert that has got so old that its message says its outcome and reference alone, and its records no more than
 * that: customer, money and the words of bank and gateway are gone from both. It goes on following its card, which
 * may still be made good. Undefined: it is to be told as ever.
 */
export async function prepareOldAlert(
  deps: AlertPostDeps,
  work: Work,
  event: PaymentEvent,
): Promise<Prepared | undefined> {
  const { record } = work;
  if (!record.posted) return undefined;
  if (record.isErased) return await editDown(deps, work, event);
  if (isOld(deps, record)) return await erase(deps, work, event);
  // The setting became longer meanwhile; only what has a card can have gone on.
  return record.progress ? undefined : await settle(deps, work);
}

/**
 * The store first: whatever ends the process then, no later edit shows the details again. The next round, at once,
 * edits the message.
 */
async function erase(deps: AlertPostDeps, work: Work, event: PaymentEvent): Promise<Prepared> {
  const { key } = work.entry;
  await deps.cards.erase(event.key);
  const evidence = openEvidence(deps.sealer, key, work.record);
  const left = {
    isErased: true,
    sealed: deps.sealer.seal(key, JSON.stringify(withoutDetails(event))),
    evidence: evidence && sealEvidence(deps.sealer, key, bare(evidence)),
  };
  await again(deps, work, left, { holdMs: 0 });
  return { kind: 'settled' };
}

function bare({ lookup, atMs }: Evidence): Evidence {
  return { lookup: outcomeAlone(lookup), atMs };
}

async function editDown(deps: AlertPostDeps, work: Work, event: PaymentEvent): Promise<Prepared> {
  const { entry, record } = work;
  const { lookup } = openEvidence(deps.sealer, entry.key, record) ?? { lookup: { kind: 'no_reference' } };
  const alert = alertOf(deps, work, event, lookup);
  if (event.kind !== 'payment_failed') return await edit(deps, work, alert);
  const { card } = await deps.cards.read(event.key);
  const shown = { id: event.key, card, canChargeAgain: false };
  return await edit(deps, work, { ...alert, card: shown });
}

async function edit(deps: AlertPostDeps, work: Work, alert: Alert): Promise<Prepared> {
  const message = deps.compose({ kind: 'alert', alert });
  return await postOrEdit(deps, work, work.record.channel, message);
}
