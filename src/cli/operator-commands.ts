/** What the operator's commands do, and how each is typed: for help alone, so that it needs no settings. */
export const operatorHelp: Readonly<
  Record<string, { summary: string; usage: readonly string[]; more: string }>
> = {
  audit: {
    summary: 'Verify or export the audit trail',
    usage: [
      'npm run audit -- verify [--head SEQ:HASH]',
      'npm run audit -- verify --file export.jsonl [--part] [--head SEQ:HASH]',
      'npm run audit --silent -- export [--format jsonl|csv] [--from DATE] [--to DATE] [--reference REF] [--account NAME]',
    ],
    more: 'Reads, and changes nothing; the bot may run. verify ends with 0 when the trail is whole and 3 when it is not (docs/audit.md).',
  },
  doctor: {
    summary: 'Check every part, and say the fix of what is broken',
    usage: ['npm run doctor [-- --json]'],
    more: 'Asks Slack, the payments service and the store, and changes nothing; the bot may run. Ends with 0 when nothing is broken, 1 when something is.',
  },
  'explain-delivery': {
    summary: 'Say offline why one captured webhook delivery verifies or not',
    usage: ['npm run explain-delivery -- <file> [--at 2026-03-01T09:30:00Z] [--account NAME]'],
    more: 'The file is the raw HTTP request, or JSON with "headers" and "body". Ends with 0 when it verifies, 1 when not.',
  },
  'forget-cards': {
    summary: 'Forget every saved card that the bot remembers of a customer',
    usage: ['npm run forget-cards -- <e-mail> [--account NAME]'],
    more: 'At the payments service nothing changes. Several accounts: all of them, unless one is named.',
  },
  'move-store': {
    summary: 'Move all records from SQLite in DATA_DIR to the Redis of REDIS_URL, and verify them',
    usage: ['npm run move-store'],
    more: 'For all accounts. Stop the bot first. Needs an empty Redis; may be run again when it broke off.',
  },
  redrive: {
    summary: 'Have what Slack refused for too long delivered again',
    usage: ['npm run redrive -- [--channel C0123ABCD] [--account NAME]'],
    more: 'Without a channel: everything. Run it twice and nothing is delivered twice. /pay undelivered lists what there is.',
  },
  rehearse: {
    summary: 'Say what routes would have posted in the last 7 days',
    usage: ['npm run rehearse -- [--policy payops.new.yml] [--account NAME]'],
    more: 'Without a file: the rules that are in force. Posts and changes nothing.',
  },
  reseal: {
    summary: 'Seal all that the store holds under the first of SEALING_KEYS',
    usage: ['npm run reseal'],
    more: 'For all accounts. Bots may run. Says which of the other keys can go; ends with 1 while something is left.',
  },
  'revoke-token': {
    summary: 'End the access token that all replicas share',
    usage: ['npm run revoke-token -- [--account NAME]'],
    more: 'Needs PAYMENTS_TOKEN_REVOKE_BODY. Running bots get a new token.',
  },
};

/** `name` is one of them. */
export function operatorHelpText(name: string): string {
  const { summary = '', usage = [], more = '' } = operatorHelp[name] ?? {};
  const lines = usage.map((line) => `  ${line}`);
  return [`${summary}.`, '', ...lines, '', more, 'Exit codes: npm run payops -- --help', ''].join('\n');
}
