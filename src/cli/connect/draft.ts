import type { Config } from '../../config/config.ts';
import { defaultOf, isSecretName, readIncomplete, withSettings } from '../../config/read-config.ts';
import { withServiceSet } from '../../config/service-sets.ts';
import type { Conversation, QuestionName } from './conversation.ts';

type Variables = Readonly<Record<string, string | undefined>>;

/** New values by variable, as written in the .env file; empty: the variable is removed. */
export type Changes = Readonly<Record<string, string>>;

export function changeLines(changes: Changes): string[] {
  return Object.entries(changes).map(([name, value]) => `${name}=${value}`);
}

export type Draft = ReturnType<typeof openDraft>;

/** The settings in progress: those of the environment, overridden by the answers so far. */
export function openDraft(variables: Variables) {
  let changes: Changes = {};
  let config = readIncomplete(variables);
  const withSet = withServiceSet(variables, isSecretName);
  const textOf = (name: string, of = withSet.ok ? withSet.value : variables): string =>
    of[name]?.trim() ?? '';
  return {
    config: (): Config => config,
    /** Differences from the environment. */
    changes: () => changes,
    /** Changes settings. Throws for an invalid value, so check it with `problemOf` first. */
    take(more: Changes): void {
      const changed = withSettings(config, more);
      if (!changed.ok) throw new Error(changed.problem);
      config = changed.value;
      const all = Object.entries({ ...changes, ...more });
      changes = Object.fromEntries(
        all.filter(([name, value]) => value !== (textOf(name) || (defaultOf(name) ?? ''))),
      );
    },
    /** Chooses the set with PAYMENTS_SERVICE; the settings that were written into it are no changes any more. */
    moveToSet(set: string, settings: Changes): void {
      const rest = Object.entries(changes).filter(([name]) => !Object.hasOwn(settings, name));
      // Blank those of the environment too: they would override the set.
      const overriding = Object.keys(settings).filter((name) => textOf(name, variables) !== '');
      const blanked = overriding.map((name) => [name, '']);
      changes = { ...Object.fromEntries([...rest, ...blanked]), PAYMENTS_SERVICE: set };
    },
    textOf: (name: string) => changes[name] ?? (textOf(name) || undefined),
    /** What is wrong with a value, like "must be a UUID of 36 characters"; undefined: nothing. */
    problemOf(name: string, text: string): string | undefined {
      const read = withSettings(config, { [name]: text });
      return read.ok ? undefined : read.problem.replace(`${name} `, '').replace(/\.$/, '');
    },
  };
}

export type Step = { talk: Conversation; draft: Draft };

/**
 * Asks for one setting and takes the answer into the draft. Proposes the current value, else `proposal`. Doesn't ask
 * for a secret that is in a file.
 */
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

/** Shows proposed settings, and takes them if the person agrees. Returns whether the draft has them now. */
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
