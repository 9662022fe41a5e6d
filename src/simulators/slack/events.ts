import type { BotAnswer, BotLine } from './bot-line.ts';
import { eventPayload } from './payloads.ts';
import type { World } from './world.ts';

export type Events = {
  /** Sends an event if the manifest subscribes to it, and again when it is not answered; waits for the first attempt only. */
  send(subscription: string, event: Record<string, unknown>, summary: string): Promise<void>;
  close(): void;
};

export type EventsDeps = {
  world: World;
  line: BotLine;
  /** Slack's own: at once, after a minute, after five. */
  retryDelaysMs: readonly number[];
};

export function createEvents(deps: EventsDeps): Events {
  const timers = new Set<NodeJS.Timeout>();

  async function attempt(payload: Record<string, unknown>, summary: string, retry?: Retry): Promise<void> {
    const again = retry === undefined ? '' : ` (retry ${retry.num})`;
    const answer = await deps.line.send(
      { kind: 'events_api', payload, ...(retry === undefined ? {} : { retry }) },
      `${summary}${again}`,
    );
    const reason = retryReason(answer);
    const num = (retry?.num ?? 0) + 1;
    const delayMs = deps.retryDelaysMs[num - 1];
    if (reason === undefined || delayMs === undefined) return;
    const timer = setTimeout(() => {
      timers.delete(timer);
      void attempt(payload, summary, { num, reason });
    }, delayMs);
    timer.unref();
    timers.add(timer);
  }

  return {
    async send(subscription, event, summary) {
      if (deps.world.app.botEvents.has(subscription)) await attempt(eventPayload(deps.world, event), summary);
    },
    close() {
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
    },
  };
}

type Retry = { num: number; reason: string };

function retryReason(answer: BotAnswer): string | undefined {
  switch (answer.kind) {
    case 'acknowledged':
      return undefined;
    case 'refused':
      return answer.mayRetry ? 'http_error' : undefined;
    case 'timeout':
      return 'http_timeout';
    case 'unreachable':
      return 'connection_failed';
  }
}
