import type { RichTextBlock } from '@slack/types';
import type { Account } from '../../account.ts';
import type { AlertMute, NotPosted } from '../../domain/alert-mute.ts';
import { lostIn } from '../../domain/alert-route-reach.ts';
import {
  type AlertRule,
  type QuietHours,
  type RouteMatch,
  type RoutePlace,
  type RoutePlan,
  countsAlone,
  isMuted,
} from '../../domain/alert-route.ts';
import type { AlertRoute, Mention, Severity } from '../../domain/alert.ts';
import { counted } from '../../domain/counted.ts';
import { formatMoney } from '../../domain/money.ts';
import { type Rehearsal, rehearsedLine, rehearsedWords } from './rehearsal.ts';
import { type Storm, stormPace } from './storm/storm.ts';
import {
  type Run,
  actions,
  bold,
  button,
  code,
  context,
  header,
  headline,
  moment,
  mrkdwn,
  person,
  plainText,
  richText,
  userGroup,
  words,
} from '../../slack/kit/blocks.ts';
import type { HomeBlock, SlackMessage } from '../../slack/kit/message.ts';
import { slackTime, utcTime } from '../../slack/kit/text.ts';
import { environmentWords, word } from '../../slack/words/evidence.ts';
import { muteLine, notPostedLine } from '../../slack/words/mute-lines.ts';

/** The button that posts a test alert; its value is the channel. */
export const testAlertActionId = 'send_test_alert';

/** The plan as one channel sees it. */
type RoutesView = {
  plan: RoutePlan;
  channel: string;
  nowMs: number;
  /** What this plan would have told lately; `pending`: that is being worked out. `impossible`: the store is away. */
  rehearsal: Rehearsal | 'pending' | 'impossible';
  storm?: StormState;
  /** What else it gets. */
  uses: readonly ChannelUse[];
  /** Its mutes from Slack, and what they kept back. */
  kept?: readonly (NotPosted & { mute: AlertMute })[];
};

/** More sentences than these nobody reads; they also fit one message whatever the rules say. */
const mostRules = 12;
/** Where more than those are muted, which leaves room for the names and ends of all. */
const mostAmongMutes = 5;
const mostHomeRules = 10;

/**
 * What one channel gets and why: a plain sentence for each rule that tells it, those that are muted first, then what
 * `channels` sends it. Whatever is left out, every mute has its name and its end. The button is there when anything is.
 */
export function routesMessage({
  plan,
  channel,
  nowMs,
  rehearsal,
  storm,
  uses,
  kept = [],
}: RoutesView): SlackMessage {
  const rules = plan.rules.filter(({ channels }) => channels.includes(channel));
  const told = typeof rehearsal === 'string' ? undefined : rehearsal;
  const rest = restLines(plan, channel, told);
  if (rules.length + rest.length === 0) return noAlertsMessage(uses);
  const muted = rules.filter((rule) => isMuted(rule, nowMs));
  const mutedFirst = [...muted, ...rules.filter((rule) => !isMuted(rule, nowMs))];
  const { text, block } = headline('🔔 This channel gets alerts', [
    rules.length === 0 ? 'by channels of payops.yml' : `by ${counted(rules.length, 'rule')}`,
    muted.length === 0 ? '' : `${muted.length} muted now`,
  ]);
  const most = muted.length > mostRules ? mostAmongMutes : mostRules;
  const shown = mutedFirst.slice(0, most);
  const left = rules.length - Math.max(shown.length, muted.length);
  return {
    text,
    blocks: [
      block,
      ...kept.map(({ mute, ...notPosted }) =>
        richText(
          [bold(mute.untilMs > nowMs ? 'Muted: ' : 'Mute over: '), ...muteLine(mute)],
          notPostedLine(notPosted),
        ),
      ),
      ...shown.map((rule) =>
        richText([
          ...ruleLine(rule, plan, nowMs),
          ...lost(plan, rule, channel),
          ...lately(told, channel, rule.name),
        ]),
      ),
      ...briefMutes(muted.slice(most)).map((line) => richText(line)),
      ...(left === 0 ? [] : [richText([words(`… and by ${counted(left, 'more rule')} of payops.yml.`)])]),
      ...rest.map((line) => richText(line)),
      ...uses.map((use) => richText(useLine(use))),
      ...(storm ? stormBlocks(storm, rules) : []),
      context(mrkdwn(rehearsalWords(rehearsal))),
      context(plainText(plan.rules.length === 0 ? withoutRules : orderWords(muted.length > 0))),
      actions(button({ actionId: testAlertActionId, text: 'Send a test alert', value: channel })),
    ],
  };
}

