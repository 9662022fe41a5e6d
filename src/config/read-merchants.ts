import { nearestWord } from '../domain/wording.ts';
import type { Merchant } from '../domain/merchant.ts';
import { withoutUndefined } from '../domain/json.ts';
import type { Config } from './config.ts';
import type { AccountColour, Policy } from './policy.ts';
import { variableName, type SettingValues } from './settings.ts';

type Account = NonNullable<Policy['accounts']>[number];

/** The settings that each account has in variables of its own, like `PAYMENTS_CLIENT_ID__LAGOS`. */
export const perAccountSettings = [
  'paymentsStaticToken',
  'paymentsClientId',
  'paymentsClientSecret',
  'webhookSecrets',
  'webhookForwardUrl',
  'merchantName',
] as const satisfies (keyof SettingValues)[];

type PerAccountSetting = (typeof perAccountSettings)[number];

/** Different names give different variables, because names have no underscores. */
export function merchantVariable(key: PerAccountSetting, name: string): string {
  return `${variableName(key)}__${name.toUpperCase().replaceAll('-', '_')}`;
}

/** One account's own settings. Together with the shared settings they are its configuration. */
export type MerchantSettings = Pick<Config, 'paymentsAccountId' | 'paymentsEnvironment' | PerAccountSetting> &
  Partial<Config> & { merchant: Merchant };

/** The accounts' own settings. `read` reads one variable, and reports its problem itself. */
export function merchantSettings(
  accounts: readonly Account[],
  settings: Partial<Config>,
  read: (key: PerAccountSetting, variable: string) => unknown,
): MerchantSettings[] {
  const isMixed = new Set(accounts.map(({ environment }) => environment)).size > 1;
  return accounts.map((account, index) => {
    const { name, environment, base_url: url } = account;
    const isFirst = index === 0;
    const secrets = Object.fromEntries(
      perAccountSettings.map((key) => {
        const own = read(key, merchantVariable(key, name));
        // The first account may use the secrets of a bot with one account (without a suffix); further accounts never
        // do.
        return [key, own === undefined && isFirst ? settings[key] : own];
      }),
    ) as Pick<Config, PerAccountSetting>;
    return {
      ...secrets,
      merchant: { name, isFirst, isMixed },
      paymentsEnvironment: environment,
      paymentsAccountId: account.account_id,
      paymentsParentAccountId:
        account.parent_id ?? (isFirst ? settings.paymentsParentAccountId : undefined) ?? account.account_id,
      paymentsAccountName: merchantLabel(account.label ?? name, account.colour),
      ...withoutUndefined({
        paymentsBaseUrl: environment === 'live' ? url : undefined,
        paymentsSandboxUrl: environment === 'sandbox' ? url : undefined,
      }),
    };
  });
}

/** The words of a problem or warning, with the account's own variables in place of the shared ones. */
export function withOwnVariables({ name }: Pick<Merchant, 'name'>, words: string): string {
  return perAccountSettings.reduce(
    (text, key) =>
      text.replaceAll(new RegExp(`\\b${variableName(key)}\\b`, 'g'), merchantVariable(key, name)),
    words,
  );
}

/** Placeholders in the token request bodies, and the settings that fill them. */
const credentials = {
  '{{CLIENT_ID}}': 'paymentsClientId',
  '{{CLIENT_SECRET}}': 'paymentsClientSecret',
} as const;

/** A placeholder without its setting is a forgotten secret: the service would refuse every call of that account. */
export function credentialsCheck(config: Config): string[] {
  if (config.paymentsStaticToken !== undefined || !config.paymentsTokenIssueBody) return [];
  const body = JSON.stringify(config.paymentsTokenIssueBody);
  return Object.entries(credentials)
    .filter(([placeholder, key]) => body.includes(placeholder) && config[key] === undefined)
    .map(
      ([placeholder, key]) =>
        `${variableName(key)} is missing: PAYMENTS_TOKEN_ISSUE_BODY has ${placeholder}.`,
    );
}

/** Reports contradictions between accounts, and names of accounts that don't exist. */
export function accountsCheck({ policy, payopsFile: file }: Config): string[] {
  const { accounts = [], routes = [], roles, approvals } = policy;
  const names = accounts.map(({ name }) => name);
  const unknown = (key: string, name: string | undefined): string[] => {
    if (name === undefined || names.includes(name)) return [];
    if (names.length === 0) return [`${file}: ${key}: the file has no accounts.`];
    const nearest = nearestWord(name, names);
    const hint = nearest === undefined ? `The accounts are ${names.join(', ')}.` : `Did you mean ${nearest}?`;
    return [`${file}: ${key}: there is no account ${name}. ${hint}`];
  };
  // Without accounts, `account` in a route means PAYMENTS_ACCOUNT_NAME, so there is no list to check it against.
  const routed = names.length === 0 ? [] : routes;
  return [
    ...duplicates(accounts, file),
    ...routed.flatMap(({ when }, index) => unknown(`routes.${index}.when.account`, when.account)),
    ...(approvals?.rules ?? []).flatMap(({ account }, index) =>
      unknown(`approvals.rules.${index}.account`, account),
    ),
    ...Object.entries(roles).flatMap(([role, { accounts: only = [] }]) =>
      only.flatMap((name) => unknown(`roles.${role}.accounts`, name)),
    ),
  ];
}

function duplicates(accounts: readonly Account[], file: string): string[] {
  return accounts.flatMap((account, index) => {
    const before = accounts.slice(0, index);
    const at = `${file}: accounts.${index}`;
    const shared = account.channels.filter((id) => before.some(({ channels }) => channels.includes(id)));
    const sameId = before.find(
      ({ account_id: id, environment }) =>
        id.toLowerCase() === account.account_id.toLowerCase() && environment === account.environment,
    );
    return [
      ...(before.some(({ name }) => name === account.name)
        ? [`${at}.name: an account before it is called ${account.name} too.`]
        : []),
      ...(sameId ? [`${at}.account_id: it is ${sameId.name}’s too; one account has one name.`] : []),
      ...shared.map((id) => `${at}.channels: ${id} has a default account before it already.`),
    ];
  });
}

/** Whether a variable's name looks like one account's; `strayVariables` reports unknown accounts. */
export function isMerchantVariable(name: string): boolean {
  return perAccountSettings.some((key) => name.startsWith(`${variableName(key)}__`));
}

/** Reports variables that look like an unknown account's secret. They must not be ignored silently. */
export function strayVariables(names: readonly string[], accounts: readonly Account[]): string[] {
  const known = accounts.map(({ name }) => name);
  const own = perAccountSettings.flatMap((key) => known.map((name) => merchantVariable(key, name)));
  const expected = [...own, ...own.map((name) => `${name}_FILE`)];
  return names
    .filter((name) => isMerchantVariable(name) && !expected.includes(name))
    .map((name) => {
      const nearest = nearestWord(name, expected);
      const hint =
        nearest === undefined ? 'No account in the policy file has it.' : `Did you mean ${nearest}?`;
      return `${name} is not a setting. ${hint}`;
    });
}

const squares: Record<AccountColour, string> = {
  blue: '🟦',
  purple: '🟪',
  orange: '🟧',
  yellow: '🟨',
  brown: '🟫',
  black: '⬛',
  white: '⬜',
};

/** "🟦 Lagos (blue)": word, symbol and colour, never the colour alone. */
function merchantLabel(label: string, colour: AccountColour | undefined): string {
  return colour === undefined ? label : `${squares[colour]} ${label} (${colour})`;
}
