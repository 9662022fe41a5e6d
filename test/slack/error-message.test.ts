import { describe, expect, it } from 'vitest';
import { failureKinds, ServiceFailure } from '../../src/domain/failure.ts';
import { assertBlocks } from '../../src/slack/assert-blocks.ts';
import {
  bugMessage,
  cardNumberMessage,
  refusalMessage,
  serviceFailureMessage,
  storeUnavailableMessage,
  unknownVerbMessage,
  usageMessage,
} from '../../src/slack/error-message.ts';
import type { SlackMessage } from '../../src/slack/message.ts';
import { firstLine, shownLines, unescaped } from './shown-text.ts';

function lines(message: SlackMessage): string[] {
  assertBlocks('message', message.blocks);
  expect(firstLine(message)).toBe(unescaped(message.text));
  return shownLines(message);
}

describe('serviceFailureMessage', () => {
  it('says what happened, whether money may have moved and what is next, for every kind', () => {
    const told = failureKinds.map((kind) =>
      lines(
        serviceFailureMessage(new ServiceFailure(kind, 'x'), {
          reference: 'ORDER-1',
          moneyMayHaveMoved: false,
        }),
      ),
    );
    expect(told.map(([first]) => first)).toMatchInlineSnapshot(`
      [
        "⚠️ No answer from the payments service in time · ORDER-1",
        "⚠️ The payments service cannot be reached · ORDER-1",
        "⚠️ The payments service refused the bot’s access token · ORDER-1",
        "⚠️ The payments service does not allow this to the bot’s account · ORDER-1",
        "⚠️ The payments service’s call limit is reached · ORDER-1",
        "⚠️ The payments service reports a fault of its own · ORDER-1",
        "⚠️ The payments service refused the request · ORDER-1",
        "⚠️ The payments service gave an answer that cannot be read · ORDER-1",
      ]
    `);
    expect(told[0]).toMatchInlineSnapshot(`
      [
        "⚠️ No answer from the payments service in time · ORDER-1",
        "Money: none was moved by this. Nothing is assumed about ORDER-1.",
        "Next: try again in a minute.",
      ]
    `);
    for (const [, money, next] of told) {
      expect(money).toMatch(/^Money: none was moved/);
      expect(next).toMatch(/^Next: /);
    }
  });

  it('warns against a second charge when money may have moved', () => {
    const [, money] = lines(
      serviceFailureMessage(new ServiceFailure('timeout', 'x'), {
        reference: 'ORDER-1',
        moneyMayHaveMoved: true,
      }),
    );
    expect(money).toMatchInlineSnapshot(
      `"Money: it may have moved. Nothing is assumed: ORDER-1 is in doubt until a look-up proves it. Do not charge again under another reference."`,
    );
  });

  it('tells the service’s own words where it refused', () => {
    const failure = new ServiceFailure('refused', 'x', { said: 'orderReference has 51 characters' });
    const told = lines(serviceFailureMessage(failure, { moneyMayHaveMoved: false }));
    expect(told.join('\n')).toContain('The service says:\n| orderReference has 51 characters');
  });

  it('tells how long the service asks to wait', () => {
    const failure = new ServiceFailure('rate_limited', 'x', { retryAfterMs: 4200 });
    const told = lines(serviceFailureMessage(failure, { moneyMayHaveMoved: false }));
    expect(told.at(-1)).toContain('wait 5 seconds');
  });

  it('never shows the failure’s own message', () => {
    const failure = new ServiceFailure('server', 'SECRET-9');
    expect(JSON.stringify(serviceFailureMessage(failure, { moneyMayHaveMoved: true }))).not.toContain(
      'SECRET-9',
    );
  });
});

describe('storeUnavailableMessage', () => {
  it('says that nothing was sent, and what is next', () => {
    expect(lines(storeUnavailableMessage({ reference: 'ORDER-1', moneyMayHaveMoved: false })))
      .toMatchInlineSnapshot(`
        [
          "⚠️ The bot’s store does not answer · ORDER-1",
          "Money: none was moved: nothing that could move it was sent.",
          "Next: try again shortly; if it stays so, tell whoever runs this bot.",
        ]
      `);
  });

  it('warns against a second charge when the store went away half-way', () => {
    const [, money] = lines(storeUnavailableMessage({ reference: 'ORDER-1', moneyMayHaveMoved: true }));
    expect(money).toMatch(/^Money: it may have moved/);
  });
});

