import type { Account } from '../../account.ts';
import type { Entry } from '../../store/store.ts';
import { eventPrefix } from './event-case.ts';
import { newestEventMs } from './event-log.ts';
import { orderEventKey } from '../../domain/payment-event.ts';
import { counted } from '../../domain/wording.ts';
import { type NoticeNeeds, tellOperators } from '../../messages/messages.ts';
import { rich } from '../../slack/kit/blocks.ts';
import { hourMs } from '../../domain/span.ts';

export type MissingEvents = ReturnType<typeof createMissingEvents>;

export const alarmPrefix = 'alarm:';

const everyMs = hourMs;
/** An alarm this late means that no replica ran, so none could receive events either. */
const awayMs = 300_000;

/**
 * Tells the operators, at most once an hour, of a paid charge whose event never came; the log names each. `waitMs`: how long
 * the event may take; 0: not checked. `readsReference`: false if the signature doesn't cover the reference; then any later
 * event counts as the charge's.
 */
export function createMissingEvents(
  needs: NoticeNeeds & Pick<Account, 'store' | 'now' | 'log'>,
  waitMs: number,
  readsReference: boolean,
) {
  const { store, now, log } = needs;

  /** Sets an alarm for a charge that was approved without its event. Idempotent. */
  async function approved(reference: string): Promise<void> {
    if (waitMs > 0) await store.create(alarmPrefix + reference, String(now()), { delayMs: waitMs });
  }

  async function work(entry: Entry): Promise<void> {
    const atMs = Number(entry.value);
    const reference = entry.key.slice(alarmPrefix.length);
    const isSilent = ((await newestEventMs(needs)) ?? 0) < atMs;
    // Every success has this record, whether it goes to a channel or not.
    const success = eventPrefix + orderEventKey('payment_success', reference);
    const hasCome = readsReference ? (await store.read(success)) !== undefined : !isSilent;
    if (!hasCome && waitMs > 0) {
      // No replica ran, so wait once more.
      if (entry.attempts === 1 && now() - atMs > waitMs + awayMs) {
        await store.write(entry, entry.value, { delayMs: waitMs });
        return;
      }
      log('warn', 'The event of an approved charge never came', { key: entry.key });
      await tellOperators(needs, `${alarmPrefix}${Math.floor((atMs + waitMs) / everyMs)}`, {
        state: 'A charge is paid, but its event never came',
        about: [reference],
        lines: [rich`${missingWords(waitMs)}`, rich`${isSilent ? silentWords : otherWords}`],
      });
    }
    await store.write(entry, '', { ttlMs: 0 });
  }

  return { approved, work };
}

function missingWords(waitMs: number): string {
  const minutes = Math.round(waitMs / 60_000);
  const waited = minutes % 60 === 0 ? counted(minutes / 60, 'hour') : counted(minutes, 'minute');
  return `A look-up proved it more than ${waited} ago, and the charge stands. More of this hour are in the log.`;
}

const silentWords =
  'No webhook has come at all since, so charges that fail elsewhere aren’t told. Check the address at the payments service, the proxy and the certificate.';
const otherWords =
  'Ask the payments service whether it sent a payment_success for this reference, and how that was answered.';
