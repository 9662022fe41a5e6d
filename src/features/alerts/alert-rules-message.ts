import type { RichTextBlock } from '@slack/types';
import {
  type AlertMute,
  type NotPosted,
  type AlertRule,
  type RouteMatch,
  type EventAccount,
  type RoutePlan,
  type EscalationStep,
  type Mention,
  type Severity,
} from '../../domain/alert.ts';
import type { AlertRoute } from './alert.ts';
import { counted, duration } from '../../domain/wording.ts';
import { formatMoney } from '../../domain/money.ts';
import type { Storm } from './storm/storm.ts';
import {
  type Run,
  bold,
  button,
  channelName,
  code,
  context,
  fields,
  moment,
  person,
  plainText,
  rich,
  richText,
  userGroup,
  words,
} from '../../slack/kit/blocks.ts';
import type { SlackMessage } from '../../slack/kit/message.ts';
import { noteMessage, forPosting } from '../../slack/kit/note.ts';
import { accountFoot } from '../../slack/words/account-foot.ts';
import { environmentWords, word } from '../../slack/words/payment-words.ts';
import { mutedWords, muteLine, notPostedLine } from '../../slack/words/mute-lines.ts';

/** The button that posts a test alert; its value is the channel. */
export const testAlertActionId = 'send_test_alert';

type RoutesView = {
  plan: RoutePlan;
  channel: string;
  nowMs: number;
  /** The channel's storms that are on. */
  storms?: readonly Storm[];
  /** The channel's mutes, and what they held back. */
  mutes?: readonly (NotPosted & { mute: AlertMute })[];
};

/** At most this many rules are shown; they always fit one message. */
const mostRules = 12;
/** At most this many mutes say what they hold back; the others only name channel and end. */
const mostMuted = 5;
/** At most this many mutes name the events they held back. */
const mostNamed = 10;

/** Which alerts a channel gets and why: its mutes, a sentence for each of its rules, then what `channels` sends it. */
export function routesMessage({ plan, channel, nowMs, storms = [], mutes = [] }: RoutesView): SlackMessage {
  const rules = plan.rules.filter(({ channels }) => channels.includes(channel));
  const rest = restLines(plan, channel);
  if (rules.length + rest.length === 0) return noAlertsMessage();
  const muted = mutes.filter(({ mute }) => mute.untilMs > nowMs).length;
  const left = rules.length - mostRules;
  const lines = [
    ...(left <= 0 ? [] : [[words(`… and by ${counted(left, 'more rule')} of payops.yml.`)]]),
    ...rest,
    ...storms.map(({ gathers, sinceMs }) => {
      const what = bold(gathers === 'payment_failed' ? 'A storm since ' : 'Many payments since ');
      return rich`${what}${moment(sinceMs)}: one digest.`;
    }),
  ];
  return noteMessage({
    state: '🔔 This channel gets alerts',
    about: [
      rules.length === 0 ? 'by channels of payops.yml' : `by ${counted(rules.length, 'rule')}`,
      muted === 0 ? '' : `${muted} muted now`,
    ],
    body: [
      ...mutes.flatMap((one, index) => muteLines(one, nowMs, index < mostNamed)),
      ...rules.slice(0, mostRules).map((rule) => richText(ruleLine(rule, plan))),
      ...lines.map((line) => richText(line)),
    ],
    buttons: [button({ actionId: testAlertActionId, text: 'Send a test alert', value: channel })],
    foot: context(plainText(plan.rules.length === 0 ? 'payops.yml has no routes.' : order)),
  });
}

function muteLines(
  { mute, count, newest }: NotPosted & { mute: AlertMute },
  nowMs: number,
  isNamed: boolean,
): Run[][] {
  return [
    [bold(mute.untilMs > nowMs ? 'Muted: ' : 'Mute over: '), ...muteLine(mute)],
    notPostedLine({ count, newest: isNamed ? newest : [] }),
  ];
}

const order = 'First match wins, unless the rule continues.';

export function noAlertsMessage(): SlackMessage {
  const next = rich`${bold('Next: ')}ask the owner of payops.yml to name it under ${code('routes')} or ${code('channels')}.`;
  return noteMessage({ state: '🔕 This channel gets no alerts', body: [next] });
}

function restLines({ rules, failures, successes }: RoutePlan, channel: string): Run[][] {
  const left = rules.length === 0 ? '' : ' that no rule takes';
  const [alerts, paid] = [bold('channels.alerts'), bold('channels.successes')];
  return [
    ...(failures === channel ? [rich`Every failed charge and every saved card${left}, by ${alerts}.`] : []),
    ...(successes === channel ? [rich`Every successful payment${left}, by ${paid}.`] : []),
  ];
}

