import { createClients } from '../slack/workspace.ts';
import { accountChecks, checkDeadlineMs } from '../features/doctor/account-checks.ts';
import { mayShareToken } from './ask-service.ts';
import { exitCodes } from './exit-codes.ts';
import { readDeliveryFile } from './explain-delivery.ts';
import { knownChecks, type KnownFacts } from './connect/known-checks.ts';
import { parseAmount } from '../domain/money.ts';
import { parseOrderReference } from '../domain/order-reference.ts';
import { countWords, partOf, sorted, stateSigns } from '../features/doctor/doctor.ts';
import { ok, once, runChecks, type CheckResult, type Finding } from '../features/doctor/checks.ts';
import { unopenedStore } from '../features/doctor/store-checks.ts';
import { accountHealth, sharedChecks } from '../merchants.ts';
import { StoreUnavailable } from '../domain/failure.ts';
import { parsed, problem } from '../domain/wording.ts';
import { jsonText } from './lines.ts';
import type { Store } from '../store/store.ts';
import { checkFolderCanBeMade, hasStore, openStorage, type Storage } from '../store/storage.ts';
import { storagePart } from '../store/scoped-store.ts';
import type { Config, Runtime } from '../config/config.ts';
import { createPayments } from '../payments/payments.ts';
import { accountNamed, allAccounts, command, type CommandEnd } from './command.ts';

export const doctorCommand = command({
  summary: 'Check every part, and say the fix of what is broken',
  usage: [
    'npm run doctor [-- --json] [--paid REFERENCE AMOUNT] [--cards EMAIL] [--delivery FILE] [--account NAME]',
  ],
  more: 'Asks Slack, the payments service and the store, and changes nothing but the access token, which is a new one afterwards; the bot may run. Three options check what it cannot find out alone, and name each wrong setting: --paid takes a payment that you know is paid, --cards a customer who has saved cards, --delivery a captured webhook. They are about the first account, or the one named. Ends with 0 when nothing is broken, 1 when something is.',
  scope: 'shared',
  problemsJson: (problems) =>
    doctorJson(problems.map((says) => ({ part: 'Settings', state: 'problem', says, fix: settingsFix }))),
  options: {
    json: { type: 'boolean' },
    paid: { type: 'string' },
    cards: { type: 'string' },
    delivery: { type: 'string' },
    account: { type: 'string' },
  },
  mostWords: 1,
  prepare({ values: { json = false, paid, cards, delivery: path, account }, positionals: [amount] }) {
    if ((paid === undefined) !== (amount === undefined)) {
      return problem('Give a payment with its amount: --paid REFERENCE AMOUNT.');
    }
    const reference = parseOrderReference(paid ?? '-');
    const minor = parseAmount(amount ?? '1');
    if (!reference.ok) return reference;
    if (!minor.ok) return minor;
    return parsed({
      async run(runtime) {
        const delivery = path === undefined ? undefined : await readDeliveryFile(path);
        if (delivery?.ok === false) return { exitCode: exitCodes.usage, words: delivery.problem };
        const named = account === undefined ? undefined : accountNamed(account, runtime.config);
        if (named?.ok === false) return { exitCode: exitCodes.usage, words: named.problem };
        const known = {
          ...(paid === undefined ? {} : { paid: { reference: reference.value, minor: minor.value } }),
          ...(cards === undefined ? {} : { cardsOf: cards }),
          ...(delivery ? { delivery: delivery.value } : {}),
        };
        return await runDoctor(runtime, known, { json, knownOf: named?.value[0] });
      },
    });
  },
});

/**
 * Checks every part, and the facts that the person gave of one account (`knownOf`; default: the first). Returns the
 * command's end.
 */
export async function runDoctor(
  runtime: Runtime,
  known: KnownFacts,
  { json = false, knownOf = runtime.config }: { json?: boolean; knownOf?: Config | undefined } = {},
): Promise<CommandEnd> {
  const findings = await allFindings(runtime, known, knownOf);
  const words = json ? doctorJson(findings) : doctorText(findings);
  return { exitCode: isWell(findings) ? exitCodes.ok : exitCodes.failed, words, isReport: true };
}

const settingsFix = 'Correct it where the settings are; docs/settings.md and docs/policy.md explain each.';

function isWell(findings: readonly Finding[]): boolean {
  return findings.every(({ state }) => state !== 'problem');
}

function doctorJson(findings: readonly Finding[]): string {
  return jsonText({ kind: 'doctor', ok: isWell(findings), findings: sorted(findings) });
}

async function allFindings(runtime: Runtime, known: KnownFacts, knownOf: Config): Promise<Finding[]> {
  const { config, log } = runtime;
  const opened = await openStore(runtime);
  const storage = 'state' in opened ? undefined : opened;
  await storage?.checked();
  const isTokenShared = storage !== undefined && (await mayShareToken(storage));
  const botToken = config.slackBotToken ?? '';
  const clients = createClients({ botToken, slackApiUrl: config.slackApiUrl }, log);
  const accounts = allAccounts(config).map((each) =>
    openAccount({ ...runtime, config: each }, storage, {
      known: each === knownOf ? known : {},
      isTokenShared,
    }),
  );
  const checks = [
    ...sharedChecks(runtime, opened, clients),
    ...accounts.flatMap((account) => account.checks),
  ];
  const findings = await runChecks(checks, checkDeadlineMs(config), log);
  await Promise.all(accounts.map((account) => account.releaseLock()));
  await storage?.close();
  return findings;
}

/** One account's checks. They share one request for a token, because a second one could revoke the first token. */
function openAccount(
  runtime: Runtime,
  storage: Storage | undefined,
  { known, isTokenShared }: { known: KnownFacts; isTokenShared: boolean },
) {
  const { config, now } = runtime;
  const own = storage && storagePart(storage, config.merchant).storage;
  const { store, sealer } = own ?? noStorage;
  let tokenAnswer: unknown;
  const payments = createPayments(runtime, isTokenShared ? own : undefined, {
    onTokenAnswer: (answer) => (tokenAnswer = answer),
  });
  const token = once(() => payments.checkToken());
  const checkedOnce = { ...payments, checkToken: token };
  return {
    checks: [
      ...accountChecks({
        config,
        payments: checkedOnce,
        now,
        ...accountHealth(config, { store, sealer, now }),
      }),
      ...knownChecks({ config, payments, token, tokenAnswer: () => tokenAnswer, now }, known),
    ],
    releaseLock: payments.releaseLock,
  };
}

/** Opens the store if there is one: an empty one that it made would look like the bot's. */
async function openStore(runtime: Runtime): Promise<Storage | CheckResult> {
  const { config } = runtime;
  try {
    if (hasStore(config)) return await openStorage(runtime);
    checkFolderCanBeMade(config.dataDir);
    return ok(`There is none in DATA_DIR, ${config.dataDir}, yet: the bot makes it at its first start`);
  } catch (error) {
    return unopenedStore(error);
  }
}

function away(): never {
  throw new StoreUnavailable('There is no store.');
}

/** Replaces a store that isn't open, so that the other parts are still checked. */
const noStorage: Pick<Storage, 'store' | 'sealer'> = {
  store: new Proxy({} as Store, { get: () => async () => away() }),
  sealer: { seal: away, open: away },
};

function doctorText(findings: readonly Finding[]): string {
  const lines = findings.map((finding) => {
    const fix = finding.fix === undefined ? '' : `\n   Fix: ${finding.fix}`;
    return `${stateSigns[finding.state]} ${partOf(finding)}: ${finding.says}${fix}`;
  });
  return [...lines, '', countWords(findings)].join('\n');
}