function orderWords(isMutedFirst: boolean): string {
  return isMutedFirst ? `Muted rules first. ${order}` : order;
}

const order = 'First match wins, unless the rule continues.';
const withoutRules = 'payops.yml has no routes.';

/** `uses`: what it gets all the same. */
export function noAlertsMessage(uses: readonly ChannelUse[]): SlackMessage {
  const { text, block } = headline('🔕 This channel gets no alerts', []);
  const advice = 'To change that, name it in payops.yml, under routes or channels.';
  return {
    text,
    blocks: [block, ...uses.map((use) => richText(useLine(use))), richText([words(advice)])],
  };
}

/** " Its mention never holds here: all-failures tells this channel the same first." */
function lost(plan: RoutePlan, rule: AlertRule, channel: string): Run[] {
  const found = lostIn(plan.rules, plan.rules.indexOf(rule), channel, [plan]);
  if (!found) return [];
  const { says, to } = found;
  return [words(` ${word(to)} tells this channel first, without its ${says.join(', ').replace('_', ' ')}.`)];
}

/** " Last 7 days: 41 alerts, worst hour 9." */
function lately(rehearsal: Rehearsal | undefined, channel: string, rule?: string): Run[] {
  if (!rehearsal || rehearsal.events === 0) return [];
  return [words(` Last 7 days: ${rehearsedWords(rehearsedLine(rehearsal, channel, rule))}.`)];
}

/** What the numbers above stand on. Words of ours alone, so that the time can be each reader's own. */
function rehearsalWords(rehearsal: RoutesView['rehearsal']): string {
  if (rehearsal === 'pending') return '⏳ Rehearsing the last 7 days …';
  if (rehearsal === 'impossible') return 'No rehearsal: the bot’s storage does not answer.';
  const { events, sinceMs, unsure } = rehearsal;
  if (sinceMs === undefined) return 'No events in the last 7 days.';
  const record = `Rehearsed with ${counted(events, 'event')} since ${slackTime(sinceMs, utcTime(sinceMs))}, mutes and digests aside.`;
  return unsure === 0 ? record : `${record} ${unsure} of them were never looked up.`;
}

function restLines(
  { rules, failures, successes }: RoutePlan,
  channel: string,
  rehearsal: Rehearsal | undefined,
): Run[][] {
  const left = rules.length === 0 ? '' : ' that no rule takes';
  const lines: Run[][] = [];
  const rehearsed = lately(rehearsal, channel);
  if (failures === channel)
    lines.push(restLine(`Every failed charge and every saved card${left}`, 'channels.alerts'));
  if (successes === channel) lines.push(restLine(`Every successful payment${left}`, 'channels.successes'));
  // Where both go to one channel they are counted together.
  return lines.map((line, index) => (index === lines.length - 1 ? [...line, ...rehearsed] : line));
}

function restLine(what: string, setting: string): Run[] {
  return [words(`${what}, by `), bold(setting), words('.')];
}

/** "Failed charges of NGN 100,000.00 or more, with @oncall, by rule big-ones; quiet 22:00–06:00 Africa/Lagos." */
function ruleLine(rule: AlertRule, place: RoutePlace, nowMs: number): Run[] {
  const { match, mention, severity, name, goesOn, quietHours, mutedUntilMs } = rule;
  const isMutedNow = mutedUntilMs !== undefined && isMuted(rule, nowMs);
  return [
    words(whatItTakes(match, place)),
    ...(mention ? [words(', with '), mentioned(mention)] : []),
    ...(severity === undefined ? [] : [words(`, as ${severityWords[severity].toLowerCase()}`)]),
    words(', by rule '),
    bold(word(name) ?? ''),
    ...(goesOn ? [words(', which continues')] : []),
    ...(quietHours ? [words(`; quiet ${quietWords(quietHours)}`)] : []),
    ...(isMutedNow ? [words('; '), bold('muted until '), moment(mutedUntilMs)] : []),
    words('.'),
  ];
}

function quietWords({ fromMinute, toMinute, timeZone }: QuietHours): string {
  return `${clock(fromMinute)}–${clock(toMinute)} ${timeZone}`;
}

function whatItTakes(match: RouteMatch, place: RoutePlace): string {
  const { customer, emailDomain, reasonPart } = match;
  const parts = [
    `${subject(match)}${moneyWords(match)}`,
    customer?.kind === 'exact' ? `of customer ${word(customer.text)}` : '',
    customer?.kind === 'prefix' ? `of customers whose id begins with ${word(customer.text)}` : '',
    emailDomain === undefined ? '' : `of customers with an e-mail address at ${word(emailDomain)}`,
    reasonPart === undefined ? '' : `when the reason says “${word(reasonPart)}”`,
    match.environment === undefined
      ? ''
      : placePart(environmentWords[match.environment], match.environment === place.environment),
    match.account === undefined ? '' : placePart(`“${word(match.account)}”`, match.account === place.account),
  ];
  return parts.filter((part) => part !== '').join(', ');
}

