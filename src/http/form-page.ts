import { endResponse, readBody } from './body.ts';
import type { Route } from './server.ts';

const mostBodyBytes = 1_024;
const formType = /^application\/x-www-form-urlencoded(;|$)/i;

type Answer = (request: {
  method: string;
  /** The path after the prefix; may be secret, so never log it. */
  tail: string;
  ip: string;
  /** The browser’s Accept-Language. */
  languages: string;
  /** Undefined if the body is no form, is over 1 KB or was cut off. */
  form: () => Promise<URLSearchParams | undefined>;
}) => Promise<{ status: number; headers: Record<string, string>; body: string }>;

/**
 * GET and POST routes of pages below a prefix, which ends with a slash. Each page's form posts to the page's own
 * address.
 */
export function formPageRoutes(prefix: string, answer: Answer): Route[] {
  const handle: Route['handle'] = async (request, response) => {
    const answered = await answer({
      method: request.method ?? '',
      tail: (request.url ?? '').split('?', 1)[0]?.slice(prefix.length) ?? '',
      ip: request.socket.remoteAddress ?? '',
      languages: request.headers['accept-language'] ?? '',
      async form() {
        if (!formType.test(request.headers['content-type'] ?? '')) return undefined;
        const reading = await readBody(request, mostBodyBytes);
        return reading.kind === 'body' ? new URLSearchParams(reading.body.toString('utf8')) : undefined;
      },
    });
    endResponse({ request, response }, answered, { lingerMs: 500, lingerBytes: 65_536 });
  };
  return ['GET', 'POST'].map((method) => ({ method, path: `${prefix}*`, handle }));
}
