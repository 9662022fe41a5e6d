import type { NewAccount } from '../../domain/account.ts';
import type { AccountField } from '../../domain/account-field.ts';
import { isJsonObject } from '../../domain/json-pointer.ts';
import type { AccountDesk } from '../../operations/service/create-account.ts';
import {
  accountEndMessage,
  accountEndModal,
  creatingModal,
  type Asked,
} from '../../slack/account/account-end.ts';
import { accountModal, readAccountModal } from '../../slack/account/account-modal.ts';
import type { ChargePlace } from '../../slack/charge/charge-place.ts';
import type { Pressed, Submission, ViewAnswer } from '../../slack/command.ts';
import type { ShowEnd } from '../../slack/show-end.ts';

export type NewAccountDeps = ChargePlace & {
  accountDesk: AccountDesk;
  accountFields: readonly AccountField[];
  showEnd: ShowEnd;
  now: () => number;
};

/** Asked for once, whoever submits it how often: what is known already is looked up and shown instead. */
export async function createIt(deps: NewAccountDeps, submission: Submission): Promise<ViewAnswer> {
  const { caller, viewId, values } = submission;
  const read = readAccountModal(values, deps.accountFields);
  if (read.kind === 'errors') return read;
  const beginning = await deps.accountDesk.begin({ viewId, wanted: read.wanted, by: caller.userId });
  const asked: Asked = {
    wanted: beginning.wanted,
    ...(beginning.kind === 'known' ? { askedBy: beginning.askedBy } : {}),
  };
  return {
    kind: 'update',
    modal: creatingModal(asked, deps),
    async carryOn() {
      const end = await beginning.carryOn();
      await deps.showEnd(
        { viewId, userId: caller.userId },
        {
          modal: accountEndModal(end, asked, deps),
          message: accountEndMessage(end, asked, { place: deps, nowMs: deps.now() }),
        },
      );
    },
  };
}

/** Back to the form, in the same dialogue; the bot's own reference stays the view's. */
export async function correctAgain(deps: NewAccountDeps, { view, updateModal }: Pressed): Promise<void> {
  if (!view) return;
  const prefill = readWanted(view.privateMetadata);
  await updateModal(accountModal({ place: deps, fields: deps.accountFields, prefill }));
}

function readWanted(metadata: string): NewAccount {
  try {
    const read: unknown = JSON.parse(metadata);
    if (!isJsonObject(read)) return {};
    const texts = Object.entries(read).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    );
    return Object.fromEntries(texts);
  } catch {
    return {};
  }
}
