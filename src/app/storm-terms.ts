import type { Config } from '../config/config.ts';
import type { StormTerms } from '../domain/rehearsal.ts';

/** What the settings call a storm; rules of `payops.yml` may say otherwise of theirs. */
export function stormTerms({ digestThreshold, digestWindowMinutes }: Config): StormTerms {
  return { threshold: digestThreshold, windowMs: digestWindowMinutes * 60_000 };
}
