import type { Merchant } from '../domain/merchant.ts';
import { parsed } from '../domain/parsed.ts';
import { refuse } from '../slack/answer.ts';
import { code, headline, richText, type Run } from '../slack/blocks.ts';
import type { Caller, Command, CommandSet, MayRun, Prepared } from '../slack/command.ts';
import type { SlackMessage } from '../slack/message.ts';

/** The verb of the account that has on record what is asked for; of the first of these when none has. */
export function ofWhoKnows(command: Command, sets: readonly Named[], mayRun: MayRun): Command {
  return {
    ...command,
    prepare(words) {
      const read = command.prepare(words);
      if (!read.ok) return read;
      const others = (own: Command): Prepared | undefined => {
        const of = own.prepare(words);
        return of.ok ? of.value : undefined;
      };
      return parsed(preparedByWhoKnows(read.value, { verb: command.verb, sets, mayRun, prepare: others }));
    },
  };
}

export type Knowers = {
  verb: string;
  sets: readonly Named[];
  mayRun: MayRun;
  /** The same as an account’s verb has it. */
  prepare: (own: Command) => Prepared | undefined;
};

/** What the account does with it that has it on record; what `own` does when none has. */
export function preparedByWhoKnows(own: Prepared, { verb, sets, mayRun, prepare }: Knowers): Prepared {
  async function whoKnow(caller: Caller): Promise<Knowing[]> {
    const found = await Promise.all(
      sets.map(async ({ merchant, set }) => {
        const command = set.verb(verb);
        const prepared = command && prepare(command);
        if (!command || !prepared || (await refuse(caller, command, mayRun))) return [];
        return (await prepared.knows?.(caller)) ? [{ name: merchant.name, prepared }] : [];
      }),
    );
    return found.flat();
  }
  if (!own.knows) return own;
  let answeredBy: string | undefined;
  return {
    ...own,
    answeredBy: () => answeredBy,
    async run(conversation) {
      const [one, ...more] = await whoKnow(conversation.caller);
      if (one && more.length > 0) return severalMessage([verb, ...quoted(own)], [one, ...more]);
      answeredBy = one?.name;
      return await (one?.prepared ?? own).run(conversation);
    },
  };
}

export type Named = { merchant: Merchant; set: CommandSet };
type Knowing = { name: string; prepared: Prepared };

/** One form at a time, and one answer that a person can read. */
function severalMessage(asked: readonly string[], knowing: readonly Knowing[]): SlackMessage {
  const { text, block } = headline(
    'Several accounts have something here',
    knowing.map(({ name }) => name),
  );
  const lines = knowing.map(({ name }): Run[] => [code(`/pay ${asked.join(' ')} --account ${name}`)]);
  return { text, blocks: [block, richText(...lines)] };
}

/** The reference as a person would type it. */
function quoted({ reference }: Prepared): string[] {
  if (reference === undefined) return [];
  return [reference.includes(' ') ? `"${reference}"` : reference];
}
