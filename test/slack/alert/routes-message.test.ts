import { describe, expect, it } from 'vitest';
import type { AlertRule, RoutePlan } from '../../../src/domain/alert-route.ts';
import { nothingRehearsed, type Rehearsal } from '../../../src/domain/rehearsal.ts';
import { routeBlocks } from '../../../src/slack/alert/alert-route-blocks.ts';
import { assertBlocks } from '../../../src/slack/assert-blocks.ts';
import type { Run } from '../../../src/slack/blocks.ts';
import {
  homeMutes,
  routesMessage,
  ruleLine,
  testAlertActionId,
  type RoutesView,
} from '../../../src/slack/alert/routes-message.ts';
import { testAlertMessage } from '../../../src/slack/alert/test-alert-message.ts';
import { firstLine, shownLines, unescaped } from '../shown-text.ts';

const channel = 'C0BIG00001';
const nowMs = Date.UTC(2026, 10, 21, 12);

const bigOnes: AlertRule = {
  name: 'big-ones',
  match: { event: 'payment_failed', currency: 'NGN', amount: { fromMinor: 10_000_000 } },
  channels: [channel],
  mention: { kind: 'group', id: 'S0ONCALL01' },
  quietHours: { fromMinute: 1_320, toMinute: 360, timeZone: 'Africa/Lagos' },
  goesOn: false,
};
const muted: AlertRule = {
  name: 'no-funds',
  match: { event: 'payment_failed', reasonPart: 'insufficient funds' },
  channels: [channel],
  mutedUntilMs: Date.UTC(2026, 11, 1),
  goesOn: false,
};

const place = { environment: 'live', account: 'main account' } as const;

function plan(rules: AlertRule[], more: Partial<RoutePlan> = {}): RoutePlan {
  return { rules, ...place, failures: 'C0ALERTS01', successes: undefined, ...more };
}

function shown(
  plan: RoutePlan,
  at = channel,
  rehearsal: RoutesView['rehearsal'] = nothingRehearsed,
  uses: RoutesView['uses'] = [],
): string[] {
  const message = routesMessage({ plan, channel: at, nowMs, rehearsal, uses });
  assertBlocks('message', message.blocks);
  expect(unescaped(message.text)).toBe(firstLine(message));
  return shownLines(message);
}

/** What a person reads; a mention as Slack shows it by its id, a moment as its fallback. */
function read(line: Run[]): string {
  return line
    .map((run) => {
      if (run.type === 'usergroup') return `@${run.usergroup_id}`;
      if (run.type === 'user') return `@${run.user_id}`;
      if (run.type === 'date') return run.fallback;
      return 'text' in run ? run.text : '';
    })
    .join('');
}

