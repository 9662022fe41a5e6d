import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createChecks } from '../src/app/health-checks.ts';
import { operatorHelp } from '../src/cli/operator-commands.ts';
import { unreadableKind, type Notice } from '../src/domain/notice.ts';
import { noticeMessage } from '../src/slack/notice-message.ts';

const page = readFileSync('docs/on-call.md', 'utf8');

const told = { minutes: 1, sinceMs: 0 };
const refused = { slackError: 'is_archived', fix: 'Unarchive it.', giveUpHours: 24 };
const missing = { minutes: 1, more: 0 };
/** Some of each kind, with every first line that it can have. */
const notices: { [Kind in Notice['kind']]: readonly Extract<Notice, { kind: Kind }>[] } = {
  webhooks_silent: [{ kind: 'webhooks_silent', approvals: 1, ...told }],
  deliveries_refused: [{ kind: 'deliveries_refused', refusals: 5, cause: 'x', sinceMs: 0 }],
  events_missing: [['a'], ['a', 'b']].map((references) => ({
    kind: 'events_missing',
    references,
    ...missing,
  })),
  event_differs: [{ kind: 'event_differs', eventKind: 'payment_failed' }],
  unknown_event: ['refund', unreadableKind].map((eventKind) => ({ kind: 'unknown_event', eventKind })),
  stuck: [{ kind: 'stuck', record: 'x', errorId: 'ABCD1234' }],
  refused: ['C0ALERTS01', 'U0ADA00001'].map((channel) => ({ kind: 'refused', channel, ...refused })),
};

describe('the page for whoever is on call', () => {
  it('has every notice, by its first words', () => {
    const states = Object.values(notices)
      .flat()
      .map((notice: Notice) => noticeMessage({ notice, key: 'k', mayBeRepeat: false }).text)
      .map((text) => text.replace('⚠️ ', '').replace(/ · .*/s, ''));
    expect(states).toContain('Slack refuses the messages for a person');
    const shown = page.replace('*for a person*', '*Slack refuses the messages for a person*');
    expect(states.filter((state) => !shown.includes(`*${state}*`))).toEqual([]);
  });

  it('has every part of readiness', () => {
    const merchantBot = { place: { merchant: undefined } };
    const parts = createChecks({ merchantBots: [merchantBot] } as unknown as Parameters<
      typeof createChecks
    >[0]);
    expect(parts.filter(({ name }) => !page.includes(`| \`${name}\` |`))).toEqual([]);
  });

  it('has every metric', () => {
    const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .map((path) => readFileSync(`src/${path}`, 'utf8'));
    const names = sources.flatMap((text) =>
      Array.from(text.matchAll(/name: '(payops_\w+)'/g), ([, name = '']) => name),
    );
    expect(names).toContain('payops_posts_total');
    expect(names.filter((name) => !page.includes(name))).toEqual([]);
  });

  it('has every command of the operator’s', () => {
    expect(Object.keys(operatorHelp).filter((name) => !page.includes(`| \`npm run ${name}\` |`))).toEqual([]);
  });
});
