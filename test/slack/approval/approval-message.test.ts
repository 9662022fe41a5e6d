import { describe, expect, it } from 'vitest';
import type { Approval, ApprovalNote } from '../../../src/domain/approval.ts';
import { assertBlocks, findViewProblems } from '../../../src/slack/assert-blocks.ts';
import { readRequestValue } from '../../../src/slack/approval/approval-actions.ts';
import { overMessage } from '../../../src/slack/approval/approval-answers.ts';
import { approvalsMessage, homeApprovals, openApprovals } from '../../../src/slack/approval/approval-list.ts';
import {
  approvalMessage,
  decideButtons,
  type ApprovalCopy,
} from '../../../src/slack/approval/approval-message.ts';
import {
  readRefuseModal,
  refuseFields,
  refuseModal,
  requestModal,
} from '../../../src/slack/approval/approval-modals.ts';
import { approvalNoteMessage } from '../../../src/slack/approval/approval-note-message.ts';
import type { SlackMessage } from '../../../src/slack/message.ts';
import { firstLine, shownLines, unescaped } from '../shown-text.ts';
import { agent, anApproval, at, everyState, lead, onCall } from './seen-approvals.ts';

const place = { environment: 'live', account: 'Lagos store' } as const;
const copies: readonly ApprovalCopy['to'][] = ['channel', 'approver', 'requester'];

function card(approval: Approval, to: ApprovalCopy['to'] = 'channel', isFirst = false) {
  return approvalMessage(approval, place, { to, asked: 3, isFirst, key: 'k', mayBeRepeat: false });
}

function buttons(approval: Approval, to: ApprovalCopy['to']): string[] {
  return card(approval, to).blocks.flatMap((block) =>
    block.type === 'actions' ? block.elements.map((one) => (one.type === 'button' ? one.text.text : '')) : [],
  );
}

function shownText(message: SlackMessage): string {
  return shownLines(message).join('\n');
}

describe('the card of a request', () => {
  it('begins with state, amount, masked customer and reference, as it is read aloud', () => {
    const message = card(anApproval());
    const { text } = message;
    expect(text).toBe(
      '🟡 Needs approval · NGN 12,500.00 · j***@example.com · pay-mfrggzdfmztwq2lknnwg23tpob',
    );
    expect(firstLine(message)).toBe(text);
  });

  it('says every state in a word of its own, and none of them in the green of what is paid', () => {
    const words = everyState.map((approval) => card(approval).text.split(' · ')[0]);
    expect(words).toEqual([
      '🟡 Needs approval',
      '🔵 Approved, starting',
      '☑️ Approved, charge started',
      '🛑 Approved, but not done',
      '🚫 Refused',
      '⌛ Expired, nobody decided',
      '↩️ Withdrawn',
    ]);
  });

  it('has what it is judged by in at most six fields, and no e-mail address in full', () => {
    const shown = shownText(card(anApproval()));
    for (const said of [
      'Visa ·· 4242',
      'CUST-7',
      'Charges from NGN 10,000.00',
      'Renewal, asked for by phone',
    ])
      expect(shown).toContain(said);
    expect(JSON.stringify(card(anApproval()))).not.toContain('jane.doe');
  });

  it('asks once more with amount and object, and carries the hash of what was shown', () => {
    const [approve, refuse] = decideButtons(anApproval());
    expect(approve?.text.text).toBe('Approve NGN 12,500.00');
    expect(approve?.confirm?.text?.text).toContain('NGN 12,500.00 from Visa ·· 4242 of j***@example.com');
    const seen = { id: anApproval().id, termsHash: anApproval().termsHash };
    expect(readRequestValue(approve?.value ?? '')).toEqual(seen);
    expect(readRequestValue(refuse?.value ?? '')).toEqual(seen);
    expect(readRequestValue('{"id":1}')).toBeUndefined();
  });

  it('has buttons only while it waits, those to decide never for whoever asked', () => {
    for (const approval of everyState) {
      const isOpen = approval.state.kind === 'waiting';
      const decide = isOpen ? ['Approve NGN 12,500.00', 'Refuse…'] : [];
      expect(buttons(approval, 'channel')).toEqual(decide);
      expect(buttons(approval, 'approver')).toEqual(decide);
      const own = isOpen ? ['Withdraw'] : approval.state.kind === 'expired' ? ['Ask again'] : [];
      expect(buttons(approval, 'requester')).toEqual(own);
    }
  });

  it('names nobody while it is first posted into the channel, because that would ping who clicked', () => {
    for (const approval of everyState) {
      expect(JSON.stringify(card(approval, 'channel', true))).not.toMatch(/"type":"user"/);
    }
    expect(JSON.stringify(card(anApproval()))).toContain(`"user_id":"${agent}"`);
  });
});

const notes: readonly ApprovalNote[] = [
  'asked',
  'approved_one',
  'expires_soon',
  'approved',
  'executed',
  'stopped',
  'refused',
  'expired',
  'withdrawn',
];

