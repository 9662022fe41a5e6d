import nock from 'nock';
import { afterAll, afterEach, beforeAll } from 'vitest';

/** No call leaves this machine, and a mock that was set up and not used fails its test: it was a wrong expectation. */
export function mockTheOutside(): void {
  beforeAll(() => {
    // Test files share their worker's modules, and the one before has put the real outside back.
    if (!nock.isActive()) nock.activate();
    nock.disableNetConnect();
    nock.enableNetConnect('127.0.0.1');
  });
  afterEach(() => {
    const unused = nock.pendingMocks();
    nock.cleanAll();
    if (unused.length > 0) throw new Error(`Expected calls that were not made: ${unused.join(', ')}`);
  });
  afterAll(() => {
    nock.enableNetConnect();
    nock.restore();
  });
}
