import type { ChargeSeen } from '../../domain/charge-seen.ts';
import { bold, moment, words } from '../../slack/kit/blocks.ts';
import type { OpenItems } from '../../slack/command.ts';
import { counted } from '../../domain/counted.ts';

/** The charges whose code a person is to enter, for their menu. */
export function openCodes(charges: readonly ChargeSeen[]): OpenItems | undefined {
  const count = charges.length;
  if (count === 0) return undefined;
  const waits = bold(`🔑 ${counted(count, 'charge waits', 'charges wait')} for a code from you`);
  const ends = charges.flatMap(({ otp }) => otp?.until ?? []);
  if (ends.length === 0) return { count, line: [waits] };
  const untilMs = Math.min(...ends);
  const until = words(count === 1 ? ' · until ' : ' · the first until ');
  return { count, untilMs, line: [waits, until, moment(untilMs, '{time}')] };
}

/** Those of a person whose outcome is not known. */
export function openDoubts(charges: readonly ChargeSeen[]): OpenItems | undefined {
  const count = charges.length;
  if (count === 0) return undefined;
  const review = charges.filter(({ state }) => state.kind === 'review').length;
  const todo =
    review === 0 ? ' · looked up by itself; do not charge again' : ` · ${review} to be reviewed by a person`;
  return {
    count,
    line: [bold(`❔ ${counted(count, 'charge', 'charges')} of yours without a known outcome`), words(todo)],
  };
}
