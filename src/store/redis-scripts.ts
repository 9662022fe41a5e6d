import { hash } from 'node:crypto';

/** A Lua script, and the hash under which Redis caches it: a call sends the hash instead of the text. */
export type Script = { readonly text: string; readonly sha1: string };

/** The schema of the records that this release writes. */
export const redisSchema = '3';

/**
 * Shared by all scripts. All keys are under KEYS[1], which is the hash tag, so that a Cluster keeps them on one node:
 *   :schema         the schema of the stored records; written with the first record
 *   :version        the last version given to any record; no version is ever given twice
 *   :ahead          how far the store's clock is ahead of Redis's, if that was put back; absent: not at all
 *   :record:<key>   hash: value, version, lane, attempts, lease
 *   :work:<lane>    sorted set: key by due time; the records in it are work
 *   :lane:<lane>    hash, only while leased or paused: lease, out (leased records not written yet), lease_until,
 *                   pause_until
 *   :ready          sorted set of the free lanes with work, by the due time of their oldest record
 *   :list:<name>    sorted set: key by its place in the list
 *   :lists:<key>    set: the names of the lists that the record is in
 *   :ends           sorted set of records that expire and are in lists, by expiry; used to take them out of their lists
 *   :pinged         when a health check last tested that Redis takes writes
 *   :blocked        sorted set of the leased or paused lanes, by when they become free
 * Times are microseconds of the store's clock: precise enough that two records made in the same millisecond keep their
 * order, and below 2^53. The store's clock is Redis's own, but never runs backwards: versions are times, so if Redis's
 * clock is behind the last version, it was put back, and the store's clock continues from that version. Only expiry by
 * Redis itself (PEXPIRE) uses Redis's own clock. Numbers are formatted explicitly, because Lua writes large ones as
 * 1.7e+15.
 *
 * In each script the first change that matters is a write that Redis refuses if it is out of memory or read-only. So a
 * refused script has changed nothing.
 */
const keyNames = `
local root = KEYS[1]
local function record_of(key) return root .. ':record:' .. key end
local function list_of(name) return root .. ':list:' .. name end
`;

/** Shared by scripts that need the time or write. */
const clockAndLanes = `
local ready, blocked = root .. ':ready', root .. ':blocked'
local time = redis.call('TIME')
local last = redis.call('GET', root .. ':version')
local last_version = tonumber(last or 0)
local now = time[1] * 1000000 + time[2] + tonumber(redis.call('GET', root .. ':ahead') or 0)
local behind = last_version - now
if behind > 0 then now = last_version end

local function whole(number) return string.format('%.0f', number) end
-- Called first by every script that writes. Scripts that only read must also work on a Redis that takes no writes.
local function keep_clock()
  if behind > 0 then redis.call('SET', root .. ':ahead', whole(now - time[1] * 1000000 - time[2])) end
end
local function after(ms) return whole(now + tonumber(ms) * 1000) end
local function work_of(lane) return root .. ':work:' .. lane end
local function state_of(lane) return root .. ':lane:' .. lane end

-- At least the clock's time: a replica that takes over without the last changes must not give their versions again.
-- The first write of all stores the schema, so that there is no record without one.
local function next_version()
  if not last then redis.call('SET', root .. ':schema', '${redisSchema}') end
  last, last_version = true, math.max(last_version + 1, now)
  return last_version
end
local function new_version()
  local version = whole(next_version())
  redis.call('SET', root .. ':version', version)
  return version
end

-- Files a lane where take looks for it: by its oldest work if it is free, else by when it becomes free.
local function settle(lane)
  local state = redis.call('HMGET', state_of(lane), 'lease_until', 'pause_until')
  local free_at = math.max(tonumber(state[1] or 0), tonumber(state[2] or 0))
  if free_at > now then
    redis.call('ZADD', blocked, whole(free_at), lane)
    redis.call('ZREM', ready, lane)
    return
  end
  local head = redis.call('ZRANGE', work_of(lane), 0, 0, 'WITHSCORES')
  if head[1] then redis.call('ZADD', ready, head[2], lane) else redis.call('ZREM', ready, lane) end
  redis.call('ZREM', blocked, lane)
  redis.call('DEL', state_of(lane))
end

local ends = root .. ':ends'
local function lists_of(key) return root .. ':lists:' .. key end
local function leave_lists(key)
  local names = redis.call('SMEMBERS', lists_of(key))
  if #names == 0 then return end
  for _, name in ipairs(names) do redis.call('ZREM', list_of(name), key) end
  redis.call('DEL', lists_of(key))
  redis.call('ZREM', ends, key)
end
-- index: name, place, name, place, … as JSON. Returns whether the record is in any list now.
local function put_in_lists(key, index)
  leave_lists(key)
  local wanted, names = cjson.decode(index), {}
  for at = 1, #wanted, 2 do
    redis.call('ZADD', list_of(wanted[at]), wanted[at + 1], key)
    names[#names + 1] = wanted[at]
  end
  if #names > 0 then redis.call('SADD', lists_of(key), unpack(names)) end
  return #names > 0
end
-- Takes expired records out of their lists: Redis expires only the record. Runs with every change of a record in lists.
local function clean_lists(most)
  for _, ended in ipairs(redis.call('ZRANGEBYSCORE', ends, '-inf', whole(now), 'LIMIT', 0, most)) do
    if redis.call('EXISTS', record_of(ended)) == 0 then leave_lists(ended) end
  end
end
-- Call after a change of the record's expiry or lists (ttl empty: it doesn't expire).
local function note_expiry(key, ttl)
  if redis.call('EXISTS', lists_of(key)) == 0 then return end
  if ttl == '' then redis.call('ZREM', ends, key) else redis.call('ZADD', ends, after(ttl), key) end
  clean_lists(4)
end
`;

