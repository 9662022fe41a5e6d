import type { EventPart } from '../../domain/notice.ts';
import type { PaymentEvent } from '../../domain/payment-event.ts';
import { withoutUndefined } from '../../domain/without-undefined.ts';
import type { Entry } from '../../store/store.ts';
import { openEvent, readOutboxRecord } from '../outbox/outbox.ts';
import { tellOperators, type TellDeps } from '../outbox/tell-operators.ts';
import { createChangeRecord, type RecordStore } from '../work/change-record.ts';

export type DifferingDeps = TellDeps & { store: RecordStore };

/** Of repeats that give another reason and nothing else; more of them within an hour are told together. */
const mostReasons = 20;
const hourMs = 3_600_000;

/**
 * Tells the operators of a repeat that differs from the first, once. Another amount or currency always; another reason
 * alone for the first few of an hour, because a sender that writes a time or a number into its reasons would fill the
 * channel, and keep every other notice waiting behind thousands. True: there is a new notice.
 */
export async function tellDiffering(
  deps: DifferingDeps,
  first: Entry,
  repeat: { event: PaymentEvent; fingerprint: string },
): Promise<boolean> {
  const { kind: eventKind, key, orderReference } = repeat.event;
  const differs = partsThatDiffer(deps, first, repeat.event);
  const name = `differs:${key}:${repeat.fingerprint}`;
  const isReasonAlone = differs?.length === 1 && differs[0] === 'reason';
  if (isReasonAlone && !(await isOfTheFirst(deps, name))) {
    const hour = Math.floor(deps.now() / hourMs);
    return await tellOperators(deps, `differ:${hour}`, { kind: 'reasons_differ', most: mostReasons });
  }
  const about = { eventKind, orderReference, ...withoutUndefined({ differs }) };
  return await tellOperators(deps, name, { kind: 'event_differs', ...about });
}

/** Whether it is one of the first of its hour; the same asked again is the same. */
function isOfTheFirst({ store, now }: DifferingDeps, name: string): Promise<boolean> {
  const hour = `differing-reasons:${Math.floor(now() / hourMs)}`;
  return createChangeRecord(store)(hour, (text) => {
    const names = text === undefined ? [] : (JSON.parse(text) as string[]);
    if (names.includes(name)) return { kind: 'keep', result: true };
    if (names.length >= mostReasons) return { kind: 'keep', result: false };
    return { kind: 'write', value: JSON.stringify([...names, name]), ttlMs: hourMs, result: true };
  });
}

/** Undefined where the first cannot be read any more. */
function partsThatDiffer(
  { sealer }: DifferingDeps,
  { key, value }: Entry,
  event: PaymentEvent,
): readonly EventPart[] | undefined {
  try {
    const first = openEvent(sealer, key, readOutboxRecord(value));
    if (first.isErased) return undefined;
    const parts: readonly [EventPart, boolean][] = [
      ['amount', first.amountMinor !== event.amountMinor],
      ['currency', first.currency !== event.currency],
      ['reason', first.reason !== event.reason],
    ];
    return parts.filter(([, isOther]) => isOther).map(([part]) => part);
  } catch {
    return undefined;
  }
}