describe('bugMessage', () => {
  it('names the id that is in the log', () => {
    expect(lines(bugMessage('AB12CD34', { reference: '<!here>', moneyMayHaveMoved: false })))
      .toMatchInlineSnapshot(`
        [
          "⚠️ Something went wrong in the bot, error AB12CD34 · <!here>",
          "Money: none was moved by this. Nothing is assumed about <!here>.",
          "Next: tell whoever runs this bot the error id AB12CD34; the same id is in its log.",
        ]
      `);
  });
});

describe('usageMessage', () => {
  it('tells the problem and a whole example', () => {
    expect(lines(usageMessage('An amount is digits.', '/pay lookup ORDER-1 12,500.00')))
      .toMatchInlineSnapshot(`
        [
          "An amount is digits.",
          "Like this: /pay lookup ORDER-1 12,500.00",
        ]
      `);
  });
});

describe('usageMessage of more than one sentence', () => {
  it('begins with the problem alone, so that it survives a notification', () => {
    const told = lines(usageMessage('An amount is like 12.50. Quotes go round spaces.', '/pay lookup A'));
    expect(told).toEqual(['An amount is like 12.50.', 'Quotes go round spaces.', 'Like this: /pay lookup A']);
  });
});

describe('refusalMessage', () => {
  it('says where it works, and names some of those who can, as mentions that Slack draws', () => {
    const { blocks } = refusalMessage({
      what: '/pay charge',
      rule: 'Your role desk gives it only in certain places',
      whoCan: 'You, there',
      where: ['C0DESK0001', 'direct', ...Array.from({ length: 20 }, (_, index) => `C0MORE${index}00`)],
      people: ['U0LEAD0001', 'U0LEAD0002'],
      notes: ['@support counts as empty (paid_teams_only). List user ids instead.'],
    });
    assertBlocks('message', blocks);
    const json = JSON.stringify(blocks);
    expect(json).toContain('{"type":"channel","channel_id":"C0DESK0001"}');
    expect(json).toContain('direct messages with the bot, its Home and shortcuts');
    expect(json).toContain('{"type":"user","user_id":"U0LEAD0002"}');
    expect(json).toContain('For whoever writes payops.yml: ');
    expect(json.match(/"channel_id"/g)).toHaveLength(9);
  });

  it('says what, which rule, the limit and who can', () => {
    const refusal = {
      what: 'charge NGN 90,000.00',
      rule: 'charges over NGN 50,000.00 need an approver',
      limit: 'NGN 50,000.00 a charge',
      whoCan: 'the role lead',
    };
    expect(lines(refusalMessage(refusal))).toMatchInlineSnapshot(`
      [
        "⛔ Not allowed: charge NGN 90,000.00",
        "Rule: charges over NGN 50,000.00 need an approver",
        "Your limit: NGN 50,000.00 a charge",
        "Who can: the role lead",
      ]
    `);
  });
});

describe('unknownVerbMessage', () => {
  it('offers the nearest verb, and help when none is near', () => {
    expect(lines(unknownVerbMessage('lokup', 'lookup'))).toMatchInlineSnapshot(`
      [
        "I do not know “lokup”",
        "Did you mean /pay lookup?",
        "/pay help lists everything.",
      ]
    `);
    expect(lines(unknownVerbMessage('<!channel>', undefined))).toMatchInlineSnapshot(`
      [
        "I do not know “<!channel>”",
        "/pay help lists everything.",
      ]
    `);
  });
});

describe('cardNumberMessage', () => {
  it('says what to do and nothing of what was typed', () => {
    expect(lines(cardNumberMessage())).toMatchInlineSnapshot(`
      [
        "⛔ That looks like a card number.",
        "I did not keep it. Please delete your message if it is visible: card numbers must never be in Slack. To take a card, send the customer a checkout link.",
      ]
    `);
  });
});
