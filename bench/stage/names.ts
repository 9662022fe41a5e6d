/** What both ends of a measurement must know: those who sign and those who check. */
export const slackSigningSecret = 'bench-signing-secret-0123456789';
export const agent = 'U0AGENT001';
