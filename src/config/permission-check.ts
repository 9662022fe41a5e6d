import { nearestWord } from '../domain/wording.ts';
import { policyCheck, type SettingsCheck } from './config.ts';

/** Names every permission of a role that no verb asks for: misspelt, it would let nobody do anything. */
export function permissionCheck(permissions: readonly string[]): SettingsCheck {
  return policyCheck(['roles'], ['payopsFile'], ({ policy, payopsFile }) =>
    Object.entries(policy.roles).flatMap(([role, { may }]) =>
      may
        .filter((permission) => permission !== '*' && !permissions.includes(permission))
        .map((permission) => {
          const nearest = nearestWord(permission, permissions);
          const hint = nearest
            ? `Did you mean ${nearest}?`
            : `Write ${permissions.join(', ')}, or '*' for all.`;
          return `${payopsFile}: roles.${role}.may: “${permission}” is not a permission. ${hint}`;
        }),
    ),
  );
}
