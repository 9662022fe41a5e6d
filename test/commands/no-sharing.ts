import type { LookupDeps } from '../../src/commands/lookup.ts';

/** For tests of what shares no look-up. */
export const noSharing: Pick<LookupDeps, 'showEnd' | 'sharing' | 'isOnRecord'> = {
  showEnd: () => Promise.resolve(),
  isOnRecord: () => Promise.resolve(false),
  sharing: {
    post: () => Promise.reject(new Error('nothing is shared here')),
    edit: () => Promise.reject(new Error('nothing is shared here')),
  },
};
