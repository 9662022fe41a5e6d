import { describe, expect, it } from 'vitest';
import { createLog, inOneWrite } from '../src/log.ts';

describe('createLog', () => {
  it('writes no field that is not listed, whatever object was passed along', () => {
    const lines: string[] = [];
    const write = (line: string) => void lines.push(line);
    const log = createLog({ level: 'info', secrets: [], write, now: () => new Date(0) });
    const draft = { orderReference: 'pay-1', tokenKey: 'tok-1', customerEmail: 'jane@example.com' };
    log('info', 'charged', draft);
    expect(JSON.parse(lines.join(''))).toEqual({
      time: '1970-01-01T00:00:00.000Z',
      level: 'info',
      message: 'charged',
      orderReference: 'pay-1',
    });
  });

  it('strikes secrets out of every line, as they are and as JSON writes them, and leaves short words alone', () => {
    const lines: string[] = [];
    const log = createLog({
      level: 'info',
      secrets: ['se"cret-word', 'plain-secret', 'abc'],
      write: (line) => lines.push(line),
      now: () => new Date(0),
    });
    log('info', 'abc: plain-secret and se"cret-word, plain-secret again; Bearer a.b-c_d=', {
      key: 'plain-secret',
    });
    expect(JSON.parse(lines.join(''))).toEqual({
      time: '1970-01-01T00:00:00.000Z',
      level: 'info',
      message: 'abc: [secret] and [secret], [secret] again; Bearer [secret]',
      key: '[secret]',
    });
  });
});

describe('inOneWrite', () => {
  it('writes the lines of one turn together, in their order, and what is left when asked to', async () => {
    const written: string[] = [];
    const output = inOneWrite((lines) => written.push(lines));
    output.write('a\n');
    output.write('b\n');
    expect(written).toEqual([]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(written).toEqual(['a\nb\n']);
    output.write('c\n');
    output.flush();
    output.flush();
    await new Promise((resolve) => setImmediate(resolve));
    expect(written).toEqual(['a\nb\n', 'c\n']);
  });
});
