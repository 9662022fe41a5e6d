import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Bot } from './bot.ts';
import { signSlack, slashBody } from './slack-requests.ts';

/** One command, sent past the workspace, so that nothing but the bot is measured. */
export type Sent = {
  status: number;
  ackMs: number;
  /** The texts told through its response_url so far, oldest first. */
  answers: readonly string[];
};

export type SlashSender = {
  send: (bot: Bot, words: string) => Promise<Sent>;
  close: () => Promise<void>;
};

/** Types `/pay` as Slack would send it, signed; each command has a response_url of its own. */
export async function openSlashSender(
  who: { signingSecret: string; userId: string; teamId: string },
  changed: () => void,
): Promise<SlashSender> {
  const told = new Map<string, string[]>();
  const server = createServer((request, response) => {
    void hear(request, response);
  });
  async function hear(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { text: words } = JSON.parse(await text(request)) as { text: string };
    told.get(request.url ?? '')?.push(words);
    response.end('ok');
    changed();
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    async send(bot, words) {
      const path = `/answers/${told.size + 1}`;
      const answers: string[] = [];
      told.set(path, answers);
      const typed = { ...who, text: words, triggerId: path, responseUrl: url + path };
      const request = signSlack(slashBody(typed), { secret: who.signingSecret });
      const startedAt = performance.now();
      const response = await fetch(`${bot.url()}/slack/events`, { method: 'POST', ...request });
      await response.text();
      return { status: response.status, ackMs: performance.now() - startedAt, answers };
    },
    close() {
      return new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}
