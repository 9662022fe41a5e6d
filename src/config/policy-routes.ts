import { z } from 'zod';
import { severities } from '../domain/alert.ts';
import { minorFromWire } from '../domain/money.ts';
import { oneLine } from '../domain/outside-text.ts';
import { listed } from '../domain/wording.ts';

/** Text of this shape; what is no text at all is told in the same words. */
export function shapedText(pattern: RegExp, words: string): z.ZodString {
  return z.string(words).regex(pattern, words);
}

export const channelId = shapedText(
  /^[CGD][A-Z0-9]{6,}$/,
  'must be a channel id like C0123ABCD (in Slack: channel name › About › Channel ID)',
);

const name = shapedText(
  /^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$/,
  'must be up to 40 letters, digits and dashes, like big-ones',
).describe('What people call the rule; alerts and /pay alerts name it.');

export const amount = z
  .union([z.string(), z.number()], 'must be an amount like 100000.00')
  .transform((written, context): number => {
    const minor = minorFromWire(written);
    if (minor !== undefined) return minor;
    context.addIssue({ code: 'custom', message: 'must be an amount like 100000.00, without separators' });
    return z.NEVER;
  });

export const currency = shapedText(/^[A-Z]{3}$/, 'must be a currency code in capitals, like NGN');

const customer = shapedText(
  /^[^*]+\*?$/,
  'must be a customer id like C-1042, or the beginning of one with a star behind it: VIP-*',
).transform((written) =>
  written.endsWith('*')
    ? { kind: 'prefix' as const, text: written.slice(0, -1) }
    : { kind: 'exact' as const, text: written },
);

const match = z
  .strictObject({
    event: z
      .enum(
        ['payment_failed', 'payment_success', 'card_saved', 'any'],
        'must be payment_failed, payment_success, card_saved or any',
      )
      .default('payment_failed')
      .describe(
        'Failed charges unless it says otherwise. card_saved: successes that save a card, which are payment_success too.',
      ),
    environment: z
      .enum(['live', 'sandbox'], 'must be live or sandbox')
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
        'What stands behind the @ of the customer’s e-mail address, in capitals or not; a subdomain is another one.',
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

/** A time of day, as minutes since midnight. */
export const clock = shapedText(
  /^([01]\d|2[0-3]):[0-5]\d$/,
  'must be a time like "22:00", in quotes',
).transform((written) => Number(written.slice(0, 2)) * 60 + Number(written.slice(3)));

const timeZoneWords = 'must be a time zone’s name like Africa/Lagos';

export const timeZone = z
  .string(timeZoneWords)
  .refine(isTimeZone, timeZoneWords)
  .describe('A name like Africa/Lagos.');

const quietHours = z
  .strictObject({
    from: clock.describe('Like "22:00".'),
    to: clock.describe('Like "06:00"; before `from` it is the next day’s.'),
    tz: timeZone,
  })
  .refine(({ from, to }) => from !== to, { path: ['to'], error: 'must differ from `from`' })
  .describe('When the rule’s alerts are posted without mentioning anybody.');

function isTimeZone(written: string): boolean {
  if (!/^[A-Za-z]/.test(written)) return false;
  try {
    return new Intl.DateTimeFormat('en-GB', { timeZone: written }).format(0) !== '';
  } catch {
    return false;
  }
}

const muteUntil = z
  .union(
    [z.iso.date(), z.iso.datetime({ offset: true })],
    'must be a day like 2026-12-01, which begins at 00:00 UTC, or a time like 2026-12-01T08:00:00+01:00',
  )
  .transform((written) => Date.parse(written))
  .describe('What the rule takes is told nowhere before this; it is remembered all the same.');

const digestAfter = z
  .int('must be a whole number like 20')
  .min(0, 'must be 0 or more')
  .max(200, 'must be 200 or less')
  .describe(
    'In place of DIGEST_THRESHOLD: how many of its failures, and how many of its payments, a channel is told one by one within DIGEST_WINDOW_MINUTES, before a digest tells the rest. 0: all of them.',
  );

const mention = shapedText(
  /^[UWS][A-Z0-9]{6,}$/,
  'must be a user id like U0123ABCD or a user group’s id like S0123ABCD',
)
  .transform((id) => ({ kind: id.startsWith('S') ? ('group' as const) : ('person' as const), id }))
  .describe('Whom the first post of each alert calls: a user’s or a user group’s id.');

const channels = z
  .union(
    [channelId, z.array(channelId).min(1, 'must name at least one channel')],
    'must be a channel id like C0123ABCD, or a list of them',
  )
  .transform((written) => [written].flat())
  .refine((ids) => new Set(ids).size === ids.length, 'names a channel twice');

const rule = z
  .strictObject({
    name,
    when: match
      .prefault({})
      .describe(
        'What an event must be, by what it says or, where it says nothing, by its look-up; without it every failed charge fits.',
      ),
    to: channels.describe('The channel, or the channels, that are told.'),
    mention: mention.optional(),
    severity: z
      .enum(severities, `must be ${listed(severities, 'or')}`)
      .optional()
      .describe('A word on the alert.'),
    quiet_hours: quietHours.optional(),
    mute_until: muteUntil.optional(),
    digest_after: digestAfter.optional(),
    continue: z
      .boolean('must be true or false')
      .default(false)
      .describe('true: the rules after it, and `channels` behind them, are asked too.'),
  })
  .refine((given) => given.quiet_hours === undefined || given.mention !== undefined, {
    path: ['quiet_hours'],
    error: 'does nothing without a mention: it only says when that is left out',
  });
/** `routes` of the policy file, read into the domain’s own values; what holds between rules is judged elsewhere. */
export const routesSchema = z
  .array(rule)
  .max(100, 'must be at most 100 rules')
  .describe(
    'Rules by which events go to channels, in order: the first that fits takes the event. What none takes is told as `channels` says.',
  );
