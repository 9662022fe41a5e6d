import type { PaymentLink } from '../../domain/payment-link.ts';
import { historyKey, outboxKey, readOutboxRecord } from '../../messages/outbox.ts';
import { openBody } from '../../messages/outbox-bodies.ts';
import type { Work } from '../../messages/outbox-work.ts';
import { isRepeat, placeBelow, postOrEdit, settle, waitForParent } from '../../messages/post-or-edit.ts';
import type { PrepareDeps, Prepared } from '../../messages/prepare-post.ts';

export type LinkPostDeps = PrepareDeps & {
  findLink: (reference: string) => Promise<PaymentLink | undefined>;
};

/** A link's card in one place. */
export async function prepareLink(deps: LinkPostDeps, work: Work, mayBeRepeat: boolean): Promise<Prepared> {
  const { entry, record } = work;
  const link = await requireLink(deps, openBody('link', deps.sealer, work).reference);
  const key = historyKey(entry.key, record);
  const repeat = isRepeat(work, mayBeRepeat);
  const message = deps.compose({ kind: 'link', link, key, mayBeRepeat: repeat });
  return await postOrEdit(deps, work, record.channel, message);
}

/** Below the card in a channel; to the person alone where the card is theirs alone. Never before the card says the same. */
export async function prepareLinkNote(
  deps: LinkPostDeps,
  work: Work,
  mayBeRepeat: boolean,
): Promise<Prepared> {
  const { entry, record } = work;
  const { reference, what } = openBody('link_note', deps.sealer, work);
  const { channel } = record;
  const link = await requireLink(deps, reference);
  // Another note tells what it has become since.
  if (link.state.kind !== what) return await settle(deps, work);
  const parent = linkCardKey(reference, channel);
  const place = channel === link.by ? { channel } : await placeBelow(deps, work, { parent, channel });
  if (!place || (await isUnderWay(deps, parent))) return await waitForParent(deps, work);
  const message = deps.compose({ kind: 'link', note: what, link, key: entry.key, mayBeRepeat });
  return { kind: 'post', ...place, message };
}

async function isUnderWay({ store }: LinkPostDeps, card: string): Promise<boolean> {
  const entry = await store.read(card);
  if (!entry) return false;
  return readOutboxRecord(entry.value).progress?.kind !== 'done';
}

/** One card for each place, a channel or a person. */
export function linkCardKey(reference: string, place: string): string {
  return outboxKey('link', `${place}:${reference}`);
}

async function requireLink(deps: LinkPostDeps, reference: string): Promise<PaymentLink> {
  const link = await deps.findLink(reference);
  if (!link) throw new Error('There is something to say of a link that is not in the store.');
  return link;
}
