import { isAnyLength, lengthWords, readAccountField, type AccountField } from '../../domain/account-field.ts';
import type { NewAccount } from '../../domain/account.ts';
import { noticeLine, modal, richText, select, textInput } from '../blocks.ts';
import { emailFormProblem } from '../charge/card-inputs.ts';
import { plain } from '../charge/charge-facts.ts';
import { placeTitle, type ChargePlace } from '../charge/charge-place.ts';
import type { ViewValues } from '../command.ts';
import type { Modal, ModalBlock } from '../message.ts';
import { visible } from '../text.ts';
import { accountModalId } from './account-actions.ts';
import { accountFoot } from './account-message.ts';

export type AccountModalOptions = {
  place: ChargePlace;
  fields: readonly AccountField[];
  prefill?: NewAccount;
  problem?: string;
};

/** Collects a new account, each field with what it must hold. Submitting it asks for the account. */
export function accountModal({ place, fields, prefill = {}, problem }: AccountModalOptions): Modal {
  return modal({
    callbackId: accountModalId,
    title: placeTitle('New account', place),
    blocks: [
      ...(problem === undefined ? [] : [noticeLine('warning', problem)]),
      richText(plain('A new sub account of the business. No money moves by this.')),
      ...fields.map((field) => inputOf(field, prefill[field.name])),
      accountFoot(place),
    ],
    submit: 'Create the account',
  });
}

/** A field's error is told under the same name. */
export function accountFieldId(name: string): string {
  return `account_new_${name}`;
}

function inputOf(field: AccountField, prefilled: string | undefined): ModalBlock {
  const { name, required, choices } = field;
  const given = field.secret ? undefined : prefilled;
  const parts = { id: accountFieldId(name), label: labelOf(name), optional: !required };
  if (choices === undefined) {
    const hint = hintOf(field);
    return textInput({
      ...parts,
      ...(hint === undefined ? {} : { hint }),
      ...(given === undefined ? {} : { initial: given }),
    });
  }
  const [only] = choices;
  const initial = given ?? (choices.length === 1 && !field.secret ? only : undefined);
  return select({
    ...parts,
    choices: choices.map((choice) => ({ text: choice, value: choice })),
    ...(initial === undefined ? {} : { initial }),
  });
}

const knownLabels: Readonly<Record<string, string>> = {
  accountRef: 'Reference',
  bvn: 'BVN',
  pin: 'PIN',
  email: 'E-mail',
  phoneNumber: 'Telephone number',
};

/** "accountName" is "Account name". */
function labelOf(name: string): string {
  const known = knownLabels[name];
  if (known !== undefined) return known;
  const words = name
    .replaceAll('_', ' ')
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function hintOf(field: AccountField): string | undefined {
  const words = [
    // A bound that nobody meets only raises questions.
    ...(isAnyLength(field) ? [] : [`${lengthWords(field).replace(/^./, (first) => first.toUpperCase())}.`]),
    ...(field.name === 'accountRef' ? ['Yours, to find the account by; empty: the bot gives it one.'] : []),
    ...(field.secret ? ['Sent to the service and not kept.'] : []),
  ];
  return words.length === 0 ? undefined : words.join(' ');
}

export type ReadAccount =
  | { kind: 'read'; wanted: NewAccount }
  /** By block id; never what was typed. */
  | { kind: 'errors'; errors: Record<string, string> };

/** Everything that is wrong at once, each at its own field. What was left empty is absent. */
export function readAccountModal(values: ViewValues, fields: readonly AccountField[]): ReadAccount {
  const wanted: Record<string, string> = {};
  const errors: Record<string, string> = {};
  for (const field of fields) {
    const { name } = field;
    const typed = visible(values[accountFieldId(name)] ?? '').trim();
    const read = readAccountField(field, typed);
    const wrong = read.ok ? formProblem(name, read.value) : read.problem;
    if (wrong !== undefined) errors[accountFieldId(name)] = wrong;
    else if (read.ok && read.value !== undefined) wanted[name] = read.value;
  }
  return Object.keys(errors).length > 0 ? { kind: 'errors', errors } : { kind: 'read', wanted };
}

/** What the specification's own words for a field ask beyond its length. */
function formProblem(name: string, value: string | undefined): string | undefined {
  return name === 'email' && value !== undefined ? emailFormProblem(value) : undefined;
}
