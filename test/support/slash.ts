import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Bot } from './bot.ts';
import { serveOnLoopback } from './loopback.ts';
import { signSlack, slashBody } from './slack-requests.ts';

/** A command sent past the workspace, so that only the bot is measured. */
export type Sent = {
  status: number;
  ackMs: number;
  /** The answers so far, in the acknowledgement or through the response_url, oldest first. */
  answers: readonly string[];
};

export type SlashSender = {
  send: (bot: Bot, words: string) => Promise<Sent>;
  close: () => Promise<void>;
};

/** Sends `/pay` as Slack would, signed; each command has its own response_url. */
export async function openSlashSender(
  who: { signingSecret: string; userId: string; teamId: string },
  changed: () => void,
): Promise<SlashSender> {
  const told = new Map<string, string[]>();
  async function hear(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { text: words } = JSON.parse(await text(request)) as { text: string };
    told.get(request.url ?? '')?.push(words);
    response.end('ok');
    changed();
  }
  const { url, close } = await serveOnLoopback((request, response) => void hear(request, response));

  return {
    async send(bot, words) {
      const path = `/answers/${told.size + 1}`;
      const answers: string[] = [];
      told.set(path, answers);
      const typed = { ...who, text: words, triggerId: path, responseUrl: url + path };
      const request = signSlack(slashBody(typed), { secret: who.signingSecret });
      const startedAt = performance.now();
      const response = await fetch(`${bot.url()}/slack/events`, { method: 'POST', ...request });
      const acknowledged = await response.text();
      const ackMs = performance.now() - startedAt;
      if (acknowledged !== '') answers.push((JSON.parse(acknowledged) as { text: string }).text);
      return { status: response.status, ackMs, answers };
    },
    close,
  };
}
