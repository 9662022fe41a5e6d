import type { Audit } from '../domain/audit-entry.ts';
import { StoreUnavailable } from '../domain/store-unavailable.ts';

/** For a bot that keeps no audit: what must be on record before it is done is not done. */
export const noAudit: Audit = () => Promise.reject(new StoreUnavailable('This bot keeps no audit.'));
