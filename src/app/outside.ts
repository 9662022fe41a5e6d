import type { Config } from '../config/config.ts';
import type { Log } from '../log.ts';

/** What every part of the app is made from. */
export type Outside = { config: Config; log: Log; now: () => number };
