import { type EscalationStep, type QuietHours, type RoutedRule, severities } from '../../domain/alert.ts';
import { withoutUndefined } from '../../domain/json.ts';
import type { Escalated } from './alert.ts';
import { quietEnd } from './routing.ts';

/** Who is called by a rule when nobody acknowledges what it tells: `made` says how many of the steps were. Times are UTC ms. */
export type Escalation = {
  /** The message in whose thread they are called; of a storm: what its rules have in common. */
  about: string;
  steps: readonly EscalationStep[];
  /** Absent also where the rule is critical. */
  quietHours?: QuietHours;
  made: number;
  fromMs: number;
  lastMadeAtMs?: number;
};

/** Undefined: the rule calls nobody later. */
export function escalationOf(
  { escalate: steps, severity, quietHours }: RoutedRule,
  fromMs: number,
  about?: string,
): Escalation | undefined {
  if (!steps) return undefined;
  const quiet = severity === 'critical' ? undefined : quietHours;
  const own = about ?? JSON.stringify([steps, quiet]);
  return { about: own, steps, made: 0, fromMs, ...withoutUndefined({ quietHours: quiet }) };
}

/** When the next step is due; Infinity: never. A step that was late, or waited for quiet hours, puts off those behind it. */
function nextCallMs(
  { steps, made, fromMs, lastMadeAtMs = fromMs, quietHours }: Escalation,
  nowMs: number,
): number {
  const step = steps[made];
  if (!step) return Infinity;
  const dueAtMs = lastMadeAtMs + step.afterMs - (steps[made - 1]?.afterMs ?? 0);
  return quietHours ? quietEnd(quietHours, Math.max(dueAtMs, nowMs)) : dueAtMs;
}

/** The step that is due first; `atMs` is Infinity where none ever is. */
export function nextCall(
  all: readonly Escalation[] = [],
  nowMs: number,
): { atMs: number; escalation: Escalation | undefined } {
  const atMs = Math.min(...all.map((each) => nextCallMs(each, nowMs)));
  return { atMs, escalation: all.find((each) => nextCallMs(each, nowMs) === atMs) };
}

/** Adds one, unless it is there. */
export function withEscalation(all: readonly Escalation[] = [], more: Escalation | undefined): Escalation[] {
  return more && !all.some(({ about }) => about === more.about) ? [...all, more] : [...all];
}

/** After its next step; undefined: that is not due. `isOver`: no step of it is made any more. */
export function escalate(
  all: readonly Escalation[] = [],
  about: string,
  { nowMs, isOver = false }: { nowMs: number; isOver?: boolean },
): { escalations: Escalation[]; made?: Escalated } | undefined {
  const one = all.find((each) => each.about === about);
  const step = one?.steps[one.made];
  if (!one || !step || nextCallMs(one, nowMs) > nowMs) return undefined;
  const after = { ...one, made: isOver ? one.steps.length : one.made + 1, lastMadeAtMs: nowMs };
  const escalations = all.map((each) => (each === one ? after : each));
  return { escalations, ...(!isOver && { made: { kind: 'escalated', ...step, about, at: nowMs } }) };
}

/** `none`: no rule says one. */
export const shownSeverities = ['none', ...severities] as const;

export type ShownSeverity = (typeof shownSeverities)[number];

export function highest(...all: readonly (ShownSeverity | undefined)[]): ShownSeverity | undefined {
  return shownSeverities.findLast((severity) => all.includes(severity));
}