describe('/pay alerts in words', () => {
  it('says for each rule in one plain sentence what this channel gets and why', () => {
    expect(read(ruleLine(bigOnes, place, nowMs))).toBe(
      'Failed charges of NGN 100,000.00 or more, with @S0ONCALL01, by rule big-ones; quiet 22:00–06:00 Africa/Lagos.',
    );
    expect(read(ruleLine(muted, place, nowMs))).toBe(
      'Failed charges, when the reason says “insufficient funds”, by rule no-funds; muted until 2026-12-01 00:00 UTC.',
    );
  });

  it('says what of a rule never holds here, because one that goes on tells this channel the same first', () => {
    const all: AlertRule = { name: 'all-failures', match: {}, channels: [channel], goesOn: true };
    const lines = shown(plan([all, bigOnes])).join('\n');
    expect(lines).toContain('all-failures before it tells this channel the same, without its mention.');
    expect(shown(plan([bigOnes, all])).join('\n')).not.toContain('before it');
    expect(shown(plan([{ ...all, channels: ['C0OTHER001'] }, bigOnes])).join('\n')).not.toContain(
      'before it',
    );
  });

  it('no longer calls a rule muted whose mute is over', () => {
    expect(read(ruleLine(muted, place, Date.UTC(2026, 11, 1)))).not.toContain('muted');
  });

  it.each<[AlertRule['match'], string]>([
    [{}, 'Failed charges and successful payments'],
    [{ event: 'payment_success' }, 'Successful payments'],
    [{ event: 'payment_failed', isSavedCardCharge: true }, 'Failed saved-card charges'],
    [{ event: 'payment_success', isSavedCardCharge: false }, 'Successful first payments'],
    [{ isSavedCardCharge: false }, 'Failed and successful first payments'],
    [{ event: 'payment_failed', currency: 'USD' }, 'Failed charges in USD'],
    [
      { event: 'payment_failed', currency: 'NGN', amount: { toMinor: 5_000 } },
      'Failed charges of NGN 50.00 or less',
    ],
    [
      { event: 'payment_failed', currency: 'NGN', amount: { fromMinor: 0, toMinor: 5_000 } },
      'Failed charges of NGN 0.00 to NGN 50.00',
    ],
    [
      { event: 'payment_failed', customer: { kind: 'prefix', text: 'VIP-' } },
      'Failed charges, of customers whose id begins with VIP-',
    ],
    [
      { event: 'payment_failed', customer: { kind: 'exact', text: 'C-1' }, emailDomain: 'example.com' },
      'Failed charges, of customer C-1, of customers with an e-mail address at example.com',
    ],
    [{ event: 'payment_failed', environment: 'live' }, 'Failed charges, in LIVE only'],
    [{ event: 'payment_failed', account: 'main account' }, 'Failed charges, in “main account” only'],
    [
      { event: 'payment_failed', account: '<!channel>' },
      'Failed charges, in “<!channel>” only, where this bot is not',
    ],
    [
      { event: 'payment_failed', environment: 'sandbox' },
      'Failed charges, in SANDBOX only, where this bot is not',
    ],
  ])('says of %j: %s', (match, sentence) => {
    expect(read(ruleLine({ name: 'r', match, channels: [channel], goesOn: false }, place, nowMs))).toBe(
      `${sentence}, by rule r.`,
    );
  });

  it('says a rule’s severity, and that the rules after it are asked too', () => {
    const line = ruleLine({ ...bigOnes, severity: 'high', goesOn: true }, place, nowMs);
    expect(read(line)).toContain(
      ', as high severity, by rule big-ones, which goes on to the rules after it;',
    );
  });

  it('lists this channel’s rules in their order, mutes counted, and none of another channel', () => {
    const other = { ...bigOnes, name: 'elsewhere', channels: ['C0OTHER001'] };
    const lines = shown(plan([muted, other, bigOnes]));
    expect(lines[0]).toBe('🔔 This channel gets alerts · by 2 rules · 1 muted now');
    expect(lines.filter((line) => line.includes('by rule'))).toEqual([
      expect.stringContaining('no-funds'),
      expect.stringContaining('big-ones'),
    ]);
    expect(lines.at(-1)).toBe('[Send a test alert]');
  });

  it('names every mute with its end, however late its rule stands', () => {
    const rules = Array.from({ length: 40 }, (_, index) => ({ ...bigOnes, name: `speaks-${index}` }));
    const ends = Array.from({ length: 14 }, (_, index) => Date.UTC(2026, 11, 1 + index));
    const silent = ends.map((mutedUntilMs, index) => ({ ...muted, name: `silent-${index}`, mutedUntilMs }));
    const lines = shown(plan([...rules, ...silent]));
    const { blocks } = routesMessage({
      plan: plan([...rules, ...silent]),
      channel,
      nowMs,
      rehearsal: nothingRehearsed,
      uses: [],
    });
    for (const endMs of ends) expect(JSON.stringify(blocks)).toContain(`"timestamp":${endMs / 1_000}`);
    expect(lines[0]).toContain('by 54 rules · 14 muted now');
    expect(lines.filter((line) => line.includes('by rule silent-'))).toHaveLength(5);
    const brief = lines.find((line) => line.startsWith('Muted too: '));
    expect(brief?.match(/silent-\d+ until/g)).toHaveLength(9);
    expect(lines).toContain('… and by 40 more rules of payops.yml.');
    expect(lines.join()).toContain('Muted rules stand first here.');
    const [first] = shown(plan([...rules, muted])).slice(1);
    expect(first).toContain('no-funds; muted until ');
  });

  it('says what comes by channels alone, and that it is the rest once there are rules', () => {
    const alone = plan([], { failures: channel, successes: channel });
    expect(shown(alone)).toEqual([
      '🔔 This channel gets alerts · by channels of payops.yml',
      'Every failed charge and every saved card, because channels.alerts names this channel.',
      'Every successful payment, because channels.successes names this channel.',
      'No event of the last 7 days is on record, so nothing was rehearsed.',
      'payops.yml has no routes: where events go is said by its channels alone.',
      '[Send a test alert]',
    ]);
    expect(shown(plan([muted], { failures: channel }))).toContain(
      'Every failed charge and every saved card that no rule takes, because channels.alerts names this channel.',
    );
  });

  it('says of each rule, and of channels, what they would have posted here lately, and what that stands on', () => {
    const rehearsal: Rehearsal = {
      events: 1_234,
      sinceMs: nowMs - 86_400_000,
      lines: [
        { channel, rule: 'big-ones', posts: 41, worstHour: 9, inDigests: 980 },
        { channel: 'C0OTHER001', rule: 'no-funds', posts: 7, worstHour: 7, inDigests: 0 },
        { channel, posts: 3, worstHour: 2, inDigests: 0 },
      ],
      unsure: 2,
    };
    const lines = shown(plan([bigOnes, muted], { failures: channel }), channel, rehearsal).join('\n');
    expect(lines).toMatch(
      /by rule big-ones.* In the last 7 days this would have posted 41, worst hour 9; digests would have told 980 more\./,
    );
    expect(lines).toMatch(/by rule no-funds.* In the last 7 days this would have posted nothing\./);
    expect(lines).toMatch(/names this channel\. In the last 7 days this would have posted 3, worst hour 2\./);
    expect(lines).toContain(
      'Rehearsed with 1234 events since <!date^1795176000^{date_short_pretty} {time}|2026-11-20 12:00 UTC>, as if no rule were muted. 2 of them nobody looked up',
    );
  });

  it('says of a storm when it ends by the rule that ends it', () => {
    const sinceMs = nowMs - 60_000;
    const state = { singles: [], storm: { id: 's', sinceMs, groups: [''], above: [] } };
    const storm = { state, payments: { singles: [] }, threshold: 20, windowMs: 300_000 };
    const message = routesMessage({
      plan: plan([bigOnes]),
      channel,
      nowMs,
      rehearsal: nothingRehearsed,
      uses: [],
      storm,
    });
    assertBlocks('message', message.blocks);
    expect(shownLines(message).join('\n')).toMatch(
      /A storm since .*: one digest tells it until fewer than 3 alerts have come in 5 min\./,
    );
  });

  it('says what it does not know of that', () => {
    expect(shown(plan([bigOnes]), channel, 'pending').join()).toContain('⏳ Working out');
    expect(shown(plan([bigOnes]), channel, 'impossible').join()).toContain('store does not answer');
  });

  it('says when a channel gets nothing, and offers no test there', () => {
    const lines = shown(plan([bigOnes]), 'C0GENERAL1');
    expect(lines[0]).toBe('🔕 This channel gets no alerts · no rule and no setting names it');
    expect(lines.join()).not.toContain('[');
  });

  it('says what a channel gets besides alerts, and why, with alerts and without', () => {
    const uses: RoutesView['uses'] = [
      { kind: 'daily_summary', atMinute: 480, timeZone: 'Africa/Lagos' },
      { kind: 'ops' },
      { kind: 'desk' },
      { kind: 'approvals' },
    ];
    const sentences = [
      'A daily summary at 08:00 Africa/Lagos, because daily_summary names this channel.',
      'Trouble with the bot itself, such as missing webhooks, because channels.ops names this channel.',
      'The state of each charge that is made here in Slack, because channels.desk names this channel.',
      'What a second person must approve, because approvals names this channel.',
    ];
    expect(shown(plan([bigOnes]), channel, nothingRehearsed, uses)).toEqual(
      expect.arrayContaining(sentences),
    );
    const [first, ...lines] = shown(plan([bigOnes]), 'C0OPS00001', nothingRehearsed, uses);
    expect(first).toBe('🔕 This channel gets no alerts · no rule sends it any');
    expect(lines).toEqual([...sentences, expect.stringContaining('Whoever keeps payops.yml')]);
  });

  it('fits one message whatever the rules say, and leaves out no mute', () => {
    const long = 'x'.repeat(4_000);
    const rules = Array.from({ length: 100 }, (_, index): AlertRule => ({
      ...bigOnes,
      name: `rule-${index}-${'n'.repeat(30)}`,
      match: {
        currency: 'NGN',
        amount: { fromMinor: 0, toMinor: Number.MAX_SAFE_INTEGER },
        customer: { kind: 'prefix', text: long },
        emailDomain: `${long}.com`,
        reasonPart: `${long} <!channel> *b*`,
        environment: 'sandbox',
      },
      severity: 'normal',
      mutedUntilMs: Date.UTC(2030, 1, 1),
      goesOn: true,
    }));
    const speaking = rules.map(({ mutedUntilMs: _end, ...rule }) => rule);
    const lines = shown(plan(speaking, { failures: channel, successes: channel }));
    expect(lines).toContain('… and by 88 more rules of payops.yml.');
    for (const [count, left] of [
      [12, 88],
      [13, 87],
    ] as const) {
      const some = [...rules.slice(0, count), ...speaking.slice(count)];
      const told = shown(plan(some, { failures: channel }), channel, rehearsalOf(some));
      expect(told).toContain(`… and by ${left} more rules of payops.yml.`);
    }
    for (const read of [
      shown(plan(rules, { failures: channel, successes: channel }), channel, rehearsalOf(rules)).join('\n'),
      JSON.stringify(homeMutes(plan(rules), nowMs)),
    ]) {
      for (const { name } of rules) expect(read).toContain(name);
      expect(read).not.toContain('more rule');
    }
    assertBlocks('home', homeMutes(plan(rules), nowMs));
  });
});

