import { describe, expect, it } from 'vitest';
import { answeredByFile, readAnswers, Stopped } from '../../../src/cli/connect/conversation.ts';
import { isSettingName } from '../../../src/config/read-config.ts';

function read(text: string) {
  return readAnswers(text, isSettingName);
}

describe('a file of answers', () => {
  it('is read as text, also a value that looks like a number', () => {
    const answers = read(
      'client_secret: 0017\npaid_amount: 5000.00\ntoken_request: |\n  curl x \\\n    -d y\nPORT: 3001\n',
    );
    expect(answers.ok && [...answers.value]).toEqual([
      ['client_secret', '0017'],
      ['paid_amount', '5000.00'],
      ['token_request', 'curl x \\\n  -d y'],
      ['PORT', '3001'],
    ]);
    expect(read('')).toEqual({ ok: true, value: new Map() });
  });

  it.each([
    [
      'client_secrt: canary',
      'answers client_secrt, which is no question and no setting. Did you mean client_secret?',
    ],
    ['client_secret: [canary]', 'client_secret must be one text'],
    ['- canary', 'no list of question: answer'],
    ['client_secret: "canary', 'is not YAML'],
  ])('is refused as %j, without repeating a value', (text, problem) => {
    const answers = read(text);
    expect(answers).toMatchObject({ ok: false, problem: expect.stringContaining(problem) });
    expect(JSON.stringify(answers).replace('client_secrt', '')).not.toContain('canary');
  });

  const talk = answeredByFile(
    new Map([
      ['account', 'canary'],
      ['parent_account', '-'],
      ['environment', 'test'],
    ]),
    () => Promise.resolve(),
    1,
  );

  it('takes the proposal for a missing answer, and skips a question answered with a dash', async () => {
    expect(await talk.ask({ name: 'address', proposal: 'https://x.test' })).toBe('https://x.test');
    expect(await talk.ask({ name: 'address' })).toBeUndefined();
    expect(await talk.ask({ name: 'parent_account', proposal: 'other' })).toBeUndefined();
    expect(await talk.ask({ name: 'account' })).toBe('canary');
  });

  it('stops at an answer that cannot be used, without repeating it', () => {
    expect(() => talk.ask({ name: 'account', check: () => 'must be a UUID' })).toThrow(
      new Stopped('The answer account must be a UUID.'),
    );
    expect(() => talk.ask({ name: 'environment', form: ['live', 'sandbox'] })).toThrow(
      new Stopped('The answer environment must be live or sandbox.'),
    );
  });
});
