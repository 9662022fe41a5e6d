import { expect, it } from 'vitest';
import type { AlertClaims, AlertState, Lookup } from '../../../src/domain/alert.ts';
import { type AlertMove, alertNoteKey, isEnded } from '../../../src/features/alerts/alert.ts';
import { alertClaims, createAlertCases, type AlertCases } from '../../../src/features/alerts/alert-cases.ts';
import { type CaseEvent, type EventCase, eventPrefix } from '../../../src/features/alerts/event-case.ts';
import {
  alertKey,
  newCounters,
  readMessageRecord,
  writeMessageRecord,
} from '../../../src/messages/message-record.ts';
import {
  auditOf,
  driveWorlds,
  readCase,
  wrongOfCase,
  type Driven,
  type World,
} from '../../records/two-processes.ts';
import { noStorms } from '../house.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const money = { minor: 15_000, currency: 'NGN' };
const noCharge = () => Promise.resolve(undefined);

/** Calls a group, and later a person, if the alert is not acknowledged. */
const calling = {
  name: 'late',
  escalate: [
    { afterMs: 10 * minuteMs, to: { kind: 'group', id: 'S0ONCALL01' } },
    { afterMs: 40 * minuteMs, to: { kind: 'person', id: 'U0LEAD0001' } },
  ],
} as const;

/**
 * An alert about a failed charge. Of several clicks one decides. A final state is never left. Of the charges begun from
 * it only one at a time may move money, and none once one has. Its thread tells each step once, and its message shows
 * all of them.
 */
