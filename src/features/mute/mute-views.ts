import type { AlertMute, NotPosted } from '../../domain/alert-route.ts';
import type { Said } from '../../messages/views.ts';
import {
  actions,
  bold,
  button,
  code,
  modal,
  moment,
  person,
  richText,
  select,
  textInput,
  words,
  rich,
} from '../../slack/kit/blocks.ts';
import { messageFoot, placeFoot, placeTitle, type ChargePlace } from '../../slack/words/charge-place.ts';
import type { ViewValues } from '../../slack/command.ts';
import type { Modal, SlackMessage } from '../../slack/kit/message.ts';
import { noteMessage, posted, type Note, noteModal } from '../../slack/kit/note.ts';
import { oneLine } from '../../slack/kit/text.ts';
import { muteLine, mutedWords, notPostedLine } from '../../slack/words/mute-lines.ts';

export const muteModalId = 'mute';
export const endMuteId = 'mute_end';

const ids = {
  rule: 'mute_rule',
  reason: 'mute_reason',
  customer: 'mute_customer',
  for: 'mute_for',
  why: 'mute_why',
};
const hourMs = 3_600_000;
const times = [
  { text: '30 minutes', value: '0.5' },
  { text: '1 hour', value: '1' },
  { text: '2 hours', value: '2' },
  { text: '4 hours', value: '4' },
  { text: '8 hours', value: '8' },
  { text: '24 hours', value: '24' },
] as const;

/** What is muted here, each with a button that ends it; below, the form for one more. */
export function muteModal(
  channel: string,
  { rules, mutes, place }: { rules: readonly string[]; mutes: readonly AlertMute[]; place: ChargePlace },
): Modal {
  const every = { text: 'Any rule', value: '*' };
  return modal({
    callbackId: muteModalId,
    title: placeTitle('Mute alerts here', place),
    submit: 'Mute',
    privateMetadata: channel,
    blocks: [
      ...mutes.flatMap((mute) => [richText([bold('Muted: '), ...muteLine(mute)]), actions(endButton(mute))]),
      richText([words('Muted alerts aren’t posted. They’re still recorded, resolved and counted.')]),
      textInput({
        id: ids.reason,
        label: 'Bank’s reason contains',
        placeholder: 'insufficient funds',
        hint: 'Leave reason and customer empty to mute everything here.',
        maxLength: 100,
        optional: true,
      }),
      textInput({ id: ids.customer, label: 'Customer id', maxLength: 100, optional: true }),
      ...(rules.length === 0
        ? []
        : [
            select({
              id: ids.rule,
              label: 'Sent here by',
              choices: [every, ...rules.map((rule) => ({ text: `Rule ${rule}`, value: rule }))],
              initial: every.value,
            }),
          ]),
      select({ id: ids.for, label: 'For how long', choices: times, initial: '1' }),
      textInput({
        id: ids.why,
        label: 'Why',
        placeholder: 'The bank is down until 16:00',
        hint: 'Everybody in the channel sees it.',
        maxLength: 300,
      }),
      placeFoot(place),
    ],
  });
}

function endButton({ id }: AlertMute) {
  return button({ actionId: endMuteId, text: 'End mute', value: id });
}

type ReadMute =
  | { kind: 'read'; wanted: Pick<AlertMute, 'rule' | 'match' | 'why'> & { forMs: number } }
  | { kind: 'errors'; errors: Record<string, string> };

export function readMuteModal(values: ViewValues): ReadMute {
  const text = (id: string): string => oneLine(values[id] ?? '');
  const chosen = times.find(({ value }) => value === values[ids.for]);
  const why = text(ids.why);
  if (!chosen) return { kind: 'errors', errors: { [ids.for]: 'Choose how long.' } };
  if (why === '') return { kind: 'errors', errors: { [ids.why]: 'Say in a few words why.' } };
  const [rule, reason, customer] = [text(ids.rule), text(ids.reason), text(ids.customer)];
  return {
    kind: 'read',
    wanted: {
      why,
      forMs: Number(chosen.value) * hourMs,
      ...(rule === '' || rule === '*' ? {} : { rule }),
      match: {
        ...(reason === '' ? {} : { reasonPart: reason.toLowerCase() }),
        ...(customer === '' ? {} : { customer: { kind: 'exact', text: customer } }),
      },
    },
  };
}

/** What the form becomes; the channel is told by a message. */
export function mutedModal(mute: AlertMute, place: ChargePlace): Modal {
  const note: Note = {
    state: '🔕 Muted',
    about: [mutedWords(mute)],
    body: [
      rich`${bold('Until: ')}${moment(mute.untilMs)}`,
      rich`The channel is told now, and what was kept back when it ends.`,
    ],
  };
  return noteModal(note, { callbackId: muteModalId, title: placeTitle('Mute alerts here', place) });
}

export type MuteShown = { kind: 'mute'; mute: AlertMute; notPosted?: NotPosted };

export function muteMessage(
  { mute, notPosted, ...about }: MuteShown & Said,
  place: ChargePlace,
): SlackMessage {
  const { by, why, untilMs, endedBy } = mute;
  const until = [bold(endedBy === undefined ? 'Until: ' : 'Ended: '), moment(untilMs), words(' · by ')];
  const note = noteMessage({
    state: notPosted ? '🔔 Mute is over' : '🔕 Muted',
    about: [mutedWords(mute)],
    body: notPosted
      ? [notPostedLine(notPosted)]
      : [
          [...until, person(endedBy ?? by)],
          [bold('Why: '), words(why)],
        ],
    buttons: notPosted || endedBy !== undefined ? [] : [endButton(mute)],
    foot: messageFoot(place, notPosted ? 'muted from' : 'muted', mute.fromMs),
  });
  return posted(note, 'payops_mute', about);
}

/** Where it was typed in a place without alerts, or what was pressed is over. */
export function nothingToMute(isOver: boolean): SlackMessage {
  const command = code('/pay mute');
  const next = isOver
    ? [command, words(' shows what is muted now.')]
    : [words('Type '), command, words(' in the channel whose alerts you want to mute.')];
  return noteMessage({ state: isOver ? 'This mute is over' : 'No alerts come here', body: [next] });
}
