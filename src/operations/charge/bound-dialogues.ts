import { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { Store } from '../../store/store.ts';
import type { ChargeDesk } from './charge-desk.ts';
import { referenceOf } from '../work/reference-of.ts';

/** Far longer than a modal stays open, or Slack repeats a delivery. */
const rememberMs = 7 * 86_400_000;

/**
 * A dialogue charges for one account at most. Its reference is made of its id alone, and each account would take it
 * once: an old read-back that is delivered again after the form went to another account must not charge there too.
 * `store` is the one that all accounts share.
 */
export function boundDialogues(
  desk: ChargeDesk,
  { store, merchant }: { store: Pick<Store, 'create' | 'read'>; merchant: string },
): ChargeDesk {
  return {
    ...desk,
    async submit(request) {
      try {
        const key = `dialogue:${request.viewId}`;
        const isFree = await store.create(key, merchant, { ttlMs: rememberMs });
        if (!isFree && (await store.read(key))?.value !== merchant) return { kind: 'stale' };
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        return { kind: 'unsure', reference: referenceOf(request.viewId) };
      }
      return await desk.submit(request);
    },
  };
}
