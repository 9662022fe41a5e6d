import { describe, expect, it } from 'vitest';
import { exactBytes } from '../../src/webhooks/signature-bytes.ts';

describe('bytes written as text', () => {
  it('are read from hex of either case, and from base64 with and without its padding', () => {
    expect(exactBytes('00fFaB', 'hex')).toEqual(Buffer.from([0x00, 0xff, 0xab]));
    expect(exactBytes('/w==', 'base64')).toEqual(Buffer.from([0xff]));
    expect(exactBytes('/w', 'base64')).toEqual(Buffer.from([0xff]));
  });

  it('are none of a text that is not wholly in its encoding, whatever node:buffer makes of it', () => {
    for (const written of ['f', 'ffg0', 'ff ', 'šš', 'aš', '0\u{130}']) {
      expect(exactBytes(written, 'hex')).toHaveLength(0);
    }
    for (const written of ['aGk!', 'a Gk', 'š']) {
      expect(exactBytes(written, 'base64')).toHaveLength(0);
    }
  });
});