function rehearsalOf(rules: readonly AlertRule[]): Rehearsal {
  const counts = { posts: 100_000, worstHour: 100_000, inDigests: 100_000 };
  const lines = rules.map(({ name }) => ({ channel, rule: name, ...counts }));
  return { events: 100_000, sinceMs: nowMs, lines, unsure: 100_000 };
}

describe('mutes in the App Home', () => {
  it('are all there, with their end, whatever their channel; without one there is nothing', () => {
    const blocks = homeMutes(plan([bigOnes, { ...muted, channels: ['C0OTHER001'] }]), nowMs);
    assertBlocks('home', blocks);
    expect(JSON.stringify(blocks)).toContain('2026-12-01 00:00 UTC');
    expect(JSON.stringify(blocks)).not.toContain('big-ones');
    expect(homeMutes(plan([bigOnes]), nowMs)).toEqual([]);
  });
});

describe('what an alert says of its rule', () => {
  it('is whom it calls, how much it matters and the rule, in rich text, where no name can be markup', () => {
    const [block] = routeBlocks({
      rule: 'big-ones',
      severity: 'high',
      mention: { kind: 'group', id: 'S0ONCALL01' },
    });
    expect(block?.elements[0]).toMatchObject({
      elements: [
        { type: 'usergroup', usergroup_id: 'S0ONCALL01' },
        { text: ' · ' },
        { text: 'High severity', style: { bold: true } },
        { text: ' · ' },
        { text: 'by rule big-ones' },
      ],
    });
    assertBlocks('message', routeBlocks({ rule: 'r', mention: { kind: 'person', id: 'U0ADA00001' } }));
  });

  it('is a sentence of its own where it calls nobody and names no severity', () => {
    const [block] = routeBlocks({ rule: 'paid' });
    expect(block?.elements[0]).toMatchObject({ elements: [{ text: 'Sent here by rule paid' }] });
  });

  it('is nothing where no rule sent it', () => {
    expect(routeBlocks(undefined)).toEqual([]);
  });
});

describe('a test alert', () => {
  const test = { askedBy: 'U0ADA00001', key: 'outbox:test_alert:1', mayBeRepeat: false };
  const place = { environment: 'live', account: 'Lagos' } as const;

  it('is unmistakably one, and calls nobody when it is posted', () => {
    const message = testAlertMessage({ ...test, isFirst: true }, place);
    assertBlocks('message', message.blocks);
    expect(unescaped(message.text)).toBe(firstLine(message));
    expect(message.text).toBe('🧪 TEST alert · no charge failed · alerts reach this channel');
    expect(JSON.stringify(message)).not.toContain('U0ADA00001');
    expect(message.metadata?.event_payload.key).toBe(test.key);
    expect(JSON.stringify(message)).not.toContain(testAlertActionId);
  });

  it('names who asked once it is edited, and says when it may be a repeat', () => {
    const message = testAlertMessage({ ...test, isFirst: false, mayBeRepeat: true }, place);
    assertBlocks('message', message.blocks);
    expect(JSON.stringify(message)).toContain('"user_id":"U0ADA00001"');
    expect(shownLines(message).join()).toContain('This may repeat an earlier test.');
    expect(shownLines(message).at(-1)).toBe('LIVE · Lagos');
  });
});
