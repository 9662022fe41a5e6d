import { outboxKey } from '../../src/operations/outbox/outbox.ts';
import type { Tellings } from './tellings.ts';
import type { World } from './world.ts';

/** An event is new once, and one that differs from the first is told to the operators, once. */
export function findWrongRepeats({ answered, violate }: World, { events, messagesOf }: Tellings): void {
  for (const [key, { own }] of events) {
    const all = answered.filter((one) => one.key === key);
    if (all.filter(({ result }) => result === 'new').length > 1) violate(`${key} is new twice`);
    for (const { print, result } of all) {
      const isSame = print === own.fingerprint;
      if (isSame === (result === 'differs')) violate(`${key} as ${print} is answered ${result}`);
    }
    const others = new Set(all.filter(({ result }) => result === 'differs').map(({ print }) => print));
    for (const print of others) {
      if (messagesOf(outboxKey('notice', `differs:${key}:${print}`)).length === 0)
        violate(`nobody is told that ${key} differs`);
    }
  }
}
