import { expect, it } from 'vitest';
import type { AlertRule } from '../../../src/domain/alert-route.ts';
import { channel, openStormWorld, startStormProcess } from '../storm-house.ts';

const threshold = 2;

function rule(name: string, more: Partial<AlertRule> = {}): AlertRule {
  return { name, match: {}, channels: [channel], goesOn: false, ...more };
}

async function kinds(rules: readonly (AlertRule | undefined)[]): Promise<string[]> {
  const { storms } = startStormProcess(openStormWorld(), threshold);
  const asked: string[] = [];
  for (const [index, one] of rules.entries()) {
    // oxlint-disable-next-line no-await-in-loop -- in their order
    asked.push(
      (await storms.ask({ channel, ...(one ? { rule: one } : {}) }, `alert-${index}`, 'payment_failed'))
        ? 'digest'
        : 'single',
    );
  }
  return asked;
}

it('calls whom a rule mentions though a storm of other alerts is on: an edited digest would call nobody', async () => {
  const calling = rule('large', { mention: { kind: 'group', id: 'S0ONCALL01' } });
  const burst = [undefined, undefined, undefined];
  expect(await kinds([...burst, calling, calling, calling, undefined])).toEqual(
    // The burst, those that call, and one more of the burst’s.
    ['single', 'single', 'digest', 'single', 'single', 'digest', 'digest'],
  );
});

it('counts the alerts of all rules that mention nobody as one', async () => {
  expect(await kinds([rule('one'), rule('two'), rule('three')])).toEqual(['single', 'single', 'digest']);
});
