import { WebAPIPlatformError, type WebClient } from '@slack/web-api';
import { describe, expect, it } from 'vitest';
import type { ChargeSeen } from '../../src/domain/charge-seen.ts';
import type { Modal } from '../../src/slack/message.ts';
import { createShowCharge } from '../../src/slack/show-charge.ts';
import { agent, colleague, concluded, inDoubt, live, nowMs, seen, waiting } from './charge/seen-charges.ts';
import { page } from './charge/shown.ts';

const own = { id: 'V1', userId: agent };
const others = { id: 'V2', userId: colleague };

/** Slack’s screens by view id; `hold` keeps the next update on its way until it is let go. */
function screens(options: { closed?: readonly string[]; now?: () => number } = {}) {
  const shown = new Map<string, string[]>();
  const logged: string[] = [];
  const held: Promise<void>[] = [];
  async function update(called: { view_id: string; view: Modal }): Promise<void> {
    await held.shift();
    if (options.closed?.includes(called.view_id)) {
      throw new WebAPIPlatformError({ ok: false, error: 'not_found' });
    }
    shown.set(called.view_id, [...(shown.get(called.view_id) ?? []), page(called.view).join('\n')]);
  }
  function hold(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    held.push(promise);
    return resolve;
  }
  const show = createShowCharge({
    client: { views: { update } } as unknown as WebClient,
    place: live,
    now: options.now ?? (() => nowMs),
    log: (level, message) => logged.push(`${level}: ${message}`),
  });
  return { show, shown, logged, hold, of: (id: string) => shown.get(id) ?? [] };
}

/** The steps of one charge, each later than the one before. */
function steps(...charges: ChargeSeen[]): ChargeSeen[] {
  return charges.map((charge, index) => ({ ...charge, at: nowMs + index }));
}

describe('createShowCharge', () => {
  it('shows the steps of a charge one after the other, however long Slack takes for the first', async () => {
    const { show, of, hold } = screens();
    const letGo = hold();
    const results = steps(seen(), inDoubt({ heard: ['paid'] }), concluded('approved')).map((charge) =>
      show(charge, [own]),
    );
    // Whatever does not wait for the first is through by now.
    await new Promise((resolve) => setImmediate(resolve));
    letGo();
    expect(await Promise.all(results)).toEqual([true, true, true]);
    expect(of('V1')).toHaveLength(3);
    expect(of('V1').at(-1)).toContain('Paid (confirmed)');
  });

  it('never goes back to a step that was overtaken on its way here', async () => {
    const { show, of } = screens();
    const [before, after] = steps(inDoubt(), concluded('declined')) as [ChargeSeen, ChargeSeen];
    await show(after, [own]);
    expect(await show(before, [own])).toBe(true);
    expect(of('V1')).toEqual([expect.stringContaining('Declined by the bank')]);
  });

  it('shows each viewer their own: the field for the code to whom the charge is in hand alone', async () => {
    const { show, of } = screens();
    expect(await show(waiting(), [own, others])).toBe(true);
    expect(of('V1')[0]).toContain('_ Code');
    expect(of('V2')[0]).not.toContain('_ Code');
    expect(of('V2')[0]).toContain('[Take over]');
  });

  it('lets no modal wait for another', async () => {
    const { show, of, hold } = screens();
    const letGo = hold();
    const slow = show(concluded('approved'), [own]);
    await show(concluded('approved'), [others]);
    expect([of('V1'), of('V2')].map(({ length }) => length)).toEqual([0, 1]);
    letGo();
    expect(await slow).toBe(true);
  });

  it('is shown to its agent only where the agent has a modal open', async () => {
    const { show, of } = screens({ closed: ['V1'] });
    expect(await show(concluded('approved'), [own, others])).toBe(false);
    expect(of('V2')).toHaveLength(1);
    expect(await show(concluded('approved'), [])).toBe(false);
    expect(await show({ ...concluded('approved'), agent: colleague }, [others])).toBe(true);
  });

  it('remembers of a step that it was not shown', async () => {
    const { show } = screens({ closed: ['V1'] });
    const [before, after] = steps(inDoubt(), concluded('declined')) as [ChargeSeen, ChargeSeen];
    await show(after, [own]);
    expect(await show(before, [own])).toBe(false);
  });

  it('does not flicker: what looks the same is sent again only after a while, when it may be closed', async () => {
    let atMs = nowMs;
    const { show, of } = screens({ now: () => atMs });
    const alike = steps(concluded('approved'), concluded('approved'), concluded('approved'));
    const [first, second, third] = alike as [ChargeSeen, ChargeSeen, ChargeSeen];
    expect(await show(first, [own])).toBe(true);
    expect(await show(second, [own])).toBe(true);
    expect(of('V1')).toHaveLength(1);
    atMs += 5_000;
    expect(await show(third, [own])).toBe(true);
    expect(of('V1')).toHaveLength(2);
  });

  it('does not go back either to a step before one that looked the same', async () => {
    const { show, of } = screens();
    const [first, between, last] = steps(inDoubt(), seen(), inDoubt()) as [
      ChargeSeen,
      ChargeSeen,
      ChargeSeen,
    ];
    await show(first, [own]);
    await show(last, [own]);
    await show(between, [own]);
    expect(of('V1')).toHaveLength(1);
  });

  it('ends nothing but itself when a modal cannot be made, and shows the next step', async () => {
    let isBroken = true;
    const { show, of, logged } = screens({
      now() {
        if (isBroken) throw new Error('a bug');
        return nowMs;
      },
    });
    const unhandled: unknown[] = [];
    const hear = (error: unknown) => unhandled.push(error);
    const usual = process.listeners('unhandledRejection');
    process.removeAllListeners('unhandledRejection');
    process.on('unhandledRejection', hear);
    expect(await show(seen(), [own])).toBe(false);
    // A rejection that nobody handles is told after the microtasks.
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', hear);
    for (const listener of usual) process.on('unhandledRejection', listener);
    expect(unhandled).toEqual([]);
    expect(logged).toEqual(['error: A charge could not be shown']);
    isBroken = false;
    expect(await show(concluded('approved'), [own])).toBe(true);
    expect(of('V1')).toHaveLength(1);
  });
});