/**
 * ARGV: for each record, in their order: key, value, lane, delay (ms; empty: memory), ttl (ms; empty: for ever),
 * index (JSON; empty: in no list).
 * Returns for each of them 1 if it was created, 0 if it exists.
 */
export const createScript = script(`
keep_clock()
local created, lanes, work, listed = {}, {}, {}, 0
local version
for at = 1, #ARGV, 6 do
  local key, value, lane, delay, ttl, index = unpack(ARGV, at, at + 5)
  local record = record_of(key)
  local is_new = redis.call('EXISTS', record) == 0
  created[#created + 1] = is_new and 1 or 0
  if is_new then
    version = next_version()
    if delay == '' then
      redis.call('HSET', record, 'value', value, 'version', whole(version))
      if ttl ~= '' then redis.call('PEXPIRE', record, ttl) end
    else
      redis.call('HSET', record, 'value', value, 'version', whole(version), 'lane', lane)
      local due = work[lane]
      if not due then
        due = {}
        lanes[#lanes + 1], work[lane] = lane, due
      end
      due[#due + 1] = after(delay)
      due[#due + 1] = key
    end
    if index == '' then
      leave_lists(key)
    else
      if put_in_lists(key, index) and ttl ~= '' then redis.call('ZADD', ends, after(ttl), key) end
      listed = listed + 1
    end
  end
  -- Records that are created together keep their order, too.
  now = now + 1
end
if version then redis.call('SET', root .. ':version', whole(version)) end
if listed > 0 then clean_lists(4 * listed) end
for _, lane in ipairs(lanes) do
  redis.call('ZADD', work_of(lane), unpack(work[lane]))
  if not redis.call('ZSCORE', blocked, lane) then
    local head = redis.call('ZRANGE', work_of(lane), 0, 0, 'WITHSCORES')
    redis.call('ZADD', ready, head[2], lane)
  end
end
return created
`);

/**
 * ARGV: keys. Returns for each of them [value, version, lane, attempts], or nil if it is gone. Lane and attempts are
 * absent if it was never work or never taken.
 */
export const readScript = readOnlyScript(`
local found = {}
for at, key in ipairs(ARGV) do
  local one = redis.call('HMGET', record_of(key), 'value', 'version', 'lane', 'attempts')
  found[at] = one[1] and one
end
return found
`);

/**
 * ARGV: key, version, value, index (JSON; empty: unchanged). Returns 1 if replaced; 0 if the record changed, is gone,
 * or is leased.
 */
export const replaceScript = script(`
keep_clock()
local key, version, value, index = unpack(ARGV)
local found = redis.call('HMGET', record_of(key), 'version', 'lane', 'lease')
if found[1] ~= version then return 0 end
local state = redis.call('HMGET', state_of(found[2] or key), 'lease', 'lease_until')
if found[3] and found[3] == state[1] and tonumber(state[2] or 0) > now then return 0 end
redis.call('HSET', record_of(key), 'value', value, 'version', new_version())
if index ~= '' then
  put_in_lists(key, index)
  local left = redis.call('PTTL', record_of(key))
  note_expiry(key, left < 0 and '' or left)
end
return 1
`);

/**
 * ARGV: for each list its name, place and key to start after, count, '1' for newest first. Returns for each list its
 * records: [place, key, value, version, lane, attempts], the last two as in `readScript`.
 */