/** "big-ones: failed charges of NGN 100,000.00 or more. Calls @oncall. Quiet 22:00–06:00 Africa/Lagos." */
function ruleLine(rule: AlertRule, account: EventAccount): Run[] {
  const { match, mention, severity, name, continues, quietHours: quiet, escalate = [] } = rule;
  const always = quiet && severity === 'critical' ? ', at any hour' : '';
  return [
    bold(word(name) ?? ''),
    words(`: ${whatItTakes(match, account)}.`),
    ...(mention ? rich` Calls ${mentioned(mention)}.` : []),
    ...(severity === undefined ? [] : [words(` ${severityWords[severity]}.`)]),
    ...escalate.flatMap(
      ({ afterMs, to }) => rich` Not acknowledged in ${duration(afterMs)}${always}: calls ${mentioned(to)}.`,
    ),
    words(continues ? ' Continues.' : ''),
    ...(quiet ? rich` Quiet ${clock(quiet.fromMinute)}–${clock(quiet.toMinute)} ${quiet.timeZone}.` : []),
  ];
}

/** Begins in lower case, because the rule's name comes before it. */
function whatItTakes(match: RouteMatch, account: EventAccount): string {
  const { customer, emailDomain, reasonPart } = match;
  const parts = [
    `${subject(match)}${moneyWords(match)}`,
    customer?.kind === 'exact' ? `of customer ${word(customer.text)}` : '',
    customer?.kind === 'prefix' ? `of customers whose id begins with ${word(customer.text)}` : '',
    emailDomain === undefined ? '' : `of customers with an e-mail at ${word(emailDomain)}`,
    reasonPart === undefined ? '' : `whose reason contains “${word(reasonPart)}”`,
    match.environment === undefined
      ? ''
      : accountPart(environmentWords[match.environment], match.environment === account.environment),
    match.account === undefined
      ? ''
      : accountPart(`“${word(match.account)}”`, match.account === account.account),
  ];
  return parts.filter((part) => part !== '').join(' ');
}

function accountPart(wanted: string, isHere: boolean): string {
  return isHere ? `in ${wanted} only` : `in ${wanted} only, where this bot isn’t`;
}

function subject({ event, isSavedCardCharge }: RouteMatch): string {
  const charges =
    isSavedCardCharge === undefined ? undefined : isSavedCardCharge ? 'saved-card charges' : 'first payments';
  if (event === 'card_saved') return `${charges ?? 'payments'} that save a card`;
  if (event === 'payment_failed') return `failed ${charges ?? 'charges'}`;
  if (event === 'payment_given_back') return `${charges ?? 'payments'} that were given back`;
  if (event === 'payment_success') return `successful ${charges ?? 'payments'}`;
  return charges === undefined
    ? 'failed charges and successful payments'
    : `failed and successful ${charges}`;
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

/** The answer to `/pay route`, which isn't a command. */
export function rulesElsewhereMessage(): SlackMessage {
  return noteMessage({
    state: 'Alert rules are in payops.yml',
    body: [
      rich`${bold('Next: ')}ask its owner to change ${code('routes')}, which says which channel gets what.`,
      rich`${code('/pay alerts')} shows this channel’s rules.`,
      rich`${code('/pay mute')} mutes alerts here for up to a day. It needs the permission “mute”.`,
    ],
  });
}

export function testOnItsWayMessage(): SlackMessage {
  const next = rich`None within a minute? Invite the bot to the channel; ${code('/pay doctor')} says more.`;
  return noteMessage({ state: '🧪 A test alert is on its way to this channel', body: [next] });
}

/** Proves that alerts, but for the muted ones, reach this channel. Must not look like a real alert. */
export function testAlertMessage(
  test: { askedBy: string; mutes: readonly AlertMute[]; key: string; mayBeRepeat: boolean },
  account: EventAccount,
): SlackMessage {
  const note = noteMessage({
    state: '🧪 TEST alert',
    about: [
      'no charge failed',
      test.mutes.length === 0 ? 'alerts reach this channel' : 'muted alerts don’t reach this channel',
    ],
    body: [
      ...test.mutes.slice(0, mostMuted).map((mute): Run[] => [bold('Muted: '), ...muteLine(mute)]),
      [bold('Asked for by: '), person(test.askedBy), words(' with /pay alerts')],
    ],
    foot: accountFoot(account),
  });
  return forPosting(note, 'payops_test_alert', test);
}

/** All current mutes in one block: a mute that nobody sees loses alerts. */
export function muteBlocks(mutes: readonly AlertMute[]): RichTextBlock[] {
  if (mutes.length === 0) return [];
  const lines = mutes.map((mute, index): Run[] => [
    ...(index < mostMuted ? [words(`${mutedWords(mute, 'Everything')} in `)] : []),
    ...rich`${channelName(mute.channel)} ${bold('until ')}${moment(mute.untilMs)}.`,
  ]);
  return [richText([bold('Muted now')], ...lines)];
}

const severityWords: Record<Severity, string> = {
  low: 'Low severity',
  normal: 'Normal severity',
  high: 'High severity',
  critical: 'Critical',
};

/** Who is called, and after how long. */
export function escalationFields({ to, afterMs }: EscalationStep): RichTextBlock[] {
  return fields({ Called: [mentioned(to), words(` after ${duration(afterMs)}`)] });
}

/** Pings them in a new post; an edit pings nobody. */
function mentioned({ kind, id }: Mention): Run {
  return kind === 'group' ? userGroup(id) : person(id);
}

/** The rule, its severity and whom it calls; empty without a rule. */
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
