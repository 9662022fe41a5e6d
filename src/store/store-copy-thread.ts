/** Runs as a worker thread, because copying and checking a large file takes seconds. */
import { workerData } from 'node:worker_threads';
import { copyStoreFile } from './store-copy.ts';

const { path, copy } = workerData as { path: string; copy: string };
copyStoreFile(path, copy);
