import { z } from 'zod';
import { clock, timeZone } from './policy-routes.ts';

/** `daily_summary` of the policy file; `at` in minutes since midnight, local time. */
export function dailySummarySchema(channelId: z.ZodType<string, string>) {
  const summary = z.strictObject({
    channel: channelId.describe('The channel that is told.'),
    at: clock.describe('Like "08:00", in quotes.'),
    tz: timeZone,
  });
  return z
    .array(summary)
    .max(50, 'must be at most 50 channels')
    .refine((all) => new Set(all.map(({ channel }) => channel)).size === all.length, 'names a channel twice')
    .describe(
      'Channels that are told once a day what came: counts, amounts, success rate, top reasons, open alerts, mutes.',
    );
}