function placePart(wanted: string, isHere: boolean): string {
  return isHere ? `in ${wanted} only` : `in ${wanted} only, where this bot is not`;
}

function subject({ event, isSavedCardCharge }: RouteMatch): string {
  const charges =
    isSavedCardCharge === undefined ? undefined : isSavedCardCharge ? 'saved-card charges' : 'first payments';
  if (event === 'card_saved') return `${capital(charges ?? 'payments')} that save a card`;
  if (event === 'payment_failed') return `Failed ${charges ?? 'charges'}`;
  if (event === 'payment_success') return `Successful ${charges ?? 'payments'}`;
  return charges === undefined
    ? 'Failed charges and successful payments'
    : `Failed and successful ${charges}`;
}

function capital(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}

function moneyWords({ currency, amount }: RouteMatch): string {
  if (currency === undefined) return '';
  const { fromMinor, toMinor } = amount ?? {};
  if (fromMinor === undefined && toMinor === undefined) return ` in ${currency}`;
  if (toMinor === undefined) return ` of ${formatMoney({ minor: fromMinor ?? 0, currency })} or more`;
  const most = formatMoney({ minor: toMinor, currency });
  return fromMinor === undefined
    ? ` of ${most} or less`
    : ` of ${formatMoney({ minor: fromMinor, currency })} to ${most}`;
}

/** What the App Home says of mutes: every one that holds now, with its end; nothing when none does. */
export function homeMutes(plan: RoutePlan, nowMs: number): HomeBlock[] {
  const muted = plan.rules.filter((rule) => isMuted(rule, nowMs));
  if (muted.length === 0) return [];
  const sentences = muted.slice(0, mostHomeRules).map((rule) => ruleLine(rule, plan, nowMs));
  // One block for all: where the Home is full, it keeps the first blocks of each part.
  return [header('Muted alerts'), richText(...sentences, ...briefMutes(muted.slice(mostHomeRules)))];
}

/** To who types `/pay unmute` or `/pay route`: where that is done, and by whom. */
export function rulesElsewhereMessage(): SlackMessage {
  const { text, block } = headline('Alert rules are in payops.yml', []);
  return {
    text,
    blocks: [
      block,
      richText(
        [bold('Next: '), words('ask its owner. '), code('routes'), words(' says which channel gets what.')],
        [code('/pay mute'), words(' mutes alerts here for up to a day, and ends a mute.')],
        [code('/pay alerts'), words(' shows this channel’s rules. For one alert: Acknowledge, then Snooze.')],
      ),
    ],
  };
}

/** What the person who pressed the button is told. */
export function testOnItsWayMessage(): SlackMessage {
  const { text, block } = headline('🧪 A test alert is on its way to this channel', []);
  const advice = 'None within a minute? Invite the bot to the channel; /readyz and the log say more.';
  return { text, blocks: [block, richText([words(advice)])] };
}

/** The last storms of one channel, and what would make one there. `threshold` 0: nothing, but for rules of their own. */
export type StormState = {
  failures?: Storm;
  /** Its payments have storms of their own. */
  payments?: Storm;
  threshold: number;
  windowMs: number;
};

/** One plain sentence or two: what is told by a digest now, or was; and from when on it would be. */
function stormBlocks(
  { failures, payments, threshold, windowMs }: StormState,
  rules: readonly AlertRule[],
): HomeBlock[] {
  const minutes = Math.round(windowMs / 60_000);
  const endedMs = failures?.endedMs;
  const now: Run[] =
    failures && endedMs === undefined
      ? [
          bold('A storm since '),
          moment(failures.sinceMs),
          words(`: one digest until fewer than ${stormPace} alerts come in ${minutes} min.`),
        ]
      : endedMs !== undefined
        ? [words('No storm now; the last ended '), moment(endedMs), words('.')]
        : [words('No storm now.')];
  const paid: Run[][] =
    payments && payments.endedMs === undefined
      ? [[bold('Many payments since '), moment(payments.sinceMs), words(': one digest.')]]
      : [];
  return [richText(now, ...paid, [words(thresholdWords(threshold, minutes, rules))])];
}

