// Functions of JavaScript as a runner of Perbyte: one addon around the C SDK, which calls a loop of JavaScript once a
// sample. What entering it costs is measured and subtracted. Each loop is compiled from the text that `hello` shows, so
// that the runtime optimises it for itself; it runs for a while before anything is timed.
'use strict';

const KINDS = { hash: 0, mac: 1, stream: 2, aead: 3, signature: 4, agreement: 5, kem: 6, chain: 7, expand: 11 };
const [MESSAGE, REKEY, INVERSE, INVERSE_REKEY] = [0, 1, 2, 3];
const WARM_UP_MS = 60;
const CHAIN_START = 0x9e3779b9;

let sdk;

// What a promise comes to: the loop is turned until it is settled, as Node.js does when its main script has ended. Each
// promise is settled by a job that another thread has done, so that every turn has something to wait for.
function settled(promise) {
  let done = false, value, error;
  promise.then((given) => { done = true; value = given; }, (thrown) => { done = true; error = thrown ?? new Error('rejected'); });
  for (process._tickCallback(); !done; process._tickCallback()) sdk.turn();
  if (error) throw error;
  return value;
}
exports.settled = settled;

class Refused extends Error {}
exports.Refused = Refused;

// What a call threw and where: the innermost line in `file`, or else in any file that is none of the runtime's.
function raised(error, file) {
  if (error instanceof Refused) return '';
  const name = error?.name ?? 'a value';
  const text = String(error?.message ?? error).replace(/\s+/g, ' ').trim().slice(0, 120);
  const places = [...String(error?.stack).matchAll(/([^\s(/]+\.\w+):(\d+):\d+\)?$/gm)].map(([, at, line]) => [at, line]);
  const [at, line] = places.find((place) => place[0] === file) ?? places.find((place) => place[0] !== 'perbyte.cjs') ?? [];
  return `${file} raised ${name}${text && ': ' + text}${at ? ` (${at}, line ${line})` : ''}`;
}

// An expression, or statements that end with one that sets `last`; `given` are the values of its names. Where it awaits,
// the loop is asynchronous, and each call begins when the one before it is settled.
function loop(code, given) {
  const statements = code.split('; ');
  if (!/^last\b/.test(statements[statements.length - 1])) statements.push('last = ' + statements.pop());
  const body = statements.join(';\n    ');
  const names = Object.keys(given);
  const asynchronous = /\bawait\b/.test(body);
  const make = new Function(...names, `return ${asynchronous ? 'async ' : ''}function (count) {
  let last;
  for (let turn = 0; turn < count; turn++) {
    ${body};
  }
  return last;
};`);
  const made = make(...names.map((name) => given[name]));
  return asynchronous ? (count) => settled(made(count)) : made;
}

// rows: {algorithm, kind, key, nonce, output, code: {MESSAGE: ..., ...}, names(material) -> values}
exports.main = function (library, rows) {
  const module = { exports: {} };
  process.dlopen(module, process.env.PERBYTE_SDK);
  sdk = module.exports;
  const prepared = new Map();
  rows = [...rows, {
    algorithm: 'probe-empty', kind: 'chain', key: 0, nonce: 0, output: 0, code: { [MESSAGE]: 'empty()' }, names: () => ({ empty() {} }),
  }, {
    // made in C: V8 joins two steps of Math.imul by a constant into one, which halves the chain
    algorithm: 'probe-imul', kind: 'chain', key: 0, nonce: 0, output: 0,
    code: { [MESSAGE]: 'state.x = chain(state.x, size); last = state.x' },
    names: (given) => ({ state: { x: CHAIN_START }, size: given.size, chain: sdk.chain }),
  }];
  sdk.row(rows.length);
  rows.forEach((row, index) => {
    const calls = [...new Set(Object.values(row.code))].join('; ');
    sdk.row(index, row.algorithm, KINDS[row.kind], calls, row.key, row.nonce, row.output);
  });

  const open = (id, index, data, size, keys, nonces, messages, aad, inverse, given) => {
    const row = rows[index];
    const material = { data, size, keys, nonces, messages, aad, inverse, given, output: row.output };
    const names = row.names(material);
    prepared.set(id, { cell: `${index} ${size}`, code: row.code, names, loops: {}, last: undefined });
    if (row.kind === 'aead') return inverse ? size : size + row.output;
    if (row.kind === 'stream' || row.kind === 'expand') return size;
    if (row.kind === 'kem') return inverse ? row.output : row.ciphertext + row.output;
    return row.kind === 'signature' && inverse ? 0 : row.output;
  };
  // an audit opens a case for every call: nothing is compiled that it does not use, and a cell warms up once
  const loopOf = (state, which) => (state.loops[which] ??= loop(state.code[which], state.names));
  const warmed = new Set();
  const run = (id, count, which) => {
    if (id === 0) return true;
    const state = prepared.get(id), last = loopOf(state, which)(count);
    if (count) state.last = last;
    return last ?? true;
  };
  const warm = (id, _, which) => {
    const state = prepared.get(id), cell = `${state.cell} ${which}`, until = performance.now() + WARM_UP_MS;
    if (warmed.has(cell)) return true;
    warmed.add(cell);
    for (let calls = 1; performance.now() < until; calls = Math.min(calls * 2, 4096)) loopOf(state, which)(calls);
    return true;
  };
  const show = (id) => {
    let { last } = prepared.get(id);
    if (Array.isArray(last)) last = Buffer.concat(last);
    if (last instanceof ArrayBuffer) last = Buffer.from(last);
    return last instanceof Uint8Array ? Buffer.from(last.buffer, last.byteOffset, last.length) : Buffer.alloc(0);
  };
  const told = (call) => (...given) => {
    try { return call(...given); } catch (error) { throw raised(error, library.name); }
  };
  sdk.main(told(open), (id) => prepared.delete(id), told(run), told(show), told(warm), process.env.PERBYTE_NAME, library.name, library.license,
    library.version, library.features || '');
};

