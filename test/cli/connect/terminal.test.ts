import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { type Question, Stopped } from '../../../src/cli/connect/conversation.ts';
import { atTerminal } from '../../../src/cli/connect/terminal.ts';

const ctrlC = '\u0003';
const enter = '\r';

/** A terminal, and everything it has shown. */
function open() {
  const input = new PassThrough();
  const output = Object.assign(new PassThrough(), { columns: 120, rows: 40, isTTY: true });
  let shown = '';
  output.on('data', (piece: Buffer) => (shown += piece.toString()));
  const talk = atTerminal({ input, output });
  /** Types the keys one by one, after the question is on the screen. */
  async function answer(question: Question, ...keys: string[]): Promise<string | undefined> {
    const asked = talk.ask(question);
    for (const key of keys) {
      await new Promise((resolve) => setImmediate(resolve));
      input.write(key);
    }
    return await asked;
  }
  return { talk, input, answer, shown: () => shown };
}

function check(text: string): string | undefined {
  return text === 'right' ? undefined : 'must be right';
}

/** Ends when it is aborted. */
function untilAborted(signal: AbortSignal): Promise<string> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve('late')));
}

describe('a person at the terminal', () => {
  it('types a secret that is never shown', async () => {
    const { answer, shown } = open();
    expect(await answer({ name: 'client_secret', form: 'secret' }, 'se', 'cret-canary', enter)).toBe(
      'secret-canary',
    );
    expect(shown()).toContain('Your client secret?');
    expect(shown()).not.toMatch(/secret-|canary|cret-c/);
  });

  it.each<[string, string[], string | undefined]>([
    ['takes the proposal with Enter', [enter], 'https://known.test'],
    ['types another answer', ['https://other.test', enter], 'https://other.test'],
    ['skips with a dash', ['-', enter], undefined],
  ])('%s', async (_what, keys, expected) => {
    const { answer } = open();
    expect(await answer({ name: 'address', proposal: 'https://known.test' }, ...keys)).toBe(expected);
  });

  it('skips with Enter without a proposal, and keeps a set secret without seeing it', async () => {
    const { answer, shown } = open();
    expect(await answer({ name: 'address' }, enter)).toBeUndefined();
    expect(await answer({ name: 'client_secret', form: 'secret', proposal: 'set-canary' }, enter)).toBe(
      'set-canary',
    );
    expect(shown()).not.toContain('canary');
  });

  it('is told what is wrong with an answer, and can correct it', async () => {
    const { answer, shown } = open();
    expect(await answer({ name: 'account', check }, 'wr', enter, '\u0015', 'right', enter)).toBe('right');
    expect(shown()).toContain('It must be right');
  });

  it('types a secret again after a wrong one, without clearing the old one', async () => {
    const { answer } = open();
    const question: Question = { name: 'client_secret', form: 'secret', check };
    expect(await answer(question, 'wrong', enter, 'right', enter)).toBe('right');
  });

  it('chooses from a few options', async () => {
    const { answer } = open();
    const question: Question = { name: 'environment', form: ['sandbox', 'live'], proposal: 'sandbox' };
    expect(await answer(question, '\u001B[B', enter)).toBe('live');
  });

  it('pastes several lines', async () => {
    const { answer } = open();
    const lines = await answer(
      { name: 'token_request', form: 'lines' },
      'curl x \\',
      enter,
      '-d y',
      enter,
      enter,
    );
    expect(lines).toBe('curl x \\\n-d y');
  });

  it('stops with Ctrl-C', async () => {
    const { answer } = open();
    await expect(answer({ name: 'address' }, ctrlC)).rejects.toThrow(new Stopped('Stopped.'));
  });

  it('waits for a result, or continues without it', async () => {
    const { talk, input, shown } = open();
    expect(await talk.waitFor('Waiting.', () => Promise.resolve('came'))).toBe('came');
    const waiting = talk.waitFor('Waiting.', untilAborted);
    setImmediate(() => input.write(enter));
    expect(await waiting).toBeUndefined();
    expect(shown()).toContain('Waiting. Enter goes on without.');
  });
});
