import { expect, it } from 'vitest';
import { stateWord } from '../../src/slack/story/story-words.ts';

it.each(['constructor', 'toString', 'valueOf'])(
  'a state that nobody knows, called %s, is a word',
  (state) => {
    expect(stateWord(state)).toBe(state);
  },
);
