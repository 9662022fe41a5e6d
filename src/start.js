// What `npm start` and the image run: src/main.ts, with the compile cache on before any TypeScript is read. Else Node
// loads its compiler for that one file at every start, which keeps some 16 MB.
import module from 'node:module';

// By name: an older Node has none of these, and would end here with a word about syntax.
if (!process.features.typescript) {
  process.stderr.write(
    `Payops cannot start. Node ${process.versions.node} is too old to run Payops. Start it with npm start, which brings Node 24, or by the image.\n`,
  );
  process.exit(1);
}
const { enableCompileCache, registerHooks } = module;

enableCompileCache();

/**
 * Bolt loads what any of its receivers may need, a sixth of the time to start and 10 MB: a web server and an installer that
 * the bot never uses, and the socket of Socket Mode, which is loaded here when it is asked for. prom-client loads OpenTelemetry
 * for exemplars, which are off. Where these files stand is their packages' affair: under another name they are loaded as before.
 */
const notYet = {
  'express/index.js': '// empty',
  '@slack/oauth/dist/index.js': '// empty',
  '@opentelemetry/api/dist/index.cjs': '// empty',
  '@slack/socket-mode/dist/src/index.js':
    'Object.defineProperty(exports, "SocketModeClient", { get: () => require("./SocketModeClient").SocketModeClient });',
};
const hooks = registerHooks({
  load(url, context, nextLoad) {
    const source = notYet[url.split('/node_modules/').at(-1)];
    return source === undefined ? nextLoad(url, context) : { format: 'commonjs', source, shortCircuit: true };
  },
});
await import('@slack/bolt');
await import('prom-client');
hooks.deregister();

await import('./main.ts');
