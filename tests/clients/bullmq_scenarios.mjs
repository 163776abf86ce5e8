// node bullmq_scenarios.mjs SCENARIO ioredis|redis PORT
// One scenario of the published `bullmq` package against 127.0.0.1:PORT; prints what happened as one line of JSON.
import { createRequire } from 'node:module';
import { FlowProducer, Queue, QueueEvents, Worker, createNodeRedisClient } from 'bullmq';
import { Redis } from 'ioredis';

const [scenario, kind, port] = process.argv.slice(2);
const require = createRequire(import.meta.url);
const open = [];

function connection() {
  if (kind === 'redis') {
    const { createClient } = require('redis');
    return createNodeRedisClient(createClient({ socket: { host: '127.0.0.1', port: Number(port) } }));
  }
  const client = new Redis({ host: '127.0.0.1', port: Number(port), maxRetriesPerRequest: null });
  open.push(client);
  return client;
}

function queue(name) {
  return new Queue(name, { connection: connection() });
}

// Process `count` jobs with one worker; resolves with what `see` made of each, in order of processing.
async function work(name, count, see, options = {}) {
  const seen = [];
  let worker;
  await new Promise((resolve, reject) => {
    worker = new Worker(name, async job => { seen.push(see(job)); return `done ${job.name}`; },
      { connection: connection(), concurrency: 1, ...options });
    worker.on('completed', () => { if (seen.length >= count) resolve(); });
    worker.on('failed', (job, error) => reject(error));
    worker.on('error', reject);
  });
  await worker.close();
  return seen;
}

const scenarios = {
  async prioritized() {
    const q = queue('prioritized');
    const jobs = [['c', 3], ['z1', 1], ['b', 2], ['y1', 1], ['x1', 1]];
    for (const [jobId, priority] of jobs) await q.add('job', {}, { jobId, priority });
    const counts = await q.getJobCounts('prioritized');
    return { counts, order: await work('prioritized', jobs.length, job => job.id) };
  },
  async delayed() {
    const q = queue('delayed');
    await q.add('later', {}, { delay: 400 });
    await q.add('soon', {}, { delay: 200 });
    await q.add('now', {});
    const counts = await q.getJobCounts('delayed', 'waiting');
    const seen = await work('delayed', 3, job => [job.name, job.processedOn >= job.timestamp + (job.opts.delay ?? 0)]);
    return { counts, first: seen[0][0], seen: seen.sort() };
  },
  async repeated() {
    const q = queue('repeated');
    await q.upsertJobScheduler('tick', { every: 40 }, { name: 'tick', data: { n: 1 } });
    const seen = await work('repeated', 3, job => job.data.n);
    const schedulers = await q.getJobSchedulers();
    return { seen: seen.slice(0, 3), schedulers: schedulers.map(s => [s.key, Number(s.every)]) };
  },
  async flow() {
    const producer = new FlowProducer({ connection: connection() });
    await producer.add({ name: 'parent', queueName: 'parents', children: [
      { name: 'one', queueName: 'children' }, { name: 'two', queueName: 'children' } ] });
    const children = await work('children', 2, job => job.name);
    const values = [];
    const parents = await work('parents', 1, job => { values.push(job.getChildrenValues()); return job.name; });
    await producer.close();
    return { children: children.sort(), parents, values: Object.values(await values[0]).sort() };
  },
  async ratelimit() {
    const q = queue('limited');
    for (let i = 0; i < 4; i++) await q.add('job', { i });
    const began = performance.now();
    const order = await work('limited', 4, job => job.data.i, { limiter: { max: 2, duration: 150 } });
    return { order, held: performance.now() - began >= 140 };
  },
  async events() {
    const events = new QueueEvents('events', { connection: connection() });
    await events.waitUntilReady();
    const heard = [];
    for (const name of ['added', 'waiting', 'active', 'completed']) events.on(name, ({ jobId }) => heard.push([name, jobId]));
    const q = queue('events');
    const job = await q.add('job', {}, { jobId: 'a' });
    const worker = new Worker('events', async () => 42, { connection: connection() });
    const result = await job.waitUntilFinished(events, 10000);
    while (!heard.some(([name]) => name === 'completed')) await new Promise(resolve => setTimeout(resolve, 5));
    await worker.close();
    await events.close();
    return { result, heard };
  },
};

const guard = setTimeout(() => { console.error('no end within 30 s'); process.exit(2); }, 30000);
const outcome = await scenarios[scenario]();
clearTimeout(guard);
console.log(JSON.stringify(outcome));
for (const client of open) client.disconnect();
process.exit(0);