export const listScript = readOnlyScript(`
-- Compares bytes, as Redis orders members; Lua's < would depend on the locale.
local function is_before(one, other)
  for at = 1, math.min(#one, #other) do
    local a, b = string.byte(one, at), string.byte(other, at)
    if a ~= b then return a < b end
  end
  return #one < #other
end
local function records_of(name, place, key, limit, newest)
  local list = list_of(name)
  -- Finds the rank at which the page starts, by binary search among the members with the same place.
  local low = redis.call('ZCOUNT', list, '-inf', '(' .. place)
  local high = low + redis.call('ZCOUNT', list, place, place)
  while low < high do
    local middle = math.floor((low + high) / 2)
    local member = redis.call('ZRANGE', list, middle, middle)[1]
    local is_beyond = is_before(key, member)
    if newest == '1' then is_beyond = not is_before(member, key) end
    if is_beyond then high = middle else low = middle + 1 end
  end
  local found, last = {}, redis.call('ZCARD', list) - 1
  limit = tonumber(limit)
  while #found < limit do
    local wanted = limit - #found
    local page
    if newest == '1' then
      if low == 0 then break end
      page = redis.call('ZREVRANGE', list, last - low + 1, last - low + wanted, 'WITHSCORES')
      low = math.max(low - wanted, 0)
    else
      if low > last then break end
      page = redis.call('ZRANGE', list, low, low + wanted - 1, 'WITHSCORES')
      low = low + wanted
    end
    for at = 1, #page, 2 do
      local one = redis.call('HMGET', record_of(page[at]), 'value', 'version', 'lane', 'attempts')
      if one[1] then found[#found + 1] = { page[at + 1], page[at], unpack(one) } end
    end
  end
  return found
end
local all = {}
for at = 1, #ARGV, 5 do all[#all + 1] = records_of(unpack(ARGV, at, at + 4)) end
return all
`);

/** ARGV: cursor. Returns the next cursor and keys, possibly none. */
export const keysScript = script(`
return redis.call('SCAN', ARGV[1], 'MATCH', record_of('') .. '*', 'COUNT', 500)
`);

/**
 * ARGV: the most to count. Returns [ms since the oldest record is due, due in free lanes, in leased ones, in paused
 * ones].
 */
export const backlogScript = script(`
local most = tonumber(ARGV[1])
local oldest = now
local function due_in(lane, limit)
  local first = redis.call('ZRANGE', work_of(lane), 0, 0, 'WITHSCORES')
  if not first[1] or tonumber(first[2]) > now then return 0 end
  oldest = math.min(oldest, tonumber(first[2]))
  return math.min(redis.call('ZCOUNT', work_of(lane), '-inf', whole(now)), limit)
end
local free, leased, paused = 0, 0, 0
-- In the order of their oldest work, so the oldest is among these.
for _, lane in ipairs(redis.call('ZRANGEBYSCORE', ready, '-inf', whole(now), 'LIMIT', 0, most)) do
  if free >= most then break end
  free = free + due_in(lane, most - free)
end
for _, lane in ipairs(redis.call('ZRANGE', blocked, 0, most - 1)) do
  local state = redis.call('HMGET', state_of(lane), 'lease_until', 'pause_until')
  local count = due_in(lane, most)
  if tonumber(state[1] or 0) > now then leased = leased + count
  elseif tonumber(state[2] or 0) > now then paused = paused + count
  else free = free + count end
end
return { whole((now - oldest) / 1000), free, leased, paused }
`);

/** Checks that Redis takes writes: a replica, or a Redis without memory or disk, only answers reads. */
export const pingScript = script(`
redis.call('SET', root .. ':pinged', whole(now))
`);

/**
 * ARGV: key, version, value, delay, ttl, pause, hold (ms; empty: none), lane (empty: it stays), index (JSON; empty: it
 * stays). Returns the new version, or 0 if refused.
 */
export const writeScript = script(`
keep_clock()
local key, version, value, delay, ttl, pause, hold, moved_to, index = unpack(ARGV)
local record = record_of(key)
local found = redis.call('HMGET', record, 'version', 'lane', 'lease')
if found[1] ~= version then return 0 end
local lane = found[2] or key
local state = state_of(lane)
local mine = found[3] and found[3] == redis.call('HGET', state, 'lease')
if hold ~= '' then
  if not mine or tonumber(redis.call('HGET', state, 'lease_until')) <= now then return 0 end
  local held = new_version()
  redis.call('HSET', record, 'value', value, 'version', held)
  redis.call('HSET', state, 'lease_until', after(hold))
  settle(lane)
  return held
end
local written = new_version()
local next_lane = moved_to ~= '' and moved_to or lane
redis.call('HSET', record, 'value', value, 'version', written, 'lane', next_lane)
redis.call('HDEL', record, 'lease')
if next_lane ~= lane then redis.call('ZREM', work_of(lane), key) end
if delay ~= '' then
  redis.call('ZADD', work_of(next_lane), after(delay), key)
  redis.call('PERSIST', record)
else
  redis.call('ZREM', work_of(lane), key)
  if ttl ~= '' then redis.call('PEXPIRE', record, ttl) else redis.call('PERSIST', record) end
end
if index ~= '' then put_in_lists(key, index) end
note_expiry(key, delay == '' and ttl or '')
if mine and redis.call('HINCRBY', state, 'out', -1) == 0 then
  redis.call('HDEL', state, 'lease', 'out', 'lease_until')
end
if pause ~= '' then
  local pause_until = math.max(tonumber(redis.call('HGET', state, 'pause_until') or 0), tonumber(after(pause)))
  redis.call('HSET', state, 'pause_until', whole(pause_until))
end
settle(lane)
if next_lane ~= lane and delay ~= '' then settle(next_lane) end
return written
`);

