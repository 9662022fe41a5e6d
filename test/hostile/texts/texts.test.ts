import { randomInt } from 'node:crypto';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type * as TextModule from '../../../src/slack/kit/text.ts';
import { findLiveText } from './find-live-text.ts';
import { own, runTexts } from './run-texts.ts';

const fault = vi.hoisted(() => ({ name: 'none' }));

vi.mock(import('../../../src/slack/kit/text.ts'), async (load): Promise<typeof TextModule> => {
  const real = await load();
  return {
    ...real,
    mrkdwnText: (text, max) =>
      fault.name === 'escapes nothing' ? text.slice(0, max) : real.mrkdwnText(text, max),
    outsideText: (text, max) =>
      fault.name === 'keeps line breaks' ? real.visible(text).slice(0, max) : real.outsideText(text, max),
    visible: (text) => (fault.name === 'keeps invisible characters' ? text : real.visible(text)),
  };
});

afterEach(() => {
  fault.name = 'none';
});

describe('hostile texts', () => {
  it('act in nothing that the bot shows, and Slack takes all of it', () => {
    const seed = randomInt(2 ** 31);
    const { live, unfit, shown } = runTexts({ count: 15_000, seed });
    expect(live.slice(0, 5), `seed ${seed}`).toEqual([]);
    expect(unfit.slice(0, 5), `seed ${seed}`).toEqual([]);
    expect(shown).toBeGreaterThan(1_000);
  });

  it.each(['escapes nothing', 'keeps line breaks', 'keeps invisible characters'])(
    'would be seen to act if the bot %s',
    (name) => {
      fault.name = name;
      const seed = randomInt(2 ** 31);
      expect(runTexts({ count: 8_000, seed }).live.length, `seed ${seed}`).toBeGreaterThan(0);
    },
  );
});

describe('the checker', () => {
  const paymentLink = 'https://pay.example/1';
  const withLink = { ...own, paymentLink };
  const fine = {
    text: 'Declined &amp; &lt;evil&gt;',
    blocks: [
      { type: 'section', text: { type: 'mrkdwn', text: 'received &lt;evil&gt;', verbatim: true } },
      { type: 'context', elements: [{ type: 'plain_text', text: '<!channel> *evil*', emoji: false }] },
      rich({ type: 'text', text: '<@U0EVIL0001> *evil*' }, { type: 'user', user_id: own.users[0] }),
    ],
  };

  it('allows a button to open the screen’s own payment link, and no other', () => {
    expect(findLiveText(only(opens(paymentLink)), withLink)).toEqual([]);
    expect(findLiveText(only(opens(paymentLink)), own)).not.toEqual([]);
  });

  it('finds nothing if outside words are plain words', () => {
    expect(findLiveText(fine, own)).toEqual([]);
  });

  it.each([
    ['a mention in the fallback', { ...fine, text: '<!channel>' }],
    ['an entity that is none', { ...fine, text: 'evil &evil;' }],
    ['a second line in the fallback', { ...fine, text: 'evil\n✅ Paid' }],
    ['a mention in mrkdwn', only(mrkdwn('<@U0EVIL0001>'))],
    ['a link in mrkdwn', only(mrkdwn('<https://evil.example|Paid>'))],
    ['a date of somebody else’s', only(mrkdwn('<!date^1392734382^{date_long} evil|evil>'))],
    ['a style in mrkdwn', only(mrkdwn('*evil*'))],
    ['a picture in mrkdwn', only(mrkdwn(':evil:'))],
    ['bare addresses as links', only({ type: 'mrkdwn', text: 'evil.example', verbatim: false })],
    ['codes as pictures', only({ type: 'plain_text', text: ':evil:', emoji: true })],
    ['a person who is not ours', { blocks: [rich({ type: 'user', user_id: 'U0EVIL0001' })] }],
    ['a group that is not ours', { blocks: [rich({ type: 'usergroup', usergroup_id: 'S0EVIL0001' })] }],
    ['a call to all', { blocks: [rich({ type: 'broadcast', range: 'channel' })] }],
    ['a button that opens another address', only(opens('https://pay.example.evil.example/1'))],
    ['the link’s address with more behind it', only(opens(`${paymentLink}?to=evil`))],
    ['the link’s address where no button is', only({ ...opens(paymentLink), type: 'image' })],
    ['a link', { blocks: [rich({ type: 'link', url: 'https://evil.example' })] }],
    ['a line of its own', { blocks: [rich({ type: 'text', text: 'evil\n✅ Paid' })] }],
    ['letters turned round', { blocks: [rich({ type: 'text', text: '\u202Eevil' })] }],
    ['half a character', { blocks: [rich({ type: 'text', text: 'evil\uD83D' })] }],
    ['half a character in a value', { blocks: [{ type: 'button', value: '\uDC00' }] }],
  ])('finds %s', (_what, payload) => {
    expect(findLiveText(payload, withLink)).not.toEqual([]);
  });
});

function opens(url: string): object {
  return { type: 'button', text: { type: 'plain_text', text: 'Open link', emoji: false }, url };
}

function rich(...elements: object[]): object {
  return { type: 'rich_text', elements: [{ type: 'rich_text_section', elements }] };
}

function mrkdwn(text: string): object {
  return { type: 'mrkdwn', text, verbatim: true };
}

function only(element: object): object {
  return { blocks: [{ type: 'context', elements: [element] }] };
}
