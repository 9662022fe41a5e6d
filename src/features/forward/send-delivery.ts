import { DeadlinePassed, withDeadline } from '../../deadline.ts';
import { errorCode } from '../../domain/failure.ts';
import { type ForwardedDelivery, forwardedHeader } from '../../domain/forwarding.ts';

/** `refused`: a retry would get the same answer. `missed`: a retry may succeed. */
export type Sent = { kind: 'taken' | 'refused' | 'missed'; why: string; httpStatus?: number };

/** Reads at most this much of the backend's answer, which is thrown away. */
const mostAnswerBytes = 64 * 1024;

/** Sends a delivery once; never throws. `why` holds no address and nothing of the delivery. */
export async function sendDelivery(
  url: string,
  { body, headers }: Pick<ForwardedDelivery, 'body' | 'headers'>,
  timeoutMs: number,
): Promise<Sent> {
  let judged: Sent | undefined;
  try {
    await withDeadline(timeoutMs, async (signal) => {
      const answer = await fetch(url, {
        method: 'POST',
        headers: [...headers.map(([name, value]): [string, string] => [name, value]), [forwardedHeader, '1']],
        body: new Uint8Array(body),
        // Don't follow redirects: they could lead anywhere.
        redirect: 'manual',
        signal,
      });
      judged = judge(answer.status);
      let bytes = 0;
      // Read to the end, so the connection can be reused.
      for await (const chunk of answer.body ?? []) if ((bytes += chunk.length) > mostAnswerBytes) break;
    });
    return judged ?? { kind: 'missed', why: 'no answer' };
  } catch (error) {
    // The status says whether the backend took it, even if the rest of the answer doesn't come.
    if (judged) return judged;
    if (error instanceof DeadlinePassed) {
      return { kind: 'missed', why: `no answer in ${Math.round(timeoutMs / 1_000)} s` };
    }
    const cause = error instanceof Error ? error.cause : undefined;
    return { kind: 'missed', why: errorCode(cause) ?? errorCode(error) ?? 'no connection' };
  }
}

function judge(httpStatus: number): Sent {
  const why = `HTTP ${httpStatus}`;
  if (httpStatus >= 200 && httpStatus < 300) return { kind: 'taken', why, httpStatus };
  const isFinal = httpStatus >= 400 && httpStatus < 500 && httpStatus !== 408 && httpStatus !== 429;
  return { kind: isFinal ? 'refused' : 'missed', why, httpStatus };
}
