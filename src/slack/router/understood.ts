import { maskNumbers } from '../../domain/card.ts';
import { asTyped, slashCommand, type Asked } from '../answer.ts';
import { permissionsOf, type AccountSide, type Command, type Prepared, type Understood } from '../command.ts';
import { inAccount } from '../own-account.ts';
import { usageMessage } from '../words/error-message.ts';

type Request = Pick<Asked, 'account' | 'label' | 'permission' | 'about' | 'effect' | 'opensForm' | 'run'>;

/** The request that was typed, or read in a message. */
export function requestOf(asked: { account: AccountSide; understood: Understood }): Request {
  return inAccount(asked.account.merchant, () => readRequest(asked));
}

function readRequest({ account, understood }: { account: AccountSide; understood: Understood }): Request {
  if (understood.kind === 'unclear') {
    const { message } = understood;
    return {
      account,
      label: slashCommand,
      permission: [],
      about: {},
      ...onlySaid,
      run: async () => ({ result: 'unclear', message }),
    };
  }
  const { command } = understood;
  const { verb, merchant, effect, opensForm = false } = command;
  const own = { account, label: asTyped(command), permission: [permissionsOf(command)] };
  if (understood.kind === 'read')
    return { ...own, ...preparedRequest(command, understood.prepared), ...onlySaid };
  const read = command.prepare(understood.words);
  if (read.ok) return { ...own, ...preparedRequest(command, read.value), effect, opensForm };
  const message = usageMessage(read.problem, `${slashCommand} ${command.examples[0] ?? verb}`);
  return {
    ...own,
    about: { verb, merchant },
    ...onlySaid,
    run: async () => ({ result: 'unreadable', message }),
  };
}

const onlySaid = { effect: 'none', opensForm: false } as const;

function preparedRequest(
  command: Command,
  { reference, permission, run }: Prepared,
): Pick<Request, 'permission' | 'about' | 'run'> {
  const { verb, merchant } = command;
  return {
    permission: [permissionsOf(command), ...(permission === undefined ? [] : [[permission]])],
    // Typed text may be a mistyped card number; a button's reference is not.
    about: { verb, merchant, reference: reference && maskNumbers(reference) },
    run: async (conversation) => ({ result: 'answered', message: await run(conversation) }),
  };
}
