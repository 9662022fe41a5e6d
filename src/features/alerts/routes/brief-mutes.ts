import type { AlertRule } from '../../../domain/alert-route.ts';
import { bold, moment, words, type Run } from '../../../slack/kit/blocks.ts';
import { word } from '../../../slack/words/evidence.ts';

/**
 * "Muted too: no-funds until 1 Dec, expired-cards until 3 Dec." What a list of sentences has no room for still has
 * its name and its end: a mute that nobody sees is an alert lost. A hundred, which is all there can be, fit anywhere.
 */
export function briefMutes(muted: readonly AlertRule[]): Run[][] {
  if (muted.length === 0) return [];
  const each = muted.flatMap(({ name, mutedUntilMs = 0 }, index): Run[] => [
    words(`${index === 0 ? '' : ', '}${word(name)} until `),
    moment(mutedUntilMs),
  ]);
  return [[bold('Muted too: '), ...each, words('.')]];
}
