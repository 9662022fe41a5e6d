import { alertCardParts, type AlertCardDeps } from './alert-card-parts.ts';
import { stormPresses, type StormActions } from './storm/storm-parts.ts';
import type { RoutePlan } from '../../domain/alert-route.ts';
import { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { Rehearsal } from '../../domain/rehearsal.ts';
import { withoutUndefined } from '../../domain/without-undefined.ts';
import type { AlertCards } from './alert-cards.ts';
import type { Storms } from './storm/storms.ts';
import { homeAlerts, openAlerts } from './alerts-in-hand.ts';
import type { ChannelUse } from './routes/channel-uses.ts';
import { defineCommand, type Command, type Conversation, type Pressed } from '../../slack/command.ts';
import type { SlackMessage } from '../../slack/kit/message.ts';
import {
  homeMutes,
  noAlertsMessage,
  routesMessage,
  testAlertActionId,
  testOnItsWayMessage,
  type StormState,
} from './routes/routes-message.ts';
import { nothingAfter } from '../../slack/nothing-after.ts';

export type AlertsDeps = {
  routes: RoutePlan;
  /** What the policy file tells a channel besides alerts. */
  usesOf: (channel: string) => readonly ChannelUse[];
  /** What the plan would have told in the last 7 days; throws StoreUnavailable. */
  rehearse: (plan: RoutePlan) => Promise<Rehearsal>;
  /** Posts a test alert, through the outbox; throws StoreUnavailable. */
  sendTestAlert: (channel: string, askedBy: string) => Promise<void>;
  alertsOf: AlertCards['of'];
  /** The last storms of a channel, and what makes one where no rule says otherwise. */
  storms: Pick<Storms, 'newest'> & { threshold: number; windowMs: number };
  now: () => number;
};

/** `/pay alerts`: what this channel gets and why, and a test alert to see that it arrives; and what acts on alerts’ own messages. */
export function alertsCommand(deps: AlertsDeps & AlertCardDeps & StormActions): Command {
  const { presses, modals } = alertCardParts(deps);
  return defineCommand<undefined>({
    verb: 'alerts',
    usage: '',
    summary: 'This channel’s alerts',
    examples: ['alerts'],
    permission: 'alerts',
    menu: { text: 'Alerts here', opens: 'message' },
    open: async ({ userId }) => openAlerts(await deps.alertsOf(userId)),
    effect: 'none',
    parse: nothingAfter('Nothing follows “alerts”: it is about the channel it is typed in.'),
    presses: [
      { actionId: testAlertActionId, press: (pressed) => sendTest(deps, pressed) },
      ...presses,
      ...stormPresses(deps),
    ],
    modals,
    home: async ({ userId }) => [
      // Two blocks at most: however many alerts are in hand, no mute is cut off.
      ...homeMutes(deps.routes, deps.now()),
      ...homeAlerts(await deps.alertsOf(userId), deps.routes),
    ],
    run: (_, conversation) => tellRoutes(deps, conversation),
  });
}

/** What is known at once is not kept waiting by the rehearsal, nor lost with it. */
async function tellRoutes(deps: AlertsDeps, { caller, whileWaiting }: Conversation): Promise<SlackMessage> {
  const { routes: plan, now, rehearse } = deps;
  const channel = caller.channelId ?? '';
  const uses = deps.usesOf(channel);
  if (!tellsAnything(plan, channel)) return noAlertsMessage(uses);
  const storm = await ifStoreAnswers(stormState(deps, channel));
  const view = { plan, channel, nowMs: now(), uses, ...withoutUndefined({ storm }) };
  const rehearsal = ifStoreAnswers(rehearse(plan));
  const pending = routesMessage({ ...view, rehearsal: 'pending' });
  return routesMessage({ ...view, rehearsal: (await whileWaiting(rehearsal, pending)) ?? 'impossible' });
}

async function stormState({ storms }: AlertsDeps, channel: string): Promise<StormState> {
  const { threshold, windowMs } = storms;
  const [failures, payments] = await Promise.all([
    storms.newest(channel, 'payment_failed'),
    storms.newest(channel, 'payment_success'),
  ]);
  return { ...withoutUndefined({ failures, payments }), threshold, windowMs };
}

async function ifStoreAnswers<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    return undefined;
  }
}

/** Only where alerts go anyway: the rules may have changed since the button was shown. */
async function sendTest({ routes, sendTestAlert, usesOf }: AlertsDeps, pressed: Pressed): Promise<void> {
  const { value: channel, caller, reply } = pressed;
  if (!tellsAnything(routes, channel)) return await reply(noAlertsMessage(usesOf(channel)));
  await sendTestAlert(channel, caller.userId);
  await reply(testOnItsWayMessage());
}

function tellsAnything({ failures, successes, rules }: RoutePlan, channel: string): boolean {
  return [failures, successes, ...rules.flatMap((rule) => rule.channels)].includes(channel);
}
