import type { PaymentLink } from '../../domain/payment-link.ts';
import type { Store } from '../../store/store.ts';
import { outboxKey } from '../outbox/outbox.ts';
import type { Sealer } from '../../domain/sealer.ts';
import { markStale } from '../outbox/outbox-work.ts';
import { linkCardKey } from './prepare-link.ts';
import { storeMessage } from '../outbox/store-message.ts';

export type TellLinkDeps = {
  store: Pick<Store, 'create' | 'read' | 'write'>;
  sealer: Sealer;
  /** As long as a link may still go on: after that its card would be posted a second time. */
  rememberMs: number;
  now: () => number;
  /** Called after work was stored, so that a worker need not wait for its next round. */
  wake: () => void;
};

/**
 * Stores the card in each of its places, or has it catch up, and tells whoever asked what they must hear of. All of
 * it may be done again: a card is stored once for each place, and a note once for each outcome. Throws
 * StoreUnavailable.
 */
export async function tellLink(deps: TellLinkDeps, link: PaymentLink): Promise<void> {
  // The form says so; a card comes with the answer.
  if (link.state.kind === 'asking') return;
  const news = await Promise.all(link.places.map((channel) => storeCard(deps, link, channel)));
  const isTold = await storeNote(deps, link);
  if (isTold || news.includes(true)) deps.wake();
}

async function storeCard(deps: TellLinkDeps, { reference }: PaymentLink, channel: string): Promise<boolean> {
  const key = linkCardKey(reference, channel);
  const body = { reference };
  const { rememberMs } = deps;
  const message = { kind: 'link', channel, body, progress: { kind: 'waiting' }, rememberMs } as const;
  return (await storeMessage(deps, key, message)) || (await markStale(deps.store, key));
}

async function storeNote(deps: TellLinkDeps, link: PaymentLink): Promise<boolean> {
  const { reference, state, places } = link;
  const [channel] = places;
  if (channel === undefined || (state.kind !== 'paid' && state.kind !== 'review')) return false;
  const key = outboxKey('link_note', `${state.kind}:${reference}`);
  const body = { reference, what: state.kind };
  return await storeMessage(deps, key, { kind: 'link_note', channel, body, rememberMs: deps.rememberMs });
}
