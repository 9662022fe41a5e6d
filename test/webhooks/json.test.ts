import { describe, expect, it } from 'vitest';
import { valueAt } from '../../src/domain/json.ts';
import { readJson } from '../../src/webhooks/json.ts';

function read(text: string): unknown {
  const reading = readJson(Buffer.from(text));
  return reading.ok ? reading.value.value : reading.problem;
}

function hasDuplicateKeys(text: string): boolean | undefined {
  const reading = readJson(Buffer.from(text));
  return reading.ok ? reading.value.hasDuplicateKeys() : undefined;
}

describe('readJson', () => {
  it('keeps every number’s original text', () => {
    expect(read('{"id":12345678901234567890,"amount":5000.00,"n":[1e2,-0]}')).toEqual({
      id: '12345678901234567890',
      amount: '5000.00',
      n: ['1e2', '-0'],
    });
  });

  it.each([
    ['not JSON', Buffer.from('{"a":')],
    ['empty', Buffer.alloc(0)],
    ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ['nested a hundred thousand deep', Buffer.from('['.repeat(100_000) + ']'.repeat(100_000))],
  ])('answers with a problem and never throws when the body is %s', (_name, body) => {
    expect(readJson(body)).toEqual({ ok: false, problem: 'the body is not JSON in UTF-8' });
  });

  it.each([
    ['{"a":1,"a":2}', true],
    ['{"a":{"b":1,"b":1}}', true],
    ['{"a":{"b":1},"a":{"c":1}}', true],
    [String.raw`{"a":1,"\u0061":2}`, true],
    ['[{"a":1},{"a":1}]', false],
    [String.raw`{"a":"\":","b":"x : y\\","c":{"a":null}}`, false],
    ['{"__proto__":1,"constructor":2}', false],
    ['{"__proto__":1,"__proto__":2}', true],
    ['"text"', false],
  ])('detects repeated keys: %s', (text, expected) => {
    expect(hasDuplicateKeys(text)).toBe(expected);
  });

  it('reads keys like `__proto__` as own keys', () => {
    expect(valueAt(read('{"__proto__":{"kind":"x"}}'), '/__proto__/kind')).toBe('x');
    expect(valueAt(read('{}'), '/__proto__')).toBeUndefined();
    expect(valueAt(read('{}'), '/constructor/name')).toBeUndefined();
  });
});
