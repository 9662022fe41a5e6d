import { type EscalationStep, type QuietHours, type RoutedRule, severities } from '../../domain/alert.ts';
import { withoutUndefined } from '../../domain/json.ts';
import type { Escalated } from './alert.ts';
import { quietEnd } from './route-event.ts';

/** The people a rule calls while nobody acknowledges its alert. `made`: how many steps were made. Times are UTC ms. */
export type Escalation = {
  /** The key of the message in whose thread they are called. For a storm: its steps and quiet hours, as JSON. */
  about: string;
  steps: readonly EscalationStep[];
  /** Absent for a critical rule, too. */
  quietHours?: QuietHours;
  made: number;
  fromMs: number;
  lastMadeAtMs?: number;
};

export function escalationOf(
  { escalate: steps, severity, quietHours }: RoutedRule,
  fromMs: number,
  about?: string,
): Escalation | undefined {
  if (!steps) return undefined;
  const quiet = severity === 'critical' ? undefined : quietHours;
  const aboutRule = JSON.stringify([steps, quiet]);
  return { about: about ?? aboutRule, steps, made: 0, fromMs, ...withoutUndefined({ quietHours: quiet }) };
}

/** When the next step is due; Infinity: never. If a step was late or waited for quiet hours, the next ones move too. */
function nextCallMs(
  { steps, made, fromMs, lastMadeAtMs = fromMs, quietHours }: Escalation,
  nowMs: number,
): number {
  const step = steps[made];
  if (!step) return Infinity;
  const dueAtMs = lastMadeAtMs + step.afterMs - (steps[made - 1]?.afterMs ?? 0);
  return quietHours ? quietEnd(quietHours, Math.max(dueAtMs, nowMs)) : dueAtMs;
}

/** The escalation whose step is due first; `atMs` is Infinity if there is none. */
export function nextCall(
  all: readonly Escalation[] = [],
  nowMs: number,
): { atMs: number; escalation: Escalation | undefined } {
  const atMs = Math.min(...all.map((each) => nextCallMs(each, nowMs)));
  return { atMs, escalation: all.find((each) => nextCallMs(each, nowMs) === atMs) };
}

/** Adds an escalation, unless one with the same `about` is there. */
export function withEscalation(all: readonly Escalation[] = [], more: Escalation | undefined): Escalation[] {
  return more && !all.some(({ about }) => about === more.about) ? [...all, more] : [...all];
}

/**
 * Makes the next step of one escalation; undefined: it isn't due. `over`: skips all its remaining steps instead. `later`: the
 * step's time begins again.
 */
export function escalate(
  all: readonly Escalation[] = [],
  about: string,
  { nowMs, replaced }: { nowMs: number; replaced?: 'over' | 'later' | undefined },
): { escalations: Escalation[]; made?: Escalated } | undefined {
  const one = all.find((each) => each.about === about);
  const step = one?.steps[one.made];
  if (!one || !step || nextCallMs(one, nowMs) > nowMs) return undefined;
  const made = { over: one.steps.length, later: one.made, none: one.made + 1 }[replaced ?? 'none'];
  const after = { ...one, made, lastMadeAtMs: nowMs };
  const escalations = all.map((each) => (each === one ? after : each));
  return { escalations, ...(!replaced && { made: { kind: 'escalated', ...step, about, at: nowMs } }) };
}

/** `none`: its rules name no severity. */
export const shownSeverities = ['none', ...severities] as const;

export type ShownSeverity = (typeof shownSeverities)[number];

export function highest(...all: readonly (ShownSeverity | undefined)[]): ShownSeverity | undefined {
  return shownSeverities.findLast((severity) => all.includes(severity));
}
