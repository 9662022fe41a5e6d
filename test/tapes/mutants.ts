const machine = 'src/features/charge/machine.ts';
const history = 'src/features/charge/step-history.ts';
const limits = 'src/domain/charge.ts';
const replica = 'test/tapes/replica.ts';

/** One possible mistake: in these files, one text replaced by another. Each text must be there exactly once. */
export type Mutant = { name: string; edits: readonly [file: string, from: string, to: string][] };

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
  {
    name: 'value is given on an approved answer',
    edits: [
      [
        machine,
        "if (answer.kind === 'approved') return saidPaid(intent, at);",
        "if (answer.kind === 'approved') return conclude(intent, at, 'approved');",
      ],
    ],
  },
  {
    name: 'a webhook concludes',
    edits: [
      [
        machine,
        "case 'payment_success':\n      return saidPaid(intent, at);",
        "case 'payment_success':\n      return conclude(intent, at, 'approved');",
      ],
    ],
  },
  {
    name: 'an accepted OTP is called paid',
    edits: [
      [
        machine,
        "if (answer.kind === 'accepted') return saidPaid(intent, at);",
        "if (answer.kind === 'accepted') return conclude(intent, at, 'approved');",
      ],
    ],
  },
  {
    name: 'a service that wants each request once gets it again',
    edits: [
      [
        machine,
        'const most = intent.sendsOnce ? 1 : chargeLimits.sends;',
        'const most = chargeLimits.sends;',
      ],
    ],
  },
  {
    name: 'a repeat takes a new reference',
    edits: [
      [
        machine,
        "const { reference } = intent;\n  return enter({ ...intent, sends }, { kind: 'charging' }",
        "const reference = (intent.sends.length > 0 ? `${intent.reference}-2` : intent.reference) as typeof intent.reference;\n  return enter({ ...intent, sends }, { kind: 'charging' }",
      ],
    ],
  },
  {
    name: 'another amount or reference counts as proof',
    edits: [[machine, "if (confirmation.kind === 'confirmed') {", 'if (evidence.status.holds) {']],
  },
  {
    name: 'an OTP goes out after 15 minutes',
    edits: [[machine, 'until: sentAt + otpLimits.windowMs', 'until: sentAt + otpLimits.windowMs + 60_000']],
  },
  {
    name: 'an OTP has no deadline of its own',
    edits: [
      [machine, 'Math.min(at + chargeLimits.leaveMs, standing.leaveBy)', 'at + 1_000 * chargeLimits.leaveMs'],
    ],
  },
  { name: 'a fourth OTP is allowed', edits: [['src/domain/otp.ts', 'submissions: 3', 'submissions: 4']] },
  {
    name: 'an OTP is submitted while another is unanswered',
    edits: [
      [
        machine,
        "if (intent.state.kind !== 'otp' || !otp) return undefined;",
        "if (!['otp', 'otp_checking'].includes(intent.state.kind) || !otp) return undefined;",
      ],
    ],
  },
  {
    name: 'an answer to an earlier OTP counts for this one',
    edits: [[machine, ' || submission !== otp.tries', '']],
  },
  {
    name: '"already exists" is sent again',
    edits: [
      [
        machine,
        "case 'already_exists':\n      return lookUp(hear(intent, 'exists'), at);",
        "case 'already_exists':\n      return charge(intent, at);",
      ],
    ],
  },
  {
    name: 'an approved charge that is not found yet is sent again',
    edits: [[machine, "if (heard.includes('paid')) return calledPaid(known, found, at);", '']],
  },
  {
    name: 'a charge is sent as often as it is not found',
    edits: [[machine, 'sends.length < most && soon', 'soon']],
  },
  {
    name: 'a charge is sent again however late',
    edits: [[machine, 'sends.length < most && soon', 'sends.length < most']],
  },
  {
    name: 'a charge has no deadline of its own',
    edits: [[limits, 'leaveMs: 25_000', 'leaveMs: 25_000_000']],
  },
  {
    name: 'a late success is ignored',
    edits: [[machine, '.find((time) => time > since)', '.find(() => false)']],
  },
  {
    name: 'a decline is for ever',
    edits: [
      [machine, 'const sure = isPaid(state) ||', "const sure = isPaid(state) || kind === 'declined' ||"],
    ],
  },
  {
    name: 'a refused repeat says that nothing was sent',
    edits: [
      [machine, 'return intent.sends.length === 1\n', 'return intent.sends.length > 0\n'],
      [machine, "(kind === 'rejected' && intent.sends.length === 1)", "kind === 'rejected'"],
    ],
  },
  {
    name: 'proof counts only while confirming',
    edits: [
      [
        machine,
        "if (finding.kind === 'paid' || finding.kind === 'given_back') return",
        "if ((finding.kind === 'paid' && state.kind === 'confirming') || finding.kind === 'given_back') return",
      ],
    ],
  },
  {
    name: 'a look-up older than the last send counts',
    edits: [
      [machine, "if (!('askedAt' in state) || state.askedAt !== askedAt)", "if (!('askedAt' in state))"],
    ],
  },
  {
    name: 'a charge cut off by a crash has no timer',
    edits: [
      [
        machine,
        "case 'charging':\n    case 'confirming':",
        "case 'charging':\n      return undefined;\n    case 'confirming':",
      ],
    ],
  },
  {
    name: 'the agent is told again at every repeat',
    edits: [
      [machine, 'key: tellKey(reference, what) }', 'key: `${tellKey(reference, what)}:${at}` }'],
      [machine, 'function tellEffect({ reference }', 'function tellEffect({ reference, at }'],
    ],
  },
  {
    name: 'what was told is forgotten',
    edits: [[machine, 'told: [...intent.told, what]', 'told: []']],
  },
  {
    name: 'time follows a clock that steps back',
    edits: [[machine, 'Math.max(now, intent.at + 1)', 'now']],
  },
  {
    name: 'the history leaves out what replay needs',
    edits: [
      [history, '!earlierDue?.times || !earlier?.times || !due?.times', '!earlierDue || !earlier || !due'],
      [history, '(past.times ?? 0) + (earlier.times ?? 0)', '(past.times ?? 1) + (earlier.times ?? 1)'],
    ],
  },
  {
    name: 'an event decides "declined" while a code is open',
    edits: [
      [
        machine,
        "if (finding.kind === 'final_not_paid') return notPaid(intent, at);",
        "if (finding.kind !== 'failed' && intent.failedAt !== undefined) return notPaid(intent, at);",
      ],
    ],
  },
  {
    name: 'an event decides "declined" while the charge may want a code',
    edits: [[machine, 'if (at < over) return', 'if (at < over && (otp || failedAt === undefined)) return']],
  },
  {
    name: 'a record without success expires while a code may be open',
    edits: [[machine, 'codeEndsAt(known) + chargeLimits.otpGraceMs', 'codeEndsAt(known)']],
  },
  {
    name: 'a record without success blocks the card for a day',
    edits: [[machine, "|| found.kind === 'pending';", ';']],
  },
  {
    name: 'a status that is known to be final does not end the doubt',
    edits: [[machine, "if (found.kind === 'final_not_paid') return notPaid(known, at);", '']],
  },
  {
    name: 'three codes are called wrong though the answer to one was lost',
    edits: [[machine, ' && unanswered === 0', '']],
  },
  {
    name: 'a refused code counts as unanswered',
    edits: [[machine, 'unanswered: otp.unanswered - 1', 'unanswered: otp.unanswered']],
  },
  {
    name: 'three wrong codes stay in doubt',
    edits: [[machine, "if (otp && isRefused(otp)) return conclude(known, at, 'wrong_codes');", '']],
  },
  {
    name: 'a charge whose code has no answer is not looked up before the time for it is over',
    edits: [[machine, 'lostAt === undefined ? until : Math.min', 'until > 0 ? until : Math.min']],
  },
  {
    name: 'a code is called wrong though the answer to another is missing',
    edits: [
      [machine, 'return refused.unanswered > 0 ? lookUp(known, at)', 'return at < 0 ? lookUp(known, at)'],
    ],
  },
  {
    name: 'a day in doubt is over, also with answers',
    edits: [[machine, 'isLong && (state.answered ?? 0) >= doubtAnswers', 'isLong']],
  },
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
  {
    name: 'look-ups that are kept as one are replayed as one',
    edits: [[machine, '(state.answered ?? 0) + times', '(state.answered ?? 0) + 1']],
  },
  {
    name: 'a charge under review is not looked at any more',
    edits: [
      [
        machine,
        "const sure = isPaid(state) || (kind === 'rejected' &&",
        "const sure = isPaid(state) || kind === 'review' || (kind === 'rejected' &&",
      ],
    ],
  },
  {
    name: 'an event that says given back causes no look-up once the charge is paid',
    edits: [[machine, "lookUpAsked(intent, at, 'also_paid')", 'lookUpAsked(intent, at)']],
  },
  {
    name: 'a charge that was given back is called declined',
    edits: [
      [
        machine,
        "if (finding.kind === 'paid' || finding.kind === 'given_back') return",
        "if (finding.kind === 'given_back' && state.kind === 'confirming') return notPaid(intent, at);\n  if (finding.kind === 'paid' || finding.kind === 'given_back') return",
      ],
    ],
  },
  {
    name: 'a proof that may be older than the one that it contradicts counts',
    edits: [
      [machine, 'if (isPaid(state) && askedAt < state.concludedAt) return', 'if (Number.isNaN(at)) return'],
    ],
  },
  {
    name: 'CALLER: the effect runs though the compare-and-swap is lost',
    edits: [
      [
        replica,
        'if (!deps.store.write(entry, next, delayOf(deps, next))) return false;',
        'deps.store.write(entry, next, delayOf(deps, next));',
      ],
    ],
  },
  {
    name: 'CALLER: the charge leaves before the intent is stored',
    edits: [
      [
        replica,
        'if (!first || !deps.store.create(first.next, delayOf(deps, first.next))) return;',
        'if (!first) return;\n  yield* run(deps, first, undefined);\n  if (!deps.store.create(first.next, delayOf(deps, first.next))) return;',
      ],
    ],
  },
  {
    name: 'CALLER: a double click is not told from a first one',
    edits: [
      [
        replica,
        'if (!first || !deps.store.create(first.next, delayOf(deps, first.next))) return;',
        'if (!first) return;\n  deps.store.create(first.next, delayOf(deps, first.next));',
      ],
    ],
  },
  {
    name: 'CALLER: an answer whose swap was lost is dropped',
    edits: [
      [replica, 'if (!write(deps, entry, stepped)) continue;', 'if (!write(deps, entry, stepped)) return;'],
    ],
  },
  {
    name: 'CALLER: the deadline of an OTP is not kept',
    edits: [
      [
        replica,
        "deps.now() <= effect.leaveBy\n      ? yield { kind: 'call', call, onLeave, onAnswer: () => answered() }",
        "deps.now() > 0\n      ? yield { kind: 'call', call, onLeave, onAnswer: () => answered() }",
      ],
    ],
  },
  {
    name: 'CALLER: a replica that was away tells what no longer stands',
    edits: [[replica, 'if (deps.store.read()?.intent.state.kind !== what) return;', '']],
  },
];
