import { describe, expect, it } from 'vitest';
import { homeAlerts, type AlertInHand } from '../../../src/slack/alert/alerts-in-hand.ts';

const atMs = Date.UTC(2026, 10, 21, 10);

function home(place?: AlertInHand['place']): string {
  const alert: AlertInHand = {
    event: { key: 'payment_failed/order/ORDER-1', kind: 'payment_failed' },
    receivedAtMs: atMs,
    card: { kind: 'acknowledged', by: 'U0ADA00001', at: atMs },
    ...(place === undefined ? {} : { place }),
  };
  return JSON.stringify(homeAlerts([alert], { environment: 'live', account: 'main account' }));
}

describe('the alerts in somebody’s hand, in their App Home', () => {
  it('say in which channel each is, and lead to its message', () => {
    const shown = home({ channel: 'C0ALERTS01', ts: '1795357451.477000' });
    expect(shown).toContain('In <#C0ALERTS01>');
    expect(shown).toContain('https://slack.com/archives/C0ALERTS01/p1795357451477000');
  });

  it('lead nowhere as long as no message stands', () => {
    expect(home({ channel: 'C0ALERTS01' })).toContain('In <#C0ALERTS01>');
    expect(home({ channel: 'C0ALERTS01' })).not.toContain('https://');
    expect(home()).not.toContain('In <#');
  });
});
