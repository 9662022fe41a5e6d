/** Run as a thread: a large file takes seconds to copy and check. */
import { workerData } from 'node:worker_threads';
import { copyStoreFile } from './store-copy.ts';

const { path, copy } = workerData as { path: string; copy: string };
copyStoreFile(path, copy);
