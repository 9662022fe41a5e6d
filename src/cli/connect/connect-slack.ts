import type { ConversationsListResponse, WebClient } from '@slack/web-api';
import type { Log } from '../../log.ts';
import { outsideText } from '../../domain/outside-text.ts';
import { fetchAccount, whyNoMember, noMemberRules } from '../../slack/people/people.ts';
import { awayFix, fixFor, readSlackError, slackErrorWord } from '../../slack/slack-error.ts';
import { createAppClient, createClients, identityOf, type Identity } from '../../slack/workspace.ts';
import type { QuestionName } from './conversation.ts';
import { askSetting, type Step } from './draft.ts';
import type { PolicyAnswers } from './written-files.ts';

type SlackStep = Step & { log: Log };

/** Asks for Slack's tokens, tests them, and asks for people and channels. Undefined: too little for a policy file. */
export async function connectSlack(step: SlackStep, hasPolicy: boolean): Promise<PolicyAnswers | undefined> {
  const { talk, draft, log } = step;
  const proposal = draft.textOf('SLACK_MODE') ?? 'socket';
  const mode = await talk.ask({ name: 'slack_mode', form: ['socket', 'http'], proposal });
  if (mode !== undefined) draft.take({ SLACK_MODE: mode });
  const bot = await askBotToken(step);
  if (draft.config().slackMode === 'http') {
    await askSetting(step, 'slack_signing_secret', 'SLACK_SIGNING_SECRET', { isSecret: true });
  } else await askAppToken(step);
  if (!bot || hasPolicy) return undefined;
  const { slackApiUrl, slackBotToken: botToken = '' } = draft.config();
  const { interactive: client } = createClients({ botToken, slackApiUrl }, log);
  const channels = await channelsOf(client);
  await talk.tell(
    channels.length === 0
      ? 'Slack does not say which channels there are: give their ids (channel name → About → Channel ID).'
      : `Channels that the bot sees: ${channels
          .map(({ name }) => `#${name}`)
          .slice(0, 30)
          .join(', ')}`,
  );
  const alerts = await askChannel(step, 'alerts_channel', channels);
  if (alerts === undefined) return undefined;
  const desk = await askChannel(step, 'desk_channel', channels);
  const ops = await askChannel(step, 'ops_channel', channels);
  const members = await askMembers(step, { client, bot });
  return members && { channels: { alerts, ...(desk && { desk }), ...(ops && { ops }) }, members };
}

async function askBotToken(step: SlackStep): Promise<Identity | undefined> {
  const { talk, draft, log } = step;
  return await askToken(step, 'slack_bot_token', 'SLACK_BOT_TOKEN', async () => {
    const { slackApiUrl, slackBotToken: botToken } = draft.config();
    if (botToken === undefined) return undefined;
    const answer = await createClients({ botToken, slackApiUrl }, log).interactive.auth.test();
    await talk.tell(`✅ Slack knows the bot as ${outsideText(`${answer.user} in ${answer.team}`, 120)}.`);
    return identityOf(answer);
  });
}

async function askAppToken(step: SlackStep): Promise<void> {
  const { talk, draft, log } = step;
  await askToken(step, 'slack_app_token', 'SLACK_APP_TOKEN', async () => {
    const { slackAppToken, slackApiUrl } = draft.config();
    if (slackAppToken === undefined) return;
    await createAppClient(slackAppToken, slackApiUrl, log).apps.connections.open({});
    await talk.tell('✅ Slack gives a Socket Mode connection.');
  });
}

/** Asks for a token until Slack accepts it, or nothing is typed. If Slack doesn't answer, keeps the token. */
async function askToken<T>(
  step: SlackStep,
  name: 'slack_bot_token' | 'slack_app_token',
  setting: 'SLACK_BOT_TOKEN' | 'SLACK_APP_TOKEN',
  test: () => Promise<T>,
): Promise<T | undefined> {
  const { talk, draft } = step;
  for (;;) {
    const token = await askSetting(step, name, setting, { isSecret: true });
    try {
      return await test();
    } catch (error) {
      await talk.tell(
        `❌ ${slackWords(name === 'slack_bot_token' ? 'the bot token' : 'the app token', error)}`,
      );
      const isRefused = readSlackError(error).kind === 'refused';
      if (!talk.isPerson || token === undefined || !isRefused) return undefined;
      draft.take({ [setting]: '' });
    }
  }
}

function slackWords(what: string, error: unknown): string {
  const found = readSlackError(error);
  const word = slackErrorWord(found);
  return found.kind === 'refused'
    ? `Slack refuses ${what}: ${word}. ${fixFor(word)}`
    : `Slack does not answer: ${word}. ${awayFix}`;
}

type Channel = { id: string; name: string; isMember: boolean };

const mostPages = 10;

/** The channels that the bot may see; none without permission. */
async function channelsOf(client: WebClient): Promise<Channel[]> {
  for (const types of ['public_channel,private_channel', 'public_channel']) {
    const channels: Channel[] = [];
    try {
      let pages = 0;
      const options = { types, limit: 200, exclude_archived: true };
      for await (const page of client.paginate('conversations.list', options)) {
        for (const { id, name, is_member: isMember = false } of (page as ConversationsListResponse)
          .channels ?? []) {
          if (id !== undefined && name !== undefined)
            channels.push({ id, name: outsideText(name, 80), isMember });
        }
        pages += 1;
        if (pages === mostPages) break;
      }
      return channels;
    } catch {
      // Without groups:read Slack refuses a request for both types; then ask for public channels alone.
      if (channels.length > 0) return channels;
    }
  }
  return [];
}

const channelId = /^[CG][A-Z0-9]{6,}$/;

async function askChannel(
  { talk }: Step,
  name: QuestionName,
  channels: readonly Channel[],
): Promise<string | undefined> {
  const find = (answer: string): Channel | undefined =>
    channels.find((each) => each.id === answer || each.name === answer.replace(/^#/, ''));
  const answer = await talk.ask({
    name,
    check: (text) =>
      channelId.test(text) || find(text)
        ? undefined
        : 'must be one of these channels, or an id like C0123ABCD',
  });
  const found = answer === undefined ? undefined : find(answer);
  if (found && !found.isMember)
    await talk.tell(`⚠️ The bot isn’t in #${found.name}: type /invite @pay there.`);
  return found?.id ?? answer;
}

async function askMembers(
  { talk }: Step,
  { client, bot }: { client: WebClient; bot: Identity },
): Promise<string[] | undefined> {
  const answer = await talk.ask({
    name: 'members',
    check: (text) =>
      idsIn(text).every((id) => /^[UW][A-Z0-9]{6,}$/.test(id)) ? undefined : 'must be ids like U0123ABCD',
  });
  const judged = await Promise.all(
    idsIn(answer ?? '').map(async (id) => {
      const account = await fetchAccount(client, id).catch(() => undefined);
      const why = account && whyNoMember(account, bot);
      return { id, why, name: account?.name ?? 'Slack does not say who that is' };
    }),
  );
  const told = judged.map(({ id, why, name }) =>
    why === undefined ? `${id}: ${outsideText(name, 80)}` : `⚠️ ${id} is left out. ${noMemberRules[why]}.`,
  );
  if (told.length > 0) await talk.tell(told.join('\n'));
  const ids = judged.flatMap(({ id, why }) => (why === undefined ? [id] : []));
  return ids.length > 0 ? ids : undefined;
}

function idsIn(text: string): string[] {
  return [...new Set(text.split(/[\s,]+/).filter((id) => id !== ''))];
}
