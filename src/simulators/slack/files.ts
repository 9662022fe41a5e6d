import type { Ids } from './ids.ts';
import type { SharedFile } from './messages.ts';

/** A file on its way: announced, then uploaded, then shared once. */
type Upload = { id: string; name: string; length: number; text?: string };

export type Files = {
  /** Gives the file’s id, and the path that takes its bytes once. */
  announce(name: string, length: number): { id: string; path: string };
  /** False: nobody announced it, it is there already, or it has another length. */
  take(path: string, body: string): boolean;
  /** The file, once it was uploaded; from then on nobody can share it again. */
  complete(id: string, title: string | undefined): SharedFile | undefined;
};

export const uploadPath = '/upload/v1/';
/** In bytes. Slack takes a gigabyte; every open page of the workspace holds these. */
export const longestFile = 20_000_000;

export function createFiles(ids: Ids): Files {
  const uploads = new Map<string, Upload>();
  return {
    announce(name, length) {
      const id = ids.id('F');
      const path = `${uploadPath}${ids.id('UP')}`;
      uploads.set(path, { id, name, length });
      return { id, path };
    },
    take(path, body) {
      const upload = uploads.get(path);
      if (!upload || upload.text !== undefined || Buffer.byteLength(body) !== upload.length) return false;
      upload.text = body;
      return true;
    },
    complete(id, title) {
      const [path, found] = [...uploads].find(([, upload]) => upload.id === id) ?? [];
      if (path === undefined || found?.text === undefined) return undefined;
      uploads.delete(path);
      return { id, name: found.name, title: title ?? found.name, text: found.text };
    },
  };
}
