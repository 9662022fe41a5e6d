// What `npm start` and the image run: src/main.ts, with the compile cache on before any TypeScript is read. Otherwise
// Node would load its TypeScript compiler at every start to compile main.ts, and keep it in memory: about 16 MB.
import module from 'node:module';

// An older Node can't run TypeScript. The import above is of the whole module, because importing `registerHooks` by name
// would end an older Node with a SyntaxError before this sentence.
if (!process.features.typescript) {
  process.stderr.write(
    `Payops cannot start. Node ${process.versions.node} is too old to run Payops. Start it with npm start, which brings Node 24, or by the image.\n`,
  );
  process.exit(1);
}
const { enableCompileCache, registerHooks } = module;

enableCompileCache();

/**
 * Files of packages, by their path within `node_modules`, and the source that replaces each. Loading them would cost a
 * sixth of the start's time and 10 MB. Bolt loads a web server and an installer that the bot never uses, and the Socket
 * Mode client, which is loaded here once it is used. prom-client loads OpenTelemetry for exemplars, which are off. If a
 * package moves such a file, the file is loaded as usual.
 */
const replacements = {
  'express/index.js': '// empty',
  '@slack/oauth/dist/index.js': '// empty',
  '@opentelemetry/api/dist/index.cjs': '// empty',
  '@slack/socket-mode/dist/src/index.js':
    'Object.defineProperty(exports, "SocketModeClient", { get: () => require("./SocketModeClient").SocketModeClient });',
};
const hooks = registerHooks({
  load(url, context, nextLoad) {
    const source = replacements[url.split('/node_modules/').at(-1)];
    return source === undefined ? nextLoad(url, context) : { format: 'commonjs', source, shortCircuit: true };
  },
});
await import('@slack/bolt');
await import('prom-client');
hooks.deregister();

await import('./main.ts');
