import { describe, expect, it } from 'vitest';
import { coverageOf, isSigned, parseSignatureTemplate } from '../../src/webhooks/signature-template.ts';

function parts(words: string) {
  const template = parseSignatureTemplate(words);
  if (!template.ok) throw new Error(template.problem);
  return template.value;
}

describe('parseSignatureTemplate', () => {
  it('reads every kind of place and keeps the text between', () => {
    expect(parts('{header:X-Id}.{pair:t}|{json:/data/order~1x/0}:{body}')).toEqual([
      { kind: 'header', name: 'x-id' },
      { kind: 'text', text: '.' },
      { kind: 'pair', key: 't' },
      { kind: 'text', text: '|' },
      { kind: 'json', pointer: '/data/order~1x/0' },
      { kind: 'text', text: ':' },
      { kind: 'body' },
    ]);
  });

  it.each([
    '{boddy}',
    '{header:}',
    '{header:a b}',
    '{json:data}',
    '{json:/a~2}',
    '{pair:a=b}',
    '{',
    'a}b',
    '{{body}}',
  ])('says what to write instead of %s', (words) => {
    const template = parseSignatureTemplate(words);
    expect(template.ok ? '' : template.problem).toContain('write {body}, {header:NAME}');
  });
});

describe('coverageOf', () => {
  it('is the body as soon as the body is in it, else the fields named', () => {
    expect(coverageOf(parts('{json:/a}.{body}'))).toEqual({ covers: 'body' });
    expect(coverageOf(parts('{json:/a}.{header:x}.{json:/b}'))).toEqual({
      covers: 'fields',
      pointers: ['/a', '/b'],
    });
  });
});

describe('isSigned', () => {
  it('holds a field for signed when the body is, and a header only when it is named', () => {
    expect(isSigned({ kind: 'json', pointer: '/at' }, parts('{body}'))).toBe(true);
    expect(isSigned({ kind: 'json', pointer: '/at' }, parts('{json:/other}'))).toBe(false);
    expect(isSigned({ kind: 'header', name: 'x-at' }, parts('{body}'))).toBe(false);
    expect(isSigned({ kind: 'header', name: 'x-at' }, parts('{header:X-At}.{body}'))).toBe(true);
  });
});
