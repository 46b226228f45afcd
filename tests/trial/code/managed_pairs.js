// Functions on key pairs as a user of JavaScript writes them.
const crypto = require('node:crypto');

const head = { ed25519: '302e020100300506032b657004220420', x25519: '302e020100300506032b656e04220420' };
const front = { ed25519: '302a300506032b6570032100', x25519: '302a300506032b656e032100' };
const privateOf = (kind, raw) => crypto.createPrivateKey({ key: Buffer.concat([Buffer.from(head[kind], 'hex'), raw]), format: 'der', type: 'pkcs8' });
const publicOf = (kind, raw) => crypto.createPublicKey({ key: Buffer.concat([Buffer.from(front[kind], 'hex'), raw]), format: 'der', type: 'spki' });
const rawOf = (key) => crypto.createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32);

function keypair(seed) {
  const privateKey = privateOf('ed25519', seed);
  return { publicKey: crypto.createPublicKey(privateKey), privateKey };
}
function sign(message, privateKey) { return crypto.sign(null, message, privateKey); }
function verify(signature, message, publicKey) { return crypto.verify(null, message, publicKey, signature); }

function base(privateKey) { return rawOf(privateOf('x25519', privateKey)); }
function derive(privateKey, publicKey) {
  return crypto.diffieHellman({ privateKey: privateOf('x25519', privateKey), publicKey: publicOf('x25519', publicKey) });
}

function expand(ikm, salt, info, length) { return Buffer.from(crypto.hkdfSync('sha256', ikm, salt, info, length)); }

function dhKeypair(seed) { const sk = crypto.createHash('sha256').update(seed).digest(); return [base(sk), sk]; }
function dhEncapsulate(pk) {
  const one = crypto.createHash('sha256').update(pk).digest();
  return [base(one), derive(one, pk)];
}
function dhDecapsulate(ct, sk) { return derive(sk, ct); }
