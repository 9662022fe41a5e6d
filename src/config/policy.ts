import { z } from 'zod';
import { minorFromWire } from '../domain/money.ts';
import { withoutUndefined } from '../domain/json.ts';
import { listed } from '../domain/wording.ts';
import { httpUrl } from './readers.ts';
import { severities } from '../domain/alert.ts';
import { longestRequestMinutes } from '../domain/approval.ts';
import { oneLine } from '../domain/outside-text.ts';
import { hourMs } from '../domain/span.ts';

/** Green and red are reserved for the outcome of a payment. */
const accountColours = ['blue', 'purple', 'orange', 'yellow', 'brown', 'black', 'white'] as const;
export type AccountColour = (typeof accountColours)[number];

/** Text that matches the pattern. Other text, and values of other types, are refused with `words`. */
function shapedText(pattern: RegExp, words: string): z.ZodString {
  return z.string(words).regex(pattern, words);
}

const channelId = shapedText(
  /^[CGD][A-Z0-9]{6,}$/,
  'must be a channel id like C0123ABCD (in Slack: channel name › About › Channel ID)',
);

const ruleName = shapedText(
  /^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$/,
  'must be up to 40 letters, digits and dashes, like big-ones',
).describe('What people call the rule; alerts and /pay alerts name it.');

const amountWords = 'must be an amount like 100000.00, without separators';

/** Minor units. */
const amount = z.union([z.string(), z.number()], amountWords).transform((written, context): number => {
  const minor = minorFromWire(written);
  if (minor !== undefined) return minor;
  context.addIssue({ code: 'custom', message: amountWords });
  return z.NEVER;
});

const currency = shapedText(/^[A-Z]{3}$/, 'must be a currency code in capitals, like NGN');

const customer = shapedText(
  /^[^*]+\*?$/,
  'must be a customer id like C-1042, or the beginning of one with a star behind it: VIP-*',
).transform((written) =>
  written.endsWith('*')
    ? { kind: 'prefix' as const, text: written.slice(0, -1) }
    : { kind: 'exact' as const, text: written },
);

const environment = z.enum(['live', 'sandbox'], 'must be live or sandbox');

const eventMatch = z
  .strictObject({
    event: z
      .enum(
        ['payment_failed', 'payment_success', 'payment_given_back', 'card_saved', 'any'],
        'must be payment_failed, payment_success, payment_given_back, card_saved or any',
      )
      .default('payment_failed')
      .describe(
        'Failed charges unless it says otherwise. card_saved: successes that save a card, which are payment_success too. payment_given_back: what WEBHOOK_KINDS calls that, where no alert, charge or link tells it in its own thread.',
      ),
    environment: environment
      .optional()
      .describe(
        'Only events of live accounts, or of sandbox ones; without `accounts`: only in the bot of this PAYMENTS_ENVIRONMENT.',
      ),
    account: z
      .string('must be text')
      .min(1, 'must not be empty')
      .optional()
      .describe(
        'Only events of the account of this name in `accounts`; without `accounts`: only in the bot of this PAYMENTS_ACCOUNT_NAME.',
      ),
    saved_card: z
      .boolean('must be true or false')
      .optional()
      .describe('true: charges of a saved card. false: first payments, which save the card.'),
    currency: currency.optional(),
    amount_from: amount.optional().describe('This amount or more, like 100000.00. Needs a currency.'),
    amount_to: amount.optional().describe('This amount or less. Needs a currency.'),
    customer_id: customer.optional().describe('A customer id, or the beginning of one with a star: VIP-*.'),
    email_domain: z
      .string('must be text')
      .regex(
        /^[^@\s.,*]+(?:\.[^@\s.,*]+)+$/,
        'must be what stands behind the @, like example.com: one whole domain, without a star',
      )
      .transform((written) => written.toLowerCase())
      .optional()
      .describe(
        'All that follows the @ of the customer’s e-mail, in any case; a subdomain is another domain.',
      ),
    reason: z
      .string('must be text')
      .trim()
      .min(1, 'must not be empty')
      .transform((written) => oneLine(written).toLowerCase())
      .optional()
      .describe('Words that the bank’s reason contains, in capitals or not.'),
  })
  .refine((given) => given.currency !== undefined || (given.amount_from ?? given.amount_to) === undefined, {
    path: ['currency'],
    error: 'is needed beside an amount: 100.00 of one currency is not 100.00 of another',
  })
  .refine((given) => (given.amount_from ?? 0) <= (given.amount_to ?? Infinity), {
    path: ['amount_from'],
    error: 'is above amount_to, so that no amount fits',
  });

