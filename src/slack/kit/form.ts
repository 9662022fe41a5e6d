import type { z } from 'zod';
import type { InputBlock } from '@slack/types';
import { parseJson } from '../../domain/json.ts';
import { parsed, problem, type Parsed } from '../../domain/wording.ts';
import type { ViewValues } from '../command.ts';
import { externalSelect, select, textInput, type Choice } from './blocks.ts';
import type { ViewBlock } from './message.ts';
import { oneLine, visible } from './text.ts';

/** A form field: its input and its reader. A problem never repeats the typed text. */
export type Field<T> = {
  input: (id: string, initial?: string) => InputBlock;
  read: (typed: string) => Parsed<T>;
};

type TextParts = Omit<Parameters<typeof textInput>[0], 'id' | 'initial'>;

export function text<T>(parts: TextParts, read: (typed: string) => Parsed<T>): Field<T> {
  return { input: (id, initial) => textInput({ ...parts, id, ...(initial ? { initial } : {}) }), read };
}

export function email(parts: TextParts): Field<string> {
  return text({ maxLength: longestEmail, ...parts }, (typed) => {
    const wrong = emailFormProblem(typed);
    return wrong === undefined ? parsed(typed) : problem(wrong);
  });
}

/** One choice; the first by default. */
export function choice(parts: { label: string; hint?: string; choices: readonly Choice[] }): Field<string> {
  const values = parts.choices.map(({ value }) => value);
  return {
    input: (id, initial = '') =>
      select({ ...parts, id, initial: (values.includes(initial) ? initial : values[0]) ?? '' }),
    read: (typed) => (values.includes(typed) ? parsed(typed) : problem('Choose one of those offered.')),
  };
}

export function currencyField(currencies: readonly string[]): Field<string> {
  return choice({ label: 'Currency', choices: currencies.map((one) => ({ text: one, value: one })) });
}

/** A field that may be empty. */
export function optional<T>({ input, read }: Field<T>): Field<T | undefined> {
  return {
    input: (id, initial) => ({ ...input(id, initial), optional: true }),
    read: (typed) => (typed === '' ? parsed(undefined) : read(typed)),
  };
}

type Read<Fields> = { [Name in keyof Fields]: Fields[Name] extends Field<infer T> ? T : never };

/** A form's inputs in order. Reading gives all values, or all problems, each at its field. */
export function form<Fields extends Record<string, Field<unknown>>>(name: string, fields: Fields) {
  const idOf = (field: keyof Fields & string): string => `${name}_${field}`;
  return {
    inputs: (prefill: { [Name in keyof Fields]?: string | undefined } = {}): InputBlock[] =>
      Object.entries(fields).map(([field, { input }]) => input(idOf(field), prefill[field])),
    read(values: ViewValues) {
      const all = Object.entries(fields).map(
        ([field, { read }]) => [field, read(oneLine(values[idOf(field)] ?? ''))] as const,
      );
      const wrong = all.flatMap(([field, one]) => (one.ok ? [] : [[idOf(field), one.problem] as const]));
      if (wrong.length > 0) return { kind: 'errors', errors: Object.fromEntries(wrong) } as const;
      const read = Object.fromEntries(all.map(([field, one]) => [field, one.ok ? one.value : undefined]));
      return { kind: 'read', read: read as Read<Fields> } as const;
    },
  };
}

/**
 * Writes and reads a button's value or a modal's metadata; undefined if the text doesn't fit the schema. It travels
 * through Slack: no secrets.
 */
export function codec<T>(schema: z.ZodType<T>) {
  return {
    write: (value: T): string => JSON.stringify(value),
    read: (text: string): T | undefined => schema.safeParse(parseJson(text)).data,
  };
}

// Fields that ask for a saved card; each form gives them its own ids.

/** A person's choice of card. `tokenKey` is a secret; `id` is not. */
export type CardChoice = { kind: 'ledger'; id: string } | { kind: 'pasted'; tokenKey: string };

/** A card offered in a form: its ledger id and its label. */
export type OfferedCard = { id: string; text: string };

const longestEmail = 254;

/** The typeahead of saved cards. The command needs a suggestion with the same id. */
export function cardInput(
  id: string,
  initial: OfferedCard | undefined,
  { optional }: { optional: boolean },
): ViewBlock {
  return externalSelect({
    id,
    label: 'Saved card',
    placeholder: 'Last four digits or e-mail',
    // Slack shows *No results* until the bot answers.
    hint: '“No results” at first? It’s still loading.',
    optional,
    ...(initial === undefined ? {} : { initial: { text: initial.text, value: initial.id } }),
  });
}

/** Never prefilled: Slack stores modals. `hasCards`: the form also offers saved cards to choose from. */
export function tokenInput(id: string, hasCards: boolean): ViewBlock {
  return textInput({
    id,
    label: hasCards ? 'Or the card’s token key' : 'Token key of the saved card',
    hint: 'Never a card number.',
    optional: hasCards,
  });
}

/** The person's choice of card. The caller shows a problem at the token key's field, which every such form has. */
export function readCardChoice(values: ViewValues, ids: { card: string; token: string }): Parsed<CardChoice> {
  const id = values[ids.card] ?? '';
  const tokenKey = visible(values[ids.token] ?? '').trim();
  if (id !== '' && tokenKey !== '') return problem('Choose a saved card or paste a token key, not both.');
  if (id !== '') return parsed({ kind: 'ledger', id });
  if (tokenKey === '') return problem('Choose a saved card, or paste its token key here.');
  if (/\s/.test(tokenKey)) return problem('A token key has no blanks in it. Paste it again.');
  return parsed({ kind: 'pasted', tokenKey });
}

/** What is wrong with an e-mail address; undefined if it looks right. */
export function emailFormProblem(email: string): string | undefined {
  if (!hasEmailForm(email)) return 'That isn’t an e-mail address. One looks like ada@example.com.';
  // Copied from a message: the service would answer that it knows nobody.
  return /^.\*{3}@/u.test(email) ? 'That e-mail is masked. Give it in full.' : undefined;
}

/** Whether the text is an e-mail address, in full or masked. */
export function hasEmailForm(text: string): boolean {
  return /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text) && text.length <= longestEmail;
}
