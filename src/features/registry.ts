import type { Command, Permission } from '../slack/command.ts';
import { accountCommand, newAccountPermission, type AccountDeps } from './new-account/account.ts';
import { accountsCommand, type AccountsDeps } from './lists/accounts.ts';
import { alertCardParts, type AlertCardActions } from './alerts/alert-card-parts.ts';
import { stormPresses, type StormActions } from './alerts/storm/storm-parts.ts';
import { alertsCommand, type AlertCardParts, type AlertsDeps } from './alerts/alerts.ts';
import { approvalsCommand } from './approvals/approvals-command.ts';
import type { ApprovalDeps } from './approvals/approval-deps.ts';
import { cardEmailCommand, type CardEmailDeps } from './card-email/card-email.ts';
import { cardsCommand, deleteCardPermission, type CardsDeps } from './cards/cards.ts';
import { chargeCommand, type ChargeDeps } from './charge/charge.ts';
import { doctorCommand, type DoctorDeps } from './doctor/doctor.ts';
import { undeliveredCommand, type UndeliveredDeps } from './undelivered/undelivered.ts';
import { doubtCommand } from './charge/doubt.ts';
import { linkCommand, type LinkDeps } from './links/link.ts';
import { lookupCommand, type LookupDeps } from './lookup/lookup.ts';
import { mayReveal, revealIfAllowed, revealPermission } from './lookup/reveal.ts';
import { otpCommand } from './charge/otp.ts';
import { storyCommand, type StoryDeps } from './story/story.ts';
import { terminalsCommand, type TerminalsDeps } from './lists/terminals.ts';

export type VerbDeps = AlertsDeps &
  LookupDeps &
  ChargeDeps &
  CardEmailDeps &
  CardsDeps &
  UndeliveredDeps &
  DoctorDeps &
  TerminalsDeps &
  AccountsDeps &
  AccountDeps &
  LinkDeps &
  Pick<ApprovalDeps, 'mayRun'> & {
    /** Undefined: nothing needs a second person, and there is no verb for it. */
    approvals?: ApprovalDeps['approvals'] | undefined;
  } & StoryDeps;

/** Every verb of the bot, in the order of the help. A new verb is a file beside this one and a line here. */
export function createVerbs(deps: VerbDeps, cards?: AlertCardActions & StormActions): Command[] {
  const verbs: Command[] = [
    lookupCommand(deps),
    chargeCommand(deps),
    otpCommand(deps),
    linkCommand(deps),
    cardEmailCommand(deps),
    cardsCommand(deps, (name) => verbs.some(({ verb }) => verb === name)),
    doubtCommand(deps),
    storyCommand(deps),
    terminalsCommand(deps),
    accountsCommand(deps),
    accountCommand(deps),
    ...(deps.approvals ? [approvalsCommand({ ...deps, approvals: deps.approvals })] : []),
    alertsCommand(deps, cards && messageParts(deps, cards)),
    undeliveredCommand(deps),
    doctorCommand(deps),
  ];
  return verbs;
}

/** What acts on the messages of alerts: on a card of its own, and on a storm’s digest. */
function messageParts(deps: VerbDeps, actions: AlertCardActions & StormActions): AlertCardParts {
  const { presses, modals } = alertCardParts({
    ...deps,
    ...actions,
    mayReveal: (caller) => mayReveal(deps, caller),
    reveal: (pressed, reference) => revealIfAllowed(deps, pressed, reference),
  });
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
