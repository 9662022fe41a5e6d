import type { Account } from '../../account.ts';
import type { AlertMute, NotPosted } from '../../domain/alert-route.ts';
import type { Entry } from '../../store/store.ts';
import { defineCommand, itself, type Pressed } from '../../slack/command.ts';
import { nothingAfter } from '../../slack/command-text.ts';
import type { Views, Words } from '../../messages/views.ts';
import { muteDelayMs, openMutes, mutePrefix, type MuteBodies } from './mute-case.ts';
import {
  endMuteId,
  mutedModal,
  muteMessage,
  muteModal,
  muteModalId,
  type MuteShown,
  nothingToMute,
  readMuteModal,
} from './mute-views.ts';

const dayMs = 86_400_000;

export type Mutes = ReturnType<typeof createMutes>;

/**
 * `/pay mute`: keeps alerts from the channel it is typed in for up to a day. A mute is a case (`mute-case.ts`); what it
 * kept from its channel is asked of the alerts by `notPosted`, which throws StoreUnavailable.
 */
export function createMutes(account: Account, notPosted: (mute: AlertMute) => Promise<NotPosted>) {
  const { rules, place, settings, audit, wake, now } = account;
  const rememberMs = settings.webhookRememberDays * dayMs;
  const { cases, all, newest } = openMutes({ ...account, rememberMs, audit: audit.write });

  async function formFor(channel: string) {
    const here = rules.routes.rules.filter(({ channels }) => channels.includes(channel));
    const isOn = (mute: AlertMute): boolean =>
      mute.channel === channel && mute.endedBy === undefined && mute.untilMs > now();
    const mutes = (await newest()).filter(isOn);
    return muteModal(channel, { rules: here.map(({ name }) => name), mutes, place });
  }

  /** The channel’s message and the audit follow by the worker. */
  async function end({ caller, value, view, updateModal, reply }: Pressed): Promise<void> {
    const ended = await cases.hear(value, { kind: 'ended', by: caller.userId });
    if (view) await updateModal(await formFor(view.privateMetadata));
    else if (!ended?.isMoved) await reply(nothingToMute(true));
  }

  const verb = defineCommand<undefined>({
    verb: 'mute',
    usage: '',
    summary: 'Mute alerts',
    examples: ['mute'],
    permission: 'mute',
    effect: 'none',
    opensForm: true,
    parse: nothingAfter('Nothing follows “mute”: the form asks what, how long and why.'),
    presses: [{ actionId: endMuteId, aboutOther: itself, press: end }],
    modals: [
      {
        callbackId: muteModalId,
        effect: 'access',
        ifNoAnswer: 'If none comes, look at /pay mute before you send it again.',
        async submit({ caller, viewId, privateMetadata: channel, values }) {
          const read = readMuteModal(values);
          if (read.kind === 'errors') return read;
          const { forMs, ...wanted } = read.wanted;
          const fromMs = now() + muteDelayMs;
          const mute: AlertMute = {
            id: viewId,
            channel,
            ...wanted,
            by: caller.userId,
            fromMs,
            untilMs: fromMs + forMs,
            isOver: false,
          };
          // Submitted twice it is one.
          const begun = await cases.begin(viewId, mute, { untold: true });
          if (begun.kind === 'begun') await cases.settle(viewId, begun.kept);
          wake();
          return { kind: 'update', modal: mutedModal(begun.kind === 'begun' ? mute : begun.state, place) };
        },
      },
    ],
    async run(_, { caller: { channelId = '' }, openModal }) {
      const { failures, successes, rules: sent } = rules.routes;
      const told = [failures, successes, ...sent.flatMap(({ channels }) => channels)];
      if (!told.includes(channelId)) return nothingToMute(false);
      await openModal(await formFor(channelId));
      return undefined;
    },
  });
  const work = async (entry: Entry): Promise<void> => void (await cases.work(entry));
  const views: Views<MuteBodies, MuteShown> = {
    async mute({ id, isOver }) {
      const mute = await cases.find(id);
      if (!mute) return { kind: 'nothing' };
      const kept = isOver && { notPosted: await notPosted(mute) };
      return { kind: 'shown', post: { kind: 'mute', mute, ...kept } };
    },
  };
  const words: Words<MuteShown> = { mute: (post) => ({ message: muteMessage(post, place) }) };
  return {
    verbs: [verb],
    cases: [{ prefix: mutePrefix, work }],
    messages: { views, words },
    all,
  };
}
