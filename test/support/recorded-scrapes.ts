import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findProgram } from './programs.ts';

export const rulesPath = fileURLToPath(new URL('../../deploy/prometheus-rules.yml', import.meta.url));
const betweenSeconds = 30;
/** A sample of the text format: name, labels if any, value. */
const samplePattern = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;

/** The text of a target's /metrics; rejects if it doesn't answer. */
export type Target = () => Promise<string> | string;

export type RecordedScrapes = {
  /** One scrape of every target, half a minute after the one before, however long that was. */
  take: () => Promise<void>;
  /**
   * What Prometheus’ promtool says if other alarms than these have fired by the deployed rules, or one of these has not;
   * else nothing. `except`: alarms that may have fired or not.
   */
  wrongs: (fires: readonly string[], except?: readonly string[]) => Promise<string>;
};

/** Scrapes in the time of the scraped: a slow machine takes longer for them, and they tell the same. */
export function recordScrapes(...targets: readonly Target[]): RecordedScrapes {
  const series = new Map<string, string[]>();
  let taken = 0;

  function record(name: string, value: string): void {
    const values = series.get(name) ?? [];
    series.set(name, values);
    while (values.length < taken) values.push('_');
    values.push(value);
  }

  async function take(): Promise<void> {
    const answers = await Promise.allSettled(targets.map(async (target) => await target()));
    for (const [index, answer] of answers.entries()) {
      const own = `job="payops",instance="bot-${index + 1}"`;
      record(`up{${own}}`, answer.status === 'fulfilled' ? '1' : '0');
      if (answer.status === 'rejected') continue;
      for (const line of answer.value.split('\n')) {
        const [, name, labels, value = ''] = samplePattern.exec(line) ?? [];
        if (name !== undefined) record(`${name}{${labels ? `${labels},` : ''}${own}}`, value);
      }
    }
    taken += 1;
    // As Prometheus does for a series that a scrape no longer has.
    for (const values of series.values()) if (values.length < taken) values.push('stale');
  }

  async function wrongs(fires: readonly string[], except: readonly string[] = []): Promise<string> {
    const fired = `ALERTS{alertstate="firing",alertname!~"${except.join('|')}"}`;
    return await judge({
      rule_files: [rulesPath],
      evaluation_interval: '15s',
      tests: [
        {
          interval: `${betweenSeconds}s`,
          input_series: [...series].map(([name, values]) => ({ series: name, values: values.join(' ') })),
          promql_expr_test: [
            {
              expr: `group by (alertname) (count_over_time(${fired}[1d]))`,
              eval_time: `${(taken - 1) * betweenSeconds}s`,
              exp_samples: fires.map((alertname) => ({ labels: `{alertname="${alertname}"}`, value: 1 })),
            },
          ],
        },
      ],
    });
  }

  return { take, wrongs };
}

/** Has promtool run its unit tests; returns what it says if they fail. */
export async function judge(tests: object): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'payops-rules-'));
  const path = join(folder, 'tests.yml');
  // JSON is YAML.
  writeFileSync(path, JSON.stringify(tests));
  try {
    await promisify(execFile)(findProgram('promtool') ?? 'promtool', ['test', 'rules', path]);
    return '';
  } catch (failure) {
    const { stdout = '', stderr = '' } = failure as { stdout?: string; stderr?: string };
    return `${stdout}${stderr}` || String(failure);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
