import type { Runtime } from '../config/config.ts';
import { counted, parsed } from '../domain/wording.ts';
import { retryForwards } from '../features/forward/forward-record.ts';
import { command, type CommandEnd, withStorage } from './command.ts';
import { reasonOf } from '../store/explain-error.ts';

export const forwardCommand = command({
  summary: 'Retry forwarding the events that your backend did not take',
  usage: ['npm run payops --silent -- forward [--account NAME]'],
  more: 'Fix the backend first. Events that wait for their next try are tried now. /readyz says how many there are.',
  scope: 'each',
  prepare: () => parsed({ run: forward }),
});

async function forward(runtime: Runtime): Promise<CommandEnd> {
  return await withStorage(
    runtime,
    async (storage) => ({
      exitCode: 0,
      words: resultWords(await retryForwards(storage, runtime.now()), runtime),
    }),
    (error) => `Some of it may not be on its way. ${reasonOf(error)} Run this again once that is fixed.`,
    { verb: 'forward' },
  );
}

function resultWords(
  { abandoned, waiting }: Awaited<ReturnType<typeof retryForwards>>,
  { config }: Runtime,
): string {
  if (abandoned + waiting === 0) return 'Your backend has taken every event.';
  const parts = [
    ...(abandoned > 0 ? [`${counted(abandoned, 'event')} that your backend did not take`] : []),
    ...(waiting > 0 ? [`${counted(waiting, 'event')} that waited for the next try`] : []),
  ];
  const unset =
    config.webhookForwardUrl === undefined ? ' WEBHOOK_FORWARD_URL is not set: set it for the bot.' : '';
  return `On the way again: ${parts.join(', and ')}.${unset}`;
}
