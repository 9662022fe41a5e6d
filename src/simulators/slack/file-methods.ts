import { z } from 'zod';
import { granted, method, optionalText, refused, text, type ApiAnswer, type Method } from './api-answer.ts';
import { parsedJson } from './message-content.ts';
import { longestFile } from './files.ts';
import { botDraft } from './messages.ts';
import type { World } from './world.ts';

/** files.*: the three steps by which an app puts a file into a channel or a thread. */

const write = { scope: 'files:write' };

const listed = z.array(z.object({ id: text, title: z.string().optional() })).min(1);

export function fileMethods(baseUrl: () => string): Record<string, Method> {
  return {
    'files.getUploadURLExternal': method(
      write,
      { filename: text, length: z.coerce.number().int().min(1).max(longestFile) },
      (world, { filename, length }) => {
        const { id, path } = world.files.announce(filename, length);
        return granted({ upload_url: baseUrl() + path, file_id: id });
      },
    ),
    'files.completeUploadExternal': method(
      write,
      {
        files: z.preprocess(parsedJson, listed),
        channel_id: text,
        thread_ts: optionalText,
        initial_comment: optionalText,
      },
      complete,
    ),
  };
}

type Completion = {
  files: z.infer<typeof listed>;
  channel_id: string;
  thread_ts?: string | undefined;
  initial_comment?: string | undefined;
};

/** Unlike a message, a file never goes where the app is no member. */
function complete(world: World, given: Completion): ApiAnswer {
  const channel = world.directory.channel(given.channel_id);
  if (!channel) return refused('channel_not_found');
  if (!channel.botIsMember) return refused('not_in_channel');
  if (channel.archived) return refused('is_archived');
  const parent = given.thread_ts === undefined ? undefined : world.messages.find(channel.id, given.thread_ts);
  if (given.thread_ts !== undefined && !parent) return refused('invalid_thread_ts');
  const files = given.files.map(({ id, title }) => world.files.complete(id, title));
  const there = files.filter((file) => file !== undefined);
  if (there.length < files.length) return refused('file_not_found');
  world.messages.post({
    ...botDraft(channel.id, { text: given.initial_comment ?? '', blocks: [], attachments: [] }),
    threadTs: parent?.threadTs ?? parent?.ts,
    files: there,
  });
  world.changed();
  return granted({ files: there.map(({ id, title }) => ({ id, title })) });
}
