import { z } from 'zod';
import { merchantName } from './policy-accounts.ts';
import { amount, currency } from './policy-routes.ts';
import { listed } from './listed.ts';

const needed = z
  .int('must be a whole number like 2')
  .min(1, 'must be at least 1')
  .max(5, 'must be at most 5')
  .default(1)
  .describe('So many different people must approve, none of them the one who asked.');

const account = merchantName
  .optional()
  .describe('Only at the account of this name in `accounts`; at all of them when absent.');

const others = ['retry', 'card_email', 'redrive'] as const;

const whatWords = `must be ${listed(['charge', ...others], 'or')}`;

const rule = z.discriminatedUnion(
  'what',
  [
    z.strictObject({
      what: z.literal('charge').describe('Charges of this currency, of this amount or more.'),
      currency: currency.describe('A code of three capitals, like NGN. Each currency has rules of its own.'),
      amount_from: amount.describe('This amount or more, like 50000.00; 0 for every charge.'),
      needed,
      account,
    }),
    z.strictObject({
      what: z
        .enum(others)
        .describe(
          'retry: charging a card on hold after a decline, which is offered only with this rule. card_email: changing a saved card’s e-mail. redrive: delivering again what Slack refused.',
        ),
      needed,
      account,
    }),
  ],
  { error: (issue) => (issue.code === 'invalid_union' ? whatWords : undefined) },
);

/** `approvals` of the policy file; what holds between rules, roles and settings is judged elsewhere. */
export function approvalsSchema(channelId: z.ZodType<string, string>) {
  return z
    .strictObject({
      channel: channelId.describe('The card of each request stands here.'),
      expire_minutes: z
        .int('must be a whole number of minutes like 240')
        .min(2, 'must be at least 2')
        .max(10_080, 'must be at most 10080, which is a week')
        .default(240)
        .describe(
          'How long a request waits for a decision; everybody is warned when three quarters are over.',
        ),
      rules: z.array(rule).min(1, 'must have at least one rule').max(50, 'must be at most 50 rules'),
    })
    .describe('What a second person must approve before it is done.');
}
