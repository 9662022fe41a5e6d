import { setTimeout as sleep } from 'node:timers/promises';
import type { Account } from '../../account.ts';
import type { AuthTestResponse, ConversationsMembersResponse, WebClient } from '@slack/web-api';
import type { Mention } from '../../domain/alert.ts';
import { lookAtChannel } from './look-at-channel.ts';
import {
  emptyGroupFix,
  fetchAccount,
  membersOf,
  whyNoMember,
  type SlackAccount,
  type Members,
} from '../../slack/people/people.ts';
import { fixFor, readSlackError, slackErrorWord, awayFix } from '../../slack/slack-error.ts';
import { createAppClient, identityOf } from '../../slack/workspace.ts';
import type { Log } from '../../log.ts';
import { utcTime } from '../../slack/kit/text.ts';
import {
  judgeClock,
  ok,
  once,
  problem,
  skippedFor,
  warning,
  type Check,
  type CheckResult,
} from './checks.ts';

/** The scopes of manifest.yml: required ones, and optional ones with what fails without them. */
export const neededScopes: readonly string[] = ['commands', 'chat:write', 'users:read'];
export const optionalScopes: Readonly<Record<string, string>> = {
  'chat:write.public': 'the bot must be invited to each channel',
  'usergroups:read': 'no roles by user group',
  'channels:read': 'channels are not looked at before the first post',
  'groups:read': 'private channels are not looked at before the first post',
  'channels:history': 'a post whose answer is lost is repeated with a mark',
  'groups:history': 'a post in a private channel whose answer is lost is repeated with a mark',
  'files:write': 'no CSV files',
  'app_mentions:read': '@pay is not heard in threads',
};

/** Slack allows about a hundred look-ups of people a minute, so a role's other people are not checked. */
const mostPeople = 50;
const tokenPart = 'Slack token';
const clockTimeoutMs = 5_000;

type Config = Account['settings'];
type Policy = Config['policy'];
type Role = Policy['roles'][string];

type SlackSettings = Pick<Config, 'policy' | 'slackApiUrl' | 'slackMode' | 'slackAppToken'>;

type SlackCheckNeeds = {
  approvalRules: readonly RuleWithRoles[];
  /** The last refused request of Slack, unless one was accepted since. */
  refused: () => Promise<{ atMs: number; why: string; fix: string } | undefined>;
};

export function slackChecks(
  { config, log, now }: { config: SlackSettings; log: Log; now: () => number },
  client: WebClient,
  { approvalRules, refused }: SlackCheckNeeds,
): Check[] {
  const { policy, slackApiUrl: apiUrl } = config;
  const { roles } = policy;
  const appToken = config.slackMode === 'socket' ? config.slackAppToken : undefined;
  const auth = once(() => withRetries(() => client.auth.test()));
  /** Runs a check once the token is accepted; else skips it, because the token's own check reports the refusal. */
  function ifAccepted(look: (answer: AuthTestResponse) => Promise<CheckResult> | CheckResult): Check['look'] {
    return async () => {
      const answer = await auth().catch(() => undefined);
      return answer ? await look(answer) : skippedFor(tokenPart);
    };
  }
  const members = onceEach((group: string) => withRetries(() => membersOf(client, group)));
  const accounts = onceEach((userId: string) => withRetries(() => fetchAccount(client, userId)));
  const inChannel = onceEach((channel: string) => withRetries(() => peopleIn(client, channel)));
  const groups = new Set(Object.values(roles).flatMap((role) => role.groups));
  return [
    {
      part: tokenPart,
      async look() {
        try {
          const { team } = await auth();
          return ok(`Slack knows the bot${team === undefined ? '' : ` in ${team}`}`);
        } catch (error) {
          return slackProblem('Slack refuses the bot token', error);
        }
      },
    },
    { part: 'Slack scopes', look: ifAccepted((answer) => judgeScopes(answer.response_metadata?.scopes)) },
    ...(appToken === undefined ? [] : [socketCheck(createAppClient(appToken, apiUrl, log))]),
    ...(appToken === undefined
      ? [{ part: 'Slack requests', look: async () => judgeRefused(await refused()) }]
      : []),
    { part: 'Slack clock', look: ifAccepted(() => slackClock(apiUrl, now)) },
    ...channelChecks(policy, client).map(({ part, look }) => ({ part, look: ifAccepted(look) })),
    ...callChecks(policy, { members, inChannel }).map(({ part, look }) => ({ part, look: ifAccepted(look) })),
    ...[...groups].map((group) => ({
      part: `User group ${group}`,
      look: ifAccepted(async () => await judgeGroup(members(group))),
    })),
    ...roleChecks(roles, { ifAccepted, members, accounts }),
    ...approvalChecks(approvalRules, { ifAccepted, members, accounts }),
  ];
}

