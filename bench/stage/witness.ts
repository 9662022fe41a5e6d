/**
 * Preloaded into every process that is measured (`node --import`), ours and the peers' alike: tells its parent, when
 * asked, what it has used by now. Keeps nothing running and costs nothing while nobody asks.
 */
export type Usage = { cpuMicros: number; residentBytes: number };

process.on('message', () => {
  const { user, system } = process.cpuUsage();
  const usage: Usage = { cpuMicros: user + system, residentBytes: process.memoryUsage.rss() };
  process.send?.(usage);
});
process.channel?.unref();
