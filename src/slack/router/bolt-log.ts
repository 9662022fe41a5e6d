import { LogLevel, type Logger } from '@slack/bolt';
import type { Log } from '../../log.ts';

const longestLine = 200;

/**
 * The logger that every @slack package gets. Their debug and info lines hold whole bodies and socket
 * frames, OTPs among them: those are dropped whatever the level. Of a warning or an error only its words
 * are kept, with quoted snippets and URL queries cut out.
 */
export function createBoltLog(log: Log): Logger {
  function pass(level: 'warn' | 'error', said: readonly unknown[]): void {
    log(level, `Slack library: ${said.map(words).join(' ').slice(0, longestLine)}`);
  }
  return {
    debug: () => {},
    info: () => {},
    warn: (...said) => pass('warn', said),
    error: (...said) => pass('error', said),
    setLevel: () => {},
    // Some of them build their debug line only when told that debug is on.
    getLevel: () => LogLevel.WARN,
    setName: () => {},
  };
}

function words(said: unknown): string {
  const text = said instanceof Error ? `${said.name}: ${said.message}` : typeof said === 'string' ? said : '';
  return text.replace(/"[^"]*"/g, '"…"').replace(/\?[^\s"']+/g, '?…');
}
