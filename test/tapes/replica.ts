import type {
  StoredChargeAnswer,
  ChargeEvent,
  ChargeIntent,
  Effect,
  Finding,
  StoredOtpAnswer,
  Step,
} from '../../src/features/charge/charge-intent.ts';
import { step, findingOf, workAt } from '../../src/features/charge/machine.ts';
import { asRead } from './charge-story.ts';
import type { AgentNews } from '../../src/domain/charge.ts';
import type { Answer, Call, Found, ServiceRecord } from './model-service.ts';
import type { ModelEntry, ModelStore } from './model-store.ts';
import { rememberMs, type Watch } from './watch.ts';

/** Every await of the real code, where a replica can be suspended, killed or overtaken. */
export type Await =
  | { kind: 'pause' }
  | { kind: 'call'; call: Call; onLeave: () => void; onAnswer: () => void };
/** `undefined` for a call: no answer came. */
export type Flow = Generator<Await, void, Answer | undefined>;

export type ReplicaDeps = {
  store: ModelStore;
  /** This replica's own clock. */
  now: () => number;
  watch: Watch;
  record: (reference: string) => ServiceRecord | undefined;
  /** The statuses that the settings name as final and not paid. */
  finalStatuses: readonly string[];
  countStep: () => void;
};

const pause = { kind: 'pause' } as const;

/** A click on Charge; a double click, or another replica's, finds the intent already stored. */
export function* submit(deps: ReplicaDeps, event: ChargeEvent): Flow {
  const first = advance(deps, undefined, event);
  yield pause;
  if (!first || !deps.store.create(first.next, delayOf(deps, first.next))) return;
  deps.watch.written({ before: undefined, ...first });
  yield pause;
  yield* run(deps, first, undefined);
}

/** An answer, a click or a signed event: repeated on the stored state whenever the swap is lost. */
export function* handle(deps: ReplicaDeps, event: ChargeEvent, rightOtp?: boolean): Flow {
  for (;;) {
    const entry = deps.store.read();
    yield pause;
    const stepped = entry && advance(deps, entry.intent, event);
    if (!stepped) return;
    yield pause;
    if (!write(deps, entry, stepped)) continue;
    yield pause;
    yield* run(deps, stepped, rightOtp);
    return;
  }
}

/** The worker: due work is its own only until another replica writes. */
export function* work(deps: ReplicaDeps): Flow {
  const entry = deps.store.take();
  yield pause;
  const stepped = entry && advance(deps, entry.intent, { kind: 'due' });
  if (!stepped) return;
  yield pause;
  if (!write(deps, entry, stepped)) return;
  yield pause;
  yield* run(deps, stepped, undefined);
}

function advance(deps: ReplicaDeps, intent: ChargeIntent | undefined, event: ChargeEvent): Step | undefined {
  deps.countStep();
  return step(intent, event, deps.now());
}

function write(deps: ReplicaDeps, entry: ModelEntry, { next, effect }: Step): boolean {
  if (!deps.store.write(entry, next, delayOf(deps, next))) return false;
  deps.watch.written({ before: entry.intent, next, effect });
  return true;
}

function delayOf(deps: ReplicaDeps, intent: ChargeIntent): number | undefined {
  const dueAt = workAt(intent, rememberMs);
  return dueAt === undefined ? undefined : dueAt - deps.now();
}

function* run(deps: ReplicaDeps, { next, effect }: Step, rightOtp: boolean | undefined): Flow {
  switch (effect?.kind) {
    case undefined:
      return;
    case 'charge':
      return yield* charge(deps, effect, next);
    case 'look_up':
      return yield* lookUp(deps, effect, next);
    case 'submit_otp':
      return yield* submitOtp(deps, effect, rightOtp ?? false);
    case 'tell':
      if (effect.what !== 'approved') return yield* say(deps, effect.what, effect.key);
      // The money may have been returned since.
      if (deps.store.read()?.intent.state.kind !== 'approved') return;
      deps.watch.givesValue(effect.key);
      yield pause;
      return yield* handle(deps, { kind: 'told', what: 'approved' });
  }
}

function* charge(
  deps: ReplicaDeps,
  effect: Extract<Effect, { kind: 'charge' }>,
  { money }: ChargeIntent,
): Flow {
  const { send, reference } = effect;
  const call: Call = { kind: 'charge', reference, money };
  const onLeave = (): void => deps.watch.chargeLeaves(effect);
  const answer =
    deps.now() <= effect.leaveBy ? yield { kind: 'call', call, onLeave, onAnswer: nothing } : undefined;
  const read = (answer ?? { kind: 'unknown' }) as StoredChargeAnswer;
  yield* handle(deps, { kind: 'charge_answered', send, answer: read });
  deps.watch.chargeAnswerHandled(read);
}

function* lookUp(
  deps: ReplicaDeps,
  { reference, askedAt }: Extract<Effect, { kind: 'look_up' }>,
  intent: ChargeIntent,
): Flow {
  const call: Call = { kind: 'look_up', reference };
  const answer = yield { kind: 'call', call, onLeave: nothing, onAnswer: nothing };
  const found = (answer ?? 'failed') as Found;
  deps.watch.lookedUp(found);
  const finding: Finding =
    found === 'failed'
      ? { kind: 'failed' }
      : findingOf(intent, found.transaction && asRead(found.transaction, deps.finalStatuses));
  yield* handle(deps, { kind: 'looked_up', askedAt, finding });
}

function* submitOtp(
  deps: ReplicaDeps,
  effect: Extract<Effect, { kind: 'submit_otp' }>,
  right: boolean,
): Flow {
  const { reference, submission } = effect;
  const call: Call = {
    kind: 'submit_otp',
    reference,
    transactionId: unsealed(effect.sealedTransactionId),
    right,
  };
  let answered = nothing;
  const onLeave = (): void => {
    const leave = deps.watch.otpLeaves(effect, deps.record(reference));
    answered = () => {
      leave.answered = true;
    };
  };
  const answer =
    deps.now() <= effect.leaveBy
      ? yield { kind: 'call', call, onLeave, onAnswer: () => answered() }
      : undefined;
  const read = (answer ?? { kind: 'unknown' }) as StoredOtpAnswer;
  yield* handle(deps, { kind: 'otp_answered', submission, answer: read });
}

/** Posted only if it is still true: a replica that was suspended must not report the past. */
function* say(deps: ReplicaDeps, what: AgentNews, key: string): Flow {
  if (deps.store.read()?.intent.state.kind !== what) return;
  deps.watch.says(what, key);
  yield pause;
  yield* handle(deps, { kind: 'told', what });
}

function unsealed(sealed: string): string {
  return sealed.replace('sealed:', '');
}

function nothing(): void {}
