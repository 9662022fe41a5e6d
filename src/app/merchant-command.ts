import { merchantPermission, type Merchant } from '../domain/merchant.ts';
import type { HoldersOf, StandingOf } from '../domain/standing.ts';
import {
  anyone,
  type Command,
  type Conversation,
  type MayRun,
  type ModalDefinition,
  type Permission,
  type Prepared,
  type Press,
  type Pressed,
  type ViewAnswer,
} from '../slack/command.ts';
import { merchantIds, type MerchantIds } from '../slack/merchant-ids.ts';

/**
 * The verb as one merchant account has it: its permission is asked for this account, and all that it shows bears the
 * account’s ids. The verb itself was made of that account’s functions and knows of no other.
 */
export function merchantCommand(command: Command, merchant: Merchant): Command {
  const ids = merchantIds(merchant);
  const permit = (permission: Permission): Permission => permissionAt(merchant, permission);
  const permitted = <T extends Press | ModalDefinition>(one: T): T =>
    one.permissions === undefined ? one : { ...one, permissions: one.permissions.map(permit) };
  const permittedFor = ({ permissionsFor }: Press): Pick<Press, 'permissionsFor'> =>
    permissionsFor ? { permissionsFor: (value) => permissionsFor(value)?.map(permit) } : {};
  const { home } = command;
  return {
    ...command,
    merchant: merchant.name,
    permission: permit(command.permission),
    ...(command.orPermissions ? { orPermissions: command.orPermissions.map(permit) } : {}),
    buttons: (command.buttons ?? []).map((button) => ({ ...button, actionId: ids.id(button.actionId) })),
    presses: (command.presses ?? []).map((press) => ({
      ...permitted(press),
      ...permittedFor(press),
      actionId: ids.id(press.actionId),
      press: (pressed) => press.press(pressedAt(ids, pressed)),
    })),
    modals: (command.modals ?? []).map((modal) => ({
      ...permitted(modal),
      callbackId: ids.id(modal.callbackId),
      submit: async (submission) => answerAt(ids, await modal.submit(submission)),
    })),
    suggestions: (command.suggestions ?? []).map((suggestion) => ({
      ...suggestion,
      actionId: ids.id(suggestion.actionId),
    })),
    shortcuts: (command.shortcuts ?? []).map((shortcut) =>
      shortcut.kind === 'global'
        ? shortcut
        : {
            ...shortcut,
            prepare: (texts) => preparedAt(ids, shortcut.prepare(texts), permit),
          },
    ),
    ...(home ? { home: async (caller) => ids.home(await home(caller)) } : {}),
    prepare(words) {
      const read = command.prepare(words);
      return read.ok ? { ...read, value: preparedAt(ids, read.value, permit) } : read;
    },
  };
}

/** Whether a caller holds a permission for this one account. */
export function mayRunAt(merchant: Merchant, mayRun: MayRun): MayRun {
  return (permission, caller) => mayRun(permissionAt(merchant, permission), caller);
}

/** The same for a person’s standing, and for whoever holds it. */
export function standingAt(merchant: Merchant, standingOf: StandingOf): StandingOf {
  return (permission, userId) => standingOf(permissionAt(merchant, permission), userId);
}

export function holdersAt(merchant: Merchant, holdersOf: HoldersOf): HoldersOf {
  return (permission) => holdersOf(permissionAt(merchant, permission));
}

function permissionAt(merchant: Merchant, permission: Permission): Permission {
  return permission === anyone ? anyone : merchantPermission(permission, merchant);
}

function preparedAt(
  ids: MerchantIds,
  prepared: Prepared,
  permit: (permission: Permission) => Permission,
): Prepared {
  const { permission } = prepared;
  return {
    ...prepared,
    ...(permission === undefined ? {} : { permission: permit(permission) }),
    async run(conversation) {
      const message = await prepared.run(conversationAt(ids, conversation));
      return message && ids.message(message);
    },
  };
}

function conversationAt(ids: MerchantIds, conversation: Conversation): Conversation {
  return {
    caller: conversation.caller,
    openModal: (modal) => conversation.openModal(ids.modal(modal)),
    whileWaiting: (work, message) =>
      conversation.whileWaiting(
        work,
        typeof message === 'function' ? () => ids.message(message()) : ids.message(message),
      ),
  };
}

function pressedAt(ids: MerchantIds, pressed: Pressed): Pressed {
  return {
    ...pressed,
    openModal: (modal) => pressed.openModal(ids.modal(modal)),
    updateModal: (modal) => pressed.updateModal(ids.modal(modal)),
    reply: (message, inDirect) => pressed.reply(ids.message(message), inDirect && ids.message(inDirect)),
  };
}

function answerAt(ids: MerchantIds, answer: ViewAnswer): ViewAnswer {
  return answer.kind === 'update' ? { ...answer, modal: ids.modal(answer.modal) } : answer;
}
