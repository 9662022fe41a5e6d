import { describe, expect, it } from 'vitest';
import { parseRedisAddress } from '../../src/domain/redis-address.ts';

describe('parseRedisAddress', () => {
  it('leaves the address of a Redis alone as it is', () => {
    for (const url of ['redis://host', 'rediss://user:p%40ss@host:6380/2']) {
      expect(parseRedisAddress(url)).toEqual({ kind: 'alone', url });
    }
  });

  it('reads the Sentinels and the name of the master they watch', () => {
    expect(parseRedisAddress('redis+sentinel://:secret@one,two:5000/my%20master')).toEqual({
      kind: 'sentinel',
      master: 'my master',
      nodes: [
        { host: 'one', port: 26379 },
        { host: 'two', port: 5000 },
      ],
      tls: false,
      username: undefined,
      password: 'secret',
    });
    expect(parseRedisAddress('rediss+sentinel://bot:p%40%3Ass:x@[::1]/main')).toMatchObject({
      nodes: [{ host: '::1', port: 26379 }],
      tls: true,
      username: 'bot',
      password: 'p@:ss:x',
    });
  });

  it.each([
    '',
    'host',
    'http://host',
    'redis://host:port',
    'redis+cluster://one,two',
    'redis+sentinel:///main',
    'redis+sentinel://one,,two/main',
    'redis+sentinel://one,two:70000/main',
    'redis+sentinel://us%er%:pw@one/main',
    'redis+sentinel://one,two',
    'redis+sentinel://one,two/',
    'redis+sentinel://one/master/2',
    'redis+sentinel://one/%E0%A4%A',
    'redis+other://one',
  ])('refuses %j', (text) => {
    expect(parseRedisAddress(text)).toBeUndefined();
  });
});
