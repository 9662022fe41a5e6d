import { z } from 'zod';
import { accountsSchema, merchantName } from './policy-accounts.ts';
import { approvalsSchema } from './policy-approvals.ts';
import { limitsSchema } from './policy-limits.ts';
import { routesSchema, timeZone } from './policy-routes.ts';
import { dailySummarySchema } from './policy-summary.ts';
import { shapedText } from './shaped-text.ts';

const channelId = shapedText(
  /^[CGD][A-Z0-9]{6,}$/,
  'must be a channel id like C0123ABCD (in Slack: channel name › About › Channel ID)',
);

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
    accounts: accountsSchema(channelId).optional(),
    routes: routesSchema(channelId).optional(),
    daily_summary: dailySummarySchema(channelId).optional(),
    timezone: timeZone
      .optional()
      .describe('Where a day of the limits begins: a name like Africa/Lagos. UTC when absent.'),
    approvals: approvalsSchema(channelId).optional(),
    roles: z.record(z.string(), role).default({}),
  })
  .describe('Payops policy: channels, accounts, routes, daily summaries, approvals and roles.');

export type Policy = z.infer<typeof policySchema>;