function thresholdWords(threshold: number, minutes: number, rules: readonly AlertRule[]): string {
  const usual =
    threshold === 0
      ? 'No digests here'
      : `Past ${threshold} failed charges, or payments, in ${minutes} min one digest counts the rest`;
  const own = rules.filter(countsAlone).flatMap(({ name, digestAfter = threshold }) => {
    if (digestAfter === 0) return threshold === 0 ? [] : [`rule ${name} has no digest`];
    return [`rule ${name} past ${digestAfter}`];
  });
  const shown = own.slice(0, mostOwn);
  const left = own.length - shown.length;
  return `${[usual, ...shown, ...(left > 0 ? [`and so on for ${left} more`] : [])].join('; ')}.`;
}

const mostOwn = 5;

/** Rules that are muted now, each with its end, `most` of them in a sentence; without whom they mention: here that would call them. */
export function muteBlocks(muted: readonly AlertRule[], place: RoutePlace, most: number): RichTextBlock[] {
  if (muted.length === 0) return [];
  const shown = muted.slice(0, most);
  const lines = shown.map(({ mention: _whom, ...rule }) => ruleLine(rule, place, beforeEveryEnd));
  return [richText([bold('Muted now')], ...lines, ...briefMutes(muted.slice(most)))];
}

/** They are muted, whatever the clock says by the time the line is made. */
const beforeEveryEnd = 0;

/**
 * "Muted too: no-funds until 1 Dec, expired-cards until 3 Dec." What a list of sentences has no room for still has
 * its name and its end: a mute that nobody sees is an alert lost. A hundred, which is all there can be, fit anywhere.
 */
function briefMutes(muted: readonly AlertRule[]): Run[][] {
  if (muted.length === 0) return [];
  const each = muted.flatMap(({ name, mutedUntilMs = 0 }, index): Run[] => [
    words(`${index === 0 ? '' : ', '}${word(name)} until `),
    moment(mutedUntilMs),
  ]);
  return [[bold('Muted too: '), ...each, words('.')]];
}

/** What the policy file tells a channel besides alerts, and under which of its names. */
export type ChannelUse =
  | { kind: 'ops' | 'desk' | 'approvals' }
  | { kind: 'daily_summary'; atMinute: number; timeZone: string };

/** "A daily summary at 08:00 Africa/Lagos, because daily_summary names this channel." */
/** What the file tells a channel besides alerts. */
export function channelUses(
  { channels, daily_summary: summaries = [], approvals }: Account['settings']['policy'],
  channel: string,
): ChannelUse[] {
  return [
    ...summaries
      .filter((one) => one.channel === channel)
      .map(({ at, tz }): ChannelUse => ({ kind: 'daily_summary', atMinute: at, timeZone: tz })),
    ...(channels.ops === channel ? [{ kind: 'ops' } as const] : []),
    ...(channels.desk === channel ? [{ kind: 'desk' } as const] : []),
    ...(approvals?.channel === channel ? [{ kind: 'approvals' } as const] : []),
  ];
}

function useLine(use: ChannelUse): Run[] {
  const [what, setting] = wordsOf(use);
  return [words(`${what}, by `), bold(setting), words('.')];
}

function wordsOf(use: ChannelUse): [what: string, setting: string] {
  switch (use.kind) {
    case 'ops':
      return ['Trouble with the bot itself', 'channels.ops'];
    case 'desk':
      return ['Charges made in Slack', 'channels.desk'];
    case 'approvals':
      return ['Approval requests', 'approvals'];
    case 'daily_summary':
      return [`A daily summary at ${clock(use.atMinute)} ${use.timeZone}`, 'daily_summary'];
  }
}

const severityWords: Record<Severity, string> = {
  low: 'Low severity',
  normal: 'Normal severity',
  high: 'High severity',
};

/** Calls them, where it stands in a message that is newly posted. */
function mentioned({ kind, id }: Mention): Run {
  return kind === 'group' ? userGroup(id) : person(id);
}

/** Who is called, how much it matters, and the rule that says so; no block where no rule does. */
export function routeBlocks(route: AlertRoute | undefined): RichTextBlock[] {
  if (!route) return [];
  const { mention, severity, rule } = route;
  const isAlone = mention === undefined && severity === undefined;
  const line: Run[] = [
    ...(mention ? [mentioned(mention), words(' · ')] : []),
    ...(severity === undefined ? [] : [bold(severityWords[severity]), words(' · ')]),
    words(`${isAlone ? 'Sent here by rule' : 'by rule'} ${word(rule) ?? ''}`),
  ];
  return [richText(line)];
}

/** "08:00", of minutes since midnight. */
function clock(minute: number): string {
  return [Math.floor(minute / 60), minute % 60].map((part) => String(part).padStart(2, '0')).join(':');
}
