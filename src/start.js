// What `npm start` and the image run: src/main.ts, with the compile cache on before any TypeScript is read. Else Node
// loads its compiler for that one file at every start, which keeps some 16 MB.
import { enableCompileCache } from 'node:module';

enableCompileCache();
await import('./main.ts');
