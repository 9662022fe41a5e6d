import { describe, expect, it } from 'vitest';
import { tellEmptyRoles } from '../../src/app/empty-roles.ts';
import { policySchema } from '../../src/config/policy.ts';

function told(roles: object): string[] {
  const lines: string[] = [];
  const policy = policySchema.parse({ channels: { alerts: 'C0ALERTS01' }, roles });
  tellEmptyRoles(policy, (level, message) => void lines.push(`${level}: ${message}`));
  return lines;
}

describe('the roles of a policy file, at start', () => {
  it('are called empty where nobody is in any', () => {
    const words = 'warn: Nobody may do anything with the bot: no role lists people';
    expect(told({})).toEqual([words]);
    expect(told({ lead: { may: ['*'] } })).toEqual([words]);
  });

  it('are named where one alone is empty, and said nothing of where none is', () => {
    const agent = { users: ['U0AGENT01'], may: ['lookup'] };
    expect(told({ agent, lead: { may: ['*'] } })).toEqual(['warn: Role lead lists nobody']);
    expect(told({ agent, desk: { groups: ['@support'], may: ['lookup'] } })).toEqual([]);
  });
});
