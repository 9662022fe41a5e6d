import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { endpoints, tags } from './spec-endpoints.ts';
import { chargeOutcomes, httpStatuses, limits, rejections, states } from './spec-outcomes.ts';
import { sandboxBehaviours, sandboxEndpoints } from './spec-sandbox.ts';
import { endpointRules, events, notShown } from './spec-sentences.ts';
import {
  account,
  checkoutOrderBody,
  eventFields,
  responseEnvelope,
  savedCard,
  transaction,
} from './spec-tables.ts';

const text = readFileSync(new URL('../../openapi/specification.md', import.meta.url), 'utf8');

/** In the specification's own order. */
const transcribed = [
  responseEnvelope,
  account,
  savedCard,
  transaction,
  states,
  checkoutOrderBody,
  chargeOutcomes,
  sandboxEndpoints,
  events,
  eventFields,
  httpStatuses,
  rejections,
  limits,
];

/** Every markdown table as its lines without the dashes. */
function tablesOf(markdown: string): string[][] {
  return markdown
    .split(/\n(?!\|)/)
    .map((block) => block.split('\n').filter((line) => line.startsWith('|') && !/^\|[-|]+\|$/.test(line)))
    .filter((lines) => lines.length > 0);
}

describe('the transcription of the specification', () => {
  it('has every table and every row, word for word', () => {
    const told = transcribed.map(({ header, rows }) => [header, ...rows.map(({ row }) => row)]);
    expect(told).toEqual(tablesOf(text));
  });

  it('has every endpoint heading', () => {
    const headings = text.match(/\*\*[A-Z]+(?: and [A-Z]+)? \{base_url\}\S+\*\*/g) ?? [];
    expect([...new Set(endpoints.map(({ heading }) => heading))].toSorted()).toEqual(headings.toSorted());
  });

  it.each(endpoints.filter(({ headers }) => headers !== ''))(
    'quotes what $method $path says about headers',
    ({ heading, headers }) => {
      const [, afterHeading = ''] = text.split(heading);
      const [own = ''] = afterHeading.split('\n**');
      expect(own).toContain(headers);
    },
  );

  it.each(endpoints.filter(({ headers }) => headers === ''))(
    'finds nothing about headers at $method $path',
    ({ heading }) => {
      const [, afterHeading = ''] = text.split(heading);
      const [own = ''] = afterHeading.split(/\n\*\*|\n#/);
      expect(own).not.toMatch(/header|bearer|authorization/i);
    },
  );

  it('has the group names', () => {
    expect(text).toContain(`under these names: ${tags.join(', ')}.`);
  });

  it.each([...sandboxBehaviours, ...endpointRules])('quotes: $words', ({ words }) => {
    expect(text).toContain(words);
  });

  it('has every "not shown"', () => {
    const left = notShown.reduce((rest, { words }) => {
      expect(text).toContain(words);
      return rest.replaceAll(words, '');
    }, text);
    expect(left.split('\n').filter((line) => line.includes('not shown'))).toEqual([]);
  });
});
