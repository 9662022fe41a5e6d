import { describe, expect, it } from 'vitest';
import { nearestWord } from '../../src/domain/wording.ts';

const verbs = ['lookup', 'charge', 'otp', 'help', 'alerts', 'accounts'];

describe('nearestWord', () => {
  it('finds a word with a letter missing, added, wrong or swapped, in any case', () => {
    for (const typed of ['lokup', 'loookup', 'lookip', 'lokoup', 'LOOKUP', 'lokip']) {
      expect(nearestWord(typed, verbs)).toBe('lookup');
    }
    expect(nearestWord('opt', verbs)).toBe('otp');
    expect(nearestWord('hlep', verbs)).toBe('help');
  });

  it('takes no far or tiny word for a near one', () => {
    for (const typed of ['', 'ab', 'ot', 'lkp', 'lkpu', 'xyzzy', 'ORDER-1042']) {
      expect(nearestWord(typed, verbs)).toBeUndefined();
    }
  });

  it('prefers the nearer of two words, and the first of equally near ones', () => {
    expect(nearestWord('alert', ['alarms', 'alerts'])).toBe('alerts');
    expect(nearestWord('cart', ['card', 'care'])).toBe('card');
  });
});
