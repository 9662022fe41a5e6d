import { evidenceOf } from '../features/alerts/alert-record.ts';
import { slackChecks } from '../features/doctor/slack-checks.ts';
import type { Check } from '../features/doctor/examine.ts';
import type { SlackClients } from '../slack/workspace.ts';
import { namedChannels } from './channels.ts';
import type { Kept } from '../store/kept.ts';
import type { Outside } from './outside.ts';
import { storeChecks } from '../features/doctor/store-checks.ts';

/** Of what all accounts have together. `kept`: the whole store, or why there is none. */
export function sharedChecks(
  { config, now }: Outside,
  kept: Kept | string,
  { interactive: client }: SlackClients,
): Check[] {
  const { policy, slackApiUrl: apiUrl, slackMode, slackAppToken } = config;
  const appToken = slackMode === 'socket' ? slackAppToken : undefined;
  const channels = namedChannels(policy);
  return [
    ...storeChecks(kept, (key) => [key, evidenceOf(key)], now),
    ...slackChecks({ client, apiUrl, appToken, channels, roles: policy.roles, now }),
  ];
}
