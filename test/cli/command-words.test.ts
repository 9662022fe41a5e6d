import { describe, expect, it } from 'vitest';
import { readCommandWords } from '../../src/cli/command-words.ts';

function read(...words: string[]) {
  const asked = readCommandWords(words, ['redrive', 'revoke-token']);
  return asked.ok ? asked.value : asked.problem;
}

describe('what is typed behind payops', () => {
  it('is a question, its options before or behind it', () => {
    expect(read('lookup', 'INV-1', '12,500.00', '--json')).toEqual({
      kind: 'question',
      quiet: false,
      question: { command: 'lookup', output: 'json', reference: 'INV-1', amountMinor: 1_250_000 },
    });
    expect(read('-q', '--csv', 'terminals', 'lekki', 'kiosk')).toEqual({
      kind: 'question',
      quiet: true,
      question: { command: 'terminals', output: 'csv', filter: 'lekki kiosk', all: false },
    });
    expect(read('account', 'PLAYGROUND-SUB-00003')).toMatchObject({
      question: { key: { by: 'accountRef', value: 'PLAYGROUND-SUB-00003' } },
    });
    expect(read('lookup', '--', '--INV')).toMatchObject({ question: { reference: '--INV' } });
  });

  it('may take the playground’s settings, by its usual port or another', () => {
    expect(read('doubt')).not.toHaveProperty('playgroundPort');
    expect(read('--playground', 'doubt')).toMatchObject({ playgroundPort: 4400 });
    expect(read('--playground-port', '4401', 'doubt')).toMatchObject({ playgroundPort: 4401 });
    expect(read('--playground', '--playground-port', '4401', 'doubt')).toMatchObject({
      playgroundPort: 4401,
    });
    for (const port of ['0', '65536', 'x', '-1', '4400.5']) {
      expect(read(`--playground-port=${port}`, 'doubt')).toContain('from 1 to 65535');
    }
  });

  it('is help when nothing is asked, or help is', () => {
    for (const words of [[], ['help'], ['-h'], ['help', 'lookup']]) {
      expect(read(...words)).toEqual({ kind: 'help' });
    }
    expect(read('--version')).toEqual({ kind: 'version' });
  });

  it('is no question and no success where a reference reads like an option', () => {
    for (const word of ['--help', '-h', '--version', '-hq']) {
      for (const words of [
        ['lookup', word],
        ['lookup', word, '12,500.00'],
        ['lookup', 'INV-1', word],
      ]) {
        expect(read(...words)).toEqual({ kind: 'help', instead: true });
      }
      expect(read('lookup', '--', word)).toMatchObject({ question: { reference: word } });
    }
  });

  it('is answered with what is wrong in it', () => {
    expect(read('lookup')).toContain('A reference is missing');
    expect(read('lookup', 'A', 'x')).toContain('An amount is digits');
    expect(read('lookup', 'ORDER', '17', 'B')).toContain('"ORDER 17 B"');
    expect(read('lookup', 'A', '--all')).toContain('--all is not for this command');
    expect(read('terminals', 'x'.repeat(101))).toContain('at most 100 characters');
    expect(read('terminal')).toBe('Payops has no command “terminal”. Did you mean terminals?');
    expect(read('revoke')).toBe('Payops has no command “revoke”. Did you mean revoke-token?');
    expect(read('-q', 'redrive')).toContain('npm run redrive');
    expect(read('terminals', '--csv=x')).toContain('--csv');
    expect(read('\u001B[2Jevil')).not.toContain('\u001B');
  });

  it('is refused whole, and repeated by nobody, where it holds a card number', () => {
    for (const words of [
      ['lookup', '5555555555554444'],
      ['terminals', '5555', '5555', '5555', '4444'],
      ['--5555555555554444'],
    ]) {
      expect(read(...words)).toMatch(/^That looks like a card number/);
      expect(read(...words)).not.toContain('4444');
    }
  });
});
