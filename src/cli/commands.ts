import { auditCommand } from './audit.ts';
import type { CliCommand } from './command.ts';
import { doctorCommand } from './doctor.ts';
import { doubtCommand } from './doubt.ts';
import { exitCodeWords } from './exit-codes.ts';
import { explainDeliveryCommand } from './explain-delivery.ts';
import { forgetCardsCommand } from './forget-cards.ts';
import { accountsCommand, terminalsCommand } from './lists.ts';
import { lookupCommand } from './lookup.ts';
import { moveStoreCommand } from './move-store.ts';
import { redriveCommand } from './redrive.ts';
import { rehearseCommand } from './rehearse.ts';
import { resealCommand } from './reseal.ts';
import { revokeTokenCommand } from './revoke-token.ts';

export const commands: Readonly<Record<string, CliCommand>> = {
  lookup: lookupCommand,
  terminals: terminalsCommand,
  accounts: accountsCommand,
  doubt: doubtCommand,
  audit: auditCommand,
  doctor: doctorCommand,
  'explain-delivery': explainDeliveryCommand,
  'forget-cards': forgetCardsCommand,
  'move-store': moveStoreCommand,
  redrive: redriveCommand,
  rehearse: rehearseCommand,
  reseal: resealCommand,
  'revoke-token': revokeTokenCommand,
};

/** Made from what the commands are, so that it cannot lag behind them. */
export function helpText(): string {
  const widest = Math.max(...Object.keys(commands).map((name) => name.length));
  return [
    'Usage: npm run payops --silent -- <command>',
    '',
    ...Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(widest)}  ${summary}`),
    '',
    'How each is typed: npm run payops -- <command> --help. --version says which release this is.',
    'Data goes to standard output, all else to standard error. The settings are the bot’s own (docs/settings.md).',
    '',
    'Exit codes:',
    ...Object.entries(exitCodeWords).map(([code, words]) => `  ${code.padStart(3)}  ${words}`),
  ].join('\n');
}

/** Of one of them. */
export function helpOf({ summary, usage, more }: CliCommand): string {
  const lines = usage.map((line) => `  ${line}`);
  return [`${summary}.`, '', ...lines, '', more, 'Exit codes: npm run payops -- --help'].join('\n');
}
