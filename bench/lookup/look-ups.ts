/**
 * A program that looks transactions up at SERVICE_URL, one after the other, alternating between undici's pool (the floor)
 * and the bot's way: judged and made into its message. Prints both medians (ms) of each round.
 */
import { Pool } from 'undici';
import { confirm } from '../../src/domain/transaction.ts';
import type { OrderReference } from '../../src/domain/order-reference.ts';
import { createPaymentsClient } from '../../src/payments/client.ts';
import { findTransaction } from '../../src/payments/lookups.ts';
import { noteMessage } from '../../src/slack/kit/note.ts';
import { transactionNote } from '../../src/slack/words/transaction-message.ts';
import { check, clocked, median, quantile } from '../figures.ts';

export type LookUpRound = { floorMs: number; oursMs: number; p99Ms: number };

const url = process.env['SERVICE_URL'] ?? '';
const rounds = Number(process.env['ROUNDS']);
const each = Number(process.env['EACH']);
const accountId = process.env['ACCOUNT_ID'] ?? '';
const accessToken = process.env['ACCESS_TOKEN'] ?? '';
const reference = 'PAID-000123' as OrderReference;
const pool = new Pool(url, { connections: 1 });
const token = { current: () => Promise.resolve(accessToken), replace: () => Promise.resolve(accessToken) };
const client = createPaymentsClient({
  baseUrl: url,
  sandbox: false,
  timeoutMs: 10_000,
  accessToken: token,
});
const reading = {
  paymentsPaidStatuses: ['SUCCESS'],
  paymentsFinalStatuses: undefined,
  paymentsGivenBackStatuses: undefined,
  paymentsAmountPointer: '/amount',
  paymentsFeePointer: undefined,
};
const path = `/v1/transactions/accounts/single?orderReference=${reference}`;
const headers = { authorization: `Bearer ${accessToken}`, accountId };

async function bare(): Promise<void> {
  const { body } = await pool.request({ path, method: 'GET', headers });
  const answer = (await body.json()) as { data: { status: string } };
  check(answer.data.status === 'SUCCESS', 'the floor’s look-up found something else');
}

async function ours(): Promise<void> {
  const transaction = await findTransaction(client, accountId, reference, reading);
  const confirmation = confirm({ reference }, transaction);
  const about = { environment: 'live', account: 'Lagos store', checkedAtMs: Date.now() } as const;
  const { text } = noteMessage(transactionNote({ ...about, reference, confirmation }));
  check(confirmation.kind === 'confirmed' && text.includes(reference), 'our look-up was not confirmed');
}

const played: LookUpRound[] = [];
for (let round = 0; round <= rounds; round += 1) {
  const floorMs: number[] = [];
  const oursMs: number[] = [];
  for (let index = 0; index < each; index += 1) {
    floorMs.push((await clocked(bare))[1]);
    oursMs.push((await clocked(ours))[1]);
  }
  if (round > 0)
    played.push({ floorMs: median(floorMs), oursMs: median(oursMs), p99Ms: quantile(oursMs, 0.99) });
}
console.log(JSON.stringify(played));
await pool.close();
process.exit(0);
