import type { RoutePlan } from '../domain/alert-route.ts';
import type { Storms } from '../operations/storms.ts';
import { parsed, problem } from '../domain/parsed.ts';
import {
  defineCommand,
  type Command,
  type ModalDefinition,
  type Press,
  type Pressed,
} from '../slack/command.ts';
import {
  homeMutes,
  noAlertsMessage,
  routesMessage,
  testAlertActionId,
  testOnItsWayMessage,
} from '../slack/routes-message.ts';

export type AlertsDeps = {
  routes: RoutePlan;
  /** Posts a test alert, through the outbox; throws StoreUnavailable. */
  sendTestAlert: (channel: string, askedBy: string) => Promise<void>;
  /** What a channel has seen of late, and what makes a storm where no rule says otherwise. */
  storms: Pick<Storms, 'channel'> & { threshold: number; windowMs: number };
  now: () => number;
};

/** What acts on the alerts' own messages; it needs a verb to belong to. */
export type AlertCardParts = { presses: readonly Press[]; modals: readonly ModalDefinition[] };

/** `/pay alerts`: what this channel gets and why, and a test alert to see that it arrives. */
export function alertsCommand(deps: AlertsDeps, cards?: AlertCardParts): Command {
  return defineCommand<undefined>({
    verb: 'alerts',
    usage: '',
    summary: 'Say which alerts this channel gets and why, and send a test alert',
    examples: ['alerts'],
    permission: 'alerts',
    effect: 'none',
    parse: (words) =>
      words.length === 0
        ? parsed(undefined)
        : problem('Nothing follows “alerts”: it is about the channel it is typed in.'),
    presses: [
      { actionId: testAlertActionId, press: (pressed) => sendTest(deps, pressed) },
      ...(cards?.presses ?? []),
    ],
    modals: cards?.modals ?? [],
    home: () => Promise.resolve(homeMutes(deps.routes, deps.now())),
    async run(_, { caller }) {
      const { routes: plan, storms, now } = deps;
      const channel = caller.channelId ?? '';
      const { threshold, windowMs } = storms;
      const storm = { state: await storms.channel(channel), threshold, windowMs };
      return routesMessage({ plan, channel, nowMs: now(), storm });
    },
  });
}

/** Only where alerts go anyway: the rules may have changed since the button was shown. */
async function sendTest({ routes, sendTestAlert }: AlertsDeps, pressed: Pressed): Promise<void> {
  const { value: channel, caller, reply } = pressed;
  const channels = [routes.failures, routes.successes, ...routes.rules.flatMap((rule) => rule.channels)];
  if (!channels.includes(channel)) return await reply(noAlertsMessage());
  await sendTestAlert(channel, caller.userId);
  await reply(testOnItsWayMessage());
}