/** Whether the bot can post in each channel that the policy file names. */
export function channelChecks(
  policy: Policy,
  client: WebClient,
): { part: string; look: () => Promise<CheckResult> }[] {
  return namedChannels(policy).map(({ channel, namedBy }) => ({
    part: `Channel ${channel}`,
    async look() {
      const reach = await withRetries(() => lookAtChannel(client, channel)).catch(() => undefined);
      if (!reach) return askedToWait;
      if (reach.kind === 'reachable') return ok(`The bot can post there (${namedBy.join(', ')})`);
      if (reach.kind === 'shared')
        return warning(`People of another company can read it (${namedBy.join(', ')})`, reach.fix);
      if (reach.kind === 'outside')
        return warning(
          `The bot can post there (${namedBy.join(', ')}), but is not in it: Slack may refuse its edits`,
          reach.fix,
        );
      const says = `${namedBy.join(', ')} of payops.yml: ${reach.slackError}`;
      if (reach.kind === 'away') return problem(says, awayFix);
      const state = reach.kind === 'unreachable' ? 'problem' : 'skipped';
      return { state, says, fix: reach.fix };
    },
  }));
}

/** Whether a rule's mention and escalation reach anybody: Slack notifies only members of the channel. */
function callChecks(
  { routes = [] }: Policy,
  asked: Pick<RoleCheckNeeds, 'members'> & { inChannel: (channel: string) => Promise<ReadonlySet<string>> },
): { part: string; look: () => Promise<CheckResult> }[] {
  async function isHeard({ kind, id }: Mention, channel: string): Promise<boolean> {
    const { users, empty } = kind === 'person' ? { users: [id] } : await asked.members(id);
    if (empty === 'missing_scope') throw new Error('The bot may not read user groups');
    const there = await asked.inChannel(channel);
    return users.some((userId) => there.has(userId));
  }
  return routes.flatMap(({ name, to, mention, escalate = [] }) => {
    const called = [...(mention ? [mention] : []), ...escalate.map((step) => step.to)];
    const calls = to.flatMap((channel) => called.map((whom) => ({ whom, channel })));
    async function look(): Promise<CheckResult> {
      try {
        const heard = await Promise.all(calls.map(({ whom, channel }) => isHeard(whom, channel)));
        const unheard = calls.filter((_, index) => !heard[index]);
        if (unheard.length === 0) return ok('Each of its channels has somebody it calls');
        const words = unheard.map(({ whom, channel }) => `${whom.id} in ${channel}`).join(', ');
        return problem(
          `Slack will notify nobody: ${words}`,
          'Add them to the channel, or call somebody in it.',
        );
      } catch (error) {
        const isLimited = readSlackError(error).kind === 'rate_limited';
        return isLimited
          ? askedToWait
          : { state: 'skipped', says: 'Slack does not say who is in its channels' };
      }
    }
    return called.length === 0 ? [] : [{ part: `Calls by rule ${name}`, look }];
  });
}

const peoplePerPage = 999;

async function peopleIn(client: WebClient, channel: string): Promise<ReadonlySet<string>> {
  const people = new Set<string>();
  const asked = { channel, limit: peoplePerPage };
  const pages: AsyncIterable<ConversationsMembersResponse> = client.paginate('conversations.members', asked);
  for await (const { members = [] } of pages) for (const userId of members) people.add(userId);
  return people;
}

/**
 * Every channel of the policy file, once, with the places that name it: `channels.alerts`, `rule no-funds`,
 * `daily_summary`.
 */
function namedChannels(policy: Policy): { channel: string; namedBy: readonly string[] }[] {
  const { channels, routes = [], daily_summary: summaries = [], approvals } = policy;
  const named = [
    ...Object.entries(channels).flatMap(([name, channel]) =>
      channel === undefined ? [] : [[channel, `channels.${name}`] as const],
    ),
    ...routes.flatMap(({ name, to }) => to.map((channel) => [channel, `rule ${name}`] as const)),
    ...summaries.map(({ channel }) => [channel, 'daily_summary'] as const),
    ...(approvals ? [[approvals.channel, 'approvals'] as const] : []),
  ];
  const byChannel = Map.groupBy(named, ([channel]) => channel);
  return Array.from(byChannel, ([channel, all]) => ({ channel, namedBy: all.map(([, name]) => name) }));
}

