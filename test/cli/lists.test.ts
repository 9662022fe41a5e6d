import nock from 'nock';
import { expect, it } from 'vitest';
import { readCommand } from '../../src/cli/command.ts';
import { exitCodes } from '../../src/cli/exit-codes.ts';
import { terminalsCommand } from '../../src/cli/lists.ts';
import { mockTheOutside } from '../support/mocks.ts';
import { runtimeOf } from '../support/runtime-of.ts';

mockTheOutside();

const path = '/v1/accounts/terminals';
const page = (cursor: string) => ({ data: { results: [{ terminalId: '20700001' }], cursor } });

/** The service gives a first page with a cursor, and answers this to the cursor. */
function answerSecondPage(status: number, body: nock.Body): void {
  nock('https://payments.test')
    .get(path)
    .query({ limit: '50' })
    .reply(200, page('next'))
    .get(path)
    .query({ limit: '50', cursor: 'next' })
    .reply(status, body);
}

async function listTerminals() {
  const read = readCommand(terminalsCommand, ['--csv']);
  if (!read.ok || !('run' in read.value)) throw new Error('terminals was not understood.');
  const runtime = runtimeOf({ PAYMENTS_STATIC_TOKEN: 'a-token-of-a-test', DATA_DIR: '/dev/null/none' });
  const printed: string[] = [];
  const end = await read.value.run(runtime, async (text) => void printed.push(text));
  return { ...end, printed: printed.join('') };
}

it('says what to do when the service refuses the cursor that it gave', async () => {
  answerSecondPage(422, { message: 'cursor expired' });
  const { exitCode, words } = await listTerminals();
  expect(exitCode).toBe(exitCodes.noAnswer);
  expect(words).toBe(
    'The list broke off: 1 terminal read in 1 page. The service’s list has expired.\nNext: run this again.',
  );
});

it('ends with another code than a whole list if the service gives a cursor twice', async () => {
  answerSecondPage(200, page('next'));
  const { exitCode, words, printed } = await listTerminals();
  expect(exitCode).toBe(exitCodes.unproven);
  expect(words).toBe('2 terminals read in 2 pages; it may be longer: the service gave a cursor twice');
  expect(printed.match(/20700001/g)).toHaveLength(2);
});
