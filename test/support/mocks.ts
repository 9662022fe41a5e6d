import nock from 'nock';
import { afterAll, afterEach, beforeAll } from 'vitest';

/**
 * Blocks every call to other machines; a mock that is set up and not used fails its test, since the expectation was
 * wrong.
 */
export function mockTheOutside(): void {
  beforeAll(() => {
    // Test files share their worker's modules, and the previous file has restored the network.
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
