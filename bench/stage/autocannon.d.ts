/** autocannon has no types; these are the parts used here. */
declare module 'autocannon' {
  export type Request = {
    method: 'POST';
    path: string;
    headers: Record<string, string>;
    body: string | Buffer;
  };
  type Client = { setRequests(requests: readonly Request[]): void };
  type Options = {
    url: string;
    connections: number;
    amount: number;
    sampleInt?: number;
    setupClient?: (client: Client) => void;
    verifyBody?: (body: string | Buffer) => boolean;
  };
  type Run = Promise<{ errors: number; timeouts: number }> & {
    on(
      event: 'response',
      listener: (client: Client, status: number, bytes: number, tookMs: number) => void,
    ): void;
  };
  export default function autocannon(options: Options): Run;
}