/**
 * ARGV: lease (ms), max, prefix of the lanes that give more than one. Returns [lane, [[key, value, version, attempts],
 * ...]], or nil if nothing is due. A record that was deleted by hand is dropped from its lane, and the search
 * continues.
 */
export const takeScript = script(`
keep_clock()
local lease_ms, max, lanes = unpack(ARGV)
for _, lane in ipairs(redis.call('ZRANGEBYSCORE', blocked, '-inf', whole(now))) do settle(lane) end
while true do
  local lane = redis.call('ZRANGEBYSCORE', ready, '-inf', whole(now), 'LIMIT', 0, 1)[1]
  if not lane then return false end
  local taken, lease = {}, nil
  local most = string.sub(lane, 1, #lanes) == lanes and max or 1
  for _, key in ipairs(redis.call('ZRANGEBYSCORE', work_of(lane), '-inf', whole(now), 'LIMIT', 0, most)) do
    local value = redis.call('HGET', record_of(key), 'value')
    if value then
      local version = new_version()
      lease = lease or version
      redis.call('HSET', record_of(key), 'version', version, 'lease', lease)
      taken[#taken + 1] = { key, value, version, redis.call('HINCRBY', record_of(key), 'attempts', 1) }
    else
      redis.call('ZREM', work_of(lane), key)
    end
  end
  if lease then
    redis.call('HSET', state_of(lane), 'lease', lease, 'out', #taken, 'lease_until', after(lease_ms))
    settle(lane)
    return { lane, taken }
  end
  settle(lane)
end
`);

/** The schema of a Redis while records are moved there: no bot starts on it. */
export const movingSchema = 'moving';

/**
 * Reserves an empty Redis, or one that an interrupted move has reserved, whose records it deletes. Returns 1; for any
 * other Redis 0, and changes nothing. ARGV: 'interrupted' if the file is marked as moved: then an empty Redis is refused,
 * because the file's records are in another one; else ''.
 */
export const reserveScript = script(`
local schema = redis.call('GET', root .. ':schema')
if schema == '${movingSchema}' then
  local cursor = '0'
  repeat
    local page = redis.call('SCAN', cursor, 'MATCH', root .. ':*', 'COUNT', 1000)
    cursor = page[1]
    for _, name in ipairs(page[2]) do redis.call('DEL', name) end
  until cursor == '0'
elseif schema or ARGV[1] == 'interrupted' or redis.call('EXISTS', root .. ':version') == 1 then
  return 0
end
redis.call('SET', root .. ':schema', '${movingSchema}')
redis.call('SET', root .. ':version', '0')
return 1
`);

/** ARGV: for each moved record its key, lane and attempts. Stores lane and attempts. */
export const lanesScript = script(`
for at = 1, #ARGV, 3 do
  local key, lane, attempts = unpack(ARGV, at, at + 2)
  if lane ~= key then redis.call('HSET', record_of(key), 'lane', lane) end
  if attempts ~= '0' then redis.call('HSET', record_of(key), 'attempts', attempts) end
end
`);

/**
 * ARGV: keys. Returns for each of them [ms until due, or ''; ms until expiry, or -1; its lists, each with the place].
 */
export const timesScript = script(`
local found = {}
for _, key in ipairs(ARGV) do
  local due = redis.call('ZSCORE', work_of(redis.call('HGET', record_of(key), 'lane') or key), key)
  local lists = {}
  for _, name in ipairs(redis.call('SMEMBERS', lists_of(key))) do
    lists[#lists + 1] = name .. ' ' .. whole(redis.call('ZSCORE', list_of(name), key))
  end
  found[#found + 1] = { due and whole((due - now) / 1000) or '', redis.call('PTTL', record_of(key)), lists }
end
return found
`);

/** Lets bots start on this Redis. */
export const releaseScript = script(`
redis.call('SET', root .. ':schema', '${redisSchema}')
`);

function script(body: string): Script {
  return hashed(keyNames + clockAndLanes + body);
}

/** A script that needs neither the time nor a version. It is shorter, which saves time: most calls are of this kind. */
function readOnlyScript(body: string): Script {
  return hashed(keyNames + body);
}

function hashed(text: string): Script {
  return { text, sha1: hash('sha1', text) };
}
