import { z } from 'zod';
import type { SharedFile } from '../protocol.ts';
import { type ApiAnswer, granted, method, type Method, optionalText, refused, text } from './api-answer.ts';
import type { Ids } from './ids.ts';
import { parsedJson } from './message-content.ts';
import { botDraft } from './messages.ts';
import type { World } from './world.ts';

/** A file in transit: announced, then uploaded, then shared once. */
type Upload = { id: string; name: string; length: number; text?: string };

export const uploadPath = '/upload/v1/';
/** In bytes. Slack accepts a gigabyte, but every open page of the playground holds these. */
const longestFile = 20_000_000;

export function createFiles(ids: Ids) {
  const uploads = new Map<string, Upload>();
  return {
    /** Returns the file’s id, and the path that accepts its bytes once. */
    announce(name: string, length: number) {
      const id = ids.id('F');
      const path = `${uploadPath}${ids.id('UP')}`;
      uploads.set(path, { id, name, length });
      return { id, path };
    },
    /** False if it was not announced, was uploaded already, or has another length. */
    take(path: string, body: string) {
      const upload = uploads.get(path);
      if (!upload || upload.text !== undefined || Buffer.byteLength(body) !== upload.length) return false;
      upload.text = body;
      return true;
    },
    /** The uploaded file; it can't be shared again. */
    complete(id: string, title: string | undefined): SharedFile | undefined {
      const [path, found] = [...uploads].find(([, upload]) => upload.id === id) ?? [];
      if (path === undefined || found?.text === undefined) return undefined;
      uploads.delete(path);
      return { id, name: found.name, title: title ?? found.name, text: found.text };
    },
  };
}

/** files.*: the three steps by which an app puts a file into a channel or a thread. */

const write = { scope: 'files:write' };

const listed = z.array(z.object({ id: text, title: z.string().optional() })).min(1);

export function fileMethods(url: string): Record<string, Method> {
  return {
    'files.getUploadURLExternal': method(
      write,
      { filename: text, length: z.coerce.number().int().min(1).max(longestFile) },
      (world, { filename, length }) => {
        const { id, path } = world.files.announce(filename, length);
        return granted({ upload_url: url + path, file_id: id });
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
    /** The message stays, without the file. */
    'files.delete': method(write, { file: text }, (world, { file }) =>
      world.messages.dropFile(file) ? granted({}) : refused('file_not_found'),
    ),
  };
}

type Completion = {
  files: z.infer<typeof listed>;
  channel_id: string;
  thread_ts?: string | undefined;
  initial_comment?: string | undefined;
};

/** Unlike a message, a file needs the app to be a member. */
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
    ...botDraft(channel.id, { text: given.initial_comment ?? '', blocks: [] }),
    threadTs: parent?.threadTs ?? parent?.ts,
    files: there,
  });
  world.changed();
  return granted({ files: there.map(({ id, title }) => ({ id, title })) });
}
