// WebCrypto (crypto.subtle): each call is awaited before the next one begins.
'use strict';

const path = require('node:path');
const { createECDH, createPrivateKey, createPublicKey, webcrypto } = require('node:crypto');
const { main, settled } = require(path.join(process.env.PERBYTE_SDKS, 'node', 'perbyte.cjs'));

const { subtle } = webcrypto;
const [MESSAGE, REKEY, INVERSE, INVERSE_REKEY] = [0, 1, 2, 3];
const imported = (format, bytes, algorithm, ...uses) => settled(subtle.importKey(format, bytes, algorithm, true, uses));

const hash = (algorithm, name, output) => ({
  algorithm, kind: 'hash', key: 0, nonce: 0, output, code: { [MESSAGE]: `await subtle.digest('${name}', data)` },
  names: ({ data }) => ({ subtle, data }),
});

const mac = (algorithm, hash, length) => ({
  algorithm, kind: 'mac', key: length, nonce: 0, output: length,
  code: {
    [MESSAGE]: `await subtle.sign('HMAC', key, data)`,
    [REKEY]: `await subtle.sign('HMAC', await subtle.importKey('raw', keys[turn & 15], hmac, false, uses), data)`,
  },
  names: ({ data, keys }) => ({
    subtle, data, keys, hmac: { name: 'HMAC', hash }, uses: ['sign'], key: imported('raw', keys[0], { name: 'HMAC', hash }, 'sign'),
  }),
});

const cipher = (kind, algorithm, name, key, nonce, output, parameters) => {
  const call = (verb, key, at) => `await subtle.${verb}({ ${parameters.replace('NONCE', `nonces[${at}]`)} }, ${key}, data)`;
  const afresh = (verb, at) => `await subtle.importKey('raw', keys[${at}], '${name}', false, uses)`;
  const way = (verb, at) => ({
    message: call(verb, 'key', at), rekey: call(verb, afresh(verb, at), at),
  });
  const forth = way('encrypt', 'turn & 15'), back = way('decrypt', '0');
  const code = { [MESSAGE]: forth.message, [REKEY]: forth.rekey };
  if (kind === 'aead') Object.assign(code, { [INVERSE]: back.message, [INVERSE_REKEY]: back.rekey });
  return {
    algorithm, kind, key, nonce, output, code,
    names: ({ data, keys, nonces, aad }) => ({
      subtle, data, keys, nonces, aad, uses: ['encrypt', 'decrypt'], key: imported('raw', keys[0], name, 'encrypt', 'decrypt'),
    }),
  };
};

const pkcs8 = (oid, seed) => Buffer.concat([Buffer.from(`302e020100300506032b65${oid}04220420`, 'hex'), seed]);
const publicOf = (key) => createPublicKey(createPrivateKey({ key, format: 'der', type: 'pkcs8' })).export({ format: 'der', type: 'spki' });

const ed25519 = {
  algorithm: 'ed25519', kind: 'signature', key: 32, nonce: 0, output: 64,
  code: {
    [MESSAGE]: `await subtle.sign('Ed25519', key, messages[turn & 15])`,
    [INVERSE]: `last = await subtle.verify('Ed25519', publicKey, signature, message); if (!last) throw new Error("refused"); last = last`,
  },
  names: ({ data, size, keys, messages }) => {
    const key = pkcs8('70', keys[0]);
    return {
      subtle, messages, message: data.subarray(0, size), signature: data.subarray(size),
      key: imported('pkcs8', key, 'Ed25519', 'sign'), publicKey: imported('spki', publicOf(key), 'Ed25519', 'verify'),
    };
  },
};

const derive = 'await subtle.deriveBits(parameters, key, BITS)';
const x25519 = {
  algorithm: 'x25519', kind: 'agreement', key: 32, nonce: 32, output: 32, code: { [MESSAGE]: derive.replace('BITS', 256) },
  names: ({ data, keys, nonces, given }) => {
    const peer = given ? imported('raw', data, 'X25519') : imported('spki', publicOf(pkcs8('6e', nonces[0])), 'X25519');
    return { subtle, key: imported('pkcs8', pkcs8('6e', keys[0]), 'X25519', 'deriveBits'), parameters: { name: 'X25519', public: peer } };
  },
};

const ecdh = (algorithm, namedCurve, curve, length) => {
  const point = (number) => {
    const pair = createECDH(curve);
    pair.setPrivateKey(number);
    return pair.getPublicKey();
  };
  const kind = { name: 'ECDH', namedCurve };
  return {
    algorithm, kind: 'agreement', key: length, nonce: length, output: length, code: { [MESSAGE]: derive.replace('BITS', 8 * length) },
    names: ({ data, keys, nonces, given }) => {
      const [, x, y] = [0, 1, 1 + length].map((at) => point(keys[0]).subarray(at, at + length).toString('base64url'));
      const jwk = { kty: 'EC', crv: namedCurve, x, y, d: Buffer.from(keys[0]).toString('base64url') };
      return {
        subtle, key: imported('jwk', jwk, kind, 'deriveBits'),
        parameters: { name: 'ECDH', public: imported('raw', given ? data : point(nonces[0]), kind) },
      };
    },
  };
};

const gcm = `name: 'AES-GCM', iv: NONCE, additionalData: aad, tagLength: 128`;
const rows = [
  hash('sha-1', 'SHA-1', 20), hash('sha-256', 'SHA-256', 32), hash('sha-384', 'SHA-384', 48), hash('sha-512', 'SHA-512', 64),
  mac('hmac-sha-1', 'SHA-1', 20), mac('hmac-sha-256', 'SHA-256', 32), mac('hmac-sha-384', 'SHA-384', 48), mac('hmac-sha-512', 'SHA-512', 64),
  ...[128, 256].map((bits) => cipher('stream', `aes-${bits}-ctr`, 'AES-CTR', bits / 8, 16, 0, `name: 'AES-CTR', counter: NONCE, length: 128`)),
  ...[128, 256].map((bits) => cipher('aead', `aes-${bits}-gcm`, 'AES-GCM', bits / 8, 12, 16, gcm)),
  ed25519, x25519, ecdh('ecdh-p256', 'P-256', 'prime256v1', 32), ecdh('ecdh-p384', 'P-384', 'secp384r1', 48),
];

main({ name: 'WebCrypto', license: 'MIT AND Apache-2.0', version: `${process.versions.node}, OpenSSL ${process.versions.openssl}` }, rows);
