import { describe, expect, it } from 'vitest';
import { isJsonPointer, valueAt, valueAtFirst, valueAtLoosely } from '../../src/domain/json-pointer.ts';

describe('valueAt', () => {
  // The examples of RFC 6901, section 5.
  const document: unknown = JSON.parse(
    String.raw`{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8}`,
  );

  it.each([
    ['', document],
    ['/foo', ['bar', 'baz']],
    ['/foo/0', 'bar'],
    ['/', 0],
    ['/a~1b', 1],
    ['/c%d', 2],
    ['/e^f', 3],
    ['/g|h', 4],
    [String.raw`/i\j`, 5],
    ['/k"l', 6],
    ['/ ', 7],
    ['/m~0n', 8],
  ])('reads the RFC’s example %s', (pointer, expected) => {
    expect(valueAt(document, pointer)).toEqual(expected);
  });

  it('finds no member that the object only inherits', () => {
    expect(valueAt({}, '/constructor/name')).toBeUndefined();
    expect(valueAt([], '/length')).toBeUndefined();
  });

  it.each(['/foo/2', '/foo/-', '/foo/01', '/foo/length', '/foo/0/bar', '/none/deeper', 'foo', '/m~2n'])(
    'finds nothing at %s',
    (pointer) => {
      expect(valueAt(document, pointer)).toBeUndefined();
    },
  );

  it('reads ~01 as ~1, not as a slash', () => {
    expect(valueAt({ '~1': 'x' }, '/~01')).toBe('x');
  });
});

describe('isJsonPointer', () => {
  it('knows a pointer from other text', () => {
    expect(['', '/', '/a/b', '/a~0~1'].every(isJsonPointer)).toBe(true);
    expect(['a', 'a/b', '/a~', '/a~2'].some(isJsonPointer)).toBe(false);
  });
});

describe('valueAtLoosely', () => {
  it('takes an array of one for its element, on the way and at the end', () => {
    expect(valueAtLoosely({ data: [{ order: [{ id: ['x'] }] }] }, '/data/order/id')).toBe('x');
    expect(valueAtLoosely({ data: [{ id: 'x' }] }, '/data/0/id')).toBe('x');
  });

  it('does not choose among several', () => {
    expect(valueAtLoosely({ data: [{ id: 'x' }, { id: 'y' }] }, '/data/id')).toBeUndefined();
  });
});

describe('valueAtFirst', () => {
  it('takes the first pointer under which there is something, and null is nothing', () => {
    expect(valueAtFirst({ a: null, b: { c: false } }, ['/none', '/a', '/b/c', '/b'])).toBe(false);
    expect(valueAtFirst({ a: null }, ['/a', 'a'])).toBeUndefined();
  });
});
