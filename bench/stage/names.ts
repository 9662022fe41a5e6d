import { credentials, teamId, userIds } from '../../src/simulators/slack/cast.ts';

/** What both ends of a measurement must know: those who sign and those who check. */
export const slackSigningSecret = credentials.signingSecret;
export const agent = userIds.agent;
export const team = teamId;
