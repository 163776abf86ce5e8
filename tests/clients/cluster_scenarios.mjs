// node cluster_scenarios.mjs SCENARIO ioredis|redis PORT
// One scenario with a cluster or a Sentinel at 127.0.0.1:PORT; prints what happened as one line of JSON.
import { createRequire } from 'node:module';
import { Cluster, Redis } from 'ioredis';

const [scenario, kind, port] = process.argv.slice(2);
const { createCluster, createSentinel } = createRequire(import.meta.url)('redis');
const here = { host: '127.0.0.1', port: Number(port) };
const names = Array.from({ length: 60 }, (_, number) => `key:${number}`);

async function outcome(promise) {
  try { return await promise; } catch (error) { return error.message; }
}

const scenarios = {
  'cluster ioredis': async () => {
    const cluster = new Cluster([here]);
    await Promise.all(names.map((name, number) => cluster.set(name, number)));
    const values = await Promise.all(names.map(name => cluster.get(name)));
    const sizes = await Promise.all(cluster.nodes('master').map(node => node.dbsize()));
    await cluster.mset('{tag}a', 1, '{tag}b', 2);
    const piped = await cluster.pipeline().set('{p}a', 1).incr('{p}a').get('{p}a').exec();
    const transaction = await cluster.multi().incr('{t}a').incr('{t}a').exec();
    const listener = cluster.duplicate();
    const heard = new Promise(resolve => listener.on('message', (channel, text) => resolve([channel, text])));
    await listener.subscribe('news');
    await cluster.publish('news', 'hello');
    const seen = {
      values, sizes, piped, transaction,
      together: await cluster.mget('{tag}a', '{tag}b'),
      crossed: await outcome(cluster.mget('a', 'b')),
      script: await cluster.eval('return redis.call("get", KEYS[1])', 1, '{tag}b'),
      heard: await heard,
    };
    listener.disconnect();
    cluster.disconnect();
    return seen;
  },

  'cluster redis': async () => {
    const cluster = await createCluster({ rootNodes: [{ socket: here }] }).connect();
    await Promise.all(names.map((name, number) => cluster.set(name, `${number}`)));
    const values = await Promise.all(names.map(name => cluster.get(name)));
    const sizes = await Promise.all(cluster.masters.map(async node => (await cluster.nodeClient(node)).dbSize()));
    await cluster.mSet({ '{tag}a': '1', '{tag}b': '2' });
    const transaction = await cluster.multi().incr('{t}a').incr('{t}a').exec();
    const heard = new Promise(resolve => cluster.subscribe('news', (text, channel) => resolve([channel, text]))
      .then(() => cluster.publish('news', 'hello')));
    const sharded = new Promise(resolve => cluster.sSubscribe('{s}news', (text, channel) => resolve([channel, text]))
      .then(() => cluster.sPublish('{s}news', 'hello')));
    const seen = {
      values, sizes, transaction,
      together: await cluster.mGet(['{tag}a', '{tag}b']),
      crossed: await outcome(cluster.sUnion(['a', 'b'])),
      script: await cluster.eval('return redis.call("get", KEYS[1])', { keys: ['{tag}b'] }),
      heard: await heard,
      sharded: await sharded,
    };
    cluster.destroy();
    return seen;
  },

  'sentinel ioredis': async () => {
    const client = new Redis({ sentinels: [here], name: 'mymaster' });
    await client.set('k', 'v');
    const seen = { value: await client.get('k'), role: (await client.role())[0] };
    client.disconnect();
    return seen;
  },

  'sentinel redis': async () => {
    const client = await createSentinel({ name: 'mymaster', sentinelRootNodes: [here] }).connect();
    await client.set('k', 'v');
    const seen = { value: await client.get('k'), role: (await client.sendCommand(false, ['ROLE']))[0] };
    await client.close();
    return seen;
  },
};

console.log(JSON.stringify(await scenarios[`${scenario} ${kind}`]()));
process.exit(0);
