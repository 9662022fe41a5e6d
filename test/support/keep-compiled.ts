import { flushCompileCache } from 'node:module';

/**
 * With NODE_COMPILE_CACHE, as in `npm test`, a worker loads the bot in half the processor time. Node writes that cache
 * when a process ends by itself, but vitest ends its workers with SIGTERM.
 */
function writeCompiled(): void {
  flushCompileCache();
  process.kill(process.pid, 'SIGTERM');
}

// Vitest runs this before each file, though a worker shares its modules.
if (!process.listeners('SIGTERM').some(({ name }) => name === writeCompiled.name)) {
  process.once('SIGTERM', writeCompiled);
}
