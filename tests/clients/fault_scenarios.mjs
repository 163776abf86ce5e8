// node fault_scenarios.mjs SCENARIO PORT
// One scenario of faults with ioredis and a Redouble at 127.0.0.1:PORT; prints what happened as one line of JSON.
import { Redis } from 'ioredis';

const [scenario, port] = process.argv.slice(2);
const control = new Redis(Number(port));
const fault = (...words) => control.call('REDOUBLE', 'FAULT', ...words);
const connect = options => new Redis(Number(port), { retryStrategy: () => 10, ...options });

async function outcome(promise) {
  try { return await promise; } catch (error) { return error.message; }
}

async function hits() {
  const [rule] = await fault('LIST');
  return rule[rule.indexOf('hits') + 1];
}

const again = error => (error.message.startsWith('READONLY') ? 2 : false);

const scenarios = {
  readonly: async () => {
    await fault('ADD', 'failover', 'TIMES', 2, 'ERROR', 'READONLY');
    const plain = connect();
    const refused = await outcome(plain.set('a', 'v'));
    const patient = connect({ reconnectOnError: again });
    const written = await outcome(patient.set('a', 'v'));
    const seen = { refused, written, hits: await hits(), value: await control.get('a') };
    plain.disconnect();
    patient.disconnect();
    return seen;
  },

  transaction: async () => {
    const client = connect();
    await fault('ADD', 'failover', 'COMMAND', 'INCR', 'TIMES', 1, 'ERROR', 'READONLY');
    const seen = {
      first: await outcome(client.multi().set('a', 'v').incr('n').exec()),
      second: await outcome(client.multi().set('a', 'v').incr('n').exec()),
    };
    client.disconnect();
    return seen;
  },

  lost: async () => {
    const client = connect();
    await client.ping();
    await fault('ADD', 'before', 'COMMAND', 'INCR', 'KEY', 'one', 'TIMES', 1, 'DROP', 'BEFORE');
    await fault('ADD', 'after', 'COMMAND', 'INCR', 'KEY', 'two', 'TIMES', 1, 'DROP', 'AFTER');
    await fault('ADD', 'torn', 'COMMAND', 'GET', 'TIMES', 1, 'CUT', 2);
    const seen = { one: await client.incr('one'), two: await client.incr('two'), value: await client.get('two') };
    client.disconnect();
    return seen;
  },

  hang: async () => {
    const client = connect({ commandTimeout: 1000 });
    await client.ping();
    await fault('ADD', 'stuck', 'COMMAND', 'SET', 'HANG');
    const late = await outcome(client.set('a', 'v'));
    const before = await control.exists('a');
    await fault('REMOVE', 'stuck');
    const seen = { late, before, next: await client.get('a') };
    client.disconnect();
    return seen;
  },

  connect: async () => {
    await fault('CONNECT', 'REFUSE', 'TIMES', 3);
    let tries = 0;
    const client = connect({ retryStrategy: () => { tries += 1; return 5; }, maxRetriesPerRequest: null });
    client.on('error', () => {});
    const seen = { reply: await client.ping(), tries };
    client.disconnect();
    return seen;
  },

  loading: async () => {
    await fault('ADD', 'restart', 'COMMAND', 'GET', 'TIMES', 1, 'ERROR', 'LOADING');
    const client = connect();
    const seen = { first: await outcome(client.get('a')), second: await client.get('a') };
    client.disconnect();
    return seen;
  },
};

const seen = await scenarios[scenario]();
control.disconnect();
console.log(JSON.stringify(seen));
