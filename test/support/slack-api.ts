import nock from 'nock';

/** A call the bot made to Slack's Web API, with its view and blocks read. */
export type ApiCall = { method: string; [argument: string]: unknown };

/** Answers one call of the method, which must come, and adds it to `calls`. */
export function answerSlack(
  calls: ApiCall[],
  method: string,
  answer: Record<string, unknown> = { ok: true },
): void {
  let sent: Record<string, string> = {};
  nock('https://slack.test')
    // Called more than once for one request: what came is noted when it is answered.
    .post(`/api/${method}`, (body: Record<string, string>) => {
      sent = body;
      return true;
    })
    .reply(200, () => {
      const read = Object.entries(sent).map(([name, value]) => [name, asJson(value)] as const);
      calls.push({ ...Object.fromEntries(read), method });
      return answer;
    });
}

function asJson(value: string): unknown {
  return value.startsWith('{') || value.startsWith('[') ? JSON.parse(value) : value;
}
