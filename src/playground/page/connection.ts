import type { ActResult, Exchange, PageAction } from '../../simulators/protocol.ts';
import type { Connection } from './model.ts';
import type { ServedState } from './served.ts';

type Listener = { state: (page: ServedState) => void; connection: (connection: Connection) => void };

const retryMs = 1000;

/**
 * Follows the server's state as one person for as long as the page is open; the returned function ends it.
 * The browser reconnects a broken stream itself; one it has given up on is opened anew.
 */
export function follow(userId: string | undefined, listener: Listener): () => void {
  let source: EventSource;
  let timer: ReturnType<typeof setTimeout> | undefined;
  function open(): void {
    source = new EventSource(userId === undefined ? '/events' : `/events?user=${encodeURIComponent(userId)}`);
    source.addEventListener('message', (event: MessageEvent<string>) =>
      listener.state(JSON.parse(event.data) as ServedState),
    );
    source.addEventListener('error', () => {
      listener.connection('reconnecting');
      if (source.readyState === EventSource.CLOSED) timer = setTimeout(open, retryMs);
    });
  }
  open();
  return () => {
    clearTimeout(timer);
    source.close();
  };
}

/** Does something as this person. Never rejects: a playground that does not answer is a problem in words. */
export async function act(user: string, action: PageAction): Promise<ActResult> {
  try {
    const response = await fetch('/act', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ user, action }),
    });
    return (await response.json()) as ActResult;
  } catch {
    return { ok: false, problem: 'The playground does not answer. Is it still running in the terminal?' };
  }
}

/** One exchange with its bodies, or undefined when it is too old to be kept. */
export async function readExchange(id: number): Promise<Exchange | undefined> {
  try {
    const response = await fetch(`/exchange?id=${id}`);
    return response.ok ? ((await response.json()) as Exchange) : undefined;
  } catch {
    return undefined;
  }
}
