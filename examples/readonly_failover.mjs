// What does ioredis do while its server is a replica for a moment, as after a failover?
//
//     redouble --port 6379 &
//     npm install ioredis && node examples/readonly_failover.mjs redis://127.0.0.1:6379
//
// A replica refuses writes with READONLY. ioredis passes that on at once, unless `reconnectOnError` says 2: then it
// connects anew (and may reach the new master) and sends the command once more. Here three writes are refused, then the
// server is a master again.
import { Redis } from 'ioredis';

const url = process.argv[2] ?? 'redis://127.0.0.1:6379';
const refused = 3;
const control = new Redis(url);
const fault = (...words) => control.call('REDOUBLE', 'FAULT', ...words);

async function hits() {
  const [rule] = await fault('LIST');
  return rule[rule.indexOf('hits') + 1];
}

async function write(title, options) {
  await fault('CLEAR');
  await fault('ADD', 'failover', 'TIMES', refused, 'ERROR', 'READONLY');
  const client = new Redis(url, { retryStrategy: () => 10, ...options });
  let outcome = 'written';
  try {
    await client.set('order:1', 'paid');
  } catch (error) {
    outcome = `failed: ${error.message}`;
  }
  console.log(`${title}: ${outcome}, after ${await hits()} refusals`);
  client.disconnect();
  return outcome;
}

const plain = await write('as it comes', {});
const patient = await write('with reconnectOnError', {
  reconnectOnError: error => (error.message.startsWith('READONLY') ? 2 : false),
});
await fault('CLEAR');
control.disconnect();
process.exitCode = plain.startsWith('failed') && patient === 'written' ? 0 : 1;
