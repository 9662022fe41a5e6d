import * as clack from '@clack/prompts';
import { questions, skipWord, Stopped, type Conversation, type Question } from './conversation.ts';

/** A person at this process's terminal. What is typed of a secret shows as dots. */
export function atTerminal(): Conversation {
  return {
    isPerson: true,
    async ask(question) {
      const answer = await prompt(question);
      if (typeof answer === 'symbol') throw new Stopped('Stopped: nothing was written.');
      const typed = (answer ?? '').trim();
      if (typed === skipWord) return undefined;
      return typed === '' ? question.proposal : typed;
    },
    tell: (words, title) => (title === undefined ? clack.log.message(words) : clack.note(words, title)),
    async waitFor(words, work) {
      const ended = new AbortController();
      const found = work(ended.signal).finally(() => ended.abort());
      // Enter, or Ctrl-C, goes on without it.
      const pressed = clack
        .text({ message: `${words} Enter goes on without.`, signal: ended.signal })
        .then(() => undefined);
      const first = await Promise.race([found.catch(() => undefined), pressed]);
      ended.abort();
      await pressed;
      return first;
    },
  };
}

async function prompt({ name, proposal, form, check }: Question): Promise<string | symbol | undefined> {
  const asked = questions[name];
  const skips = `${skipWord} skips`;
  if (typeof form === 'object') {
    const options = form.map((value) => ({ value, label: value }));
    return await clack.select({ message: asked, options, ...(proposal && { initialValue: proposal }) });
  }
  function validate(value: string | undefined): string | undefined {
    const typed = (value ?? '').trim();
    const wrong = typed === '' || typed === skipWord ? undefined : check?.(typed);
    return wrong === undefined ? undefined : `It ${wrong}`;
  }
  if (form === 'secret') {
    const kept = proposal === undefined ? 'Enter skips' : `Enter keeps the one that is set, ${skips}`;
    return await clack.password({ message: `${asked} (${kept})`, validate });
  }
  if (form === 'lines') {
    const message = `${asked}. Enter on an empty line ends it${proposal === undefined ? '' : ` or keeps yours, ${skips}`}`;
    return await clack.multiline({ message, validate });
  }
  const taken = proposal === undefined ? 'Enter skips' : `Enter takes ${proposal}, ${skips}`;
  return await clack.text({
    message: `${asked} (${taken})`,
    validate,
    ...(proposal && { placeholder: proposal, defaultValue: proposal }),
  });
}
