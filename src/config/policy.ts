import { z } from 'zod';
import { accountColours } from '../domain/merchant.ts';
import { minorFromWire } from '../domain/money.ts';
import { withoutUndefined } from '../domain/without-undefined.ts';
import { listed } from '../domain/wording.ts';
import { httpUrl } from './readers.ts';
import { amount, channelId, clock, currency, routesSchema, shapedText, timeZone } from './policy-routes.ts';

/** Short enough to be typed after `--account`, and fit to stand in an address, a key and a variable's name. */
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
  environment: z.enum(['live', 'sandbox'], 'must be live or sandbox'),
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
    .describe('Where it is the account that a command without --account means.'),
});

/** What holds between accounts is judged elsewhere, and so it is of all sections. */
const accountsSchema = z
  .array(account)
  .min(1, 'must name at least one account')
  .max(20, 'must be at most 20 accounts')
  .describe(
    'Several merchant accounts. The first is the one that is meant where no other is, and the one that the records of a bot without `accounts` belong to: never put another before it.',
  );

const summary = z.strictObject({
  channel: channelId.describe('The channel that is told.'),
  at: clock.describe('Like "08:00", in quotes.'),
  tz: timeZone,
});

/** `at` in minutes since midnight, local time. */
const dailySummarySchema = z
  .array(summary)
  .max(50, 'must be at most 50 channels')
  .refine((all) => new Set(all.map(({ channel }) => channel)).size === all.length, 'names a channel twice')
  .describe(
    'Channels that are told once a day what came: counts, amounts, success rate, top reasons, open alerts, mutes.',
  );

const limitWords = 'must be an amount like 50000.00, without separators';

const limit = z.union([z.string(), z.number()], limitWords).transform((written, context): number => {
  const minor = minorFromWire(written);
  // Nothing at all is said by a role that may not charge.
  if (minor !== undefined && minor > 0) return minor;
  context.addIssue({ code: 'custom', message: minor === 0 ? 'must be more than zero' : limitWords });
  return z.NEVER;
});

const currencyLimits = z
  .strictObject({
    per_charge: limit.optional().describe('One charge at most.'),
    per_agent_per_day: limit.optional().describe('All charges of one person in one day.'),
    per_card_per_day: limit.optional().describe('All charges of one card in one day, by anyone.'),
  })
  .transform((limits) => withoutUndefined(limits));

/** In minor units. */
const limitsSchema = z
  .record(z.string().regex(/^[A-Z]{3}$/, 'must be a currency code in capitals, like NGN'), currencyLimits)
  .refine((limits) => Object.keys(limits).length > 0, {
    error: 'names no currency: the role may then charge nothing',
  })
  .describe(
    'How much a role that may charge lets one person charge, by currency; one that is not named may then not be charged. No limit when absent.',
  );

const needed = z
  .int('must be a whole number like 2')
  .min(1, 'must be at least 1')
  .max(5, 'must be at most 5')
  .default(1)
  .describe('So many different people must approve, none of them the one who asked.');

const approvedAt = merchantName
  .optional()
  .describe('Only at the account of this name in `accounts`; at all of them when absent.');

const others = ['retry', 'card_email', 'redrive'] as const;

const whatWords = `must be ${listed(['charge', ...others], 'or')}`;

const approvalRule = z.discriminatedUnion(
  'what',
  [
    z.strictObject({
      what: z.literal('charge').describe('Charges of this currency, of this amount or more.'),
      currency: currency.describe('A code of three capitals, like NGN. Each currency has rules of its own.'),
      amount_from: amount.describe('This amount or more, like 50000.00; 0 for every charge.'),
      needed,
      account: approvedAt,
    }),
    z.strictObject({
      what: z
        .enum(others)
        .describe(
          'retry: charging a card on hold after a decline, which is offered only with this rule. card_email: changing a saved card’s e-mail. redrive: delivering again what Slack refused.',
        ),
      needed,
      account: approvedAt,
    }),
  ],
  { error: (issue) => (issue.code === 'invalid_union' ? whatWords : undefined) },
);

const approvalsSchema = z
  .strictObject({
    channel: channelId.describe('The card of each request stands here.'),
    expire_minutes: z
      .int('must be a whole number of minutes like 240')
      .min(2, 'must be at least 2')
      .max(10_080, 'must be at most 10080, which is a week')
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

const place = shapedText(
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
      .array(place)
      .min(1, 'must name at least one channel, or the word direct')
      .optional()
      .describe(
        'There alone: channel ids, and the word `direct` for direct messages with the bot, its Home and shortcuts. Everywhere when absent.',
      ),
    limits: limitsSchema.optional(),
  })
  .describe('Who may do what. Who is in no role may do nothing.');

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

/** The policy file, `payops.yml`. Its JSON Schema and reference are made from this. */
export const policySchema = z
  .strictObject({
    channels,
    accounts: accountsSchema.optional(),
    routes: routesSchema.optional(),
    daily_summary: dailySummarySchema.optional(),
    timezone: timeZone
      .optional()
      .describe('Where a day of the limits begins: a name like Africa/Lagos. UTC when absent.'),
    approvals: approvalsSchema.optional(),
    roles: z.record(z.string(), role).default({}),
  })
  .describe('Payops policy: channels, accounts, routes, daily summaries, approvals and roles.');

export type Policy = z.infer<typeof policySchema>;
