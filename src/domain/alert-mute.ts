import {
  destinationsOf,
  fits,
  isMuted,
  type AlertRule,
  type Destination,
  type RouteMatch,
  type RoutePlan,
} from './alert-route.ts';
import type { PaymentEvent } from './payment-event.ts';

/** What somebody keeps one channel from being told until then: what fits every part that is there. Times are UTC ms. */
export type AlertMute = {
  id: string;
  channel: string;
  /** What that rule of `payops.yml` sends there. */
  rule?: string;
  match: Pick<RouteMatch, 'reasonPart' | 'customer'>;
  why: string;
  by: string;
  fromMs: number;
  untilMs: number;
  endedBy?: string;
  /** Its channel is told what it kept back, and it keeps nothing more: not by a clock that is behind or was put back either. */
  isOver: boolean;
};

/** What a mute kept from its channel. */
export type NotPosted = {
  count: number;
  /** The newest of them; `isOver`: resolved or closed since. */
  newest: readonly { orderReference?: string; isOver: boolean }[];
};

/** `mutedBy`: the mutes that keep it from there. */
export type Routed = Destination & { mutedBy?: readonly string[] };

type Received = { event: PaymentEvent; receivedAtMs: number; plan: RoutePlan };

/** Whether the mute keeps this event from there; by when it was received, so that all replicas say the same. */
function isKept(
  mute: AlertMute,
  { channel, rule }: Destination,
  { event, receivedAtMs, plan }: Received,
): boolean {
  return (
    mute.channel === channel &&
    (mute.rule === undefined || mute.rule === rule?.name) &&
    receivedAtMs >= mute.fromMs &&
    receivedAtMs < mute.untilMs &&
    fits(mute.match, event, plan)
  );
}

/**
 * Every channel that the event is told in, and behind those each that mutes keep it from. What another rule tells the same
 * channel is told all the same.
 */
export function routesOf(mutes: readonly AlertMute[], of: Received): Routed[] {
  const { plan, event, receivedAtMs } = of;
  const mutedBy = (to: Destination): string[] =>
    mutes.filter((mute) => !mute.isOver && isKept(mute, to, of)).map(({ id }) => id);
  const told = destinationsOf(plan, event, receivedAtMs, (to) => mutedBy(to).length === 0);
  const kept = destinationsOf(plan, event, receivedAtMs)
    .filter(({ channel }) => !told.some((one) => one.channel === channel))
    .map((to) => ({ ...to, mutedBy: mutedBy(to) }));
  return [...told, ...kept];
}

/** The plan with these mutes as muted rules: for those who name all that is muted. */
export function withMutes(plan: RoutePlan, mutes: readonly AlertMute[], nowMs: number): RoutePlan {
  const rules = mutes.map((mute): AlertRule => {
    const rule = plan.rules.find(({ name }) => name === mute.rule);
    return {
      name: mute.rule ?? '/pay mute',
      match: { ...rule?.match, ...mute.match },
      channels: [mute.channel],
      goesOn: true,
      mutedUntilMs: mute.untilMs,
    };
  });
  return { ...plan, rules: [...rules.filter((rule) => isMuted(rule, nowMs)), ...plan.rules] };
}
