import { describe, expect, it } from 'vitest';
import { isJsonPointer, valueAt, valueAtFirst, valueAtLoosely } from '../../src/domain/json.ts';

describe('valueAt', () => {
  const document: unknown = JSON.parse(
    String.raw`{"foo":["bar","baz"],"":0,"a/b":1,"i\\j":5,"k\"l":6," ":7,"m~n":8,"~1":9}`,
  );

  it.each([
    ['', document],
    ['/foo', ['bar', 'baz']],
    ['/foo/0', 'bar'],
    ['/', 0],
    ['/a~1b', 1],
    [String.raw`/i\j`, 5],
    ['/k"l', 6],
    ['/ ', 7],
    ['/m~0n', 8],
    ['/~01', 9],
  ])('reads %s as in RFC 6901', (pointer, expected) => {
    expect(isJsonPointer(pointer)).toBe(true);
    expect(valueAt(document, pointer)).toEqual(expected);
  });

  // The last ones are members that every object inherits.
  const nothing = [
    '/foo/2',
    '/foo/-',
    '/foo/01',
    '/foo/0/bar',
    '/none/deeper',
    '/foo/length',
    '/constructor',
  ];
  it.each(nothing)('finds no value at %s', (pointer) => {
    expect(valueAt(document, pointer)).toBeUndefined();
  });

  it.each(['foo', 'a/b', '/a~', '/m~2n'])('refuses %s as a pointer', (pointer) => {
    expect(isJsonPointer(pointer)).toBe(false);
    expect(valueAt(document, pointer)).toBeUndefined();
  });
});

it('valueAtLoosely reads through an array with one element, at any step, and never chooses among several', () => {
  expect(valueAtLoosely({ data: [{ order: [{ id: ['x'] }] }] }, '/data/order/id')).toBe('x');
  expect(valueAtLoosely({ data: [{ id: 'x' }] }, '/data/0/id')).toBe('x');
  expect(valueAtLoosely({ data: [{ id: 'x' }, { id: 'y' }] }, '/data/id')).toBeUndefined();
});

it('valueAtFirst takes the first pointer with a value other than null', () => {
  expect(valueAtFirst({ a: null, b: { c: false } }, ['/none', '/a', '/b/c', '/b'])).toBe(false);
  expect(valueAtFirst({ a: null }, ['/a', 'a'])).toBeUndefined();
});
