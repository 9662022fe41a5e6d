import { createOpenHomes, type OpenHomes } from '../operations/home/open-homes.ts';
import type { TellCharge } from '../operations/charge/run-charge.ts';
import type { Slack } from '../slack/router/bolt.ts';
import type { Kept } from './kept.ts';
import type { Outside } from './outside.ts';

export type Homes = OpenHomes & {
  /** Until it is called nothing is shown. */
  showThrough: (slack: Pick<Slack, 'publishHome'>) => void;
};

/** Where charges are told, which is at every step; that a Home is behind is no reason to wait. */
export function followCharges<Posts extends Pick<TellCharge, 'refresh'>>(
  posts: Posts,
  changed: OpenHomes['changed'],
): Posts {
  return {
    ...posts,
    async refresh(reference: string, agents: readonly string[]) {
      changed(agents);
      await posts.refresh(reference, agents);
    },
  };
}

/** What keeps open App Homes up to date. What changes them is made before what shows them, which needs the verbs. */
export function createHomes({ now, log }: Outside, { kept, wake }: { kept: Kept; wake: () => void }): Homes {
  let slack: Pick<Slack, 'publishHome'> | undefined;
  const homes = createOpenHomes({
    store: kept.store,
    publish: async (owner) => await slack?.publishHome(owner),
    wake,
    now,
    log,
  });
  return {
    ...homes,
    showThrough(through) {
      slack = through;
    },
  };
}
