import { z } from 'zod';
import { whole } from './chat-methods.ts';
import { readContent } from './message-content.ts';
import { botDraft } from './messages.ts';
import type { ResponseTarget } from './ids.ts';
import type { World } from './world.ts';

/** The app's answer to a command or a press, in the acknowledgement or later through a response_url. */

type Applied = { kind: 'applied' } | { kind: 'refused'; error: string; messages: string[] };

const answerShape = z.looseObject({
  response_type: z.literal('ephemeral').optional(),
  replace_original: z.boolean().optional(),
  thread_ts: z.string().optional(),
});

type Answer = z.infer<typeof answerShape>;

/**
 * Shows the answer to that one person. After a slash command there is no original message, so replacing one posts a new
 * one.
 */
export function applyAnswer(world: World, target: ResponseTarget, body: unknown): Applied {
  const read = answerShape.safeParse(typeof body === 'string' ? { text: body } : body);
  if (!read.success) return refuse('invalid_payload');
  const applied = applyTo(world, target, read.data);
  if (applied.kind === 'applied') world.changed();
  return applied;
}

function applyTo(world: World, target: ResponseTarget, answer: Answer): Applied {
  const original =
    target.messageTs === undefined
      ? undefined
      : world.messages.findFor(target.userId, target.channel, target.messageTs);
  const content = readContent(answer, world.ids);
  if (content.kind === 'refused') return content;
  if (content.blank) return refuse('no_text');
  if (answer.replace_original === true && target.messageTs !== undefined) {
    if (original === undefined) return refuse('message_not_found');
    world.messages.edit(original, whole(content.content));
    return { kind: 'applied' };
  }
  const draft = { ...botDraft(target.channel, whole(content.content)), threadTs: answer.thread_ts };
  world.messages.post({ ...draft, visibleTo: target.userId });
  return { kind: 'applied' };
}

function refuse(error: string): Applied {
  return { kind: 'refused', error, messages: [] };
}
