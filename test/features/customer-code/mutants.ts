import type { Mutant } from '../../tapes/mutants.ts';

const operations = 'src/features/charge/charge-operations.ts';
const pages = 'src/features/customer-code/code-pages.ts';
const html = 'src/features/customer-code/page-html.ts';
const otp = 'src/domain/otp.ts';

/** Wrong edits of who may type the code, and of the customer's page: each must fail a test of this folder. */
export const codeMutants: readonly Mutant[] = [
  {
    name: 'an agent submits while the customer holds the code',
    edits: [[operations, 'link === undefined && agent === request.by', 'agent === request.by']],
  },
  {
    name: 'an agent submits with OTP_ENTRY=customer',
    edits: [[operations, "return entry !== 'customer' && link", 'return link']],
  },
  {
    name: 'an old link submits',
    edits: [[operations, 'return link === request.link;', 'return link !== undefined;']],
  },
  {
    name: 'a link works with OTP_ENTRY=agent',
    edits: [
      [
        operations,
        "const link = entry === 'agent' ? undefined : codeLink?.link;",
        'const link = codeLink?.link;',
      ],
    ],
  },
  {
    name: 'a colleague makes a link',
    edits: [[operations, "entry === 'agent' || record.agent !== by ||", "entry === 'agent' ||"]],
  },
  {
    name: 'a link is made when no code can reach the bank',
    edits: [[operations, ' || codeOpenUntil(record, at) === undefined', '']],
  },
  {
    name: 'a colleague takes a link back',
    edits: [[operations, 'codeLink && record.agent === by && record', 'codeLink && record']],
  },
  {
    name: 'a link is taken back while its code is checked',
    edits: [[operations, "record.agent === by && record.intent.state.kind === 'otp'", 'record.agent === by']],
  },
  {
    name: 'an old link can report “I did not ask for this”',
    edits: [[operations, 'record?.customer?.link !== link', '!record?.customer']],
  },
  {
    name: 'nobody hears that a paid charge was not asked for',
    edits: [
      [
        operations,
        'record?.customer?.link !== link',
        "record?.customer?.link !== link || 'concludedAt' in record.intent.state",
      ],
    ],
  },
  {
    name: 'the link ends before “I did not ask for this” is reported',
    edits: [
      [
        operations,
        "await runner.posts.note(reference, name, { kind: 'not_mine' });",
        "await charges.amend(reference, ({ customer: _ended, ...rest }) => rest);\n      await runner.posts.note(reference, name, { kind: 'not_mine' });",
      ],
    ],
  },
  {
    name: 'a double tap counts twice',
    edits: [[operations, ' || otpLimits.submissions - otp.tries !== triesLeft', '']],
  },
  {
    name: 'the link outlives the third wrong code',
    edits: [[otp, 'return triesLeft > 0 && nowMs', 'return nowMs']],
  },
  {
    name: 'the link outlives the accepted code',
    edits: [[pages, "return mayReopen || shows === 'result' ?", "return shows !== 'stopped' ?"]],
  },
  {
    name: 'the link outlives the time for a code',
    edits: [
      [otp, 'triesLeft > 0 && nowMs <= until - otpLimits.marginMs', 'triesLeft > 0 && nowMs < Infinity'],
    ],
  },
  {
    name: 'the store has the link itself',
    edits: [[pages, "return hash('sha256', `payops code link ${secret}`, 'base64url');", 'return secret;']],
  },
  {
    name: '“I did not ask for this” is ignored while a code is checked',
    edits: [[pages, " || action === 'not_mine'", '']],
  },
  {
    name: 'submits are not counted',
    edits: [[pages, 'count(`post ${found.link}`) > perMinute.post', 'count(`post ${found.link}`) > 1_000']],
  },
  {
    name: 'looks are not counted',
    edits: [
      [pages, 'count(`get ${hashOf(secret)}`) > perMinute.get', 'count(`get ${hashOf(secret)}`) > 1e6'],
    ],
  },
  {
    name: 'unknown links are not counted',
    edits: [[pages, 'count(request.ip) > perMinute.unknown', 'count(request.ip) > 1e6']],
  },
  { name: 'a dead link is answered at once', edits: [[pages, 'const deadMs = 150;', 'const deadMs = 0;']] },
  {
    name: 'a GET during an outage says that nothing was sent',
    edits: [[pages, "request.method === 'POST' ? 'notTaken' : 'away'", "'notTaken'"]],
  },
  {
    name: 'the merchant’s name is not escaped',
    edits: [
      [html, 'escaped(outsideText(merchant, longestMerchant))', 'outsideText(merchant, longestMerchant)'],
    ],
  },
];
