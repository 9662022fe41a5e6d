import { openBody } from './outbox-bodies.ts';
import type { Work } from './outbox-work.ts';
import type { PrepareDeps, Prepared } from './prepare-post.ts';
import type { TellDeps } from './tell-operators.ts';

export type NoticePostDeps = PrepareDeps & Pick<TellDeps, 'opsChannel'>;

/** What the operators are told, in their channel of the moment. */
export async function prepareNotice(
  deps: NoticePostDeps,
  work: Work,
  mayBeRepeat: boolean,
): Promise<Prepared> {
  const { entry, record } = work;
  const notice = openBody('notice', deps.sealer, work);
  const message = deps.compose({ kind: 'notice', notice, key: entry.key, mayBeRepeat });
  return { kind: 'post', channel: deps.opsChannel ?? record.channel, message };
}
