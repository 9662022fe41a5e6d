import type { Merchant } from '../domain/merchant.ts';
import { parsed } from '../domain/parsed.ts';
import { refuse } from '../slack/answer.ts';
import { code, headline, richText, type Run } from '../slack/blocks.ts';
import type { Caller, Command, CommandSet, MayRun, Prepared } from '../slack/command.ts';
import type { SlackMessage } from '../slack/message.ts';

/** The verb of the account that has on record what is asked for; of the first of these when none has. */
export function ofWhoKnows(command: Command, sets: readonly Named[], mayRun: MayRun): Command {
  async function whoKnow(words: readonly string[], caller: Caller): Promise<Knowing[]> {
    const found = await Promise.all(
      sets.map(async ({ merchant, set }) => {
        const own = set.verb(command.verb);
        const read = own?.prepare(words);
        if (!own || !read?.ok || (await refuse(caller, own, mayRun))) return [];
        return (await read.value.knows?.(caller)) ? [{ name: merchant.name, prepared: read.value }] : [];
      }),
    );
    return found.flat();
  }
  return {
    ...command,
    prepare(words) {
      const read = command.prepare(words);
      if (!read.ok || !read.value.knows) return read;
      const own = read.value;
      let answeredBy: string | undefined;
      return parsed({
        ...own,
        answeredBy: () => answeredBy,
        async run(conversation) {
          const [one, ...more] = await whoKnow(words, conversation.caller);
          if (one && more.length > 0) return severalMessage(command.verb, [one, ...more]);
          answeredBy = one?.name;
          return await (one?.prepared ?? own).run(conversation);
        },
      });
    },
  };
}

type Named = { merchant: Merchant; set: CommandSet };
type Knowing = { name: string; prepared: Prepared };

/** One form at a time, and one answer that a person can read. */
function severalMessage(verb: string, knowing: readonly Knowing[]): SlackMessage {
  const { text, block } = headline(
    'Several accounts have something here',
    knowing.map(({ name }) => name),
  );
  const lines = knowing.map(({ name }): Run[] => [code(`/pay ${verb} --account ${name}`)]);
  return { text, blocks: [block, richText(...lines)] };
}
