import { flushCompileCache } from 'node:module';

// With NODE_COMPILE_CACHE, as in `npm test`, a worker loads the bot in half the processor time. Node writes that cache
// when a process ends by itself, but vitest ends its workers with SIGTERM. Once for each worker, which shares modules.
process.once('SIGTERM', () => {
  flushCompileCache();
  process.kill(process.pid, 'SIGTERM');
});
