import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleChaosBot, runChaos, type ChaosResult } from '../chaos/run-chaos.ts';
import type { Bundle } from '../support/bot-bundle.ts';
import { countOf } from '../support/counts.ts';
import { findProgram } from '../support/programs.ts';

const missing = findProgram('redis-server') === undefined;
if (missing) console.warn('SKIPPED: chaos on Redis, because redis-server is not installed.');

const events = countOf({ full: 240, share: 120 });
const kills = countOf({ full: 6, share: 4 });

let bundle: Bundle;
beforeAll(async () => {
  bundle = await bundleChaosBot();
});
afterAll(() => bundle?.remove());

/** A share of what `npm run chaos` does in full, with more of Slack’s faults so that some are among few posts. */
async function chaos(store: 'redis' | 'sqlite'): Promise<ChaosResult> {
  const seed = Date.now() % 1_000_000_000;
  console.log(`chaos on ${store}: seed ${seed}`);
  return await runChaos({
    store,
    events,
    kills,
    seed,
    compress: 20,
    channels: 10,
    bundle,
    faultShare: 0.03,
    leaseMs: 3_000,
  });
}

/** Everything that must not be; what the bots wrote about it goes to the console. */
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

describe.concurrent('bots killed at random under load', () => {
  it('on SQLite: nothing lost, nothing doubled, in order and at Slack’s pace', async () => {
    expect(whatWentWrong(await chaos('sqlite'))).toEqual(nothing);
  });

  it.skipIf(missing)('on Redis, which is killed too: the same with four replicas', async () => {
    expect(whatWentWrong(await chaos('redis'))).toEqual(nothing);
  });
});
