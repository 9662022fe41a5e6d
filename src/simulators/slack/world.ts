import { type Channel, createDirectory } from './directory.ts';
import { createCounter } from './faults.ts';
import { createFiles } from './files.ts';
import { createIds, createResponseUrls, createTriggers } from './ids.ts';
import type { InstalledApp } from './manifest.ts';
import { createMessages } from './messages.ts';
import type { Quirks } from './quirks.ts';
import { createRateLimits } from './rate-limits.ts';
import { createViews } from './views.ts';

type WorldSettings = {
  app: InstalledApp;
  now: () => number;
  hasUserGroups: boolean;
  triggerLifeMs: number | undefined;
  postBurst: number;
  quirks: Quirks;
  /** Channels besides the standard ones. */
  moreChannels: readonly Channel[];
  /** Tells watchers that a person's screen changed. */
  changed: () => void;
};

/** All data of the workspace; makes no calls. */
export type World = ReturnType<typeof createWorld>;

export function createWorld(settings: WorldSettings) {
  const ids = createIds(settings.now);
  return {
    ...settings,
    ids,
    directory: createDirectory(settings.moreChannels),
    messages: createMessages(ids),
    files: createFiles(ids),
    views: createViews(ids),
    triggers: createTriggers(ids, settings.now, settings.triggerLifeMs),
    responseUrls: createResponseUrls(ids, settings.now),
    rateLimits: createRateLimits(settings.now, settings.postBurst),
    counter: createCounter(settings.now),
  };
}