exports.hash = (algorithm, output, code, names) => ({
  algorithm, kind: 'hash', key: 0, nonce: 0, output, code: { [MESSAGE]: code }, names: ({ data }) => ({ ...names, data }),
});

// `keyed(key)` gives `state`; `rekey` uses keys[turn & 15]
exports.mac = (algorithm, key, output, message, rekey, names) => ({
  algorithm, kind: 'mac', key, nonce: 0, output,
  code: message ? { [MESSAGE]: message, [REKEY]: rekey } : { [REKEY]: rekey, [MESSAGE]: rekey.replace('keys[turn & 15]', 'key0') },
  names: ({ data, keys }) => ({ ...names, data, keys, key0: keys[0] }),
});

// KEY and NONCE stand for what the contract asks for: under message/1 the key stays the same object
const filled = (code, key, nonce) => code.replaceAll('KEY', key).replaceAll('NONCE', nonce);

exports.stream = (algorithm, key, nonce, code, names) => ({
  algorithm, kind: 'stream', key, nonce, output: 0,
  code: { [MESSAGE]: filled(code, 'key0', 'nonces[turn & 15]'), [REKEY]: filled(code, 'keys[turn & 15]', 'nonces[turn & 15]') },
  names: ({ data, keys, nonces }) => ({ ...names, data, keys, nonces, key0: keys[0] }),
});

// What is opened was sealed with key 0 and nonce 0. `body` and `tag` are the parts of what is opened.
exports.aead = (algorithm, key, nonce, output, seal, open, names) => ({
  algorithm, kind: 'aead', key, nonce, output,
  code: {
    [MESSAGE]: filled(seal, 'key0', 'nonces[turn & 15]'), [REKEY]: filled(seal, 'keys[turn & 15]', 'nonces[turn & 15]'),
    [INVERSE]: filled(open, 'key0', 'nonce0'), [INVERSE_REKEY]: filled(open, 'key0', 'nonce0'),
  },
  names: ({ data, size, keys, nonces, aad }) => ({
    ...names, data, aad, keys, nonces, key0: keys[0], nonce0: nonces[0], body: data.subarray(0, size), tag: data.subarray(size),
  }),
});

exports.signature = (algorithm, key, output, pair, sign, verify, names) => ({
  algorithm, kind: 'signature', key, nonce: 0, output, code: { [MESSAGE]: sign, [INVERSE]: verify },
  names: ({ data, size, keys, messages }) => ({
    ...names, ...pair(keys[0]), messages, message: data.subarray(0, size), signature: data.subarray(size),
  }),
});

// `pair(private, public or null, the peer's private key)`
exports.agreement = (algorithm, key, output, pair, derive, names) => ({
  algorithm, kind: 'agreement', key, nonce: key, output, code: { [MESSAGE]: derive },
  names: ({ data, keys, nonces, given }) => ({ ...names, ...pair(keys[0], given ? data : null, nonces[0]) }),
});
