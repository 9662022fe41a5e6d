import type { Account } from '../../account.ts';
import { codeEntry } from '../../domain/otp.ts';
import { ok, warning, type Check } from './checks.ts';

type Config = Account['settings'];

/** Checks of settings that work but are rarely intended, and who types the bank's code. */
export function settingsChecks({ host, metricsPort, metricsToken, policy, ...code }: Config): Check[] {
  return [
    {
      part: 'Metrics',
      look: () =>
        metricsToken !== undefined || metricsPort !== undefined || /^(?:localhost|::1|127\..*)$/.test(host)
          ? ok('/metrics and /readyz are not on the public port, or want a token')
          : warning(
              '/metrics and /readyz answer everybody who reaches PORT, channels and parts by name',
              'Set METRICS_TOKEN, or METRICS_PORT to a port that no stranger reaches; at least keep the two paths from the internet.',
            ),
    },
    {
      part: 'Operators',
      look: () =>
        policy.channels.ops === undefined
          ? warning(
              'What the people who run the bot must know is told in the log alone',
              'Set channels.ops of payops.yml to a channel that they read.',
            )
          : ok('They are told in the channel ops'),
    },
    {
      part: 'Bank’s code',
      look: () => ok(codeWords(code)),
    },
  ];
}

function codeWords(settings: Pick<Config, 'publicUrl' | 'otpEntry'>): string {
  if (settings.publicUrl === undefined)
    return 'Agents alone type it: there is no “Let the customer type it” without PUBLIC_URL';
  return {
    agent: 'Agents alone type it: OTP_ENTRY is agent',
    customer: 'Customers alone type it, on the page at PUBLIC_URL',
    both: 'Agents type it, or customers on the page at PUBLIC_URL',
  }[codeEntry(settings)];
}
