import type { LookupDeps } from '../../src/features/lookup/look-up.ts';

/** For tests of what shares no look-up. */
export const noSharing: Pick<LookupDeps, 'showEnd' | 'sharing' | 'declineOf' | 'mayRun' | 'revealEmail'> = {
  showEnd: () => Promise.resolve(),
  mayRun: () => Promise.resolve({ kind: 'refused', rule: '', whoCan: '' }),
  revealEmail: () => Promise.reject(new Error('nothing is revealed here')),
  declineOf: () => Promise.resolve(undefined),
  sharing: {
    post: () => Promise.reject(new Error('nothing is shared here')),
    edit: () => Promise.reject(new Error('nothing is shared here')),
  },
};