describe('what is said beside a card', () => {
  it('names nobody in the channel when it is first posted, and whoever decided from then on', () => {
    const refused = everyState.find(({ state }) => state.kind === 'refused') ?? anApproval();
    const about = { asked: 3, key: 'k', mayBeRepeat: false };
    const first = approvalNoteMessage('refused', refused, place, { ...about, to: 'channel', isFirst: true });
    expect(JSON.stringify(first)).not.toContain(lead);
    expect(shownText(first)).toContain('The order was cancelled');
    const later = approvalNoteMessage('refused', refused, place, { ...about, to: 'channel', isFirst: false });
    expect(JSON.stringify(later)).toContain(lead);
  });

  it('never says that something was charged', () => {
    for (const approval of everyState.slice(3)) {
      const about = { to: 'requester', asked: 3, isFirst: false, key: 'k', mayBeRepeat: false } as const;
      const shown = shownText(approvalNoteMessage(approval.state.kind, approval, place, about));
      expect(shown).not.toMatch(/\bpaid\b/i);
    }
  });
});

describe('a refusal', () => {
  it('takes a reason of the list, own words, or both, and never none', () => {
    expect(readRefuseModal({}).ok).toBe(false);
    expect(readRefuseModal({ [refuseFields.words]: ' \u200b ' }).ok).toBe(false);
    expect(readRefuseModal({ [refuseFields.choice]: 'amount' })).toEqual({
      ok: true,
      value: 'The amount is not right',
    });
    expect(readRefuseModal({ [refuseFields.choice]: 'card', [refuseFields.words]: 'it is Ada’s' })).toEqual({
      ok: true,
      value: 'The wrong card or customer: it is Ada’s',
    });
  });
});

describe('a later click', () => {
  it('is told who decided and when, and that it changed nothing', () => {
    for (const approval of everyState.slice(1)) {
      const shown = shownText(overMessage(approval, onCall));
      expect(shown).toContain('Nothing was changed.');
    }
    const [, approved = anApproval()] = everyState;
    expect(shownText(overMessage(approved, onCall))).toContain(`Already approved by`);
    expect(JSON.stringify(overMessage(approved, onCall))).toContain(`"user_id":"${lead}"`);
    expect(overMessage(approved, lead).text).toBe('🔵 You already approved it');
  });
});

describe('the list', () => {
  it('says what waits and how long, and has a Home part only when there is something', () => {
    expect(openApprovals({ waiting: [], asked: [anApproval()] })).toBeUndefined();
    expect(openApprovals({ waiting: [anApproval(), anApproval()], asked: [] })).toMatchObject({
      count: 2,
      untilMs: anApproval().expiresAtMs,
    });
    expect(homeApprovals({ waiting: [], asked: everyState.slice(2) }, place, at)).toEqual([]);
    expect(approvalsMessage({ waiting: [], asked: [] }, place, at).text).toBe(
      'Nothing waits for your decision',
    );
  });
});

/** Names and words as long as they come, of 4-byte characters, right to left. */
const extreme = '𝒜\u202e‏עברית'.repeat(400);

describe('requests at their extremes', () => {
  const charge = anApproval().shown;
  const shapes: readonly Approval['shown'][] = [
    charge,
    {
      ...charge,
      kind: 'charge',
      money: { minor: Number.MAX_SAFE_INTEGER, currency: extreme },
      customerEmail: `${extreme}@${extreme}`,
      customerId: extreme,
      reason: extreme,
      card: { cardType: extreme, lastFour: extreme },
      overridesRest: true,
    } as Approval['shown'],
    {
      kind: 'card_email',
      card: { cardType: extreme, lastFour: extreme },
      cardFingerprint: extreme,
      currentEmail: `${extreme}@x`,
      newEmail: `${extreme}@y`,
    },
    { kind: 'redrive', channel: extreme },
  ];
  const all = shapes.flatMap((shown) =>
    everyState.map((approval): Approval => ({
      ...approval,
      shown,
      rule: extreme,
      approvals: Array.from({ length: 40 }, (_, index) => ({ by: `U${index}`, atMs: at })),
      needed: 41,
      state:
        'reason' in approval.state
          ? { ...approval.state, reason: extreme }
          : 'why' in approval.state
            ? { ...approval.state, why: extreme }
            : 'result' in approval.state
              ? { ...approval.state, result: extreme }
              : approval.state,
    })),
  );

  it('are taken by Slack, as cards, notes, windows and lists', () => {
    for (const approval of all) {
      for (const to of copies) {
        const message = card(approval, to);
        expect(() => assertBlocks('message', message.blocks)).not.toThrow();
        expect(unescaped(message.text)).toBe(firstLine(message));
        for (const note of notes) {
          const about = { to, asked: 3, isFirst: false, key: 'k', mayBeRepeat: true } as const;
          expect(() =>
            assertBlocks('message', approvalNoteMessage(note, approval, place, about).blocks),
          ).not.toThrow();
        }
      }
      for (const modal of [refuseModal(approval, place), requestModal(approval, 3, place)]) {
        expect(findViewProblems(modal)).toEqual([]);
      }
    }
    const seen = { waiting: all, asked: all };
    expect(() => assertBlocks('message', approvalsMessage(seen, place, at).blocks)).not.toThrow();
    expect(() => assertBlocks('home', [...homeApprovals(seen, place, at)])).not.toThrow();
  });
});