/** Minutes since midnight. */
const timeOfDay = shapedText(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time like "22:00", in quotes').transform(
  (written) => Number(written.slice(0, 2)) * 60 + Number(written.slice(3)),
);

const timeZoneWords = 'must be a time zone’s name like Africa/Lagos';

const timeZone = z
  .string(timeZoneWords)
  .refine(isTimeZone, timeZoneWords)
  .describe('A name like Africa/Lagos.');

const quietHours = z
  .strictObject({
    from: timeOfDay.describe('Like "22:00".'),
    to: timeOfDay.describe('Like "06:00"; before `from` it is the next day’s.'),
    tz: timeZone,
  })
  .refine(({ from, to }) => from !== to, { path: ['to'], error: 'must differ from `from`' })
  .describe('When the rule’s alerts are posted without calling anybody.');

function isTimeZone(written: string): boolean {
  if (!/^[A-Za-z]/.test(written)) return false;
  try {
    return new Intl.DateTimeFormat('en-GB', { timeZone: written }).format(0) !== '';
  } catch {
    return false;
  }
}

const digestAfter = z
  .int('must be a whole number like 20')
  .min(0, 'must be 0 or more')
  .max(200, 'must be 200 or less')
  .describe(
    'In place of DIGEST_THRESHOLD: how many of its failures, and how many of its payments, a channel is told one by one within five minutes, before a digest tells the rest. 0: all of them.',
  );

const mentioned = shapedText(
  /^[UWS][A-Z0-9]{6,}$/,
  'must be a user id like U0123ABCD or a user group’s id like S0123ABCD',
).transform((id) => ({ kind: id.startsWith('S') ? ('group' as const) : ('person' as const), id }));

const escalationWords =
  'must be a step like { after: 10m, to: S0123ABCD }, after 24h at most, or a list of up to 5 of them';

const escalationStep = z
  .strictObject({
    after: shapedText(/^(?:[1-9]\d{0,2}m|[1-9]h|1\dh|2[0-4]h)$/, escalationWords)
      .transform((written) => Number.parseInt(written, 10) * (written.endsWith('h') ? hourMs : 60_000))
      .describe('Minutes or hours, like 10m or 2h.'),
    to: mentioned.describe('Who is called then: a user’s or a user group’s id.'),
  })
  .transform(({ after: afterMs, to }) => ({ afterMs, to }));

const escalation = z
  .union(
    [escalationStep, z.array(escalationStep).min(1, escalationWords).max(5, escalationWords)],
    escalationWords,
  )
  .transform((written) => [written].flat())
  .refine(
    (steps) => steps.every(({ afterMs }, index) => afterMs > (steps[index - 1]?.afterMs ?? 0)),
    'must have its steps in their order, each later than the one before it',
  )
  .describe(
    'Who is called in the thread of an alert that nobody acknowledges, once a step; not in quiet hours unless the rule is critical. A storm is escalated as a whole.',
  );

const ruleChannels = z
  .union(
    [channelId, z.array(channelId).min(1, 'must name at least one channel')],
    'must be a channel id like C0123ABCD, or a list of them',
  )
  .transform((written) => [written].flat())
  .refine((ids) => new Set(ids).size === ids.length, 'names a channel twice');

const routeRule = z
  .strictObject({
    name: ruleName,
    when: eventMatch
      .prefault({})
      .describe(
        'What an event must be, by what it says or, where it says nothing, by its look-up; without it every failed charge fits.',
      ),
    to: ruleChannels.describe('The channel, or channels, that get the event.'),
    mention: mentioned.optional().describe('A user’s or user group’s id, called by each alert’s first post.'),
    severity: z
      .enum(severities, `must be ${listed(severities, 'or')}`)
      .optional()
      .describe('A word on the alert; critical ones are escalated in quiet hours too.'),
    quiet_hours: quietHours.optional(),
    escalate: escalation.optional(),
    digest_after: digestAfter.optional(),
    continue: z
      .boolean('must be true or false')
      .default(false)
      .describe('true: the rules after it, and `channels` behind them, are asked too.'),
  })
  .refine((given) => given.quiet_hours === undefined || (given.mention ?? given.escalate) !== undefined, {
    path: ['quiet_hours'],
    error: 'does nothing without mention or escalate: it only says when nobody is called',
  })
  .refine((given) => given.escalate === undefined || /^(payment_failed|any)$/.test(given.when.event), {
    path: ['escalate'],
    error: 'does nothing here: only failed charges are acknowledged, so write it to a rule that takes them',
  });

