import { describe, expect, it } from 'vitest';
import { revealActionId } from '../../src/slack/reveal-message.ts';
import { openChargeDialogue } from '../support/charge-dialogue.ts';
import { openHouse, type House, type Person } from '../support/house.ts';

const email = 'ada.obi@example.com';

describe('Reveal e-mail', () => {
  it('is offered to whoever may, shows nobody else anything, and gives nothing without a record', async (test) => {
    const house = await openHouse(test);
    const dialogue = openChargeDialogue(house);
    const bot = house.bot({ LOG_LEVEL: 'debug' });
    await house.start(bot);
    const asks = async (person: Person): Promise<string> => {
      const before = house.seenBy(person).length;
      await house.type(person, '/pay ORDER-1001');
      await house.until('an answer', () => house.seenBy(person).length > before);
      return last(house, person);
    };
    expect(await asks('agent')).not.toContain(revealActionId);
    const answer = await asks('lead');
    expect(answer).toContain(revealActionId);
    expect(answer).not.toContain(email);

    const before = house.seenBy('lead').length;
    await dialogue.pressInMessage('lead', revealActionId);
    await house.until('an answer to the press', () => house.seenBy('lead').length > before);
    expect(last(house, 'lead')).toContain('"ada.obi@example.com · ORDER-1001"');
    const stays = ['payDesk', 'payAlerts', 'payOps', 'general'] as const;
    expect(JSON.stringify(stays.map((channel) => house.posts(channel)))).not.toContain(email);
    for (const other of ['agent', 'onCall', 'outsider'] as const) {
      const { messages } = house.workspace.state(house.workspace.ids.users[other]);
      expect(JSON.stringify(messages)).not.toContain(email);
    }
    expect(bot.lines.join('\n')).not.toContain(email);
    expect(await house.storeDump()).not.toContain(email);
  });
});

function last(house: House, person: Person): string {
  return JSON.stringify(house.seenBy(person).at(-1));
}
