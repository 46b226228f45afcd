// node:crypto, and the packages of noble, which are JavaScript alone; one a process.
'use strict';

const path = require('node:path');
const { pathToFileURL } = require('node:url');
const { main, hash, mac, stream, aead, signature, agreement } = require(path.join(process.env.PERBYTE_SDKS, 'node', 'perbyte.cjs'));

const refuse = 'if (!last) throw new Error("refused"); last = last';

function ofCrypto() {
  const crypto = require('node:crypto');
  const { createHash, createHmac, createCipheriv, createDecipheriv } = crypto;
  const digests = { 'md5': ['md5', 16], 'sha-1': ['sha1', 20], 'sha-256': ['sha256', 32], 'sha-384': ['sha384', 48], 'sha-512': ['sha512', 64],
    'sha3-256': ['sha3-256', 32], 'blake2b-512': ['blake2b512', 64] };
  const rows = Object.entries(digests).map(([algorithm, [name, length]]) =>
    hash(algorithm, length, `createHash('${name}').update(data).digest()`, { createHash }));
  for (const [algorithm, name, length] of [['hmac-sha-1', 'sha1', 20], ['hmac-sha-256', 'sha256', 32], ['hmac-sha-512', 'sha512', 64]])
    rows.push(mac(algorithm, length, length, '', `createHmac('${name}', keys[turn & 15]).update(data).digest()`, { createHmac }));
  for (const bits of [128, 256])
    rows.push(stream(`aes-${bits}-ctr`, bits / 8, 16, `createCipheriv('aes-${bits}-ctr', KEY, NONCE).update(data)`, { createCipheriv }));
  for (const [algorithm, name, key] of [['aes-128-gcm', 'aes-128-gcm', 16], ['aes-256-gcm', 'aes-256-gcm', 32], ['chacha20-poly1305', 'chacha20-poly1305', 32]])
    rows.push(aead(algorithm, key, 12, 16,
      `const made = createCipheriv('${name}', KEY, NONCE, options); made.setAAD(aad); const sealed = made.update(data); made.final(); last = [sealed, made.getAuthTag()]`,
      `const made = createDecipheriv('${name}', KEY, NONCE, options); made.setAAD(aad).setAuthTag(tag); const opened = made.update(body); made.final(); last = opened`,
      { createCipheriv, createDecipheriv, options: { authTagLength: 16 } }));
  const pkcs8 = (oid, seed) => crypto.createPrivateKey({
    key: Buffer.concat([Buffer.from(`302e020100300506032b65${oid}04220420`, 'hex'), seed]), format: 'der', type: 'pkcs8' });
  rows.push(signature('ed25519', 32, 64, (seed) => {
    const key = pkcs8('70', seed);
    return { key, publicKey: crypto.createPublicKey(key) };
  }, 'sign(null, messages[turn & 15], key)', `last = verify(null, message, publicKey, signature); ${refuse}`, { sign: crypto.sign, verify: crypto.verify }));
  const spki = (bytes) => crypto.createPublicKey({
    key: Buffer.concat([Buffer.from('302a300506032b656e032100', 'hex'), bytes]), format: 'der', type: 'spki' });
  rows.push(agreement('x25519', 32, 32, (own, peer, other) => ({
    privateKey: pkcs8('6e', own), publicKey: peer ? spki(peer) : crypto.createPublicKey(pkcs8('6e', other)),
  }), 'diffieHellman({ privateKey, publicKey })', { diffieHellman: crypto.diffieHellman }));
  return [{ name: 'node:crypto', license: 'MIT AND Apache-2.0', version: `${process.versions.node}, OpenSSL ${process.versions.openssl}` }, rows];
}

async function ofNoble() {
  const home = path.join(process.env.PERBYTE_OUT, 'node_modules', '@noble');
  const from = (name) => import(pathToFileURL(path.join(home, name)).href);
  const { sha256, sha512 } = await from('hashes/sha2.js');
  const { sha3_256 } = await from('hashes/sha3.js');
  const { turboshake128, turboshake256, kt128 } = await from('hashes/sha3-addons.js');
  const { blake3 } = await from('hashes/blake3.js');
  const { hmac } = await from('hashes/hmac.js');
  const { gcm, ctr } = await from('ciphers/aes.js');
  const { chacha20poly1305 } = await from('ciphers/chacha.js');
  const { ed25519, x25519 } = await from('curves/ed25519.js');
  const { schnorr } = await from('curves/secp256k1.js');
  const rows = [
    hash('sha-256', 32, 'sha256(data)', { sha256 }), hash('sha-512', 64, 'sha512(data)', { sha512 }),
    hash('sha3-256', 32, 'sha3_256(data)', { sha3_256 }), hash('blake3', 32, 'blake3(data)', { blake3 }),
    hash('turboshake128', 32, 'turboshake128(data, { D: 31, dkLen: 32 })', { turboshake128 }),
    hash('turboshake256', 64, 'turboshake256(data, { D: 31, dkLen: 64 })', { turboshake256 }),
    hash('kt128', 32, 'kt128(data, { dkLen: 32 })', { kt128 }),
    mac('hmac-sha-256', 32, 32, '', 'hmac(sha256, keys[turn & 15], data)', { hmac, sha256 }),
    stream('aes-128-ctr', 16, 16, 'ctr(KEY, NONCE).encrypt(data)', { ctr }),
    aead('aes-128-gcm', 16, 12, 16, 'gcm(KEY, NONCE, aad).encrypt(data)', 'gcm(KEY, NONCE, aad).decrypt(data)', { gcm }),
    aead('aes-256-gcm', 32, 12, 16, 'gcm(KEY, NONCE, aad).encrypt(data)', 'gcm(KEY, NONCE, aad).decrypt(data)', { gcm }),
    aead('chacha20-poly1305', 32, 12, 16, 'chacha20poly1305(KEY, NONCE, aad).encrypt(data)', 'chacha20poly1305(KEY, NONCE, aad).decrypt(data)', { chacha20poly1305 }),
    signature('ed25519', 32, 64, (seed) => ({ seed, publicKey: ed25519.getPublicKey(seed) }), 'ed25519.sign(messages[turn & 15], seed)',
      `last = ed25519.verify(signature, message, publicKey); ${refuse}`, { ed25519 }),
    signature('schnorr-secp256k1', 32, 64, (seed) => ({ seed, none: new Uint8Array(32), publicKey: schnorr.getPublicKey(seed) }),
      'schnorr.sign(messages[turn & 15], seed, none)', `last = schnorr.verify(signature, message, publicKey); ${refuse}`, { schnorr }),
    agreement('x25519', 32, 32, (own, peer, other) => ({ own, peer: peer || x25519.getPublicKey(other) }), 'x25519.getSharedSecret(own, peer)', { x25519 }),
  ];
  const versions = ['hashes', 'ciphers', 'curves'].map((name) =>
    `${name} ${require(path.join(home, name, 'package.json')).version}`);
  const runtime = ['bun', 'deno', 'node'].find((name) => process.versions[name]);
  return [{ name: 'noble', license: 'MIT', version: `${versions.join(', ')}, ${runtime} ${process.versions[runtime]}` }, rows];
}

Promise.resolve({ crypto: ofCrypto, noble: ofNoble }[process.argv[2]]()).then((made) => main(...made));
