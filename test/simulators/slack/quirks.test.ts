import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { quirkWords, readQuirks } from '../../../src/simulators/slack/quirks.ts';

const page = readFileSync('src/simulators/slack/README.md', 'utf8');

it.each(Object.keys(quirkWords))('%s has its source in the README', (name) => {
  expect(page).toContain(`\`${name}\``);
});

it('are read by name or all together; an unknown one is refused with a list of the known ones', () => {
  expect(readQuirks('')).toEqual({});
  expect(readQuirks('isHistorySlow,deliversTwice')).toEqual({ isHistorySlow: true, deliversTwice: true });
  expect(Object.keys(readQuirks('all'))).toEqual(Object.keys(quirkWords));
  expect(() => readQuirks('editsNeedLuck')).toThrow(/editsNeedLuck[^]*editsNeedMembership: the bot may edit/);
});
