const machine = 'src/features/charge/machine.ts';
const history = 'src/features/charge/step-history.ts';
const limits = 'src/domain/charge.ts';
const replica = 'test/tapes/replica.ts';

/** One possible mistake: in these files, one text replaced by another. Each text must be there exactly once. */
export type Mutant = { name: string; edits: readonly [file: string, from: string, to: string][] };

/** A mistake in one place. */
function mutant(name: string, ...edit: Mutant['edits'][number]): Mutant {
  return { name, edits: [edit] };
}

/** First wrong rules; then, marked, callers that break the machine's requirements. */
export const mutants: readonly Mutant[] = [
  {
    name: 'the OTP try is counted after the answer',
    edits: [
      [machine, 'tries: otp.tries + 1,', 'tries: otp.tries,'],
      [
        machine,
        'const known = { ...quote(intent, answer), otp: otpNow };',
        'const known = { ...intent, otp: { ...otpNow, tries: otp.tries + 1 } };',
      ],
    ],
  },
  mutant(
    'value is given on an approved answer',
    machine,
    "if (answer.kind === 'approved') return saidPaid(intent, at);",
    "if (answer.kind === 'approved') return conclude(intent, at, 'approved');",
  ),
  mutant(
    'a webhook concludes',
    machine,
    "case 'payment_success':\n      return saidPaid(intent, at);",
    "case 'payment_success':\n      return conclude(intent, at, 'approved');",
  ),
  mutant(
    'an accepted OTP is called paid',
    machine,
    "if (answer.kind === 'accepted') return saidPaid(intent, at);",
    "if (answer.kind === 'accepted') return conclude(intent, at, 'approved');",
  ),
  mutant(
    'a service that wants each request once gets it again',
    machine,
    'const most = intent.sendsOnce ? 1 : chargeLimits.sends;',
    'const most = chargeLimits.sends;',
  ),
  mutant(
    'a repeat takes a new reference',
    machine,
    "const { reference } = intent;\n  return enter({ ...intent, sends }, { kind: 'charging' }",
    "const reference = (intent.sends.length > 0 ? `${intent.reference}-2` : intent.reference) as typeof intent.reference;\n  return enter({ ...intent, sends }, { kind: 'charging' }",
  ),
  mutant(
    'another amount or reference counts as proof',
    machine,
    "if (confirmation.kind === 'confirmed') {",
    'if (evidence.status.holds) {',
  ),
  mutant(
    'an OTP goes out after 15 minutes',
    machine,
    'until: sentAt + otpLimits.windowMs',
    'until: sentAt + otpLimits.windowMs + 60_000',
  ),
  mutant(
    'an OTP has no deadline of its own',
    machine,
    'Math.min(at + chargeLimits.leaveMs, standing.leaveBy)',
    'at + 1_000 * chargeLimits.leaveMs',
  ),
  mutant('a fourth OTP is allowed', 'src/domain/otp.ts', 'submissions: 3', 'submissions: 4'),
  mutant(
    'an OTP is submitted while another is unanswered',
    machine,
    "if (intent.state.kind !== 'otp' || !otp) return undefined;",
    "if (!['otp', 'otp_checking'].includes(intent.state.kind) || !otp) return undefined;",
  ),
  mutant('an answer to an earlier OTP counts for this one', machine, ' || submission !== otp.tries', ''),
  mutant(
    '"already exists" is sent again',
    machine,
    "case 'already_exists':\n      return lookUp(hear(intent, 'exists'), at);",
    "case 'already_exists':\n      return charge(intent, at);",
  ),
  mutant(
    'an approved charge that is not found yet is sent again',
    machine,
    "if (heard.includes('paid')) return calledPaid(known, found, at);",
    '',
  ),
  mutant('a charge is sent as often as it is not found', machine, 'sends.length < most && soon', 'soon'),
  mutant(
    'a charge is sent again however late',
    machine,
    'sends.length < most && soon',
    'sends.length < most',
  ),
  mutant('a charge has no deadline of its own', limits, 'leaveMs: 25_000', 'leaveMs: 25_000_000'),
  mutant('a late success is ignored', machine, '.find((time) => time > since)', '.find(() => false)'),
  mutant(
    'a decline is for ever',
    machine,
    'const sure = isPaid(state) ||',
    "const sure = isPaid(state) || kind === 'declined' ||",
  ),
  {
    name: 'a refused repeat says that nothing was sent',
    edits: [
      [machine, 'return intent.sends.length === 1\n', 'return intent.sends.length > 0\n'],
      [machine, "(kind === 'rejected' && intent.sends.length === 1)", "kind === 'rejected'"],
    ],
  },
  mutant(
    'proof counts only while confirming',
    machine,
    "if (finding.kind === 'paid' || finding.kind === 'given_back') return",
    "if ((finding.kind === 'paid' && state.kind === 'confirming') || finding.kind === 'given_back') return",
  ),
  mutant(
    'a look-up older than the last send counts',
    machine,
    "if (!('askedAt' in state) || state.askedAt !== askedAt)",
    "if (!('askedAt' in state))",
  ),
  mutant(
    'a charge cut off by a crash has no timer',
    machine,
    "case 'charging':\n    case 'confirming':",
    "case 'charging':\n      return undefined;\n    case 'confirming':",
  ),
  {
    name: 'the agent is told again at every repeat',
    edits: [
      [machine, 'key: tellKey(reference, what) }', 'key: `${tellKey(reference, what)}:${at}` }'],
      [machine, 'function tellEffect({ reference }', 'function tellEffect({ reference, at }'],
    ],
  },
  mutant('what was told is forgotten', machine, 'told: [...intent.told, what]', 'told: []'),
  mutant('time follows a clock that steps back', machine, 'Math.max(now, intent.at + 1)', 'now'),
  {
    name: 'the history leaves out what replay needs',
    edits: [
      [history, '!earlierDue?.times || !earlier?.times || !due?.times', '!earlierDue || !earlier || !due'],
      [history, '(past.times ?? 0) + (earlier.times ?? 0)', '(past.times ?? 1) + (earlier.times ?? 1)'],
    ],
  },
  mutant(
    'an event decides "declined" while a code is open',
    machine,
    "if (finding.kind === 'final_not_paid') return notPaid(intent, at);",
    "if (finding.kind !== 'failed' && intent.failedAt !== undefined) return notPaid(intent, at);",
  ),
  mutant(
    'an event decides "declined" while the charge may want a code',
    machine,
    'if (at < over) return',
    'if (at < over && (otp || failedAt === undefined)) return',
  ),
  mutant(
    'a record without success expires while a code may be open',
    machine,
    'codeEndsAt(known) + chargeLimits.otpGraceMs',
    'codeEndsAt(known)',
  ),
  mutant('a record without success blocks the card for a day', machine, "|| found.kind === 'pending';", ';'),
  mutant(
    'a status that is known to be final does not end the doubt',
    machine,
    "if (found.kind === 'final_not_paid') return notPaid(known, at);",
    '',
  ),
  mutant(
    'three codes are called wrong though the answer to one was lost',
    machine,
    ' && unanswered === 0',
    '',
  ),
  mutant(
    'a refused code counts as unanswered',
    machine,
    'unanswered: otp.unanswered - 1',
    'unanswered: otp.unanswered',
  ),
  mutant(
    'three wrong codes stay in doubt',
    machine,
    "if (otp && isRefused(otp)) return conclude(known, at, 'wrong_codes');",
    '',
  ),
  mutant(
    'a charge whose code has no answer is not looked up before the time for it is over',
    machine,
    'lostAt === undefined ? until : Math.min',
    'until > 0 ? until : Math.min',
  ),
  mutant(
    'a code is called wrong though the answer to another is missing',
    machine,
    'return refused.unanswered > 0 ? lookUp(known, at)',
    'return at < 0 ? lookUp(known, at)',
  ),
  mutant(
    'a day in doubt is over, also with answers',
    machine,
    'isLong && (state.answered ?? 0) >= doubtAnswers',
    'isLong',
  ),
  {
    name: 'a look-up without an answer ends the doubt',
    edits: [
      [
        machine,
        "if (found.kind === 'failed') return stillUnanswered(before, at);",
        "if (found.kind === 'failed') return lookAgain(before, at);",
      ],
      [machine, 'isLong && (state.answered ?? 0) >= doubtAnswers', 'isLong'],
    ],
  },
  mutant(
    'look-ups that are kept as one are replayed as one',
    machine,
    '(state.answered ?? 0) + times',
    '(state.answered ?? 0) + 1',
  ),
  mutant(
    'a charge under review is not looked at any more',
    machine,
    "const sure = isPaid(state) || (kind === 'rejected' &&",
    "const sure = isPaid(state) || kind === 'review' || (kind === 'rejected' &&",
  ),
  mutant(
    'an event that says given back causes no look-up once the charge is paid',
    machine,
    "lookUpAsked(intent, at, 'also_paid')",
    'lookUpAsked(intent, at)',
  ),
  mutant(
    'a charge that was given back is called declined',
    machine,
    "if (finding.kind === 'paid' || finding.kind === 'given_back') return",
    "if (finding.kind === 'given_back' && state.kind === 'confirming') return notPaid(intent, at);\n  if (finding.kind === 'paid' || finding.kind === 'given_back') return",
  ),
  mutant(
    'a proof that may be older than the one that it contradicts counts',
    machine,
    'if (isPaid(state) && askedAt < state.concludedAt) return',
    'if (Number.isNaN(at)) return',
  ),
  mutant(
    'CALLER: the effect runs though the compare-and-swap is lost',
    replica,
    'if (!deps.store.write(entry, next, delayOf(deps, next))) return false;',
    'deps.store.write(entry, next, delayOf(deps, next));',
  ),
  mutant(
    'CALLER: the charge leaves before the intent is stored',
    replica,
    'if (!first || !deps.store.create(first.next, delayOf(deps, first.next))) return;',
    'if (!first) return;\n  yield* run(deps, first, undefined);\n  if (!deps.store.create(first.next, delayOf(deps, first.next))) return;',
  ),
  mutant(
    'CALLER: a double click is not told from a first one',
    replica,
    'if (!first || !deps.store.create(first.next, delayOf(deps, first.next))) return;',
    'if (!first) return;\n  deps.store.create(first.next, delayOf(deps, first.next));',
  ),
  mutant(
    'CALLER: an answer whose swap was lost is dropped',
    replica,
    'if (!write(deps, entry, stepped)) continue;',
    'if (!write(deps, entry, stepped)) return;',
  ),
  mutant(
    'CALLER: the deadline of an OTP is not kept',
    replica,
    "deps.now() <= effect.leaveBy\n      ? yield { kind: 'call', call, onLeave, onAnswer: () => answered() }",
    "deps.now() > 0\n      ? yield { kind: 'call', call, onLeave, onAnswer: () => answered() }",
  ),
  mutant(
    'CALLER: a replica that was away tells what no longer stands',
    replica,
    'if (deps.store.read()?.intent.state.kind !== what) return;',
    '',
  ),
];
