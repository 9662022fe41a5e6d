import type { AlertMute, NotPosted } from '../../domain/alert.ts';
import { parsed, problem } from '../../domain/wording.ts';
import { withoutUndefined } from '../../domain/json.ts';
import {
  actions,
  bold,
  button,
  code,
  modal,
  moment,
  person,
  richText,
  words,
  rich,
} from '../../slack/kit/blocks.ts';
import { accountFoot, type ShownAccount } from '../../slack/words/account-foot.ts';
import type { ViewValues } from '../../slack/command.ts';
import { choice, form, optional, text } from '../../slack/kit/form.ts';
import type { Modal, SlackMessage } from '../../slack/kit/message.ts';
import { type PostAttempt, noteMessage, forPosting, type Note, noteModal } from '../../slack/kit/note.ts';
import { muteLine, mutedWords, notPostedLine } from '../../slack/words/mute-lines.ts';
import { hourMs } from '../../domain/span.ts';

export const muteModalId = 'mute';
export const endMuteId = 'mute_end';

const times = [
  { text: '30 minutes', value: '0.5' },
  { text: '1 hour', value: '1' },
  { text: '2 hours', value: '2' },
  { text: '4 hours', value: '4' },
  { text: '8 hours', value: '8' },
  { text: '24 hours', value: '24' },
] as const;

const everyRule = { text: 'Any rule', value: '*' };

function muteForm(rules: readonly string[]) {
  const choices = [everyRule, ...rules.map((rule) => ({ text: `Rule ${rule}`, value: rule }))];
  return form('mute', {
    reason: optional(
      text(
        {
          label: 'Bank’s reason contains',
          placeholder: 'insufficient funds',
          hint: 'Leave reason and customer empty to mute everything, or all of one rule.',
          maxLength: 100,
        },
        (typed) => parsed(typed.toLowerCase()),
      ),
    ),
    customer: optional(text({ label: 'Customer id', maxLength: 100 }, parsed)),
    // Optional: the field isn't shown if no rule sends alerts to this channel.
    rule: { ...choice({ label: 'Rule', choices }), read: parsed<string> },
    hours: choice({ label: 'For how long', choices: times }),
    why: text(
      {
        label: 'Why',
        placeholder: 'The bank is down until 16:00',
        hint: 'Everybody in the channel sees it.',
        maxLength: 300,
      },
      (typed) => (typed === '' ? problem('Say in a few words why.') : parsed(typed)),
    ),
  });
}

/** The channel's mutes, each with a button to end it, and a form for a new one. */
export function muteModal(
  channel: string,
  {
    rules,
    mutes,
    shownAccount,
  }: { rules: readonly string[]; mutes: readonly AlertMute[]; shownAccount: ShownAccount },
): Modal {
  const inputs = muteForm(rules).inputs({ hours: '1' });
  return modal({
    callbackId: muteModalId,
    title: 'Mute alerts here',
    submit: 'Mute',
    privateMetadata: channel,
    blocks: [
      ...mutes.flatMap((mute) => [richText([bold('Muted: '), ...muteLine(mute)]), actions(endButton(mute))]),
      richText([words('Muted alerts aren’t posted. They’re still recorded, resolved and counted.')]),
      ...inputs.filter(({ block_id: id }) => rules.length > 0 || id !== 'mute_rule'),
      accountFoot(shownAccount),
    ],
  });
}

function endButton({ id }: AlertMute) {
  return button({ actionId: endMuteId, text: 'End mute', value: id });
}

/** What the form asks for: a mute and its duration; or the form's errors. */
export function readMuteModal(values: ViewValues) {
  const form = muteForm([]).read(values);
  if (form.kind === 'errors') return form;
  const { reason, customer, rule, hours, why } = form.read;
  const wanted = {
    why,
    ...withoutUndefined({ rule: ['', everyRule.value].includes(rule) ? undefined : rule }),
    match: withoutUndefined({
      reasonPart: reason,
      customer: customer === undefined ? undefined : { kind: 'exact' as const, text: customer },
    }),
  };
  return { kind: 'read', wanted, forMs: Number(hours) * hourMs } as const;
}

/** Replaces the form after the submit. The channel gets its own message. */
export function mutedModal(mute: AlertMute, account: ShownAccount): Modal {
  const note: Note = {
    state: '🔕 Muted',
    about: [mutedWords(mute)],
    body: [
      rich`${bold('Until: ')}${moment(mute.untilMs)}`,
      rich`It starts in a few seconds. The channel was told. When the mute ends it gets a list of what was held back.`,
    ],
    foot: accountFoot(account),
  };
  return noteModal(note, { callbackId: muteModalId, title: 'Mute alerts here' });
}

export function muteMessage(
  { mute, notPosted, ...about }: { mute: AlertMute; notPosted?: NotPosted } & PostAttempt,
  account: ShownAccount,
): SlackMessage {
  const { by, why, untilMs, endedBy } = mute;
  const [state, label] = endedBy === undefined ? ['🔕 Muted', 'Until: '] : ['🔔 Mute ended', 'Ended: '];
  const until = [bold(label), moment(untilMs), words(' · by ')];
  const note = noteMessage({
    state: notPosted ? '🔔 Mute is over' : state,
    about: [mutedWords(mute)],
    body: notPosted
      ? [notPostedLine(notPosted)]
      : [
          [...until, person(endedBy ?? by)],
          [bold('Why: '), words(why)],
        ],
    buttons: notPosted || endedBy !== undefined ? [] : [endButton(mute)],
    foot: accountFoot(account),
  });
  return forPosting(note, 'payops_mute', about);
}

/** Answers `/pay unmute` and similar words: says how to mute and to end a mute. */
export function muteElsewhereMessage(): SlackMessage {
  return noteMessage({
    state: '/pay mute mutes alerts, and ends a mute',
    body: [
      rich`Type it in the channel. It needs the permission “mute”.`,
      rich`For one alert: Acknowledge, then Snooze.`,
    ],
  });
}

/** Answers `/pay mute` in a channel without alerts, and (`isOver`) a press on a mute that has ended. */
export function nothingToMute(isOver: boolean): SlackMessage {
  const command = code('/pay mute');
  const next = isOver
    ? [command, words(' shows what is muted now.')]
    : [words('Type '), command, words(' in the channel whose alerts you want to mute.')];
  return noteMessage({ state: isOver ? 'This mute is over' : 'No alerts come here', body: [next] });
}
