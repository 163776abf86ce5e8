// node power_scenarios.mjs ioredis|redis SCENARIO PORT
// CLOCK, SNAPSHOT and SEED by plain commands of ioredis (RESP2) or node-redis (RESP3); prints what was seen as JSON.
import { createRequire } from 'node:module';
import { Redis } from 'ioredis';

const [kind, scenario, port] = process.argv.slice(2);

async function open() {
  if (kind === 'ioredis') {
    const client = new Redis({ host: '127.0.0.1', port: Number(port) });
    return [(...words) => client.call(...words), () => client.disconnect()];
  }
  const { createClient } = createRequire(import.meta.url)('redis');
  const client = await createClient({ socket: { host: '127.0.0.1', port: Number(port) }, RESP: 3 }).connect();
  return [(...words) => client.sendCommand(words.map(String)), () => client.destroy()];
}

// ioredis speaks RESP2: maps are flat arrays there.
function mapping(reply) {
  if (!Array.isArray(reply)) return { ...reply };
  const found = {};
  for (let at = 0; at < reply.length; at += 2) found[reply[at]] = reply[at + 1];
  return found;
}

async function outcome(promise) {
  try { return await promise; } catch (error) { return error.message; }
}

const [call, close] = await open();

const scenarios = {
  clock: async () => {
    const frozen = await call('REDOUBLE', 'CLOCK', 'FREEZE', 1700000000000);
    await call('SET', 'session', 'ada', 'EX', 1800);
    await call('HSET', 'hash', 'field', 'v');
    await call('HPEXPIRE', 'hash', 1800000, 'FIELDS', 1, 'field');
    const [worker, hangUp] = await open();
    const given = worker('BLPOP', 'jobs', 3600);
    while (!(await call('INFO', 'clients')).includes('blocked_clients:1')) { /* it is on its way */ }
    const moved = await call('REDOUBLE', 'CLOCK', 'ADVANCE', 1801000);
    const state = mapping(await call('REDOUBLE', 'CLOCK'));
    const seen = {
      frozen,
      moved,
      state: [state.now, Boolean(state.frozen), state['next-due']],
      time: await call('TIME'),
      gone: [await call('GET', 'session'), await call('EXISTS', 'hash')],
      id: await call('XADD', 'stream', '*', 'f', 'v'),
    };
    await call('REDOUBLE', 'CLOCK', 'SET', 1700003600000);
    seen.waited = await given;
    await call('REDOUBLE', 'CLOCK', 'AUTOJUMP', 20);
    await call('SET', 'later', 'v', 'EX', 86400);
    await worker('BLPOP', 'jobs', 86300);
    seen.left = await call('TTL', 'later');
    await call('REDOUBLE', 'CLOCK', 'AUTOJUMP', 'OFF');
    await call('REDOUBLE', 'CLOCK', 'RESUME');
    seen.runs = !mapping(await call('REDOUBLE', 'CLOCK')).frozen;
    seen.error = await outcome(call('REDOUBLE', 'CLOCK', 'ADVANCE', 'soon'));
    hangUp();
    return seen;
  },

  snapshot: async () => {
    await call('RPUSH', 'list', 'a', 'b');
    await call('SET', 'text', 'v', 'EX', 100);
    const sha = await call('SCRIPT', 'LOAD', 'return 7');
    const seen = { saved: await call('REDOUBLE', 'SNAPSHOT', 'SAVE', 'full') };
    await call('FLUSHALL');
    await call('SCRIPT', 'FLUSH');
    await call('SET', 'other', 'v');
    await call('REDOUBLE', 'SNAPSHOT', 'RESTORE', 'full');
    seen.keys = (await call('KEYS', '*')).sort();
    seen.list = await call('LRANGE', 'list', 0, -1);
    seen.script = await call('EVALSHA', sha, 0);
    seen.names = Object.keys(mapping(await call('REDOUBLE', 'SNAPSHOT', 'LIST')));
    await call('REDOUBLE', 'SNAPSHOT', 'DROP', 'full');
    seen.error = await outcome(call('REDOUBLE', 'SNAPSHOT', 'RESTORE', 'full'));
    return seen;
  },

  seed: async () => {
    const draw = async () => {
      await call('REDOUBLE', 'SEED', 7);
      return [
        await call('SRANDMEMBER', 'set', -9),
        await call('HRANDFIELD', 'hash', -9),
        await call('ZRANDMEMBER', 'zset', -9),
        await call('RANDOMKEY'),
        await call('SCAN', 0),
        await call('EVAL', 'return tostring(math.random())', 0),
      ];
    };
    for (let number = 0; number < 30; number += 1) {
      await call('SADD', 'set', `m${number}`);
      await call('HSET', 'hash', `f${number}`, number);
      await call('ZADD', 'zset', number, `m${number}`);
      await call('SET', `key:${number}`, number);
    }
    const seen = { first: await draw(), second: await draw() };
    await call('REDOUBLE', 'SEED', 8);
    seen.other = await call('SRANDMEMBER', 'set', -9);
    seen.error = await outcome(call('REDOUBLE', 'SEED', 'x'));
    return seen;
  },
};

const seen = await scenarios[scenario]();
close();
console.log(JSON.stringify(seen));
