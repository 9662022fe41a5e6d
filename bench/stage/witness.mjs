/**
 * Preloaded into every process that is measured (`node --import`), ours and the peers' alike: tells its parent, when
 * asked, what it has used by now. Keeps nothing running and costs nothing while nobody asks; JavaScript, because
 * Node's TypeScript would take up memory of its own.
 *
 * @typedef {{ cpuMicros: number, residentBytes: number }} Usage
 */
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.({ cpuMicros: user + system, residentBytes: process.memoryUsage.rss() });
});
process.channel?.unref();
