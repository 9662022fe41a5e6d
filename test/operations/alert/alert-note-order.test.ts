import { describe, expect, it } from 'vitest';
import type { PostOutcome } from '../../../src/domain/delivery.ts';
import { cardsHouse, failed, recordOf } from '../cards-house.ts';

const { key: id } = failed;
const minuteMs = 60_000;
const refused: PostOutcome = { kind: 'refused', slackError: 'invalid_blocks', fix: '', about: 'message' };

async function late(lastMoveAtMs: number) {
  const house = cardsHouse();
  house.records.set('ORDER-1', recordOf('ORDER-1', 'FAILED'));
  house.answers.push(refused);
  await house.receive(failed);
  await house.drain(10 * minuteMs);
  await house.cards.move(id, { kind: 'acknowledge', by: 'U0ADA' });
  await house.drain(10 * minuteMs);
  await house.cards.move(id, { kind: 'assign', by: 'U0ADA', to: 'U0BOLA' });
  await house.drain(lastMoveAtMs - 20 * minuteMs);
  await house.cards.move(id, { kind: 'close', by: 'U0BOLA', reason: 'paid in cash' });
  return house;
}
// Slack refuses the alert for what is in it, and takes it an hour later: its notes have waited for it, each as long as its own.
describe('the notes of an alert that is told late', () => {
  const steps = ['👀 Acknowledged', '👤 Assigned', '☑️ Closed'];

  it.each([58.5, 59, 59.5, 59.9])('stand in their order, the last step after %d minutes', async (minutes) => {
    const house = await late(minutes * minuteMs);
    await house.drain(10 * minuteMs);
    const parent = house.parents().find(({ channel }) => channel === 'C0ALERTS01');
    const notes = house.notes(parent?.ts ?? '').map(({ shown }) => shown.text.split(' · ')[0]);
    expect(notes).toEqual(steps);
  });

  it('go on without a step that Slack does not take', async () => {
    const house = await late(59 * minuteMs);
    // The alert, and the first step for as long as the others wait for it.
    house.answers.push({ kind: 'posted', channel: 'C0ALERTS01', ts: '4600.000001' });
    house.messages.push({
      channel: 'C0ALERTS01',
      ts: '4600.000001',
      shown: { text: '', blocks: [] },
      pinged: [],
    });
    house.answers.push(refused);
    await house.drain(20 * minuteMs);
    const notes = house.notes('4600.000001').map(({ shown }) => shown.text.split(' · ')[0]);
    expect(notes).toEqual(steps.slice(1));
  });
});
