import { WebAPIPlatformError, type WebClient } from '@slack/web-api';
import { describe, expect, it } from 'vitest';
import { called } from '../../scripts/manifest-lacks.ts';
import { createOutbox, type FeatureMessages } from '../../src/messages/deliver.ts';
import {
  laneOf,
  messageKey,
  readMessageRecord,
  newCounters,
  writeMessageRecord,
  type MessageRecord,
} from '../../src/messages/message-record.ts';
import { fixFor, readSlackError, refusalAbout } from '../../src/slack/slack-error.ts';
import { rich, richText } from '../../src/slack/kit/blocks.ts';
import { noticeRenders } from '../../src/messages/notices.ts';
import { channel, ops, sealer } from '../features/house.ts';
import { memoryStore } from '../features/memory-store.ts';
import { accountOf } from '../support/account.ts';
import { commonWords, wordsOf } from './error-words.ts';

const unknown = 'never_heard_of';

/** The call to Slack that a test has refused. */
type Way = 'a post' | 'a note in a thread' | 'an edit' | 'a look for a message in doubt';

const standing = { posted: { channel, ts: '1000.1' }, shown: 'old' };
const records: Record<Way, Partial<MessageRecord>> = {
  'a post': {},
  'a note in a thread': { isNote: true },
  'an edit': standing,
  'a look for a message in doubt': { doubt: { channel, sinceMs: 1_000_000 } },
};

function saying(word: string): WebAPIPlatformError {
  return new WebAPIPlatformError({ ok: false, error: word, response_metadata: {} });
}

/** Delivers messages to a Slack that refuses the first with `word` and accepts everything else. */
async function sentWith(way: Way, word: string) {
  const clock = { nowMs: 1_000_000 };
  const store = memoryStore(clock);
  const texts: string[] = [];
  let taken = 0;

  type Sent = { text?: string; thread_ts?: string };
  function call(isRefused: (sent: Sent) => boolean) {
    return (sent: Sent) => {
      texts.push(sent.text ?? '');
      if (sent.text === 'first' && isRefused(sent)) return Promise.reject(saying(word));
      taken += 1;
      return Promise.resolve({ ok: true, channel, ts: `2000.${taken}` });
    };
  }
  const chat = {
    postMessage: call(({ thread_ts: thread }) =>
      thread === undefined ? way === 'a post' : way === 'a note in a thread',
    ),
    update: call(() => true),
  };
  const history = () =>
    way === 'a look for a message in doubt' ? Promise.reject(saying(word)) : { messages: [] };
  const renders: FeatureMessages = {
    async alert(_body, { entry, record }) {
      const text = entry.key.split(':').at(-1) ?? '';
      return {
        kind: 'shown',
        message: { text, blocks: [richText(rich`${text}`)] },
        ...(record.isNote ? { below: { key: messageKey('alert', 'parent') } } : {}),
      };
    },
  };
  const account = accountOf({
    store,
    sealer,
    settings: {
      slackTimeoutSeconds: 10,
      webhookRememberDays: 1,
      alertDetailsDays: 0,
      policy: { channels: { ops } } as never,
    },
    slack: { delivery: { chat, conversations: { history } } as unknown as WebClient },
    people: { nameOf: async () => undefined },
    now: () => clock.nowMs,
  });
  const outbox = createOutbox(account, [renders, noticeRenders(undefined)], undefined);

  async function put(key: string, change: Partial<MessageRecord>): Promise<void> {
    const record = {
      channel,
      sealed: sealer.seal(messageKey('alert', key), '{}'),
      receivedAtMs: clock.nowMs,
      ...newCounters,
      ...change,
    } as const;
    await store.create(messageKey('alert', key), writeMessageRecord(record), {
      delayMs: 0,
      lane: laneOf(record),
    });
    clock.nowMs += 1;
  }
  await put('parent', { ...standing, settled: 1 });
  await put('first', records[way]);
  await put('post', {});
  await put('edit', standing);
  for (let second = 0; second < 5; second += 1) {
    for (let [entry] = await store.take(45_000); entry; [entry] = await store.take(45_000))
      await outbox.work(entry);
    clock.nowMs += 1_000;
  }
  const entry = await store.read(messageKey('alert', 'first'));
  const isPutAside = store.keys().some((key) => key.startsWith('message:notice:stuck:'));
  return {
    record: readMessageRecord(entry?.value ?? ''),
    isPutAside,
    postsWait: !texts.includes('post'),
    editsWait: !texts.includes('edit'),
  };
}

/** A table row: what happens to the message, and what waits behind it. */
async function fateOf(way: Way, word: string): Promise<string> {
  const { record, isPutAside, postsWait, editsWait } = await sentWith(way, word);
  const message = ((): string => {
    if (way === 'a look for a message in doubt') {
      if (record.posted) return 'repeated, and says *May be a repeat*';
      const isSlowed = readSlackError(saying(word)).kind === 'rate_limited';
      return isSlowed
        ? 'looked for again when Slack says'
        : 'looked for every 5 seconds; after 15 minutes repeated, and says so';
    }
    if (isPutAside) return 'tried at once in words alone, then every hour; `ops` is told';
    if (record.doubt) return 'looked for after 15 seconds, and repeated if it isn’t there';
    if (record.unthreaded) return 'goes into the channel';
    if (record.reposted && record.posted) return 'posted again in its place';
    if (record.refused) return 'tried ever more rarely for a day, then in `/pay undelivered`';
    if (record.settled === record.wanted) return 'left as it stands';
    const { kind } = readSlackError(saying(word));
    if (kind === 'unsure') return 'repeated after 15 seconds';
    return kind === 'rate_limited'
      ? 'tried again when Slack says'
      : 'tried every minute until Slack takes it';
  })();
  const waits = [...(postsWait ? ['posts'] : []), ...(editsWait ? ['edits'] : [])];
  return `${message} | ${waits.length === 0 ? 'nothing' : `the channel’s ${waits.join(' and ')}`}`;
}

