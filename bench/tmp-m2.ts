import { eventBody } from './ingest/event.ts';
import { isUtf8 } from 'node:buffer';
import { hash, createHash } from 'node:crypto';
const body = eventBody('payment_failed', 'a-1'); const text = body.toString();
const dec = new TextDecoder('utf-8', { fatal: true });
const numberLike = /(?:^|[:[,])\s*(-?\d[\d.eE+-]*)/g;
const any = /(?:^|[:[,])\s*-?\d/;
function walk(parent: any): number { const names = Object.keys(parent); let k = names.length; for (const n of names) { const m = parent[n]; if (typeof m === 'number') parent[n] = String(m); else if (typeof m === 'object' && m !== null) k += walk(m); } return k; }
async function time(name: string, f: () => unknown) {
  for (let i = 0; i < 20000; i++) f();
  let best = Infinity;
  for (let r = 0; r < 7; r++) { const t = process.cpuUsage(); for (let i = 0; i < 5000; i++) f(); const u = process.cpuUsage(t); best = Math.min(best, (u.user + u.system) / 5000); }
  console.log(name.padEnd(28), best.toFixed(2), 'µs');
}
await time('decode', () => dec.decode(body));
await time('isUtf8+toString', () => isUtf8(body) && body.toString('utf8'));
await time('matchAll', () => { for (const [, w] of text.matchAll(numberLike)) if (String(Number(w)) !== w) return false; return true; });
await time('test', () => any.test(text));
await time('parse', () => JSON.parse(text));
await time('parse+walk', () => walk(JSON.parse(text)));
await time('hash one-shot small', () => hash('sha256', '["payment_failed"]', 'hex'));
await time('createHash small', () => createHash('sha256').update('["payment_failed"]').digest('hex'));
await time('createHash body', () => createHash('sha256').update(body).digest('hex'));