/** The file's `routes`. Contradictions between rules are found by `routesCheck`. */
const routesSchema = z
  .array(routeRule)
  .max(100, 'must be at most 100 rules')
  .describe(
    'Rules that send events to channels: first match wins, unless the rule continues. Events no rule matches go to `channels`.',
  );

/** Short enough to type after `--account`, and valid in a URL, in a store key and in a variable's name. */
const merchantName = shapedText(
  /^[a-z][a-z0-9-]{0,19}$/,
  'must be up to 20 small letters, digits and dashes, like lagos',
);

const guid = z.guid('must be a UUID of 36 characters');

const account = z.strictObject({
  name: merchantName.describe(
    'The word that people type after --account; its secrets stand in the environment, as PAYMENTS_CLIENT_ID__LAGOS.',
  ),
  account_id: guid.describe('The merchant account’s id: header `accountId` of every protected call.'),
  parent_id: guid
    .optional()
    .describe('The parent account that issues tokens; the account itself when absent.'),
  environment,
  base_url: httpUrl()
    .optional()
    .describe(
      'The payments service’s address for this account; PAYMENTS_BASE_URL or PAYMENTS_SANDBOX_URL when absent.',
    ),
  label: z
    .string('must be text')
    .trim()
    .min(1, 'must not be empty')
    .max(40, 'must be at most 40 characters')
    .optional()
    .describe('What people call it, shown on every message; the name when absent.'),
  colour: z
    .enum(accountColours, `must be ${accountColours.join(', ')}`)
    .optional()
    .describe(
      'Shown as a square and as the word beside the label. Green and red are left to what became of a payment.',
    ),
  channels: z
    .array(channelId)
    .default([])
    .describe('Channels where commands without --account mean this account.'),
});

/** Contradictions between accounts are found by `accountsCheck`. */
const accountsSchema = z
  .array(account)
  .min(1, 'must name at least one account')
  .max(20, 'must be at most 20 accounts')
  .describe(
    'Several merchant accounts. The first is the default, and owns what a bot without `accounts` has stored: never put another before it.',
  );

const summary = z.strictObject({
  channel: channelId.describe('The channel that is told.'),
  at: timeOfDay.describe('Like "08:00", in quotes.'),
  tz: timeZone,
  file: z
    .boolean()
    .optional()
    .describe('The last whole day as CSV in its thread too, for finance. Needs the scope files:write.'),
});

/** `at`: minutes since midnight, local time. */
const dailySummarySchema = z
  .array(summary)
  .max(50, 'must be at most 50 channels')
  .refine((all) => new Set(all.map(({ channel }) => channel)).size === all.length, 'names a channel twice')
  .describe(
    'Channels that are told once a day what came: counts, amounts, success rate, top reasons, open alerts, mutes.',
  );

/** Not zero: a role that may not charge doesn't have the permission `charge`. */
const limit = amount.refine((minor) => minor > 0, 'must be more than zero');

const currencyLimits = z
  .strictObject({
    per_charge: limit.optional().describe('One charge at most.'),
    per_agent_per_day: limit.optional().describe('All charges of one person in one day.'),
    per_card_per_day: limit.optional().describe('All charges of one card in one day, by anyone.'),
  })
  .transform((limits) => withoutUndefined(limits));

/** Minor units. */
const limitsSchema = z
  .record(currency, currencyLimits)
  .refine((limits) => Object.keys(limits).length > 0, {
    error: 'names no currency: the role may then charge nothing',
  })
  .describe(
    'How much a role that may charge lets one person charge, by currency; one that is not named may then not be charged. No limit when absent.',
  );

const approversNeeded = z
  .int('must be a whole number like 2')
  .min(1, 'must be at least 1')
  .max(5, 'must be at most 5')
  .default(1)
  .describe('So many different people must approve, none of them the one who asked.');

