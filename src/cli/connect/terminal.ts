import * as clack from '@clack/prompts';
import type { Readable, Writable } from 'node:stream';
import { questions, skipWord, Stopped, type Conversation, type Question } from './conversation.ts';

type Streams = { input?: Readable; output?: Writable };

/** Asks a person at this terminal, or over these streams. Typed secrets are shown as dots. */
export function atTerminal(streams: Streams = {}): Conversation {
  return {
    isPerson: true,
    async ask(question) {
      const answer = await prompt(question, streams);
      if (typeof answer === 'symbol') throw new Stopped('Stopped.');
      const typed = (answer ?? '').trim();
      if (typed === skipWord) return undefined;
      return typed === '' ? question.proposal : typed;
    },
    tell: (words, title) =>
      title === undefined ? clack.log.message(words, streams) : clack.note(words, title, streams),
    async waitFor(words, work) {
      const ended = new AbortController();
      const found = work(ended.signal).catch(() => undefined);
      // Enter or Ctrl-C continues without the result.
      const pressed = clack
        .text({ message: `${words} Enter goes on without.`, signal: ended.signal, ...streams })
        .then(() => undefined);
      const first = await Promise.race([found, pressed]);
      ended.abort();
      await Promise.all([found, pressed]);
      return first;
    },
  };
}

async function prompt(
  { name, asks: words = questions[name], proposal, form, check }: Question,
  streams: Streams,
): Promise<string | symbol | undefined> {
  const skips = `${skipWord} skips`;
  if (typeof form === 'object') {
    const options = form.map((value) => ({ value, label: value }));
    return await clack.select({
      message: words,
      options,
      ...(proposal && { initialValue: proposal }),
      ...streams,
    });
  }
  function validate(value: string | undefined): string | undefined {
    const typed = (value ?? '').trim();
    const wrong = typed === '' || typed === skipWord ? undefined : check?.(typed);
    return wrong === undefined ? undefined : `It ${wrong}`;
  }
  if (form === 'secret') {
    const onEnter = proposal === undefined ? 'Enter skips' : `Enter keeps the one that is set, ${skips}`;
    return await clack.password({
      message: `${words} (${onEnter})`,
      validate,
      clearOnError: true,
      ...streams,
    });
  }
  if (form === 'lines') {
    const message = `${words}. Enter on an empty line ends it${proposal === undefined ? '' : ` or keeps yours, ${skips}`}`;
    return await clack.multiline({ message, validate, ...streams });
  }
  const onEnter = proposal === undefined ? 'Enter skips' : `Enter takes what stands there, ${skips}`;
  return await clack.text({
    message: `${words} (${onEnter})`,
    validate,
    ...(proposal && { placeholder: proposal, defaultValue: proposal }),
    ...streams,
  });
}
