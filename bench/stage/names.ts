/** What both ends of a measurement must know: those who sign and those who check. */
export const slackSigningSecret = 'be4c4be4c4be4c4be4c4be4c4be4c4be';
export const agent = 'U0AGENT001';