const ways: readonly (readonly [Way, keyof typeof wordsOf])[] = [
  ['a post', 'chat.postMessage'],
  ['a note in a thread', 'chat.postMessage'],
  ['an edit', 'chat.update'],
];

async function table(way: Way, method: keyof typeof wordsOf): Promise<string> {
  const all = [...commonWords, ...wordsOf[method], unknown];
  const every = await Promise.all(all.map(async (word) => [await fateOf(way, word), word] as const));
  const isAlike = await Promise.all(
    every.map(
      async ([fate, word]) => way === 'a note in a thread' && fate === (await fateOf('a post', word)),
    ),
  );
  const fates = every.filter((_, index) => !isAlike[index]);
  const rows = [...Map.groupBy(fates, ([fate]) => fate)].map(
    ([fate, those]) =>
      `| ${fate} | ${those.map(([, word]) => (word === unknown ? 'any other' : `\`${word}\``)).join(', ')} |`,
  );
  const head = `## ${way[0]?.toUpperCase()}${way.slice(1)} that Slack refuses (\`${method}\`)`;
  const alike = isAlike.includes(true) ? ['', 'As of a post, but:'] : [];
  return [
    head,
    ...alike,
    '',
    '| The message | Behind it waits | Slack’s words |',
    '|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

/** Slack refuses the history itself; after an expired cursor (`invalid_cursor`) it is read from the start instead. */
function isRefused(word: string): boolean {
  return readSlackError(saying(word)).kind === 'refused' && word !== 'invalid_cursor';
}

describe('each error code of Slack', () => {
  it('is listed for every method that the bot calls', () => {
    expect(called.length).toBeGreaterThan(10);
    expect(called.filter((method) => !Object.hasOwn(wordsOf, method))).toEqual([]);
  });

  it.each(ways)(
    'that refuses %s is known, and blocks no other message than it must (%s)',
    async (way, method) => {
      const words = [...commonWords, ...wordsOf[method]];
      const refused = words.filter((word) => readSlackError(saying(word)).kind === 'refused');
      expect(refused.filter((word) => refusalAbout(word, channel) === 'unclear')).toEqual([]);
      for (const word of [...words, unknown]) {
        const { postsWait, editsWait, record } = await sentWith(way, word);
        // A refused edit blocks only edits, a refused post only posts, and a refused message doesn't count as posted.
        const isToldElsewhere = way === 'an edit' || record.unthreaded === true;
        expect([word, way === 'an edit' ? postsWait : editsWait]).toEqual([word, false]);
        expect([word, isToldElsewhere || record.posted === undefined]).toEqual([word, true]);
      }
      const { postsWait, editsWait } = await sentWith(way, unknown);
      expect([postsWait, editsWait]).toEqual([false, false]);
    },
  );

  it.each(Object.entries(wordsOf))('for %s has its own sentence that says what to do', (_method, own) => {
    const known = [...commonWords, ...own].filter((word) => readSlackError(saying(word)).kind === 'refused');
    expect(known.filter((word) => fixFor(word, channel).startsWith('Look up'))).toEqual([]);
    expect(fixFor(unknown)).toContain(unknown);
  });

  it('of a history search blocks no lane, unless Slack refuses the whole bot or gives no answer', async () => {
    const way = 'a look for a message in doubt';
    const words = [...commonWords, ...wordsOf['conversations.history'], unknown];
    const all = await Promise.all(words.map(async (word) => ({ word, ...(await sentWith(way, word)) })));
    const ofOne = all.filter(
      ({ word, record }) => isRefused(word) && (refusalAbout(word, channel) !== 'bot' || record.mayBeRepeat),
    );
    expect(ofOne.length).toBeGreaterThan(15);
    expect(ofOne.filter(({ postsWait, record }) => postsWait || !record.mayBeRepeat)).toEqual([]);
    expect(all.filter(({ editsWait }) => editsWait)).toEqual([]);
    expect(await sentWith(way, unknown)).toMatchObject({ postsWait: false, record: { mayBeRepeat: true } });
  });

  it('is in the table of docs/slack-errors.md', async () => {
    const all = [...ways, ['a look for a message in doubt', 'conversations.history']] as const;
    const tables = await Promise.all(all.map(([way, method]) => table(way, method)));
    const head =
      '# Slack’s error words\n\nWhat becomes of a message that Slack refuses, and what waits behind it. Refusals of other methods are told to the person who\nasked. Made by `npx vitest run test/messages/error-words.test.ts -u`.\n';
    await expect([head, ...tables].join('\n')).toMatchFileSnapshot('../../docs/slack-errors.md');
  });
});
