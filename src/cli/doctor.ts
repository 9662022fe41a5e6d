import { createClients } from '../slack/workspace.ts';
import { accountChecks, longestLookMs } from '../features/doctor/account-checks.ts';
import { countWords, partOf, sorted, stateSigns } from '../features/doctor/doctor.ts';
import { examine, type Finding } from '../features/doctor/examine.ts';
import { sharedChecks } from '../merchants.ts';
import { StoreUnavailable } from '../domain/failure.ts';
import { readSeenWebhooks } from '../features/alerts/seen-webhooks.ts';
import { parsed } from '../domain/wording.ts';
import { jsonText } from './lines.ts';
import type { Store } from '../store/store.ts';
import { openKept, type Kept } from '../store/kept.ts';
import { keptPart } from '../store/scoped-store.ts';
import type { Outside } from '../config/config.ts';
import { createPayments } from '../payments/payments.ts';
import { forwardHealth } from '../features/forward/forward-record.ts';
import { undeliveredHealth } from '../features/undelivered/undelivered.ts';
import { readWebhooks } from '../webhooks/webhook-settings.ts';
import { allAccounts, command } from './command.ts';

/** Looks at every part for real, over the clients that the bot uses; the bot may run. Warnings end with 0 too. */
export const doctorCommand = command({
  summary: 'Check every part, and say the fix of what is broken',
  usage: ['npm run doctor [-- --json]'],
  more: 'Asks Slack, the payments service and the store, and changes nothing but the access token, which is a new one afterwards; the bot may run. Ends with 0 when nothing is broken, 1 when something is.',
  scope: 'shared',
  unread: (problems) =>
    doctorJson(problems.map((says) => ({ part: 'Settings', state: 'problem', says, fix: settingsFix }))),
  options: { json: { type: 'boolean' } },
  mostWords: 0,
  prepare: ({ values: { json } }) =>
    parsed({
      async run(outside) {
        const findings = await lookAtAll(outside);
        const words = json ? doctorJson(findings) : toldAsText(findings);
        return { exitCode: isWell(findings) ? 0 : 1, words, isReport: true };
      },
    }),
});

const settingsFix = 'Correct it where the settings are; docs/settings.md and docs/policy.md explain each.';

function isWell(findings: readonly Finding[]): boolean {
  return findings.every(({ state }) => state !== 'problem');
}

function doctorJson(findings: readonly Finding[]): string {
  return jsonText({ kind: 'doctor', ok: isWell(findings), findings: sorted(findings) });
}

async function lookAtAll(outside: Outside): Promise<Finding[]> {
  const { config, log } = outside;
  const opened = await openKept(outside).catch((error: unknown) => wordsOf(error));
  const whole = typeof opened === 'string' ? noStore : opened;
  await whole.checked();
  const botToken = config.slackBotToken ?? '';
  const clients = createClients({ botToken, slackApiUrl: config.slackApiUrl }, log);
  const accounts = allAccounts(config).map((own) => {
    const place = { ...outside, config: own };
    const { kept } = keptPart(whole, own.merchant);
    return { config: own, kept, payments: createPayments(place, kept) };
  });
  const checks = [
    ...sharedChecks(outside, opened, clients),
    ...accounts.flatMap(({ config: own, kept, payments }) =>
      accountChecks({
        config: own,
        payments,
        webhooks: readWebhooks(own),
        undelivered: () => undeliveredHealth(kept.store),
        forwarding:
          own.webhookForwardUrl === undefined ? undefined : () => forwardHealth(kept, outside.now()),
        seenWebhooks: () => readSeenWebhooks(kept),
        now: outside.now,
      }),
    ),
  ];
  const findings = await examine(checks, longestLookMs(config), log);
  await Promise.all(accounts.map(({ payments }) => payments.letGo()));
  await whole.close();
  return findings;
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : 'The store cannot be opened';
}

function away(): never {
  throw new StoreUnavailable('There is no store.');
}

/** In the place of one that cannot be opened, so that the rest is looked at all the same. */
const noStore: Kept = {
  store: new Proxy({} as Store, { get: () => async () => away() }),
  sealer: { seal: away, open: away },
  keyIds: [],
  redis: undefined,
  mark: { claim: away, refusal: () => undefined, lost: away },
  checked: () => Promise.resolve(),
  refusal: () => undefined,
  close: () => Promise.resolve(),
};

function toldAsText(findings: readonly Finding[]): string {
  const lines = findings.map((finding) => {
    const fix = finding.fix === undefined ? '' : `\n   Fix: ${finding.fix}`;
    return `${stateSigns[finding.state]} ${partOf(finding)}: ${finding.says}${fix}`;
  });
  return [...lines, '', countWords(findings)].join('\n');
}
