import { describe, expect, it } from 'vitest';
import { tellRulesElsewhere } from '../../src/app/alert-routes.ts';
import type { RouteMatch, RoutePlan } from '../../src/domain/alert-route.ts';

const matches: Record<string, RouteMatch> = {
  anywhere: {},
  live: { environment: 'live' },
  sandbox: { environment: 'sandbox' },
  lagos: { account: 'lagos' },
  'lagos-sandbox': { account: 'lagos', environment: 'sandbox' },
  misspelt: { account: 'lagso' },
};

function plan(place: Pick<RoutePlan, 'account' | 'environment'>): RoutePlan {
  const rules = Object.entries(matches).map(([name, match]) => ({
    name,
    match,
    channels: ['C0ALERTS01'],
    goesOn: false,
  }));
  return { rules, ...place, failures: 'C0ALERTS01', successes: undefined };
}

function told(...plans: RoutePlan[]): string[] {
  const lines: string[] = [];
  tellRulesElsewhere(plans, (level, message) => void lines.push(`${level}: ${message}`));
  return lines;
}

describe('what a start says of rules for places where the bot is not', () => {
  const lagos = plan({ account: 'lagos', environment: 'live' });
  const accra = plan({ account: 'accra', environment: 'sandbox' });

  it('names each with what it asks for, and no other', () => {
    const here = 'and this bot has lagos (live)';
    expect(told(lagos)).toEqual([
      `warn: Rule sandbox can never fit here: it asks for sandbox, ${here}`,
      `warn: Rule lagos-sandbox can never fit here: it asks for lagos in sandbox, ${here}`,
      `warn: Rule misspelt can never fit here: it asks for lagso, ${here}`,
    ]);
  });

  it('names none that fits one of the accounts, and one that asks for what no account is at once', () => {
    expect(told(lagos, accra).map((line) => /Rule (\S+)/.exec(line)?.[1])).toEqual([
      'lagos-sandbox',
      'misspelt',
    ]);
  });
});
