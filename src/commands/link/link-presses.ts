import { chargeReferencePrefix } from '../../domain/charge-reference.ts';
import { parseOrderReference } from '../../domain/order-reference.ts';
import type { PaymentLink } from '../../domain/payment-link.ts';
import type { Caller, Pressed, Submission, ViewAnswer } from '../../slack/command.ts';
import { linkForm } from '../../slack/link/link-form.ts';
import { lookedLine, lookedMessage, unknownLinkMessage } from '../../slack/link/link-list.ts';
import { linkModal } from '../../slack/link/link-message.ts';
import { cannotPostProblem, readShareModal, shareField, shareModal } from '../../slack/link/share-modal.ts';
import type { LinkDeps } from './link-deps.ts';

/** Looks whether it is paid; the card is edited when it is. Answers where the person looks. */
export async function checkLink(deps: LinkDeps, pressed: Pressed): Promise<void> {
  const { value, view, updateModal, reply } = pressed;
  const looked = await deps.links.lookNow(value);
  if (!looked) return await reply(unknownLinkMessage(value));
  const { link, lookup } = looked;
  if (view) return await updateModal(linkModal(link, deps, lookedLine(link, lookup)));
  await reply(lookedMessage(link, lookup, { place: deps, nowMs: deps.now() }));
}

export async function openShare(deps: LinkDeps, pressed: Pressed): Promise<void> {
  const link = await find(deps, pressed);
  if (link) await pressed.openModal(shareModal(link, deps));
}

export async function showLink(deps: LinkDeps, pressed: Pressed): Promise<void> {
  const link = await find(deps, pressed);
  if (link) await pressed.openModal(linkModal(link, deps));
}

/**
 * Back to the form. What was surely not made keeps its dialogue, and with it its reference; a new link needs a modal
 * of its own, or it would be the old one.
 */
export async function formAgain(deps: LinkDeps, pressed: Pressed): Promise<void> {
  const link = await find(deps, pressed);
  if (!link) return;
  const { money, customerEmail, customerId, savesCard } = link.terms;
  const isRefused = link.state.kind === 'refused';
  const form = linkForm({
    place: deps,
    currencies: deps.currencies,
    ...(pressed.caller.channelId === undefined ? placeOf(link) : channelOf(pressed.caller)),
    prefill: {
      amountMinor: money.minor,
      currency: money.currency,
      customerEmail,
      savesCard,
      ...(customerId === undefined ? {} : { customerId }),
      ...(isRefused ? typedReference(link) : {}),
    },
  });
  await (isRefused && pressed.view ? pressed.updateModal(form) : pressed.openModal(form));
}

/** The bot's own is that of the dialogue, and stays it. */
function typedReference({ reference }: PaymentLink): { reference?: string } {
  return reference.startsWith(chargeReferencePrefix) ? {} : { reference };
}

/** A conversation of two people is no channel: who asks there is told alone. */
export function channelOf({ channelId }: Caller): { channel?: string } {
  return channelId === undefined || channelId.startsWith('D') ? {} : { channel: channelId };
}

/** Where nothing says where the person is, in a modal: the channel that the link was asked for in. */
function placeOf({ places: [place], by }: PaymentLink): { channel?: string } {
  return place === undefined || place === by ? {} : { channel: place };
}

async function find({ links }: LinkDeps, { value, reply }: Pressed): Promise<PaymentLink | undefined> {
  const link = await links.find(value);
  if (!link) await reply(unknownLinkMessage(value));
  return link;
}

export async function shareLink({ links }: LinkDeps, submission: Submission): Promise<ViewAnswer> {
  const { values, privateMetadata } = submission;
  const channel = readShareModal(values);
  const reference = parseOrderReference(privateMetadata);
  const isShared = channel !== undefined && reference.ok && (await links.share(reference.value, channel));
  return isShared ? { kind: 'close' } : { kind: 'errors', errors: { [shareField]: cannotPostProblem } };
}
