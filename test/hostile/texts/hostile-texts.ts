import type { Random } from '../../chaos/random.ts';

/** Part of every hostile text, next to its markup: shows where outside words ended up. */
export const mark = 'evil';

/** Each would be more than words if Slack, or a reader, interpreted it. */
const pieces: readonly string[] = [
  '<!channel>evil',
  '<!here|evil>',
  '<!everyone>evil',
  '<@U0EVIL0001>evil',
  '<@U0EVIL0001|evil>',
  '<#C0EVIL0001|evil>',
  '<!subteam^S0EVIL0001|evil>',
  '<!date^1392734382^{date_long} evil^https://evil.example/|evil>',
  '<http://evil.example|Paid>',
  '<https://evil.example>',
  '<mailto:evil@example.com|Support>',
  '<slack://user?team=T1&id=U0EVIL0001|evil>',
  '<javascript:evil()|evil>',
  'https://evil.example/pay?a=1&b=<2>',
  'evil.example',
  'evil@example.com',
  '@evil @channel @here @everyone #evil',
  '*evil*',
  '_evil_',
  '~evil~',
  '`evil`',
  '```\nevil\n```',
  '>evil',
  '>>> evil',
  '&gt; evil',
  '• evil',
  '1. evil',
  ':evil: :rotating_light:',
  '[evil](https://evil.example)',
  '# evil',
  '| evil | evil |',
  '&lt;!channel&gt;evil',
  '&amp;lt;!channel&amp;gt;evil',
  '&#60;!channel&#62;evil',
  '&evil;',
  'evil&',
  '＜!channel＞evil',
  '\\<!channel\\>evil',
  '\\u003c!channel\\u003eevil',
  '\nevil',
  'evil\n✅ Paid (confirmed)\nNext: evil',
  'evil\r\nevil',
  'evil\u2028evil\u2029evil',
  'evil\v\f\u0085evil',
  '\u202Elive\u202Cevil',
  '\u2066evil\u2069',
  '\u200Fevil\u200E',
  'ev\u200Bi\u200Dl evil',
  '\u2060evil\uFEFF',
  'evil\u00AD',
  'evil\u{E0041}\u{E0042}\u{E007F}',
  'evil\u180E\u3164\u115F',
  '\0evil\u0007\u001B[31mevil',
  '💳evil👩‍👩‍👧‍👦evil🏴󠁧󠁢󠁥󠁮󠁧󠁿',
  '𝒆𝒗𝒊𝒍 evil 余额不足',
  `evil${'\u0301'.repeat(60)}`,
  'evil\uD800',
  '\uDC00evil',
  'evil\uD83D\uD83D',
  '{"text":"evil","blocks":[]}',
  '"},{"type":"section","text":{"type":"mrkdwn","text":"evil"}},{"a":"',
  '{{evil}} ${evil} %s %n evil',
  '__proto__evil',
  'null evil',
  '<',
  '>',
  '&',
  '<<!channel>>evil',
  '<!chan<!channel>nel>evil',
  '<!channel',
  'channel>evil',
];

const joints = ['', ' ', ' ', '\n', '|', '>', '<', '&', '\u200B', '*'];

/** Pieces in any order, sometimes cut (even inside a character), sometimes very long. */
export function hostileText(random: Random): string {
  let text = random.pick(pieces);
  const more = random.below(5);
  for (let count = 0; count < more; count += 1) text += random.pick(joints) + random.pick(pieces);
  const kind = random.below(100);
  if (kind < 3) text = text.repeat(1 + random.below(200)).slice(0, 20_000);
  else if (kind < 6)
    text = random.pick(['&', '<', '\uD83D', '💳', 'W']).repeat(1 + random.below(5_000)) + text;
  else if (kind < 20) text = text.slice(random.below(text.length));
  else if (kind < 34) text = text.slice(0, 1 + random.below(text.length));
  return text;
}
