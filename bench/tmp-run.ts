import { openHouse } from './stage/house.ts';
import { measureIngestOnRedis } from './ingest/on-redis.ts';
const [only, fsync = 'always', events = '6400', rounds = '3'] = process.argv.slice(2);
const house = await openHouse();
try {
console.table(await measureIngestOnRedis(house, { quick: false, endsAt: Infinity, events: Number(events), rounds: Number(rounds), fsync, only }));
} finally { await house.close(); }