function alert(world: World): Driven {
  const { clock, store, sealer } = world;
  const id = 'payment_failed/order/SUB-1';
  const people = ['U0ADA00001', 'U0BOLA0001', 'U0CHIDI001'];
  const event = { kind: 'payment_failed', key: id, orderReference: 'SUB-1' };
  const audited = new Map<string, string[]>();
  const wrong = new Set<string>();
  const seen = { steps: new Set<string>(), acknowledged: 0, end: undefined as AlertState | undefined };
  /** Each charge that was stored, and whether it moved money. */
  const charges = new Map<string, 'under way' | 'paid' | 'ended'>();
  const all: { alerts: AlertCases; claims: AlertClaims }[] = [];
  const told = writeMessageRecord({
    channel: 'C0ALERTS01',
    fingerprint: '',
    receivedAtMs: clock.nowMs,
    ...newCounters,
    settled: 1,
    sealed: sealer.seal(alertKey(id), JSON.stringify(event)),
    routed: [{ channel: 'C0ALERTS01', rule: calling }],
    posted: { channel: 'C0ALERTS01', ts: '1.0' },
  });
  void store.create(alertKey(id), told);
  const failed: CaseEvent = {
    kind: 'failure_listed',
    atMs: clock.nowMs,
    lists: [],
    storms: [],
    post: { key: alertKey(id), rule: calling },
  };

  async function hasEnded(reference: string): Promise<boolean | undefined> {
    const state = charges.get(reference);
    return state && state === 'ended';
  }
  async function move(alerts: AlertCases, made: AlertMove): Promise<void> {
    const result = await alerts.move(id, made);
    if (result.kind === 'unknown_alert') wrong.add('it is not known');
    if (result.kind === 'moved') {
      seen.steps.add(JSON.stringify(result.step));
      if (made.kind === 'acknowledge') seen.acknowledged += 1;
      if (result.step.kind.slice(0, 4) !== made.kind.slice(0, 4))
        wrong.add(`${made.kind} is answered with ${result.step.kind}`);
    }
    if (result.kind === 'unknown_alert' || !isEnded(result.state)) return;
    seen.end ??= result.state;
    if (JSON.stringify(seen.end) !== JSON.stringify(result.state)) wrong.add('it ended twice');
  }
  async function charge(claims: AlertClaims, reference: string, by: string): Promise<void> {
    const fromMs = clock.nowMs;
    const claim = await claims.claim(id, { reference, by });
    if (claim.kind === 'taken') return;
    // Like a real charge: nothing is sent once its time is over.
    if (clock.nowMs > fromMs + 145_000 || charges.has(reference)) return;
    const others = [...charges].filter(([, state]) => state !== 'ended').map(([other]) => other);
    if (others.length > 0) wrong.add(`${reference} is charged beside ${others.join()}`);
    charges.set(reference, 'under way');
  }
  async function end(at: World['random'], { alerts, claims }: { alerts: AlertCases; claims: AlertClaims }) {
    const [reference] = [...charges].find(([, state]) => state === 'under way') ?? [];
    if (reference === undefined) return;
    const isPaid = at.chance(0.3);
    charges.set(reference, isPaid ? 'paid' : 'ended');
    const payment = { reference, isSameReference: false, isChargedAgain: true, money, afterMs: 1 };
    if (isPaid) await move(alerts, { kind: 'recover', payment });
    else await claims.updateMessages(id);
  }
  return {
    start(process, index) {
      const kept = {
        store: process.store,
        sealer,
        now: () => clock.nowMs,
        leaseMs: 45_000,
        rememberMs: 365 * dayMs,
        wait: (ms: number) => process.wait(ms),
        wake: () => undefined,
      };
      const lookUp = () =>
        process.call<Lookup>(
          () => ({ kind: 'not_found' }),
          () => ({ kind: 'unchecked', failure: 'timeout' }),
        );
      const audit = auditOf(process, audited);
      const alerts = createAlertCases(kept, {
        storms: noStorms,
        hasEnded,
        chargeOf: noCharge,
        lookUp,
        lookUpSparingly: lookUp,
        search: () => Promise.reject(new Error('nothing is paid here')),
        matchFailure: async () => undefined,
        audit,
      });
      all[index] = { alerts, claims: alertClaims(alerts, { declineOf: () => Promise.resolve(undefined) }) };
      return { prefix: eventPrefix, work: (entry) => alerts.cases.work(entry) };
    },
    act(at, index) {
      const one = all[index] as { alerts: AlertCases; claims: AlertClaims };
      const by = at.pick(people);
      return at.pick([
        () => one.alerts.applyOrCreate(id, failed),
        () => move(one.alerts, { kind: 'acknowledge', by }),
        () => move(one.alerts, { kind: 'assign', by, to: at.pick(people) }),
        () => move(one.alerts, { kind: 'snooze', by, forMs: at.pick([1_000, 4 * 60 * minuteMs]) }),
        async () =>
          at.chance(0.2) ? await move(one.alerts, { kind: 'close', by, reason: 'Called' }) : undefined,
        () => charge(one.claims, at.pick(['CARD-1', 'CARD-2', 'CARD-3']), by),
        () => charge(one.claims, at.pick(['CARD-1', 'CARD-2', 'CARD-3']), by),
        () => end(at, one),
        () => one.alerts.lookUpNow(id),
      ]);
    },
    async wrongs() {
      const kept = await readCase<EventCase>(world, eventPrefix + id);
      if (!kept) return [...wrong, ...(seen.steps.size > 0 ? ['it was moved, and is not there'] : [])];
      const { card, steps, told: number } = kept.state;
      const entries = await Promise.all(
        Array.from({ length: number }, (_, index) => store.read(alertNoteKey(alertKey(id), index + 1))),
      );
      const message = await store.read(alertKey(id));
      const { wanted, settled } = readMessageRecord(message?.value ?? '');
      return [
        ...wrong,
        ...wrongOfCase(kept, audited, [...audited.keys()]),
        ...(audited.size === number ? [] : [`${number} steps, and the audit has ${audited.size}`]),
        ...(steps.length === 0 ? [] : ['its steps are not all told']),
        ...(number >= seen.steps.size ? [] : ['a step that was made is not told']),
        ...(entries.every((entry) => entry) ? [] : ['its thread lacks a step']),
        ...(number === 0 || wanted > settled ? [] : ['its message is not made once more']),
        ...(seen.end && JSON.stringify(seen.end) !== JSON.stringify(card) ? ['it left its end'] : []),
        ...(seen.acknowledged <= 1 ? [] : ['it was acknowledged twice']),
        ...(card.kind === 'acknowledged' && card.snoozedUntil !== undefined ? ['it sleeps for ever'] : []),
        ...wrongOfClaim(kept.state, [...charges.values()]),
        ...wrongOfEscalation(
          kept.state,
          [...audited.values()].flatMap(([text]) => text ?? []),
        ),
      ];
    },
  };
}

/**
 * Each escalation step is made once while the alert is not acknowledged, and none after; every person who was due is
 * called.
 */
function wrongOfEscalation({ card, escalations = [] }: EventCase, audited: readonly string[]): string[] {
  const entries = audited.map((text) => new Map(JSON.parse(text) as [string, unknown][]));
  const called = entries.filter((entry) => entry.get('result') === 'alert_escalated');
  const people = called.map((entry) => entry.get('after'));
  const taken = card.kind === 'acknowledged' ? card : 'acknowledged' in card ? card.acknowledged : undefined;
  const overAt = taken?.at ?? ('at' in card ? card.at : Infinity);
  return [
    ...(new Set(people).size === people.length ? [] : [`called twice: ${people.join()}`]),
    ...(called.every((entry) => Number(entry.get('atMs')) <= overAt) ? [] : ['called when it was taken']),
    ...(card.kind === 'open' && people.length < escalations.length * calling.escalate.length
      ? [`only ${people.join()} were called`]
      : []),
  ];
}

function wrongOfClaim({ card, charge }: EventCase, charges: readonly string[]): string[] {
  return [
    ...(charges.filter((state) => state === 'paid').length <= 1 ? [] : ['it was paid twice']),
    ...(isEnded(card) && charge && charge.at > card.at ? ['it is charged after its end'] : []),
  ];
}

it('an alert breaks no rule through crashes, lost answers, repeats, suspended processes and clock changes', async () => {
  expect(await driveWorlds(alert)).toEqual([]);
});
