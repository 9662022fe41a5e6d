import type { WebClient } from '@slack/web-api';
import type { ChargeSeen } from '../../domain/charge-seen.ts';
import type { Log } from '../../log.ts';
import type { ChargePlace } from '../../slack/words/charge-place.ts';
import { chargeStateModal } from './state-modal.ts';
import { updateModal } from '../../slack/kit/modals.ts';

export type ShowDeps = {
  client: WebClient;
  place: ChargePlace;
  now: () => number;
  log: Log;
};

export type OpenView = { id: string; userId: string };

/** A charge's own modals: one for each, in the order of its steps, and none older than what it shows. */
export type ShowCharge = (charge: ChargeSeen, views: readonly OpenView[]) => Promise<boolean>;

/** For so many modals the last shown step is remembered; a dialogue is over long before. */
const remembered = 200;
/** Within this time a modal that was open is taken to be open still. */
const freshMs = 5_000;

/**
 * Puts a charge as it is into the modals that show it. True when the agent in charge has one of them open.
 * Never throws: a modal may be closed at any time, and what must be known stands in a message too.
 */
export function createShowCharge(deps: ShowDeps): ShowCharge {
  const last = new Map<string, { at: number; shownAtMs: number; isShown: boolean; content: string }>();
  const queues = new Map<string, Promise<unknown>>();

  async function update(charge: ChargeSeen, { id, userId }: OpenView): Promise<boolean> {
    const earlier = last.get(id);
    // Steps can overtake each other on the way here; the screen must not go back.
    if (earlier && earlier.at > charge.at) return earlier.isShown;
    const modal = chargeStateModal(charge, deps.place, { nowMs: deps.now(), viewerId: userId });
    const content = JSON.stringify(modal);
    const isFresh = earlier !== undefined && deps.now() - earlier.shownAtMs < freshMs;
    // A signed event and the service's answer come together: the same again would only flicker.
    if (isFresh && earlier.isShown && earlier.content === content) {
      last.set(id, { ...earlier, at: charge.at });
      return true;
    }
    const isShown = (await updateModal(deps.client, { viewId: id, modal }, deps.log)) === 'shown';
    last.delete(id);
    last.set(id, { at: charge.at, shownAtMs: deps.now(), isShown, content });
    const [oldest] = last.keys();
    if (last.size > remembered && oldest !== undefined) last.delete(oldest);
    return isShown;
  }

  /** One after the other for each modal: two updates under way could arrive in either order. */
  function inTurn(charge: ChargeSeen, view: OpenView): Promise<boolean> {
    const turn = (queues.get(view.id) ?? Promise.resolve())
      .then(() => update(charge, view))
      .catch((error: unknown) => {
        deps.log('error', 'A charge could not be shown', { orderReference: charge.reference }, error);
        return false;
      });
    queues.set(view.id, turn);
    void turn.finally(() => {
      if (queues.get(view.id) === turn) queues.delete(view.id);
    });
    return turn;
  }

  return async function show(charge, views) {
    const results = await Promise.all(views.map((view) => inTurn(charge, view)));
    return views.some(({ userId }, index) => userId === charge.agent && results[index]);
  };
}
