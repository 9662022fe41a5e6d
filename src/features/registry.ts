import type { Command, Permission } from '../slack/command.ts';
import { newAccountPermission } from './new-account/account.ts';
import { revealPermission } from './lookup/reveal.ts';
import { alertCardParts, type AlertCardActions, type CardReveal } from './alerts/alert-card-parts.ts';
import { stormPresses, type StormActions } from './alerts/storm/storm-parts.ts';
import { alertsCommand, type AlertCardParts, type AlertsDeps } from './alerts/alerts.ts';
import { approvalsCommand } from './approvals/approvals-command.ts';
import type { ApprovalDeps } from './approvals/approval-deps.ts';
import { cardEmailCommand, type CardEmailDeps } from './card-email/card-email.ts';
import { cardsCommand, deleteCardPermission, type CardsDeps } from './cards/cards.ts';
import { chargeCommand, type ChargeDeps } from './charge/charge.ts';
import { doubtCommand } from './charge/doubt.ts';
import { linkCommand, type LinkDeps } from './links/link.ts';
import { otpCommand } from './charge/otp.ts';

export type VerbDeps = AlertsDeps &
  CardReveal &
  ChargeDeps &
  CardEmailDeps &
  CardsDeps &
  LinkDeps &
  Pick<ApprovalDeps, 'mayRun'> & {
    /** Undefined: nothing needs a second person, and there is no verb for it. */
    approvals?: ApprovalDeps['approvals'] | undefined;
  };

/** Every verb of the bot, in the order of the help; `own`: those that their features have put together. */
export function createVerbs(
  own: readonly Command[],
  deps: VerbDeps,
  cards?: AlertCardActions & StormActions,
): Command[] {
  const verbs = [
    ...own,
    chargeCommand(deps),
    otpCommand(deps),
    linkCommand(deps),
    cardEmailCommand(deps),
    cardsCommand(deps),
    doubtCommand(deps),
    ...(deps.approvals ? [approvalsCommand({ ...deps, approvals: deps.approvals })] : []),
    alertsCommand(deps, cards && messageParts(deps, cards)),
  ];
  return verbs.toSorted((one, other) => helpOrder.indexOf(one.verb) - helpOrder.indexOf(other.verb));
}

const helpOrder: readonly string[] = [
  'lookup',
  'charge',
  'otp',
  'link',
  'card-email',
  'cards',
  'doubt',
  'story',
  'terminals',
  'accounts',
  'account',
  'approvals',
  'alerts',
  'undelivered',
  'doctor',
];

/** What acts on the messages of alerts: on a card of its own, and on a storm’s digest. */
function messageParts(deps: VerbDeps, actions: AlertCardActions & StormActions): AlertCardParts {
  const { presses, modals } = alertCardParts({ ...deps, ...actions });
  return { presses: [...presses, ...stormPresses(actions)], modals };
}

/** What a role may be given besides `*`: the permissions that the verbs above ask for. */
export const permissions: readonly Permission[] = [
  'lookup',
  revealPermission,
  'charge',
  'otp',
  'link',
  'card-email',
  'cards',
  deleteCardPermission,
  'doubt',
  'story',
  'terminals',
  'accounts',
  newAccountPermission,
  'alerts',
  'undelivered',
  'doctor',
  'approve',
];