/** The problem for a failed call of Slack. `refused`: the words if Slack answered with an error. */
function slackProblem(refused: string, error: unknown): CheckResult {
  const found = readSlackError(error);
  const word = slackErrorWord(found);
  if (found.kind === 'rate_limited') return askedToWait;
  return found.kind === 'refused'
    ? problem(`${refused}: ${word}`, fixFor(word))
    : problem(`Slack does not answer: ${word}`, awayFix);
}

function judgeScopes(granted: readonly string[] | undefined): CheckResult {
  if (!granted) return { state: 'skipped', says: 'Slack did not tell the scopes' };
  const lacking = neededScopes.filter((scope) => !granted.includes(scope));
  if (lacking.length > 0) {
    return problem(
      `Not granted: ${lacking.join(', ')}`,
      'Give the app these scopes, as manifest.yml has them, and reinstall it.',
    );
  }
  const without = Object.entries(optionalScopes).filter(([scope]) => !granted.includes(scope));
  if (without.length === 0) return ok('All scopes of manifest.yml are granted');
  const lost = without.map(([scope, what]) => `${scope} (${what})`).join(', ');
  return ok(`The needed scopes are granted. Left out: ${lost}`);
}

function socketCheck(client: WebClient): Check {
  return {
    part: 'Slack app token',
    async look() {
      try {
        await client.apps.connections.open({});
        return ok('Slack gives a Socket Mode connection');
      } catch (error) {
        const result = slackProblem('Slack refuses the app token', error);
        const fix = 'Set SLACK_APP_TOKEN to an app-level token with connections:write.';
        const isToken = result.says.startsWith('Slack refuses') && !result.says.includes('http_');
        return isToken ? { ...result, fix } : result;
      }
    },
  };
}

/** Compares clocks by an answer's Date header, because Slack has no method for the time. */
async function slackClock(apiUrl: string, now: () => number): Promise<CheckResult> {
  const url = `${apiUrl.replace(/\/$/, '')}/api.test`;
  const answer = await fetch(url, { method: 'POST', signal: AbortSignal.timeout(clockTimeoutMs) });
  await answer.body?.cancel();
  return judgeClock('Slack', Date.parse(answer.headers.get('date') ?? ''), now());
}

function judgeRefused(refused: Awaited<ReturnType<SlackCheckNeeds['refused']>>): CheckResult {
  if (refused === undefined) return ok('None was refused since the last that was taken');
  return problem(`The last one was refused at ${utcTime(refused.atMs)}: ${refused.why}`, refused.fix);
}

async function judgeGroup(members: Promise<Members>): Promise<CheckResult> {
  try {
    const { users, empty } = await members;
    if (empty !== undefined) return problem(`It counts as empty: ${empty}`, emptyGroupFix(empty));
    if (users.length > 0) return ok(`Members: ${users.length}`);
    return warning('It has no members', 'Add people to it in Slack, or take it out of payops.yml.');
  } catch (error) {
    return slackProblem('Slack does not tell its members', error);
  }
}

type RoleCheckNeeds = {
  ifAccepted: (look: (answer: AuthTestResponse) => Promise<CheckResult>) => Check['look'];
  members: (group: string) => Promise<Members>;
  accounts: (userId: string) => Promise<SlackAccount>;
};

function roleChecks(roles: Policy['roles'], { ifAccepted, members, accounts }: RoleCheckNeeds): Check[] {
  const named = Object.entries(roles);
  if (named.length === 0) {
    const fix = 'List people under roles of payops.yml, as docs/policy.md shows.';
    return [{ part: 'Roles', look: () => problem('Nobody may do anything: there are no roles', fix) }];
  }
  return named.map(([name, role]) => ({
    part: `Role ${name}`,
    look: ifAccepted(async (answer) => {
      const fix = `List active members of the workspace under roles.${name} of payops.yml.`;
      if (role.users.length + role.groups.length === 0) return problem('It lists nobody', fix);
      const groups = await Promise.all(role.groups.map((group) => members(group).catch(() => noMembers)));
      const all = [...new Set([...role.users, ...groups.flatMap(({ users }) => users)])].slice(0, mostPeople);
      const [unknown] = groups.filter(({ empty }) => empty !== undefined);
      try {
        const judged = await Promise.all(
          all.map(async (userId) => ({
            userId,
            why: whyNoMember(await accounts(userId), identityOf(answer)),
          })),
        );
        const out = judged.filter(({ why }) => why !== undefined);
        const words = out.map(({ userId, why }) => `${userId} (${why?.replaceAll('_', ' ')})`).join(', ');
        if (out.length < judged.length) {
          return out.length === 0
            ? ok(`People: ${judged.length}`)
            : warning(`Not let through: ${words}`, fix);
        }
        if (unknown) return { state: 'skipped', says: 'Nobody, as its user group counts as empty' };
        return problem(out.length === 0 ? 'It matches nobody' : `It matches nobody: ${words}`, fix);
      } catch (error) {
        const found = readSlackError(error);
        if (found.kind === 'rate_limited') return askedToWait;
        const word = slackErrorWord(found);
        return word === 'missing_scope'
          ? skippedFor('Slack scopes')
          : problem(`Slack does not say who its people are: ${word}`, fixFor(word));
      }
    }),
  }));
}

