// node trace_scenarios.mjs ioredis|redis PORT
// BullMQ-like traffic under TRACE and LINT; prints what both say as one line of JSON.
import { createRequire } from 'node:module';
import { Redis } from 'ioredis';

const [kind, port] = process.argv.slice(2);
const script = "redis.call('set', KEYS[1], 1) return redis.call('incr', KEYS[1] .. ':n')";

async function open() {
  if (kind === 'ioredis') {
    const client = new Redis({ host: '127.0.0.1', port: Number(port), connectionName: 'node' });
    return [(...words) => client.call(...words), () => client.disconnect()];
  }
  const { createClient } = createRequire(import.meta.url)('redis');
  const client = await createClient({ socket: { host: '127.0.0.1', port: Number(port) }, name: 'node', RESP: 3 }).connect();
  return [(...words) => client.sendCommand(words.map(String)), () => client.destroy()];
}

// ioredis speaks RESP2: maps are flat arrays there.
function mapping(reply) {
  if (!Array.isArray(reply)) return reply;
  const found = {};
  for (let at = 0; at < reply.length; at += 2) found[reply[at]] = reply[at + 1];
  return found;
}

const [call, close] = await open();
await call('REDOUBLE', 'LINT', 'ON', 'undeclared-script-key');
await call('REDOUBLE', 'TRACE', 'START', 'SCRIPTS', 'CLIENT', 'node');
await call('EVAL', script, 1, 'k');
await call('GET', 'k');
const count = await call('REDOUBLE', 'TRACE', 'COUNT', 'incr', 'KEY', 'k:*');
const entries = mapping(await call('REDOUBLE', 'TRACE', 'GET')).commands.map(mapping);
const findings = (await call('REDOUBLE', 'LINT', 'REPORT')).map(mapping);
let error;
try { await call('REDOUBLE', 'TRACE', 'NOPE'); } catch (failure) { error = failure.message; }
close();
console.log(JSON.stringify({
  count,
  error,
  commands: entries.map(entry => [entry.command, entry.keys, entry.reply]),
  inside: entries[0].commands.map(mapping).map(inner => inner.arguments),
  findings: findings.map(finding => [finding.rule, finding.count, finding.example]),
}));
