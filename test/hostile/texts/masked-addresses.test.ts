import { describe, expect, it, vi } from 'vitest';
import type * as EvidenceModule from '../../../src/slack/words/payment-words.ts';
import { createRandom } from '../../chaos/random.ts';
import { countOf } from '../../support/counts.ts';
import { surfaces } from './run-texts.ts';
import type { Shown } from './surface.ts';

// A merchant's reference may be any 50 characters, even an address, and is always shown in full, since it is needed for
// look-ups. It is left out here, so that every other address is found.
vi.mock(import('../../../src/slack/words/payment-words.ts'), async (load): Promise<typeof EvidenceModule> => {
  const real = await load();
  const word = 'REFERENCE';
  return {
    ...real,
    referenceWord: () => word,
    typedReference: () => word,
    referenceRun: () => ({ type: 'text', text: word }),
  };
});

const rounds = countOf({ full: 200, share: 60 });
const canary = /can[a-z.+]*ry\d*@\w/i;

/**
 * Screens with a whole address, and the reason. All are modals or ephemeral messages for the one person who typed or
 * requested it.
 */
const inFull: Readonly<Record<string, string>> = {
  'an e-mail in full': 'Reveal e-mail: ephemeral, with its permission, after the audit recorded it',
  'an e-mail in full in a modal': 'the same, on top of a modal',
  'the form of a charge': 'what its own agent typed comes back for correction',
  'the form of a payment link': 'the same',
  'the form of a card’s e-mail': 'the same',
  'the form of a new account': 'the same',
  'a card’s e-mail read back': 'the person who changes it must check both addresses letter by letter',
  'the terms of a charge':
    'shown in full to the person who typed it, because it must be exactly the linked one',
};

describe('a customer’s address', () => {
  const leaking = new Map<string, string>();
  for (const surface of surfaces) {
    const random = createRandom(surface.name.length + 7);
    let number = 0;
    const outside = { random, text: () => addressed((number += 1)) };
    for (let round = 0; round < rounds; round += 1) {
      const found = findAddress(surface.compose(outside));
      if (found !== undefined) leaking.set(surface.name, found);
    }
  }

  it('stands in no message of a channel, of a thread or to a person, but masked', () => {
    expect([...leaking].filter(([name]) => !(name in inFull))).toEqual([]);
  });

  it('is shown in full only on the screens listed here, to the person who typed it or asked for it', () => {
    expect(Object.keys(inFull).filter((name) => !leaking.has(name))).toEqual([]);
    const kinds = surfaces
      .filter(({ name }) => name in inFull)
      .map(({ name, compose }) => [name, compose({ random: createRandom(1), text: () => 'x' }).kind]);
    expect(kinds.filter(([name, kind]) => kind !== 'modal' && name !== 'an e-mail in full')).toEqual([]);
  });
});

/** An address as it may come: alone, in a sentence, in brackets, in capitals, after its name. */
function addressed(number: number): string {
  const address = `canary${number}@leak.example`;
  const forms = [
    address,
    `Sent to ${address}, as asked`,
    `"Canary" <${address}>`,
    address.toUpperCase(),
    `mailto:${address}`,
    `can.a.ry${number}@mail.leak.example`,
    `can+ary${number}@leak.example`,
  ];
  return forms[number % forms.length] ?? address;
}

/**
 * The first visible text with an address. Values of buttons are not visible. A checkout link is the service’s and must
 * stay whole.
 */
function findAddress({ payload }: Shown): string | undefined {
  const found: string[] = [];
  JSON.stringify(payload, (name, value: unknown) => {
    if (name === 'value' || name === 'private_metadata' || name === 'metadata') return undefined;
    if (typeof value === 'string' && !value.startsWith('https://') && canary.test(value))
      found.push(`${name}: ${value}`);
    return value;
  });
  return found[0];
}
