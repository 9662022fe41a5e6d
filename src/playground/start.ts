import { enableCompileCache } from 'node:module';
import { parseArgs } from 'node:util';

const usualPort = 4400;

const usage = `npm run playground [-- --port 4400]`;

function readOptions(): { port: number } | undefined {
  try {
    const { values } = parseArgs({ options: { port: { type: 'string' } } });
    const port = Number(values.port ?? usualPort);
    if (!Number.isInteger(port) || port < 0 || port > 65_535) return undefined;
    return { port };
  } catch {
    return undefined;
  }
}

const options = readOptions();
if (!options) {
  console.error(`Usage: ${usage}`);
  process.exit(2);
}

// Parsing TypeScript takes two thirds of a start; only the first start pays it.
enableCompileCache();
const { startPlayground } = await import('./playground.ts');
const playground = await startPlayground(options).catch((error: unknown) => {
  console.error(
    `The playground could not start: ${error instanceof Error ? error.message : 'unknown error'}`,
  );
  process.exit(1);
});
console.log(`
  Payops playground: ${playground.url}

  Open it, type /pay ORDER-1001 and press Enter.
  Ctrl+C ends it; nothing is kept.
`);

let stopping = false;
async function stop(): Promise<void> {
  if (stopping) return;
  stopping = true;
  await playground.close();
  process.exit(0);
}
process.on('SIGINT', () => void stop());
process.on('SIGTERM', () => void stop());
