import type { LinkNote, PaymentLink } from '../../domain/payment-link.ts';
import { outboxKey } from '../../messages/message-record.ts';
import type { Views } from '../../messages/views.ts';

/** A link's card, and what is said below it. */
export type LinkBodies = {
  link: { reference: string };
  link_note: { reference: string; what: LinkNote };
};

export type LinkShown = { kind: 'link'; note?: LinkNote; link: PaymentLink };

export type LinkPostDeps = {
  findLink: (reference: string) => Promise<PaymentLink | undefined>;
};

export function linkViews({ findLink }: LinkPostDeps): Views<LinkBodies, LinkShown> {
  async function requireLink(reference: string): Promise<PaymentLink> {
    const link = await findLink(reference);
    if (!link) throw new Error('There is something to say of a link that is not in the store.');
    return link;
  }
  return {
    /** A link's card in one place. */
    async link({ reference }) {
      return { kind: 'shown', post: { kind: 'link', link: await requireLink(reference) } };
    },
    /** Below the card in a channel; to the person alone where the card is theirs alone. */
    async link_note({ reference, what: note }, { record: { channel } }) {
      const link = await requireLink(reference);
      // Another note tells what it has become since.
      if (link.state.kind !== note) return { kind: 'nothing' };
      const post = { kind: 'link', note, link } as const;
      if (channel === link.by) return { kind: 'shown', post };
      return { kind: 'shown', post, below: { key: linkCardKey(reference, channel) } };
    },
  };
}

/** One card for each place, a channel or a person. */
export function linkCardKey(reference: string, place: string): string {
  return outboxKey('link', `${place}:${reference}`);
}
