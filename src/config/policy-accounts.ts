import { z } from 'zod';
import { accountColours } from '../domain/merchant.ts';
import { shapedText } from './shaped-text.ts';

/** Short enough to be typed after `--account`, and fit to stand in an address, a key and a variable's name. */
export const merchantName = shapedText(
  /^[a-z][a-z0-9-]{0,19}$/,
  'must be up to 20 small letters, digits and dashes, like lagos',
);

const guid = z.guid('must be a UUID of 36 characters');

const address = z
  .string('must be text')
  .refine((value) => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol), {
    error: 'must be an absolute URL that starts with https:// or http://',
  })
  .transform((value) => value.replace(/\/+$/, ''));

/** `accounts` of the policy file; what holds between accounts is judged elsewhere. */
export function accountsSchema(channelId: z.ZodType<string, string>) {
  const account = z.strictObject({
    name: merchantName.describe(
      'The word that people type after --account; its secrets stand in the environment, as PAYMENTS_CLIENT_ID__LAGOS.',
    ),
    account_id: guid.describe('The merchant account’s id: header `accountId` of every protected call.'),
    parent_id: guid
      .optional()
      .describe('The parent account that issues tokens; the account itself when absent.'),
    environment: z.enum(['live', 'sandbox'], 'must be live or sandbox'),
    base_url: address
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
  return z
    .array(account)
    .min(1, 'must name at least one account')
    .max(20, 'must be at most 20 accounts')
    .describe(
      'Several merchant accounts. The first is the one that is meant where no other is, and the one that the records of a bot without `accounts` belong to: never put another before it.',
    );
}
