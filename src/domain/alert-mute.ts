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

type Received = { event: PaymentEvent; receivedAtMs: number; plan: RoutePlan };

/** Whether the mute keeps its channel from being told this event: another rule may tell it all the same. */
export function isNotPosted(mute: AlertMute, of: Received): boolean {
  const isTold = (mayTell?: (to: Destination) => boolean): boolean =>
    destinationsOf(of.plan, of.event, of.receivedAtMs, mayTell).some(
      ({ channel }) => channel === mute.channel,
    );
  return isTold() && !isTold((to) => !isKept(mute, to, of));
}

/** Whether the mute keeps this event from there; by when it was received, so that all replicas say the same. */
export function isKept(
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
