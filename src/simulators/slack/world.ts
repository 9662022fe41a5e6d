import { type Channel, createDirectory, type Directory } from './cast.ts';
import { type Counter, createCounter } from './faults.ts';
import { createFiles, type Files } from './files.ts';
import {
  createIds,
  type Ids,
  createResponseUrls,
  type ResponseUrls,
  createTriggers,
  type Triggers,
} from './ids.ts';
import type { InstalledApp } from './manifest.ts';
import { createMessages, type Messages } from './messages.ts';
import { createRateLimits, type RateLimits } from './rate-limits.ts';
import { createViews, type Views } from './views.ts';

/** Everything the workspace remembers, and nothing that talks to anybody. */
export type World = {
  readonly app: InstalledApp;
  readonly now: () => number;
  readonly ids: Ids;
  readonly directory: Directory;
  readonly messages: Messages;
  readonly files: Files;
  readonly views: Views;
  readonly triggers: Triggers;
  readonly responseUrls: ResponseUrls;
  readonly rateLimits: RateLimits;
  readonly counter: Counter;
  readonly hasUserGroups: boolean;
  /** Tells the watchers that somebody's screen is no longer right. */
  readonly changed: () => void;
};

export type WorldSettings = {
  app: InstalledApp;
  now: () => number;
  hasUserGroups: boolean;
  triggerLifeMs: number | undefined;
  postBurst: number;
  /** More channels than everybody finds there. */
  moreChannels: readonly Channel[];
  changed: () => void;
};

export function createWorld(settings: WorldSettings): World {
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
