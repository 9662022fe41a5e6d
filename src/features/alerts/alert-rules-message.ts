import type { RichTextBlock } from '@slack/types';
import {
  type AlertMute,
  type NotPosted,
  type AlertRule,
  type RouteMatch,
  type RoutePlace,
  type RoutePlan,
} from '../../domain/alert-route.ts';
import type { AlertRoute, Mention } from '../../domain/alert.ts';
import { counted } from '../../domain/wording.ts';
import { formatMoney } from '../../domain/money.ts';
import type { Storm } from './storm/storm.ts';
import {
  type Run,
  actions,
  bold,
  button,
  context,
  headline,
  moment,
  person,
  plainText,
  richText,
  userGroup,
  words,
} from '../../slack/kit/blocks.ts';
import type { SlackMessage } from '../../slack/kit/message.ts';
import { noteMessage } from '../../slack/kit/note.ts';
import { environmentWords, word } from '../../slack/words/evidence.ts';
import { muteLine, notPostedLine } from '../../slack/words/mute-lines.ts';

/** The button that posts a test alert; its value is the channel. */
export const testAlertActionId = 'send_test_alert';

/** The plan as one channel sees it. */
type RoutesView = {
  plan: RoutePlan;
  channel: string;
  nowMs: number;
  /** The last storms of it: of failures, and of payments. */
  storms?: readonly (Storm | undefined)[];
  /** Its mutes from Slack, and what they kept back. */
  kept?: readonly (NotPosted & { mute: AlertMute })[];
};

/** More sentences than these nobody reads; they also fit one message whatever the rules say. */
const mostRules = 12;
/** Of so many mutes it is said by name what they kept back. */
const mostNamed = 10;

/**
 * What one channel gets and why: its mutes, a plain sentence for each rule that tells it, then what `channels` sends it.
 * The button is there when anything is.
 */
export function routesMessage({ plan, channel, nowMs, storms = [], kept = [] }: RoutesView): SlackMessage {
  const rules = plan.rules.filter(({ channels }) => channels.includes(channel));
  const rest = restLines(plan, channel);
  if (rules.length + rest.length === 0) return noAlertsMessage();
  const muted = kept.filter(({ mute }) => mute.untilMs > nowMs).length;
  const { text, block } = headline('🔔 This channel gets alerts', [
    rules.length === 0 ? 'by channels of payops.yml' : `by ${counted(rules.length, 'rule')}`,
    muted === 0 ? '' : counted(muted, 'mute'),
  ]);
  const left = rules.length - mostRules;
  const lines = [
    ...(left <= 0 ? [] : [[words(`… and by ${counted(left, 'more rule')} of payops.yml.`)]]),
    ...rest,
    ...storms.flatMap((storm, index) =>
      storm && storm.endedMs === undefined
        ? [
            [
              bold(index === 0 ? 'A storm since ' : 'Many payments since '),
              moment(storm.sinceMs),
              words(': one digest.'),
            ],
          ]
        : [],
    ),
  ];
  return {
    text,
    blocks: [
      block,
      ...(kept.length === 0
        ? []
        : [richText(...kept.flatMap((one, index) => keptLines(one, nowMs, index < mostNamed)))]),
      ...rules.slice(0, mostRules).map((rule) => richText(ruleLine(rule, plan))),
      ...lines.map((line) => richText(line)),
      context(plainText(plan.rules.length === 0 ? withoutRules : order)),
      actions(button({ actionId: testAlertActionId, text: 'Send a test alert', value: channel })),
    ],
  };
}

/** Every mute stands here; what it kept back by name where that fits. */
function keptLines(
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
const withoutRules = 'payops.yml has no routes.';

export function noAlertsMessage(): SlackMessage {
  const advice = words('To change that, name it in payops.yml, under routes or channels.');
  return noteMessage({ state: '🔕 This channel gets no alerts', body: [[advice]] });
}

function restLines({ rules, failures, successes }: RoutePlan, channel: string): Run[][] {
  const left = rules.length === 0 ? '' : ' that no rule takes';
  return [
    ...(failures === channel
      ? [restLine(`Every failed charge and every saved card${left}`, 'channels.alerts')]
      : []),
    ...(successes === channel ? [restLine(`Every successful payment${left}`, 'channels.successes')] : []),
  ];
}

function restLine(what: string, setting: string): Run[] {
  return [words(`${what}, by `), bold(setting), words('.')];
}

/** "Failed charges of NGN 100,000.00 or more, with @oncall, by rule big-ones." */
function ruleLine({ match, mention, name, goesOn }: AlertRule, place: RoutePlace): Run[] {
  return [
    words(whatItTakes(match, place)),
    ...(mention ? [words(', with '), mentioned(mention)] : []),
    words(', by rule '),
    bold(word(name) ?? ''),
    ...(goesOn ? [words(', which continues')] : []),
    words('.'),
  ];
}

function whatItTakes(match: RouteMatch, place: RoutePlace): string {
  const { customer, reasonPart } = match;
  const parts = [
    `${subject(match)}${moneyWords(match)}`,
    customer?.kind === 'exact' ? `of customer ${word(customer.text)}` : '',
    customer?.kind === 'prefix' ? `of customers whose id begins with ${word(customer.text)}` : '',
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

/** What the person who pressed the button is told. */
export function testOnItsWayMessage(): SlackMessage {
  const advice = words('None within a minute? Invite the bot to the channel; /readyz and the log say more.');
  return noteMessage({ state: '🧪 A test alert is on its way to this channel', body: [[advice]] });
}

/** Calls them, where it stands in a message that is newly posted. */
function mentioned({ kind, id }: Mention): Run {
  return kind === 'group' ? userGroup(id) : person(id);
}

/** Who is called, and the rule that says so; no block where no rule does. */
export function routeBlocks(route: AlertRoute | undefined): RichTextBlock[] {
  if (!route) return [];
  const { mention, rule } = route;
  const line: Run[] = [
    ...(mention ? [mentioned(mention), words(' · ')] : []),
    words(`${mention ? 'by rule' : 'Sent here by rule'} ${word(rule) ?? ''}`),
  ];
  return [richText(line)];
}
