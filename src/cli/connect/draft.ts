import type { Config } from '../../config/config.ts';
import { fallbackOf, isSecretName, readSoFar, withSettings } from '../../config/read-config.ts';
import { withServiceSet } from '../../config/service-sets.ts';
import type { Conversation, QuestionName } from './conversation.ts';
import { changeLines, type Changes } from './changes.ts';

type Variables = Readonly<Record<string, string | undefined>>;

/** The settings on their way: what the environment says, with what was found and answered in its place. */
export type Draft = {
  config: () => Config;
  /** What differs from the environment. */
  changes: () => Changes;
  /** Each must be readable by itself. */
  take: (more: Changes) => void;
  /** From now on the set says these, and the environment names it. */
  moveToSet: (set: string, settings: Changes) => void;
  textOf: (name: string) => string | undefined;
  /** "must be a UUID of 36 characters"; undefined: it can be read. */
  problemOf: (name: string, text: string) => string | undefined;
};

export function openDraft(variables: Variables): Draft {
  let changes: Changes = {};
  let config = readSoFar(variables);
  const whole = withServiceSet(variables, isSecretName);
  const textOf = (name: string, of = whole.ok ? whole.value : variables): string => of[name]?.trim() ?? '';
  return {
    config: () => config,
    changes: () => changes,
    take(more) {
      const changed = withSettings(config, more);
      if (!changed.ok) throw new Error(changed.problem);
      config = changed.value;
      const all = Object.entries({ ...changes, ...more });
      changes = Object.fromEntries(
        all.filter(([name, value]) => value !== (textOf(name) || (fallbackOf(name) ?? ''))),
      );
    },
    moveToSet(set, settings) {
      const rest = Object.entries(changes).filter(([name]) => !Object.hasOwn(settings, name));
      // What the environment says itself would win.
      const own = Object.keys(settings).filter((name) => textOf(name, variables) !== '');
      const gone = own.map((name) => [name, '']);
      changes = { ...Object.fromEntries([...rest, ...gone]), PAYMENTS_SERVICE: set };
    },
    textOf: (name) => changes[name] ?? (textOf(name) || undefined),
    problemOf(name, text) {
      const read = withSettings(config, { [name]: text });
      return read.ok ? undefined : read.problem.replace(`${name} `, '').replace(/\.$/, '');
    },
  };
}

/** What one part of the conversation needs. */
export type Step = { talk: Conversation; draft: Draft };

/** Asks for one setting; what it is already is the proposal, else `proposal`. A secret that a file holds is not asked for. */
export async function askSetting(
  { talk, draft }: Step,
  name: QuestionName,
  setting: string,
  { isSecret = false, proposal }: { isSecret?: boolean; proposal?: string | undefined } = {},
): Promise<string | undefined> {
  if (isSecret && draft.textOf(`${setting}_FILE`) !== undefined) return undefined;
  const answer = await talk.ask({
    name,
    proposal: draft.textOf(setting) ?? proposal,
    check: (text) => draft.problemOf(setting, text),
    ...(isSecret ? { form: 'secret' } : {}),
  });
  if (answer !== undefined) draft.take({ [setting]: answer });
  return answer;
}

/** Shows what was found, and takes it where the person agrees; gives whether the settings are so now. */
export async function offer({ talk, draft }: Step, name: QuestionName, found: Changes): Promise<boolean> {
  if (Object.keys(found).length === 0) {
    await talk.tell('✅ The settings fit as they are.');
    return true;
  }
  await talk.tell(changeLines(found).join('\n'), 'Found');
  const answer = await talk.ask({ name, form: ['yes', 'change', 'no'], proposal: 'yes' });
  if (answer === 'yes') draft.take(found);
  if (answer !== 'change') return answer === 'yes';
  for (const [setting, proposal] of Object.entries(found)) {
    const check = (text: string): string | undefined => draft.problemOf(setting, text);
    const own = await talk.ask({ name, asks: setting, proposal, check });
    if (own !== undefined) draft.take({ [setting]: own });
  }
  return true;
}
