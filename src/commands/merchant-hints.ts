import { merchantPermission, readPermission } from '../domain/merchant.ts';
import type { MayRun } from '../slack/command.ts';

/** A refusal for one merchant account says for which others the person may do the same. */
export function withHints(mayRun: MayRun, names: readonly string[]): MayRun {
  return async function hinting(permission, caller) {
    const permit = await mayRun(permission, caller);
    const { plain, merchant } = readPermission(permission);
    if (permit.kind === 'allowed' || merchant === undefined) return permit;
    const others = names.filter((name) => name !== merchant);
    const permits = await Promise.all(
      others.map((name) => mayRun(merchantPermission(plain, { name }), caller)),
    );
    const allowed = others.filter((_, index) => permits[index]?.kind === 'allowed');
    if (allowed.length === 0) return permit;
    const yours = allowed.map((name) => `--account ${name}`).join(' or ');
    return { ...permit, whoCan: `${permit.whoCan}. You can with ${yours}` };
  };
}
