import { describe, expect, it } from 'vitest';
import { chargeReferences, saveCards } from '../support/charge-line.ts';
import { charges, openDesk, reviews, shareDesk } from '../support/desk.ts';
import { bySocket } from '../support/house.ts';

// Every act here fails if the bot does not acknowledge it within Slack's three seconds.

const commands = 10;
/** Longer than Slack waits for the bot. */
const patient = { PAYMENTS_TIMEOUT_SECONDS: '4', SLACK_TIMEOUT_SECONDS: '2', WORK_LEASE_SECONDS: '20' };

describe('while the payments service hangs', () => {
  const at = shareDesk({
    workspace: { grantedOptionalScopes: 'all' },
    env: { ...patient, STOP_SECONDS: '1' },
  });

  it('acknowledges every command and stores every event, says that it waits, then that no money moved and what to do', async () => {
    const { house, types, sees } = at();
    const texts = (): string[] => house.seenBy('agent').map(({ text }) => text);
    // There is no token yet: getting one hangs as well.
    await house.payments.act({ kind: 'set_mode', mode: 'hang' });
    const typed = Array.from({ length: commands }, () => types('agent', '/pay ORDER-1001'));
    await Promise.all([house.decline(), house.decline(), ...typed]);
    await house.payments.settled();
    expect(house.payments.state().deliveries.map(({ attempts, state }) => [attempts, state])).toEqual([
      [1, 'delivered'],
      [1, 'delivered'],
    ]);
    await sees('agent', 'The payments service has not answered yet. The answer follows here.');
    const ends = () => texts().filter((text) => text.includes('No answer from the payments service in time'));
    await house.until('all are answered', () => ends().length === commands);
    const { shown } = await sees('agent', 'No answer from the payments service in time');
    for (const words of ['none was moved by this', 'try again in a minute'])
      expect(shown.text).toContain(words);
    await house.payments.act({ kind: 'set_mode', mode: 'normal' });
    await house.until('it works again', async () => {
      // A request at the very moment when the last wait for a token ends gets that end.
      const told = texts().length;
      await types('agent', '/pay ORDER-1001');
      await house.until('an answer', () => texts().length > told);
      return texts().at(-1)?.includes('Paid (confirmed)') === true;
    });
  });

  it('acknowledges a submitted charge as being charged, and a code as being checked', async () => {
    const desk = at();
    const { house } = desk;
    const [one, two] = await saveCards(house, 2);
    const formOf = (card = one, amount = '2,500.00') => ({
      token: card?.tokenKey ?? '',
      email: card?.customerEmail ?? '',
      amount,
    });
    // This amount makes the bank ask for a code.
    await charges(desk, 'agent', formOf(one, '2,500.01'));
    await desk.modalSays('agent', 'tries left');
    await house.payments.act({ kind: 'set_mode', mode: 'hang' });
    const entered = desk.submits('agent', { 'Code from the bank': '123456' });
    await desk.modalSays('agent', 'Checking the code …');
    await entered;
    await house.payments.act({ kind: 'set_mode', mode: 'normal' });
    await desk.closes('agent');

    await reviews(desk, 'agent', formOf(two));
    await house.payments.act({ kind: 'set_mode', mode: 'hang' });
    const agreed = desk.submits('agent');
    await desk.modalSays('agent', 'Charging …');
    await agreed;
  });
});

// In Socket Mode presses would not arrive either.
describe.skipIf(bySocket)('while Slack’s own API is away', () => {
  for (const weather of ['hang', 'down', 'rate_limited'] as const) {
    it(`makes a submitted charge, and reports it afterwards (${weather})`, async (test) => {
      const desk = await openDesk(test, {
        clock: true,
        workspace: { grantedOptionalScopes: 'all' },
        env: patient,
      });
      const { house } = desk;
      const [card] = await saveCards(house, 1);
      await reviews(desk, 'agent', {
        token: card?.tokenKey ?? '',
        email: card?.customerEmail ?? '',
        amount: '2,500.00',
      });
      house.workspace.setFaults({ kind: weather });
      const shown = await desk.submits('agent');
      expect(shown?.shown.text).toMatch(/Charging …|Approved, confirming/);
      await house.until('it is charged', () => chargeReferences(house).length > 0);
      const [reference = ''] = chargeReferences(house);
      expect(house.payments.stats().chargesByReference[reference]).toBe(1);
      const verdict = `message:charge_direct:told:approved:${reference}`;
      await house.until('the verdict is on record', async () => (await house.storeKeys(verdict)).length > 0);
      expect(house.posts('payDesk')).toEqual([]);
      expect(desk.modal('agent')?.shown.text).not.toContain('Paid');

      house.workspace.setFaults();
      const parents = () => house.posts('payDesk').filter(({ threadTs }) => threadTs === undefined);
      const isTold = () => parents().some(({ text }) => text.includes('Paid (confirmed)'));
      await house.until('the desk is told', isTold);
      await house.until('all is told', async () => (await house.workLeft()) === 0);
      expect(parents()).toHaveLength(1);
      // The modal was unreachable at the end, so the agent was told by direct message.
      expect(desk.messages('agent', 'agentDm').map(({ text }) => text)).toEqual([
        expect.stringContaining('Paid (confirmed)'),
      ]);
      expect(Object.values(house.payments.stats().chargesByReference).filter((times) => times > 1)).toEqual(
        [],
      );
    });
  }
});