/** One approval rule of one merchant account, with the roles that can approve by it and the roles that can ask. */
type RuleWithRoles = {
  what: string;
  needed: number;
  account: string | undefined;
  approve: readonly Role[];
  ask: readonly Role[];
};

const approverFix = 'Give one more person a role with the permission approve, in payops.yml.';

/** Whether every request can be approved at all. The check at start counts user ids; this one counts active people. */
function approvalChecks(
  rules: readonly RuleWithRoles[],
  { ifAccepted, members, accounts }: RoleCheckNeeds,
): Check[] {
  async function activeIn(roles: readonly Role[], answer: AuthTestResponse): Promise<string[]> {
    const groups = await Promise.all(roles.flatMap((role) => role.groups).map(members));
    const listed = [...roles.flatMap((role) => role.users), ...groups.flatMap(({ users }) => users)];
    const ids = [...new Set(listed)].slice(0, mostPeople);
    const known = await Promise.all(ids.map(async (userId) => ({ userId, account: await accounts(userId) })));
    return known
      .filter(({ account }) => whyNoMember(account, identityOf(answer)) === undefined)
      .map(({ userId }) => userId);
  }
  async function judge(rule: RuleWithRoles, answer: AuthTestResponse): Promise<CheckResult | undefined> {
    const { needed, account, approve, ask } = rule;
    const [approvers, askers] = await Promise.all([activeIn(approve, answer), activeIn(ask, answer)]);
    // No approvers: the checks of the roles say why. More than needed: enough, even if one of them is the requester.
    if (approvers.length === 0 || approvers.length > needed) return undefined;
    const what = `${rule.what.replace('_', ' ')}${account === undefined ? '' : ` at ${account}`}`;
    if (approvers.length < needed) {
      const says = `A ${what} needs ${needed} people to approve it, and only ${approvers.length} can`;
      return problem(says, approverFix);
    }
    const stuck = approvers.find((userId) => askers.includes(userId));
    if (stuck === undefined) return undefined;
    return warning(
      `What ${stuck} asks for (${what}) nobody can approve: it takes somebody else`,
      approverFix,
    );
  }
  if (rules.length === 0) return [];
  return [
    {
      part: 'Approvals',
      look: ifAccepted(async (answer) => {
        const judged = await Promise.all(rules.map((rule) => judge(rule, answer))).catch(() => undefined);
        // The checks of the roles say why Slack didn't answer.
        if (!judged) return { state: 'skipped', says: 'Slack does not say who can approve' };
        const found = judged.filter((result) => result !== undefined);
        const worst = found.find(({ state }) => state === 'problem') ?? found[0];
        return worst ?? ok('What needs a second person can be approved');
      }),
    },
  ];
}

const noMembers: Members = { users: [], empty: 'unknown' };

/** Slack allows about fifty calls a minute of one method. Checks beyond that are skipped. */
const askedToWait: CheckResult = {
  state: 'skipped',
  says: 'Slack asks to wait',
  fix: 'Run the doctor again in a minute for what Slack did not answer in time.',
};
const longestRetryMs = 8_000;

/** Retries after Slack's rate limit, for up to `longestRetryMs` in total. */
async function withRetries<T>(ask: () => Promise<T>): Promise<T> {
  const untilMs = performance.now() + longestRetryMs;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      const found = readSlackError(error);
      if (found.kind !== 'rate_limited' || performance.now() + found.retryAfterMs > untilMs) throw error;
      await sleep(found.retryAfterMs);
    }
  }
}

function onceEach<T>(ask: (name: string) => Promise<T>): (name: string) => Promise<T> {
  const answers = new Map<string, Promise<T>>();
  return (name) => {
    const found = answers.get(name) ?? ask(name);
    answers.set(name, found);
    return found;
  };
}
