import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Bundle, bundleOf } from '../support/bot-bundle.ts';
import { findProgram } from '../support/programs.ts';
import { runChaos, type ChaosResult } from './run-chaos.ts';

const missing = findProgram('redis-server') === undefined;
if (missing) console.warn('SKIPPED: chaos on Redis, because redis-server is not installed.');

const events = 24;
const kills = 2;

let bundle: Bundle;
beforeAll(async () => {
  bundle = await bundleOf('chaos');
});
afterAll(() => bundle?.remove());

const seed = Date.now() % 1_000_000_000;
const small = { events, seed, compress: 20, channels: 10, leaseMs: 3_000 };

/** Every finding; prints the bots' log lines about it. */
function whatWentWrong(result: ChaosResult): Record<string, unknown> {
  const { lost, doubled, misplaced, strangers, overtaken } = result;
  const keys = { lost, doubled, misplaced, strangers, overtaken };
  for (const reference of Object.values(keys).flat()) {
    console.error(`${reference}:\n${result.linesAbout(reference).join('\n')}`);
  }
  return {
    ...keys,
    notAcknowledged: events - result.acknowledged,
    workLeft: result.workLeft,
    audit: result.audit.exitCode === 0 ? 'whole' : result.audit.words,
    isAuditEmpty: result.audit.entries === 0,
    rateLimited: result.slack.rateLimited,
    endedByThemselves: result.kills.endedByThemselves,
    killsMissing: kills - result.kills.bots - result.kills.redis,
  };
}

const nothing = {
  lost: [],
  doubled: [],
  misplaced: [],
  strangers: [],
  overtaken: [],
  notAcknowledged: 0,
  workLeft: 0,
  audit: 'whole',
  isAuditEmpty: false,
  rateLimited: 0,
  endedByThemselves: 0,
  killsMissing: 0,
};

function numbersOf(references: readonly string[]): string[] {
  return [...new Set(references.map((reference) => reference.slice(-6)))].toSorted();
}

/** Real processes, since they are killed. \`npm run chaos\` does much more, and CI some, on both stores. */
describe.concurrent('a small chaos', () => {
  it.skipIf(missing)(
    'on Redis, which is killed too: nothing lost, nothing doubled, in order and at Slack’s pace',
    async () => {
      console.log(`chaos: seed ${seed}`);
      // More faults of Slack than usual, so that a few posts meet some.
      const result = await runChaos({ ...small, store: 'redis', kills, bundle, faultShare: 0.03 });
      expect(whatWentWrong(result)).toEqual(nothing);
    },
  );

  it('finds what a broken store lost and doubled, and nothing else', async () => {
    const result = await runChaos({
      ...small,
      store: 'sqlite',
      kills: 0,
      bundle,
      faultShare: 0,
      isBroken: true,
    });
    expect(result.acknowledged).toBe(events);
    expect(numbersOf(result.lost)).toEqual(['000007', '000017']);
    expect(numbersOf(result.doubled)).toEqual(['000003', '000013', '000023']);
    expect(result).toMatchObject({ misplaced: [], strangers: [], workLeft: 0 });
  });
});