const approvalAccount = merchantName
  .optional()
  .describe('Only at the account of this name in `accounts`; at all of them when absent.');

const otherActions = ['retry', 'card_email'] as const;

const whatWords = `must be ${listed(['charge', ...otherActions], 'or')}`;

const approvalRule = z.discriminatedUnion(
  'what',
  [
    z.strictObject({
      what: z.literal('charge').describe('Charges of this currency, of this amount or more.'),
      currency: currency.describe('A code of three capitals, like NGN. Each currency has rules of its own.'),
      amount_from: amount.describe('This amount or more, like 50000.00; 0 for every charge.'),
      needed: approversNeeded,
      account: approvalAccount,
    }),
    z.strictObject({
      what: z
        .enum(otherActions)
        .describe(
          'retry: charging a card on hold after a decline, which is offered only with this rule. card_email: changing a saved card’s e-mail.',
        ),
      needed: approversNeeded,
      account: approvalAccount,
    }),
  ],
  { error: (issue) => (issue.code === 'invalid_union' ? whatWords : undefined) },
);

const approvalsSchema = z
  .strictObject({
    channel: channelId.describe('Each request is posted here.'),
    expire_minutes: z
      .int('must be a whole number of minutes like 240')
      .min(2, 'must be at least 2')
      .max(longestRequestMinutes, `must be at most ${longestRequestMinutes}, which is a week`)
      .default(240)
      .describe('How long a request waits for a decision; everybody is warned when three quarters are over.'),
    rules: z.array(approvalRule).min(1, 'must have at least one rule').max(50, 'must be at most 50 rules'),
  })
  .describe('What a second person must approve before it is done.');

const userId = shapedText(
  /^[UW][A-Z0-9]{6,}$/,
  'must be a user id like U0123ABCD (in Slack: profile › ⋮ › Copy member ID)',
);

const groupName = shapedText(
  /^(@[\p{L}\p{N}._-]+|S[A-Z0-9]{6,})$/u,
  'must be a user group’s handle like "@support-agents" or its id like S0123ABCD',
);

const channelOrDirect = shapedText(
  /^([CG][A-Z0-9]{6,}|direct)$/,
  'must be a channel id like C0123ABCD, or the word direct for direct messages with the bot, its Home and shortcuts',
);

const role = z
  .strictObject({
    users: z.array(userId).default([]).describe('Slack user ids.'),
    groups: z.array(groupName).default([]).describe('Slack user groups (paid plans), by handle or id.'),
    may: z
      .array(z.string())
      .min(1, 'must name at least one permission')
      .describe('Permissions: a verb’s permission such as `lookup`, or "*" for all.'),
    accounts: z
      .array(merchantName)
      .min(1, 'must name at least one account')
      .optional()
      .describe('For these accounts alone, by name; for all of them when absent.'),
    channels: z
      .array(channelOrDirect)
      .min(1, 'must name at least one channel, or the word direct')
      .optional()
      .describe(
        'There alone: channel ids, and the word `direct` for direct messages with the bot, its Home and shortcuts. Everywhere when absent.',
      ),
    limits: limitsSchema.optional(),
  })
  .describe('Who may do what. Anyone without a role is refused.');

const channels = z
  .strictObject({
    alerts: channelId.describe('Failed charges are told here, and cards that were saved.'),
    successes: channelId
      .optional()
      .describe('Successful payments are told here; absent: they are remembered, not told.'),
    desk: channelId
      .optional()
      .describe('The state of each charge is told here; absent: the agent is told by direct message alone.'),
    ops: channelId
      .optional()
      .describe('What the people who run the bot must know; absent: it is only logged.'),
  })
  .describe('Where the bot posts.');

/** The policy file, `payops.yml`. Its JSON Schema and reference are generated from this. */
export const policySchema = z
  .strictObject({
    channels,
    accounts: accountsSchema.optional(),
    routes: routesSchema.optional(),
    daily_summary: dailySummarySchema.optional(),
    timezone: timeZone
      .default('UTC')
      .describe('Where a day of the limits begins: a name like Africa/Lagos. UTC when absent.'),
    approvals: approvalsSchema.optional(),
    roles: z.record(z.string(), role).default({}),
  })
  .describe('Payops policy: channels, accounts, routes, daily summaries, approvals and roles.');

export type Policy = z.infer<typeof policySchema>;
