import { describe, expect, it } from 'vitest';
import { parseRedisAddress } from '../../src/store/redis-address.ts';

describe('parseRedisAddress', () => {
  it('leaves the address of a single Redis unchanged', () => {
    for (const url of ['redis://host', 'rediss://user:p%40ss@host:6380/2']) {
      expect(parseRedisAddress(url)).toEqual({ kind: 'alone', url });
    }
  });

  it('reads the nodes of a Cluster, with and without ports, TLS and a login', () => {
    expect(parseRedisAddress('redis+cluster://one,two:7000,[::1]:7001')).toEqual({
      kind: 'cluster',
      nodes: [
        { host: 'one', port: 6379 },
        { host: 'two', port: 7000 },
        { host: '::1', port: 7001 },
      ],
      tls: false,
      username: undefined,
      password: undefined,
    });
    expect(parseRedisAddress('rediss+cluster://bot:p%40%3Ass:x@one:7000/0')).toMatchObject({
      tls: true,
      username: 'bot',
      password: 'p@:ss:x',
    });
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
  });

  it.each([
    '',
    'host',
    'http://host',
    'redis://host:port',
    'redis+cluster://',
    'redis+cluster://one,,two',
    'redis+cluster://one,two:70000',
    'redis+cluster://one/1',
    'redis+cluster://us%er%:pw@one',
    'redis+sentinel://one,two',
    'redis+sentinel://one,two/',
    'redis+sentinel://one/master/2',
    'redis+sentinel://one/%E0%A4%A',
    'redis+other://one',
  ])('refuses %j', (text) => {
    expect(parseRedisAddress(text)).toBeUndefined();
  });
});
